# SPDX-License-Identifier: Apache-2.0
# A HotSpot JVM on musl, built from Debian's sources of OpenJDK 17, because Debian has no package of one. Sourced by bash,
# after tests/jvm/lib.sh and own_apt.sh.
#
#   musl_jvm DIR      builds DIR/jdk/bin/java unless an earlier call did, in about 15 minutes; on failure the reason is in $T/log
#
# OpenJDK supports musl since 17. Only a C++ library is missing: HotSpot needs headers of templates, for which gcc's own
# suffice, and a few functions (musl_cxx.c). It is cross-compiled, with the installed JDK as boot and build JDK, without
# java.desktop, ZGC and Shenandoah.
MUSL_MODULES="java.base java.logging java.management jdk.management java.xml java.instrument java.naming java.sql
	java.transaction.xa java.security.sasl jdk.attach jdk.unsupported jdk.jfr jdk.jcmd jdk.internal.jvmstat"
MUSL_TARGET=x86_64-unknown-linux-musl

# Downloads the newest sources that are available: lists may name files that no longer exist.
jvm_sources() {
	local version
	own_apt_source || return
	(cd "$T/apt/files" && apt-get "${OWN_APT[@]}" source --download-only zlib) >"$T/log" 2>&1 || return
	for version in $(apt-cache "${OWN_APT[@]}" showsrc openjdk-17 2>"$T/log" | sed -n 's/^Version: //p' | sort -rV); do
		(cd "$T/apt/files" && apt-get "${OWN_APT[@]}" source --download-only "openjdk-17=$version") >"$T/log" 2>&1 && return
	done
	return 1
}

# Debian's sources lack zlib; makefiles expect two of its files under other names, because java.base has files with these names.
jvm_unpacked() {
	local zlib=$T/jdk-src/src/java.base/share/native/libzip/zlib
	mkdir -p "$T/jdk-src" "$T/zlib-src" &&
		tar -xf "$T"/apt/files/openjdk-17_*.orig.tar.* -C "$T/jdk-src" --strip-components=1 &&
		tar -xf "$T"/apt/files/zlib_*.orig.tar.* -C "$T/zlib-src" --strip-components=1 &&
		mkdir -p "$zlib" && cp "$T"/zlib-src/*.[ch] "$zlib" &&
		mv "$zlib/adler32.c" "$zlib/zadler32.c" && mv "$zlib/crc32.c" "$zlib/zcrc32.c"
} >"$T/log" 2>&1

# One script for C and C++, chosen by the arguments, because OpenJDK compiles a C++ header with the C compiler. C++ headers come
# before musl's, which they include by #include_next. musl-gcc's specs omit --eh-frame-hdr, which libjvm's own unwind information
# needs.
jvm_compiler() {
	local root=$1 multiarch version tool name
	multiarch=$(gcc -print-multiarch)
	version=$(gcc -dumpversion)
	mkdir -p "$root/bin" "$root/lib" "$root/kernel" "$root/c++/bits" "$root/none/cups" "$root/none/fontconfig" "$root/none/alsa" || return
	for name in linux asm-generic; do ln -sfn "/usr/include/$name" "$root/kernel/$name"; done
	ln -sfn "/usr/include/$multiarch/asm" "$root/kernel/asm"
	# libstdc++'s header about its C library; the installed one is for glibc.
	cat >"$root/c++/bits/os_defines.h" <<-'END'
		#include <features.h>
		#define __NO_CTYPE 1
		#define _GLIBCXX_NO_OBSOLETE_ISINF_ISNAN_DYNAMIC 1
		#define _GLIBCXX_NATIVE_THREAD_ID pthread_self()
		#define _GLIBCXX_GTHREAD_USE_WEAK 0
	END
	# Required by configure, used by java.desktop only.
	for name in cups/cups cups/ppd fontconfig/fontconfig alsa/asoundlib; do echo "/* none */" >"$root/none/$name.h"; done
	cat >"$root/bin/musl-cc" <<-END
		#!/bin/sh
		c="-isystem /usr/include/${multiarch%-gnu}-musl -isystem $root/kernel -isystem $(gcc -print-file-name=include)"
		cxx="-isystem /usr/include/c++/$version -isystem $root/c++ -isystem /usr/include/$multiarch/c++/$version"
		specs=$(sed -n 's/.*-specs "\(.*\)".*/\1/p' "$(command -v musl-gcc)")
		root=$root
	END
	cat >>"$root/bin/musl-cc" <<-'END'
		is_cxx= links=yes with=gcc
		case $0 in *++) is_cxx=yes ;; esac
		for arg in "$@"; do
			case $arg in
			*.cpp | *.cc | c++ | c++-header) is_cxx=yes ;;
			-c | -E | -S | -M | -MM | --version | -v | -dumpversion | -dumpmachine | -fsyntax-only) links= ;;
			esac
		done
		[ -z "$is_cxx" ] || c="$cxx $c"
		[ -n "$links" ] || [ -z "$is_cxx" ] || with=g++
		[ -n "$links" ] || exec $with "$@" -nostdinc $c
		exec gcc "$@" -nostdinc $c -specs "$specs" -Wl,--eh-frame-hdr -L"$root/lib" -lmuslcxx
	END
	chmod +x "$root/bin/musl-cc" && cp "$root/bin/musl-cc" "$root/bin/musl-c++" || return
	for tool in ar nm strip objcopy objdump ranlib as ld readelf; do ln -sfn "$(command -v $tool)" "$root/bin/$MUSL_TARGET-$tool"; done
	"$root/bin/musl-cc" -O2 -fPIC -fvisibility=hidden -c "$srcdir/tests/packaging/musl_cxx.c" -o "$root/musl_cxx.o" &&
		ar rcs "$root/lib/libmuslcxx.a" "$root/musl_cxx.o"
} >"$T/log" 2>&1

