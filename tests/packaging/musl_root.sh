# SPDX-License-Identifier: Apache-2.0
# The libraries of jhot and its tests, built with musl from Debian's source packages: Debian has binaries for glibc only. Sourced by
# bash, after tests/jvm/lib.sh and own_apt.sh.
#
#   musl_root DIR     builds them in DIR unless an earlier call did; on failure the reason is in $T/log
#   musl_flags DIR    sets the array MUSL_FLAGS: flags for configure
#
# Archives only, without programs and bindings of other languages. libelf and libdw cannot read files compressed by bzip2 or zstd.
MUSL_SOURCES="zlib xz-utils libzstd lz4 ncurses utf8proc elfutils libvterm libunwind"

# musl_compiler: as musl-gcc, which ignores -static-pie and links a program that needs a loader
musl_compiler() {
	local root=$1 specs
	specs=$(sed -n 's/.*-specs "\(.*\)".*/\1/p' "$(command -v musl-gcc)")
	sed 's|^\(-dynamic-linker [^ ]*\)|%{static-pie:-static -pie --no-dynamic-linker -z text;:\1}|
		s|%{!shared: *\([^ }]*\)Scrt1.o}|%{static-pie:\1rcrt1.o;!shared:\1Scrt1.o}|' "$specs" >"$root/musl.specs" &&
		printf '#!/bin/sh\nexec %s "$@" -specs=%s\n' "$(command -v gcc)" "$root/musl.specs" >"$root/cc" && chmod +x "$root/cc" || return
	# The kernel's headers, which do not belong to a libc.
	for name in linux asm asm-generic; do
		for from in "/usr/include/$name" "/usr/include/$(gcc -print-multiarch)/$name"; do
			[ ! -e "$from" ] || ln -sfn "$from" "$root/include/$name"
		done
	done
}

# musl_configured NAME ARG...: runs configure in a build folder; changes the working directory to it
musl_configured() {
	local name=$1
	shift
	mkdir "$T/src/$name-build" && cd "$T/src/$name-build" &&
		"../$name/configure" --build="$(gcc -dumpmachine)" --host="$(uname -m)-linux-musl" --prefix="$root" CC="$root/cc" \
			CFLAGS='-O2 -g0' CPPFLAGS="-isystem $root/include" LDFLAGS="-L$root/lib" "$@"
}

musl_zlib() {
	cd "$T/src/zlib" && CC=$root/cc CFLAGS=-O2 ./configure --static && make -j2 libz.a && cp libz.a "$root/lib" &&
		cp zlib.h zconf.h "$root/include"
}

musl_lzma() {
	musl_configured xz-utils --disable-shared --disable-nls && make -j2 -C src/liblzma install
}

musl_zstd() {
	make -j2 -C "$T/src/libzstd/lib" CC="$root/cc" CFLAGS=-O2 ZSTD_LEGACY_SUPPORT=0 libzstd.a &&
		cp "$T/src/libzstd/lib/libzstd.a" "$root/lib" && cp "$T/src/libzstd/lib/"zstd*.h "$root/include"
}

musl_lz4() {
	make -j2 -C "$T/src/lz4/lib" CC="$root/cc" CFLAGS=-O2 liblz4.a &&
		cp "$T/src/lz4/lib/liblz4.a" "$root/lib" && cp "$T/src/lz4/lib/"lz4*.h "$root/include"
}

# With the folders of terminal descriptions of Debian and others. jhot has the usual ones built in (src/tui/local.mk).
musl_tinfo() {
	musl_configured ncurses BUILD_CC=gcc --with-termlib=tinfo --without-shared --without-debug --without-cxx-binding --without-ada \
		--without-progs --without-tests --without-manpages --disable-db-install --disable-pc-files \
		--with-default-terminfo-dir=/etc/terminfo --with-terminfo-dirs=/etc/terminfo:/lib/terminfo:/usr/share/terminfo &&
		make -C include && make -j2 -C ncurses ../lib/libtinfo.a && cp lib/libtinfo.a "$root/lib" &&
		cp include/term.h include/curses.h include/unctrl.h include/ncurses_dll.h "$root/include"
}

musl_utf8proc() {
	cd "$T/src/utf8proc" && make -j2 CC="$root/cc" libutf8proc.a && cp libutf8proc.a "$root/lib" && cp utf8proc.h "$root/include"
}

