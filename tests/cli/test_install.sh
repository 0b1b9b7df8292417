#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The installed tree: installed with DESTDIR, then moved and renamed; stripped by install-strip only.
. "${srcdir:-.}/tests/jvm/lib.sh"

# put TARGET FOLDER
put() {
	env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -C "$builddir" -s "$1" prefix="$2" >"$T/log" 2>&1
}

# has_names FILE: it has a symbol table, which strip removes
has_names() {
	readelf -SW "$1" | grep -q ' \.symtab '
}

# works PROGRAM: it samples the JVM and writes a file
works() {
	local JHOT=$1 sampled=1
	rm -f "$T/x.collapsed"
	record_start -d 600 -o "$T/x.collapsed"
	wait_for 60 has_samples "$JVM" 1 && sampled=0
	record_end && [ $sampled = 0 ] && [ -s "$T/x.collapsed" ]
}

ok "make install succeeds" put install "$T/there" || diag_file "$T/log"
if has_names "$builddir/jhot"; then
	ok "make install does not strip jhot" has_names "$T/there/bin/jhot"
fi
is "jhot is the only executable or library that make install installs" "$(find "$T/there" -type f \( -perm -100 -o -name '*.so*' \))" "$T/there/bin/jhot"
mv "$T/there/bin/jhot" "$T/renamed"
rm -r "$T/there"
jvm_start Known shares
ok "the installed jhot works after it is moved and renamed" works "$T/renamed" || diag_file "$T/err"
jvm_end
ok "make install-strip succeeds" put install-strip "$T/bare" || diag_file "$T/log"
ok "make install-strip strips jhot" not has_names "$T/bare/bin/jhot"
done_testing