# "dynamic" only means that configure adds nothing for a C++ library; with "none" nothing is stripped either.
jvm_built() {
	local root=$1 none=$1/none jdk version
	jdk=$(sed -n 's/^JDK = //p' "$builddir/Makefile")
	version=$(basename "$T"/apt/files/openjdk-17_*.orig.tar.* | sed 's/.*+\([0-9]*\)\.orig.*/\1/')
	mkdir "$T/jdk-build" && cd "$T/jdk-build" || return
	unset JAVA_HOME JAVA_TOOL_OPTIONS _JAVA_OPTIONS CLASSPATH LD_LIBRARY_PATH CFLAGS CXXFLAGS LDFLAGS MAKEFLAGS MAKELEVEL MFLAGS
	PATH=$root/bin:$PATH bash "$T/jdk-src/configure" --openjdk-target=$MUSL_TARGET --with-boot-jdk="$jdk" --with-build-jdk="$jdk" \
		--with-jvm-variants=server --with-jvm-features=-shenandoahgc,-zgc --with-debug-level=release --with-native-debug-symbols=none \
		--enable-headless-only --disable-warnings-as-errors --disable-manpages --disable-cds-archive --with-stdc++lib=dynamic \
		--with-version-pre= --with-version-build="$version" --with-version-opt=musl --with-zlib=bundled --with-freetype=bundled --with-libpng=bundled \
		--with-giflib=bundled --with-libjpeg=bundled --with-lcms=bundled --with-harfbuzz=bundled --with-cups-include="$none" \
		--with-fontconfig-include="$none" --with-alsa-include="$none" --with-alsa-lib="$none" \
		BUILD_CC="$(command -v gcc)" BUILD_CXX="$(command -v g++)" CC="$root/bin/musl-cc" CXX="$root/bin/musl-c++" &&
		PATH=$root/bin:$PATH make JOBS="$(nproc)" hotspot $MUSL_MODULES
} >"$T/log" 2>&1

musl_jvm() {
	local root=$1
	[ ! -x "$root/jdk/bin/java" ] || return 0
	[ "$(uname -m)" = x86_64 ] || { echo "only for x86-64" >"$T/log"; return 1; }
	for tool in musl-gcc g++ autoconf zip unzip file; do
		command -v $tool >/dev/null || { echo "no $tool" >"$T/log"; return 1; }
	done
	jvm_sources && jvm_unpacked && jvm_compiler "$root" && (jvm_built "$root") || return
	# The built JDK has links into the sources.
	rm -rf "$root/new" && cp -aL "$T/jdk-build/jdk" "$root/new" && mv "$root/new" "$root/jdk" && rm -rf "$T/jdk-build" "$T/jdk-src"
}
