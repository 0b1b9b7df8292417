# SPDX-License-Identifier: Apache-2.0
# Bare roots of Debian with a JVM, made once, in $ROOTS. Sourced by bash, after tests/jvm/lib.sh; mmdebstrap is used.
ROOTS=${ROOTS:-${HOME:-/root}/.cache/jhot/roots}

# debian_root SUITE JDK: that release with that JVM, and nothing else, in $ROOTS/SUITE
debian_root() {
	local site
	[ ! -e "$ROOTS/$1/etc/passwd" ] || return 0
	mkdir -p "$ROOTS"
	site=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -v security | head -n 1)
	mmdebstrap --variant=minbase --include="openjdk-$2-jre-headless" --aptopt='Acquire::Check-Valid-Until "false"' \
		--aptopt='Acquire::Languages "none"' --aptopt='APT::Install-Recommends "false"' "$1" "$ROOTS/$1" \
		"deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $site $1 main" >"$T/log" 2>&1 ||
		{ cat "$T/log" >&2; return 1; }
}
