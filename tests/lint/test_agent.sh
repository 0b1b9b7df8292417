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
# And those that code may call which a handler can reach.
SAFE='memcmp memcpy memmove memset strlen'
# What the linker adds: the bounds of the table of guarded loads.
LINKER='__start_guard_table __stop_guard_table'
# glibc's; musl's, as it calls itself and as Alpine does.
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
is "exports only Agent_On*" "$(grep -v '^Agent_On' "$T/exports")" ""
ok "exports Agent_OnAttach" grep -qx Agent_OnAttach "$T/exports"

awk '$7 == "UND" && $8 != "" { sub(/@.*/, "", $8); print $8 }' "$T/symbols" >"$T/imports"
ok "imports something (the list below is not empty)" test -s "$T/imports"
ok "imports only what is listed" only "$IMPORTS" "$T/imports"
is "imports nothing newer than glibc 2.17" "$(newer_than_2_17 "$T/symbols")" ""

sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' "$T/dynamic" >"$T/needed"
ok "needs only libc and its old parts" only "$LIBRARIES" "$T/needed"
ok "binds everything at load" grep -q 'FLAGS_1.*NOW' "$T/dynamic"
ok "is never unmapped" grep -q 'FLAGS_1.*NODELETE' "$T/dynamic"
ok "has no constructors" not grep -qE '\((INIT|INIT_ARRAY|FINI|FINI_ARRAY)\)' "$T/dynamic"
ok "has no text relocations" not grep -q TEXTREL "$T/dynamic"
ok "has no thread-local storage" not grep -qw TLS "$T/segments"
ok "has a stack that is not executable" not grep -q 'GNU_STACK.*RWE' "$T/segments"

strip --strip-unneeded -o "$T/stripped" "$so"
bytes=$(stat -c %s "$T/stripped")
diag "stripped: $bytes bytes"
# Its code is whole pages in the file: one byte more can be 4 kB.
ok "takes at most 345 kB when installed" test "$bytes" -le 345000

# A handler reaches walk/ and sampler/signal/: what the objects of these folders need is in one of them, or in SAFE.
# Objects whose source has another name by now may still lie there.
mapfile -t objects < <(cd "$srcdir" && find src/walk src/sampler/signal -name '*.c' |
	sed -E "s,(.*)/(.*)\.c,$builddir/\1/libjhot_so-\2.o," | while read -r o; do [ ! -e "$o" ] || echo "$o"; done)
ok "the handler's objects are there" test "${#objects[@]}" -gt 30
nm --defined-only "${objects[@]}" | awk 'NF == 3 { print $3 }' | sort -u >"$T/own"
nm -u "${objects[@]}" | awk '$1 == "U" { print $2 }' | grep -vx _GLOBAL_OFFSET_TABLE_ | sort -u |
	comm -23 - "$T/own" >"$T/outside"
ok "a handler reaches nothing but these and memcpy's family" only "$SAFE $LINKER" "$T/outside"

# Each system call has a row in wire/calls.h, and is made by raw(), which makes none that a seccomp filter forbids.
find "$srcdir/src/sampler" -name '*.[ch]' -exec cat {} + | tr -s ' \t\n' ' ' >"$T/source"
grep -oE '\b(raw|get_end)\( ?SYS_[a-z0-9_]+' "$T/source" | sed 's/.*SYS_//' | sort -u >"$T/made"
sed -n 's/^\tX(\([a-z0-9_]*\), .*/\1/p' "$srcdir/src/wire/calls.h" | sort >"$T/listed"
ok "system calls are found in the source" test "$(wc -l <"$T/made")" -gt 30
is "each system call of the agent is in src/wire/calls.h" "$(comm -23 "$T/made" "$T/listed" | tr '\n' ' ')" ""
is "and all that is listed is made (the kernel's trampoline makes rt_sigreturn)" \
	"$(comm -13 "$T/made" "$T/listed" | tr '\n' ' ')" "rt_sigreturn "
is "none is made without raw(), but for exit in the child that tries them" \
	"$(grep -rlE 'raw_syscall\(|__asm__.*"(syscall|svc)|[^_a-z]syscall\(' "$srcdir/src/sampler" "$srcdir/src/walk" | sed 's,.*/,,' | sort | tr '\n' ' ')" "calls.c raw.c raw.h "
done_testing
