#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds the single file twice from scratch: from a clone of this tree's commit, and from the release that this clone packs, unpacked in
# a folder with another name. Everything that could influence a build differs the second time: the path of sources and build and its
# length, home, time zone, language, umask, number of jobs. The bytes must be the same.
#
#   usage: make reproducible-check      prints both sums; ignores uncommitted changes
. "$(dirname "$0")/../jvm/lib.sh"

JDK=${JDK:-$(dirname "$(dirname "$(readlink -f "$(command -v "$JAVA")")")")}
log=$T/log
unset MAKEFLAGS MAKELEVEL MFLAGS SOURCE_DATE_EPOCH CFLAGS CPPFLAGS LDFLAGS

fail() {
	echo "$1" >&2
	tail -n 30 "$log" >&2
	exit 1
}

# In an unpacked release: compare two builds of what it packs.
first=$T/a
if git -C "$srcdir" rev-parse -q --verify HEAD >/dev/null 2>&1; then
	git clone -q "$srcdir" "$first" && (cd "$first" && autoreconf -fi) >"$log" 2>&1 || fail "no clone of $srcdir"
	date=$(git -C "$first" log -1 --format=%ct)
	echo "commit $(git -C "$first" log -1 --format='%h of %cI')"
else
	(cd "$builddir" && make -s dist) >"$log" 2>&1 || fail "make dist"
	mkdir "$first" && tar -C "$first" --strip-components=1 -xf "$builddir"/jhot-*.tar.xz
	date=$(stat -c %Y "$first/NEWS")
fi

mkdir "$first/build"
(cd "$first/build" && ../configure --with-jdk="$JDK" && make -s tarball && make -s dist) >"$log" 2>&1 || fail "the first build"

# The second build has a minimal environment.
second=$T/another/folder-with-a-longer-name
mkdir -p "$second"
(
	umask 077
	cd "$second" && tar --strip-components=1 -xf "$first/build"/jhot-*.tar.xz &&
		env -i PATH="$PATH" HOME="$second" TZ=Pacific/Auckland LC_ALL=POSIX LOGNAME=somebody SOURCE_DATE_EPOCH="$date" \
			sh -c './configure --with-jdk="$1" --prefix=/opt/jhot && make -s -j2 tarball' sh "$JDK"
) >"$log" 2>&1 || fail "the second build"

(cd "$first/build" && sha256sum jhot-*-linux-*.tar.gz)
(cd "$second" && sha256sum jhot-*-linux-*.tar.gz)
cmp "$first/build"/jhot-*-linux-*.tar.gz "$second"/jhot-*-linux-*.tar.gz && { echo "the same bytes"; exit 0; }

# Show which file, and which section of the program, differs.
for side in first second; do
	mkdir "$T/$side" && tar -C "$T/$side" --strip-components=1 -xzf "${!side}/build"/jhot-*-linux-*.tar.gz 2>/dev/null ||
		tar -C "$T/$side" --strip-components=1 -xzf "${!side}"/jhot-*-linux-*.tar.gz
	(cd "$T/$side" && find . -type f -printf '%p %m %s %Ts\n' | sort) >"$T/$side.list"
	readelf -SW "$T/$side/jhot" >"$T/$side.sections"
done
diff "$T/first.list" "$T/second.list"
diff -rq "$T/first" "$T/second"
diff "$T/first.sections" "$T/second.sections"
exit 1
