# SPDX-License-Identifier: Apache-2.0
# apt with lists of its own in $T/apt, so that this machine's stay as they are: nothing is installed and root is not needed.
# Sourced by bash, after tests/jvm/lib.sh.
#
#   own_apt OPTION...      0: the lists are there, and apt-get is to be told what OWN_APT says; else why not is in $T/log
#   own_apt_source OPTION...   the same for packages' sources, which few machines' own lists have: from where those lists are

own_apt() {
	local apt=$T/apt
	command -v apt-get >/dev/null || { echo "no apt-get" >"$T/log"; return 1; }
	mkdir -p "$apt/state/lists/partial" "$apt/cache/archives/partial" "$apt/files"
	touch "$apt/state/status"
	OWN_APT=(-o "Dir::State=$apt/state" -o "Dir::State::status=$apt/state/status" -o "Dir::Cache=$apt/cache"
		-o APT::Sandbox::User= -o Acquire::Languages=none -o Acquire::http::Timeout=20 -o Acquire::Retries=1 "$@")
	apt-get "${OWN_APT[@]}" update >"$T/log" 2>&1
}

own_apt_source() {
	local from parts=$T/apt/sources.list.d
	mkdir -p "$parts"
	for from in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
		case $from in
		*.sources) sed 's/^Types:.*/Types: deb-src/' "$from" >"$parts/${from##*/}" ;;
		*.list) [ ! -e "$from" ] || sed -n 's/^deb /deb-src /p' "$from" >"$parts/${from##*/}" ;;
		esac
	done
	own_apt -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$parts" "$@"
}
