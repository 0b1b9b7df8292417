# SPDX-License-Identifier: Apache-2.0
# Minimal roots of Debian, created once, in $ROOTS. Sourced by bash, after tests/jvm/lib.sh; needs mmdebstrap.
ROOTS=${ROOTS:-${HOME:-/root}/.cache/jhot/roots}

# debian_root NAME SUITE PACKAGE...: creates $ROOTS/NAME with this release, the packages and their dependencies; creates it again
# when the arguments have changed
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
