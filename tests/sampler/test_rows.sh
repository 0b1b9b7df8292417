#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Stacks whose tops are in libraries without frame pointers reach Java by unwind rows, and not without them.
. "$(dirname "$0")/../jvm/lib.sh"
. "$(dirname "$0")/lib.sh"

# tops FILE: the thread's samples with a native top frame: all of them, those that reach nativeTop
tops() {
	awk '/^\[native-tops\]/ {
		n = $NF; sub(/ [0-9]+$/, ""); k = split($0, f, ";")
		leaf = f[k] ~ /^\[(break|unknown)/ ? f[k - 1] : f[k]
		if (leaf !~ /^lib(z|m|c|c-[0-9.]+)\.so/) next
		all += n
		if (/Native\.nativeTop/) reach += n
	} END { print all + 0, reach + 0 }' "$1"
}

# counted_breaks FILE: the sum of the agent's counters of broken walks
counted_breaks() {
	awk '$1 == "counter" && $2 ~ /^(break_|unknown)/ { n += $3 } END { print n + 0 }' "$1"
}

# broken_stacks FILE: samples whose stack has a frame with the reason why it ends
broken_stacks() {
	awk '/(^|;)\[(break_|unknown)/ { n += $NF } END { print n + 0 }' "$1"
}

at_least() { # PART WHOLE PER-MILLE
	[ $(($1 * 1000)) -ge $(($2 * $3)) ]
}

jvm_start $CALM_JVM Native
for rows in 0 2; do
	"$TOOL" "$JVM" "$AGENT" token=rows$rows seconds=60 samples=3000 interval=1000000 rows=$rows \
		stacks="$T/stacks$rows" >"$T/out$rows" 2>&1
	is "a session with rows=$rows exits with 0" $? 0 || diag_file "$T/out$rows"
	read -r all reach <<<"$(tops "$T/stacks$rows")"
	diag "rows=$rows: $reach of $all native tops reach Java; broken $(value broken_pct "$T/out$rows") %," \
		"$(value cost_us "$T/out$rows") us a sample, $(value rows_kb "$T/out$rows") kB of rows for" \
		"$(value rows_modules "$T/out$rows") modules"
	is "rows=$rows: each broken stack is counted under its reason" "$(counted_breaks "$T/out$rows")" \
		"$(broken_stacks "$T/stacks$rows")"
	[ $rows != 0 ] || frame_pointers=$((all - reach))
done
ok "at least 200 samples have their top in a library without frame pointers" [ "$all" -ge 200 ]
ok "with unwind rows 99.5 % of them reach Java" at_least "$reach" "$all" 995
ok "the agent rejects rows that are invalid" [ "$(value junk_taken "$T/out2")" = 0 ]
ok "the rows of every module fit into the shared memory" [ "$(value rows_no_space "$T/out2")" = 0 ]
ok "no module is left without rows" [ "$(value rows_without "$T/out2")" = 0 ] ||
	diag "$(value rows_note "$T/out2")"
if [ "$(java_major "$JAVA")" -lt 21 ]; then
	ok "without rows some of them do not reach Java" [ "$frame_pointers" -gt 0 ]
fi
ok "the JVM ends on request" jvm_end
done_testing
