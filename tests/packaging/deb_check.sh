#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make deb-check: the Debian packages that make deb has put into deb/. lintian reports nothing; in a root of this Debian release
# they install with only their dependencies; their autopkgtest passes on a JVM there, as root and as a user; removed, they leave no
# file.
#
#   usage: [ROOTS=DIR] make deb-check      as root; lintian and mmdebstrap are used
#
# The root is made once, in $ROOTS.
. "$(dirname "$0")/../jvm/lib.sh"
. "$(dirname "$0")/debian_root.sh"
. "$(dirname "$0")/rows.sh"

needs deb-check lintian mmdebstrap -- root lintian mmdebstrap
suite=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
root=$ROOTS/$suite-deb
deb=$(echo "$builddir"/deb/jhot_*.deb)
[ -e "$deb" ] || { echo "make deb has left no package in $builddir/deb" >&2; exit 1; }

prints_nothing() {
	"$@" >"$T/words" 2>&1 && [ ! -s "$T/words" ] || { cat "$T/words"; false; }
}

# The package's dependencies by name (dpkg itself checks versions), and a JDK, and nothing else.
root_made() {
	local depends
	mapfile -t depends < <(dpkg-deb -f "$deb" Depends | tr ',' '\n' | sed 's/|.*//; s/(.*//; s/ //g' | sort)
	debian_root "$suite-deb" "$suite" default-jdk-headless "${depends[@]}"
}

files() {
	find "$root" -xdev \( -path "$root/tmp" -o -path "$root/var/lib/dpkg" -o -path "$root/var/log" -o -path "$root/proc" -o \
		-path "$root/dev" \) -prune -o -print | sort
}

within() { # COMMAND...: in the root, with a /proc and a /tmp of its own
	unshare -m -p -f --kill-child sh -c 'mount -t proc proc "$1/proc" && mount -t tmpfs -o mode=1777 tmpfs "$1/tmp" &&
		{ [ -c "$1/dev/null" ] || mount --rbind /dev "$1/dev"; } && cp "$2"/* "$1/tmp" && root=$1 && shift 2 &&
		exec chroot "$root" "$@"' sh "$root" "$T/brought" "$@"
}

mkdir "$T/brought"
cp "$builddir"/deb/*.deb "$srcdir/packaging/debian/tests/record" "$T/brought"
chmod 755 "$T/brought"/*
user="setpriv --reuid nobody --regid nogroup --clear-groups"

# Without DEBEMAIL the packager is root@HOST (packaging/deb.sh), which lintian would report as no valid address.
packager=
[ -n "${DEBEMAIL:-}" ] || packager=--suppress-tags=bogus-mail-host,bogus-mail-host-in-debian-changelog,root-in-contact
# shellcheck disable=SC2086
row "lintian reports nothing" prints_nothing lintian --allow-root --display-info --pedantic $packager "$builddir"/deb/*.changes
row "a root of $suite has a JDK and the package's dependencies" root_made || rows_end
within dpkg --purge jhot jhot-dbgsym >/dev/null 2>&1 # left by an earlier run
files >"$T/before"
# dpkg downloads nothing, so a missing dependency is a failure
row "dpkg installs the packages" within sh -c 'dpkg -i /tmp/*.deb'
row "jhot --version works" within jhot --version
row "autopkgtest passes as root" within /tmp/record
# shellcheck disable=SC2086
row "autopkgtest passes as a user" within $user /tmp/record
row "dpkg removes the packages" within dpkg --purge jhot jhot-dbgsym
files >"$T/after"
row "the packages leave no file" diff "$T/before" "$T/after"
rows_end
