#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Stacks whose tops are in libraries without frame pointers reach Java by unwind rows, and not without them.
. "$(dirname "$0")/../jvm/lib.sh"

tool=$builddir/tests/sampler/agent_tool
agent=$builddir/libjhot.so

# tops FILE: samples of the thread with a native leaf: all of them, those that reach nativeTop
tops() {
	awk '/^\[native-tops\]/ {
		n = $NF; sub(/ [0-9]+$/, ""); k = split($0, f, ";")
		leaf = f[k] ~ /^\[(break|unknown)/ ? f[k - 1] : f[k]
		if (leaf !~ /^lib(z|m|c|c-[0-9.]+)\.so/) next
		all += n
		if (/Native\.nativeTop/) reach += n
	} END { print all + 0, reach + 0 }' "$1"
}

# value FILE KEY
value() {
	sed -n "s/^$2 //p" "$1"
}

# counted_breaks FILE: what the agent's counters of broken walks add up to
counted_breaks() {
	awk '$1 == "counter" && $2 ~ /^(break_|unknown)/ { n += $3 } END { print n + 0 }' "$1"
}

# broken_stacks FILE: samples whose stack says why it ends
broken_stacks() {
	awk '/(^|;)\[(break_|unknown)/ { n += $NF } END { print n + 0 }' "$1"
}

at_least() { # PART WHOLE PER-MILLE
	[ $(($1 * 1000)) -ge $(($2 * $3)) ]
}

jvm_start $CALM_JVM Native
for rows in 0 2; do
	"$tool" "$JVM" "$agent" token=rows$rows seconds=60 samples=3000 interval=1000000 rows=$rows \
		stacks="$T/stacks$rows" >"$T/out$rows" 2>&1
	is "a session with rows=$rows ends well" $? 0 || diag_file "$T/out$rows"
	read -r all reach <<<"$(tops "$T/stacks$rows")"
	diag "rows=$rows: $reach of $all native tops reach Java; broken $(value "$T/out$rows" broken_pct) %," \
		"$(value "$T/out$rows" cost_us) us a sample, $(value "$T/out$rows" rows_kb) kB of rows for" \
		"$(value "$T/out$rows" rows_modules) modules"
	is "rows=$rows: each broken stack is counted under its reason" "$(counted_breaks "$T/out$rows")" \
		"$(broken_stacks "$T/stacks$rows")"
	[ $rows != 0 ] || frame_pointers=$((all - reach))
done
ok "there are such tops" [ "$all" -ge 200 ]
ok "by rows they reach Java" at_least "$reach" "$all" 995
ok "what is no rows is refused" [ "$(value "$T/out2" junk_taken)" = 0 ]
ok "every module's rows find room" [ "$(value "$T/out2" rows_no_room)" = 0 ]
ok "and none is left without" [ "$(value "$T/out2" rows_without)" = 0 ] ||
	diag "$(value "$T/out2" rows_note)"
if [ "$(java_major "$JAVA")" -lt 21 ]; then
	ok "frame pointers alone lose some" [ "$frame_pointers" -gt 0 ]
fi
ok "the JVM ends by itself" jvm_end
done_testing
