#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A JVM in a time namespace whose monotonic clock is ahead of or behind the host's is profiled like any other.
. "$(dirname "$0")/../jvm/lib.sh"

unshare --time --fork --monotonic 1000 --boottime 1000 true 2>/dev/null ||
	skip_all "time namespaces cannot be made here"

# seconds: how far the last screen's window has come
seconds() {
	sed -n 's/^ last \([0-9]*\)s (window .*/\1/p' "$T/out" | tail -n 1
}

for ahead in 100000 -50; do
	JVM_AS="unshare --time --fork --monotonic $ahead --boottime $ahead --" jvm_start $CALM_JVM Known shares
	outside=$JVM
	jvm=$(pgrep -P "$outside")
	"$JHOT" top -b -n 9 -d 1 "$jvm" >"$T/out" 2>"$T/err" </dev/null
	is "$ahead s ahead: watched" $? 0
	is "nine screens" "$(grep -c '^ jhot [0-9]' "$T/out")" 9
	ok "its seconds pass one by one" [ "$(seconds)" -ge 2 ] || diag_file "$T/out"
	"$JHOT" record -d 2 -o "$T/a.jhot" "$jvm" >"$T/out" 2>"$T/err" </dev/null
	is "and recorded" $? 0
	took=$(sed -n 's/^cpu.* every 10 ms, \([0-9]*\)\.[0-9] s: .*/\1/p' "$T/err")
	ok "for the time that it took" [ "${took:-0}" -ge 1 -a "${took:-0}" -le 60 ] || diag_file "$T/err"
	"$JHOT" convert -o "$T/a.collapsed" "$T/a.jhot" >"$T/out" 2>"$T/again"
	is "of which the recording knows, too" "$(sed -n 's/^\(cpu.*\) s: .*/\1/p' "$T/again")" "$(sed -n 's/^\(cpu.*\) s: .*/\1/p' "$T/err")"
	rm "$T/a.jhot"
	jvm_end "$outside"
done
done_testing
