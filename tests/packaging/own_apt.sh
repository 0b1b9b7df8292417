# SPDX-License-Identifier: Apache-2.0
# apt with lists of its own in $T/apt, so that this machine's do not change; installs nothing and does not need root. Sourced by
# bash, after tests/jvm/lib.sh.
#
#   own_apt OPTION...      downloads lists; sets OWN_APT, the options for apt-get; on failure the reason is in $T/log
#   own_apt_source OPTION...   the same for source packages, which few machines have in their lists, from the same servers
#   own_apt_suite SUITE OPTION...   the same for another release than this machine's, from the same servers

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

# own_suite: the code name of this machine's release
own_suite() {
	sed -n 's/^VERSION_CODENAME=//p' /etc/os-release 2>/dev/null
}

# own_apt_suite: uses only lists of this machine's release; other repositories may have other names for releases
own_apt_suite() {
	local suite=$1 own from parts=$T/apt/suite.list.d
	shift
	own=$(own_suite)
	[ "$own" ] || { echo "this machine's release has no name" >"$T/log"; return 1; }
	mkdir -p "$parts"
	for from in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
		case $from in
		*.sources)
			! grep -qE "^Suites:.* $own(-| |$)" "$from" ||
				sed "/^Suites:/ s/ $own/ $suite/g" "$from" >"$parts/${from##*/}"
			;;
		*.list) [ ! -e "$from" ] || sed -n "s/^\(deb .* \)$own\([- ]\)/\1$suite\2/p" "$from" >"$parts/${from##*/}" ;;
		esac
	done
	own_apt -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$parts" "$@"
}