# configure requires argp, fts and obstack, which musl lacks: elfutils' programs need them, and two files of libdwfl, its
# command-line options and its search for kernel modules. These two files are left out.
musl_elf() {
	local part
	sed -i 's/argp-std\.\$(OBJEXT)//; s/linux-kernel-modules\.\$(OBJEXT)//' "$T/src/elfutils/libdwfl/Makefile.in" &&
		musl_configured elfutils AR=ar RANLIB=ranlib NM=nm READELF=readelf --disable-debuginfod --disable-libdebuginfod --disable-nls \
			--without-bzlib --without-lzma --without-zstd ac_cv_search_argp_parse='none required' \
			ac_cv_search_fts_close='none required' ac_cv_search__obstack_free='none required' || return
	for part in libelf/libelf libdwelf/libdwelf libebl/libebl backends/libebl_backends libcpu/libcpu libdwfl/libdwfl libdw/libdw; do
		make -j2 -C "${part%/*}" "${part#*/}.a" || return
	done
	# Objects shared by elfutils' libraries are in none of the archives: glibc has error(3), the rest is in the shared library.
	make -C lib error.o crc32.o crc32_file.o next_prime.o &&
		ar r libdw/libdw.a lib/error.o lib/crc32.o lib/crc32_file.o lib/next_prime.o &&
		cp libdw/libdw.a libelf/libelf.a "$root/lib" && mkdir -p "$root/include/elfutils" && cp version.h "$root/include/elfutils" &&
		cd "$T/src/elfutils" && cp libelf/libelf.h libelf/gelf.h libdw/dwarf.h "$root/include" &&
		cp libdw/libdw.h libdw/known-dwarf.h libdwelf/libdwelf.h libdwfl/libdwfl.h libebl/libebl.h libelf/elf-knowledge.h \
			"$root/include/elfutils"
}

# The demangler is one object of gcc's own C++ library, and calls nothing that musl lacks.
musl_demangler() {
	cd "$T/src" && ar x "$(gcc -print-file-name=libsupc++.a)" cp-demangle.o && ar rc "$root/lib/libstdc++.a" cp-demangle.o
}

# libvterm, for the terminal tests: its Makefile requires libtool.
musl_vterm() {
	cd "$T/src/libvterm" && "$root/cc" -O2 -std=c99 -Iinclude -c src/*.c && ar rc "$root/lib/libvterm.a" ./*.o &&
		cp include/*.h "$root/include"
}

musl_unwind() {
	musl_configured libunwind CXX=false --disable-shared --disable-tests --disable-documentation --disable-minidebuginfo \
		--disable-cxx-exceptions --disable-coredump --disable-ptrace --disable-setjmp &&
		make -j2 -C src && cp src/.libs/libunwind.a "src/.libs/libunwind-$(uname -m).a" "$root/lib" &&
		cp include/libunwind*.h "../libunwind/include/libunwind-$(uname -m).h" ../libunwind/include/libunwind-dynamic.h "$root/include"
}

musl_root() {
	local root=$1 name part made
	made=$(cat "$srcdir/tests/packaging/musl_root.sh" "$(command -v musl-gcc)" | cksum)
	[ "$(cat "$root/made" 2>/dev/null)" != "$made" ] || return 0
	for tool in musl-gcc dpkg-source; do
		command -v $tool >/dev/null || { echo "no $tool" >"$T/log"; return 1; }
	done
	rm -rf "$root"
	mkdir -p "$root/lib" "$root/include" "$T/src"
	own_apt_source
	# shellcheck disable=SC2086
	(cd "$T/apt/files" && apt-get "${OWN_APT[@]}" source --download-only $MUSL_SOURCES) >>"$T/log" 2>&1 || return
	for name in $MUSL_SOURCES; do
		dpkg-source --no-check -x "$T/apt/files/${name}"_*.dsc "$T/src/$name" >"$T/log" 2>&1 || return # apt has checked it
	done
	for part in compiler zlib lzma zstd lz4 tinfo utf8proc elf demangler vterm unwind; do
		(
			unset MAKEFLAGS MAKELEVEL MFLAGS
			musl_$part "$root"
		) >"$T/log" 2>&1 || return
	done
	rm -rf "$T/apt" "$T/src"
	echo "$made" >"$root/made"
}

musl_flags() {
	MUSL_FLAGS=("CC=$1/cc" "CPPFLAGS=-isystem $1/include" "LDFLAGS=-L$1/lib")
}
