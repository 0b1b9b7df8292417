#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The test library itself: that programs start and end, that sums are checked, that litter is seen.
. "$(dirname "$0")/lib.sh"

ok "a JVM starts" jvm_start $CALM_JVM Known shares
first=$JVM
is "it says so" "$(cat "$JVM_OUT")" ready
jvm_warm_attach "$JVM"
litter "$JVM" >"$T/before"
ok "litter lists threads" grep -q '^task VM Thread' "$T/before"
ok "litter lists files" grep -q '^map .*libjvm.so' "$T/before"
ok "litter lists signal dispositions" grep -q '^SigCgt:' "$T/before"

echo run on >&"$JVM_IN"
sleep 0.2 # nothing to await: this is the wait for nothing to happen
litter "$JVM" >"$T/after"
same "a JVM left alone has no litter" "$T/after" "$T/before"

first_out=$JVM_OUT
ok "a second JVM starts beside it" jvm_start Known deep 50
ok "the first is alive" alive "$first"
ok "the second ends when told" jvm_end
ok "it printed its sum" grep -q '^sum ' "$JVM_OUT"
ok "the first ends when told" jvm_end "$first"
ok "and printed its sum" grep -q '^sum ' "$first_out"
ok "nobody found a wrong sum" not grep -q WRONG "$T"/jvm*.out

ok "a program that will exit by itself starts" jvm_start Known idle
jvm_halt
wait_for 30 gone "$JVM"
wait "$JVM"
is "its exit status is seen" $? 7

for mode in "threads 3" "zip" "churn 2" "idle"; do
	ok "mode $mode starts" jvm_start Known $mode
	ok "mode $mode ends" jvm_end
done

ok "there is a JDK" [ -n "$(jdks)" ]
jdks | sed 's/^/# /'
ok "waiting gives up" not wait_for 0 false
done_testing
