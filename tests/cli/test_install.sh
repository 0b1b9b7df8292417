#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The installed tree: to a folder that is named only then, moved afterwards; stripped only by install-strip.
. "${srcdir:-.}/tests/jvm/lib.sh"

# put TARGET FOLDER
put() {
	env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -C "$builddir" -s "$1" prefix="$2" >"$T/log" 2>&1
}

# has_names FILE: a table of symbols that a program runs without
has_names() {
	readelf -SW "$1" | grep -q ' \.symtab '
}

# works PROGRAM: samples the JVM by an agent of its own folder
works() {
	"$1" record -d 0.3 -o "$T/x.collapsed" "$JVM" >"$T/out" 2>"$T/err" </dev/null && [ -s "$T/x.collapsed" ] &&
		grep -q "$T/moved/lib.*/jhot/libjhot-" "/proc/$JVM/maps"
}

ok "make install" put install "$T/there" || diag_file "$T/log"
if has_names "$builddir/jhot"; then
	ok "strips nothing" has_names "$T/there/bin/jhot"
	ok "nor the agent" has_names "$T"/there/lib*/jhot/libjhot.so
fi
mv "$T/there" "$T/moved"
jvm_start Known shares
ok "moved, it finds its agent" works "$T/moved/bin/jhot" || diag_file "$T/err"
jvm_end
ok "make install-strip" put install-strip "$T/bare" || diag_file "$T/log"
ok "strips" not has_names "$T/bare/bin/jhot"
ok "the agent, too" not has_names "$T"/bare/lib*/jhot/libjhot.so
done_testing
