#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What an attach costs: the time of a cold and of a warm load, and the pause that it makes in the JVM.
#
#   usage: [RUNS=20] [JAVA=java] [AGENT=libjhot.so] tests/bench/attach_cost.sh       in the build folder
#
# Cold: a JVM that was never attached, from the start of a command to the agent's return from
# Agent_OnAttach; this has a process to start and the JVM to look at in it, but not the first sample (make
# bench has that). Warm: the same again. Pause: the JVM stops at a safepoint every millisecond and logs each.
# The longest that fell into the load is set against the longest in as much time before it, because a busy
# machine makes long ones of its own.
. "$(dirname "$0")/../jvm/lib.sh"

RUNS=${RUNS:-20}
AGENT=${AGENT:-$builddir/libjhot.so}
tool=$builddir/tests/attach/attach_tool
[ -e "$AGENT" ] || { echo "no $AGENT: make it first" >&2; exit 2; }

now_us() {
	local t=${EPOCHREALTIME/[.,]/}
	echo "$t"
}

# load N: microseconds of one load, the session's name being N
load() {
	local start
	start=$(now_us)
	"$tool" load "$JVM" "$AGENT" "token=bench$1" >/dev/null || exit 1
	echo $(($(now_us) - start))
}

# pauses LOG FROM_MS TO_MS: the longest safepoint, in microseconds, that ended in this time of the JVM's clock
pauses() {
	awk -v from="$2" -v to="$3" '
		match($0, /\[[0-9]+ms\]/) {
			at = substr($0, RSTART + 1, RLENGTH - 4) + 0
			if (at < from || at > to || !match($0, /Total: +[0-9]+ ns/))
				next
			n++
			ns = substr($0, RSTART + 6, RLENGTH - 9) + 0
			if (ns > max)
				max = ns
		}
		END { printf "%d %d\n", max / 1000, n }' "$1"
}

median() {
	sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)], v[NR] }'
}

for ((run = 0; run < RUNS; run++)); do
	log=$T/safepoints$run
	jvm_start "-Xlog:safepoint*:file=$log:uptimemillis" -Xmx256m Stops || exit 1
	sleep 0.5 # of quiet before the load, to set its pauses against
	before=$(sed -n '$s/^\[\([0-9]*\)ms\].*/\1/p' "$log")
	load "cold$run" >>"$T/cold"
	after=$(sed -n '$s/^\[\([0-9]*\)ms\].*/\1/p' "$log")
	sleep 0.05 # the safepoint that waits for the load is logged when it is over
	read -r with count < <(pauses "$log" "$before" $((after + 50)))
	read -r without _ < <(pauses "$log" $((2 * before - after - 50)) "$before")
	load "warm$run" >>"$T/warm"
	echo "$with" >>"$T/with"
	echo "$without" >>"$T/without"
	[ "$count" -gt 0 ] || echo "# run $run: no safepoint fell into the load"
	jvm_end
done 2>/dev/null

printf '%-34s %10s %10s\n' "$RUNS JVMs, microseconds" median longest
for row in "cold:load into a JVM never attached" "warm:load again" "with:safepoint during the cold load" \
	"without:safepoint in as long before"; do
	# shellcheck disable=SC2046
	printf '%-34s %10d %10d\n' "${row#*:}" $(median <"$T/${row%%:*}")
done
