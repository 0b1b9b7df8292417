#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The CPU budget of sampling: intervals grow when it is exceeded, weights stay right, the change is reported; and
# which threads are sampled.
. "$(dirname "$0")/../jvm/lib.sh"
. "$(dirname "$0")/lib.sh"

jvm_start Known threads 1
before=$(cpu_ms)
ok "a session with a budget of 5 ‰ of a core runs" agent event=cpu:100000 budget=5 seconds=4
after=$(cpu_ms)
interval=$(of_event cpu interval)
weight=$(value weight_ms)
diag "$(of_event cpu samples) samples, every $interval ns at the end; $weight ms sampled, $((after - before)) ms used"
ok "the interval grows when the budget is exceeded" [ "$interval" -gt 100000 ]
# The tool prints the last note: an interval was lengthened, or none can be lengthened further
NOTES='^note sampl(ed every .*, not .*: it cost|ing costs .*, over its budget)'
ok "a note reports the longer interval" grep -qE "$NOTES" "$T/tool" || diag_file "$T/tool"
ok "the sampled time is at most the JVM's CPU time" [ "$weight" -le $((after - before + 200)) ]
ok "the sampled time is at least 80 % of the JVM's CPU time" [ "$weight" -ge $(((after - before) * 8 / 10 - 300)) ]
ok "every sample arrives or is counted as lost" accounted
known

ok "a session with a budget of a whole core runs" agent event=cpu:10000000 budget=1000 samples=100 seconds=60
is "the interval stays as requested within the budget" "$(of_event cpu interval)" 10000000
is "no note appears within the budget" "$(value note)" ""

# The default budget, exceeded by far: cpu stays at 20 Hz, wall at 2 Hz. One busy thread alone may cost less than 1 ‰ of a core.
jvm_end
jvm_start Known threads 3
ok "a session that exceeds the default budget runs" agent event=cpu event=wall budget_default=1 seconds=8
ok "the default budget samples cpu at least every 50 ms" [ "$(of_event cpu interval)" -gt 10000000 -a "$(of_event cpu interval)" -le 50000000 ]
ok "the default budget samples wall at least every 500 ms" [ "$(of_event wall interval)" -gt 50000000 -a "$(of_event wall interval)" -le 500000000 ]
ok "a note reports that the default budget is exceeded" grep -qE "$NOTES" "$T/tool" || diag_file "$T/tool"

# --- an interval set by -i is kept, unless --budget is set as well; output files have the weight of each sample
every() {
	sed -n 's/^cpu[a-z/]* every \(.*\), [0-9.]* s: .*/\1/p' "$T/err"
}
sum_of() {
	awk '{ sum += $NF } END { printf "%.0f\n", sum }' "$1"
}
"$JHOT" record -i 100us -d 4 -o "$T/kept.collapsed" "$JVM" 2>"$T/err" || diag_file "$T/err"
is "an interval set by -i is kept without --budget" "$(every)" "100 us"
"$JHOT" record -i 100us --budget 0.5% -d 4 -o "$T/raw.jhot" -o "$T/grown.collapsed" "$JVM" 2>"$T/err" ||
	diag_file "$T/err"
ok "--budget lengthens an interval set by -i, and the summary shows both: $(every)" \
	grep -qE '^cpu[a-z/]* every 100 us to [0-9.]+ (us|ms), ' "$T/err"
"$JHOT" convert --total -o "$T/ns.collapsed" "$T/raw.jhot" 2>"$T/err" || diag_file "$T/err"
diag "$(sum_of "$T/grown.collapsed") samples' worth, $(sum_of "$T/ns.collapsed") ns"
is "the weights of samples add up to the same in .collapsed and in nanoseconds" "$((($(sum_of "$T/ns.collapsed") + 50000) / 100000))" "$(sum_of "$T/grown.collapsed")"
jvm_end

jvm_start States
for event in wall:20000000 cpu:1000000; do
	ok "a session with a thread filter runs, $event" agent "event=$event" 'threads=st-b*|*reader' samples=100 seconds=60 states=1 stacks="$T/stacks"
	is "threads that do not match the filter are not sampled, $event" "$(sed 's/^\[\([^]]*\)\].*/\1/' "$T/stacks" | sort -u |
		grep -vxE 'st-busy|st-blocked|st-reader')" ""
	ok "threads that match the filter are sampled, $event" grep -q '^\[st-busy\]' "$T/stacks"
done
jvm_end
done_testing
