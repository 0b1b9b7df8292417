#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The agent's library: its exports, imports, symbol versions and size, and what its signal handlers may call.
. "$(dirname "$0")/../jvm/lib.sh"

so=$builddir/libjhot.so
for tool in readelf nm strip; do
	command -v $tool >/dev/null || skip_all "no $tool (binutils)"
done

# Functions of libc that the agent may import: none newer than glibc 2.17.
IMPORTS='__cxa_atexit clock_gettime dladdr dlopen dlsym getpagesize memchr memcmp memcpy memmove memset
pthread_attr_destroy pthread_attr_init pthread_attr_setdetachstate pthread_attr_setstacksize
pthread_create pthread_self strcspn strlen'
# Functions that code reachable from a handler may call.
SAFE='memcmp memcpy memmove memset strlen'
# Names of glibc's libraries, of musl's own libc, and of Alpine's.
LIBRARIES='libpthread.so.0 libdl.so.2 libc.so.6 ld-linux-aarch64.so.1 libc.so libc.musl-x86_64.so.1 libc.musl-aarch64.so.1'

# only ALLOWED FILE: every line of FILE is a word of ALLOWED
only() {
	local word left=0
	while read -r word; do
		case " ${1//$'\n'/ } " in *" $word "*) ;; *)
			diag "not allowed: $word"
			left=1
			;;
		esac
	done <"$2"
	return $left
}

# newer_than_2_17 FILE: versions in the file beyond glibc 2.17
newer_than_2_17() {
	grep -o 'GLIBC_[0-9.]*' "$1" | sed 's/GLIBC_//' | sort -uV | while read -r version; do
		[ "$(printf '%s\n2.17\n' "$version" | sort -V | tail -n 1)" = 2.17 ] || echo "$version"
	done
}

readelf -W --dyn-syms "$so" >"$T/symbols"
readelf -Wd "$so" >"$T/dynamic"
readelf -Wl "$so" >"$T/segments"

awk '$7 != "UND" && $5 == "GLOBAL" { sub(/@.*/, "", $8); print $8 }' "$T/symbols" | sort >"$T/exports"
is "libjhot.so exports only Agent_On* functions" "$(grep -v '^Agent_On' "$T/exports")" ""
ok "libjhot.so exports Agent_OnAttach" grep -qx Agent_OnAttach "$T/exports"

awk '$7 == "UND" && $8 != "" { sub(/@.*/, "", $8); print $8 }' "$T/symbols" >"$T/imports"
ok "libjhot.so imports at least one function" test -s "$T/imports"
ok "libjhot.so imports only allowed functions" only "$IMPORTS" "$T/imports"
is "libjhot.so needs no symbol version newer than glibc 2.17" "$(newer_than_2_17 "$T/symbols")" ""

sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' "$T/dynamic" >"$T/needed"
ok "libjhot.so needs only libc and its former parts" only "$LIBRARIES" "$T/needed"
ok "libjhot.so binds all symbols at load" grep -q 'FLAGS_1.*NOW' "$T/dynamic"
ok "libjhot.so is never unmapped" grep -q 'FLAGS_1.*NODELETE' "$T/dynamic"
ok "libjhot.so has no constructors" not grep -qE '\((INIT|INIT_ARRAY|FINI|FINI_ARRAY)\)' "$T/dynamic"
ok "libjhot.so has no text relocations" not grep -q TEXTREL "$T/dynamic"
ok "libjhot.so has no thread-local storage" not grep -qw TLS "$T/segments"
ok "libjhot.so has no executable stack" not grep -q 'GNU_STACK.*RWE' "$T/segments"

strip --strip-unneeded -o "$T/stripped" "$so"
bytes=$(stat -c %s "$T/stripped")
diag "stripped: $bytes bytes"
# Code is padded to pages in the file, so one byte more may add 4 kB.
ok "libjhot.so has at most 354 kB when stripped" test "$bytes" -le 354000

# A handler reaches walk/ and sampler/signal/: undefined symbols of these folders' objects are defined in one of them, or in
# SAFE. Objects of renamed sources may still exist, so the list is made from the sources.
mapfile -t objects < <(cd "$srcdir" && find src/walk src/sampler/signal -name '*.c' |
	sed -E "s,(.*)/(.*)\.c,$builddir/\1/libjhot_so-\2.o," | while read -r o; do [ ! -e "$o" ] || echo "$o"; done)
ok "more than 30 objects of the handler's folders are built" test "${#objects[@]}" -gt 30
nm --defined-only "${objects[@]}" | awk 'NF == 3 { print $3 }' | sort -u >"$T/own"
nm -u "${objects[@]}" | awk '$1 == "U" { print $2 }' | grep -vx _GLOBAL_OFFSET_TABLE_ | sort -u |
	comm -23 - "$T/own" >"$T/outside"
ok "a signal handler reaches only the handler's folders and memcpy's family" only "$SAFE" "$T/outside"

# Each system call has a row in wire/calls.h, and is made by raw(), which makes none that a seccomp filter forbids.
find "$srcdir/src/sampler" -name '*.[ch]' -exec cat {} + | tr -s ' \t\n' ' ' >"$T/source"
grep -oE '\b(raw|get_end)\( ?SYS_[a-z0-9_]+' "$T/source" | sed 's/.*SYS_//' | sort -u >"$T/made"
sed -n 's/^\tX(\([a-z0-9_]*\), .*/\1/p' "$srcdir/src/wire/calls.h" | sort >"$T/listed"
ok "more than 30 system calls are found in the source" test "$(wc -l <"$T/made")" -gt 30
is "each system call of the agent is in src/wire/calls.h" "$(comm -23 "$T/made" "$T/listed" | tr '\n' ' ')" ""
is "each call in src/wire/calls.h is made, except for rt_sigreturn (kernel)" \
	"$(comm -13 "$T/made" "$T/listed" | tr '\n' ' ')" "rt_sigreturn "
is "system calls are made only by raw(), except for exit in the child that tries them" \
	"$(grep -rlE 'raw_syscall\(|__asm__.*"(syscall|svc)|[^_a-z]syscall\(' "$srcdir/src/sampler" "$srcdir/src/walk" | sed 's,.*/,,' | sort | tr '\n' ' ')" "calls.c raw.c raw.h "
done_testing
