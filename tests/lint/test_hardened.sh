#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The front end is built with the hardening flags that configure found the compiler to support.
. "$(dirname "$0")/../jvm/lib.sh"

command -v readelf >/dev/null || skip_all "no readelf"
flags() { # flags NAME: the variable's value in the Makefile
	sed -n "s/^$1 = *//p" "$builddir/Makefile"
}

for program in jhot packaging/jhot; do
	file=$builddir/$program
	[ -x "$file" ] || { skip "$program is hardened" "it is not built"; continue; }
	readelf -dlsW "$file" >"$T/elf" 2>/dev/null
	ok "$program is position-independent" grep -q 'FLAGS_1.*PIE' "$T/elf"
	ok "$program has read-only relocations" grep -q GNU_RELRO "$T/elf"
	ok "$program binds all symbols at start" grep -q 'FLAGS.*NOW' "$T/elf"
done
case "$(flags HARDEN_CFLAGS)" in
*stack-protector*) ok "jhot is built with the stack protector" grep -q __stack_chk_fail <(nm -D "$builddir/jhot") ;;
*) skip "jhot is built with the stack protector" "configure has not set it: $(flags SAN_FLAGS)" ;;
esac
case "$(flags HARDEN_CFLAGS)" in
*_FORTIFY_SOURCE*) ok "jhot is built with _FORTIFY_SOURCE" grep -q __snprintf_chk <(nm -D "$builddir/jhot") ;;
*) skip "jhot is built with _FORTIFY_SOURCE" "configure has not set it: another C library, no optimisation, or set by CFLAGS" ;;
esac
done_testing
