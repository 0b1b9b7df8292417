#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The agent in musl: as it is built here musl's loader takes it; and all C tests of its parts, compiled and run with musl.
. "$(dirname "$0")/../jvm/lib.sh"

command -v musl-gcc >/dev/null || skip_all "no musl-gcc (musl-tools)"
libc=/lib/$(uname -m)-linux-musl/libc.so
[ -e "$libc" ] || libc=/usr/lib/$(uname -m)-linux-musl/libc.so

# --- the agent as it is ------------------------------------------------------------------------------

nm -D --undefined-only "$builddir/libjhot.so" | awk '$1 == "U" { sub(/@.*/, "", $2); print $2 }' | sort >"$T/imports"
nm -D --defined-only "$libc" | awk '{ print $3 }' | sort >"$T/musl"
ok "it imports something" test -s "$T/imports"
is "and nothing that musl has not" "$(comm -23 "$T/imports" "$T/musl" | tr '\n' ' ')" ""
cat >"$T/load.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	void *agent = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;

	if (agent && dlsym(agent, "Agent_OnAttach"))
		return 0;
	puts(dlerror());
	return 1;
}
END
musl-gcc -o "$T/load" "$T/load.c"
ok "musl's loader takes it, though it names parts of glibc" "$T/load" "$builddir/libjhot.so"

# --- its parts, compiled with musl -------------------------------------------------------------------

# Debian has none of the front end's libraries for musl: configure is told that they are there, and what needs them is not
# built. Kernel headers are the host's.
kernel=$T/kernel
mkdir "$kernel" "$T/build"
for folder in linux asm asm-generic; do
	for from in "/usr/include/$folder" "/usr/include/$(gcc -print-multiarch)/$folder"; do
		[ ! -e "$from" ] || ln -sfn "$from" "$kernel/$folder"
	done
done
untrue="ac_cv_header_term_h=yes ac_cv_header_libelf_h=yes ac_cv_header_elfutils_libdw_h=yes ac_cv_header_zlib_h=yes
	ac_cv_header_lzma_h=yes ac_cv_search_tparm=-lnone ac_cv_search_elf_begin=-lnone
	ac_cv_search_dwarf_cfi_addrframe=-lnone ac_cv_search_crc32=-lnone
	ac_cv_search_lzma_stream_buffer_decode=-lnone ac_cv_search___cxa_demangle=-lnone"
# shellcheck disable=SC2086
configured() {
	cd "$T/build" && "$srcdir/configure" CC=musl-gcc CPPFLAGS="-idirafter $kernel" CFLAGS='-O1 -g0' \
		--with-jdk="$(sed -n 's/^JDK = //p' "$builddir/Makefile")" $untrue >"$T/log" 2>&1
}
made() {
	env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -C "$T/build" "$@" >"$T/log" 2>&1
}
passes() {
	(cd "$T/build" && builddir=$T/build "./$1") >"$T/log" 2>&1
}
ok "configure" configured || diag_file "$T/log"
ok "the agent compiles" made libjhot.so libjhot_so_CFLAGS='-std=c11 -O1 -fPIC -fvisibility=hidden' || diag_file "$T/log"
ok "and loads" "$T/load" "$T/build/libjhot.so"
for test in $MUSL_TESTS; do
	ok "$test: compiles" made "$test" || diag_file "$T/log"
	ok "$test: passes" passes "$test" || diag_file "$T/log"
done
ok "there were such tests" [ -n "$MUSL_TESTS" ]
done_testing
