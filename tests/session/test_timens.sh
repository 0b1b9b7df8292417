#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A JVM in a time namespace whose monotonic clock is ahead of or behind the host's is profiled like any other.
. "$(dirname "$0")/../jvm/lib.sh"

unshare --time --fork --monotonic 1000 --boottime 1000 true 2>/dev/null ||
	skip_all "time namespaces cannot be created here"

# seconds: the length of the last screen's window
seconds() {
	sed -n 's/^ last \([0-9]*\)s (window .*/\1/p' "$T/out" | tail -n 1
}

for ahead in 100000 -50; do
	JVM_AS="unshare --time --fork --monotonic $ahead --boottime $ahead --" jvm_start $CALM_JVM Known shares
	outside=$JVM
	jvm=$(pgrep -P "$outside")
	"$JHOT" top -b -n 9 -d 1 "$jvm" >"$T/out" 2>"$T/err" </dev/null
	is "monotonic clock $ahead s ahead: top -b exits with 0" $? 0
	is "monotonic clock $ahead s ahead: top -b prints nine screens" "$(grep -c '^ jhot [0-9]' "$T/out")" 9
	ok "monotonic clock $ahead s ahead: the windows of screens advance" [ "$(seconds)" -ge 2 ] || diag_file "$T/out"
	"$JHOT" record -d 2 -o "$T/a.jhot" "$jvm" >"$T/out" 2>"$T/err" </dev/null
	is "monotonic clock $ahead s ahead: record exits with 0" $? 0
	took=$(sed -n 's/^cpu.* every 10 ms, \([0-9]*\)\.[0-9] s: .*/\1/p' "$T/err")
	ok "monotonic clock $ahead s ahead: the recording's duration is plausible" [ "${took:-0}" -ge 1 -a "${took:-0}" -le 60 ] || diag_file "$T/err"
	"$JHOT" convert -o "$T/a.collapsed" "$T/a.jhot" >"$T/out" 2>"$T/again"
	is "monotonic clock $ahead s ahead: convert prints the same duration as record" "$(sed -n 's/^\(cpu.*\) s: .*/\1/p' "$T/again")" "$(sed -n 's/^\(cpu.*\) s: .*/\1/p' "$T/err")"
	rm "$T/a.jhot"
	jvm_end "$outside"
done
done_testing
