# SPDX-License-Identifier: Apache-2.0
# Bare roots of Debian, made once, in $ROOTS. Sourced by bash, after tests/jvm/lib.sh; mmdebstrap is used.
ROOTS=${ROOTS:-${HOME:-/root}/.cache/jhot/roots}

# debian_root NAME SUITE PACKAGE...: that release with these packages and what they depend on, in $ROOTS/NAME; made anew when
# they are others
debian_root() {
	local root=$ROOTS/$1 suite=$2 site made
	shift 2
	made="$suite $*"
	[ "$(cat "$root/made" 2>/dev/null)" != "$made" ] || return 0
	rm -rf "$root"
	mkdir -p "$ROOTS"
	site=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -v security | head -n 1)
	mmdebstrap --variant=minbase --include="$*" --aptopt='Acquire::Check-Valid-Until "false"' \
		--aptopt='Acquire::Languages "none"' --aptopt='APT::Install-Recommends "false"' "$suite" "$root" \
		"deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $site $suite main" >"$T/log" 2>&1 ||
		{ cat "$T/log" >&2; return 1; }
	echo "$made" >"$root/made"
}
