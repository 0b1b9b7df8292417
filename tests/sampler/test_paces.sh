#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Weights while the interval changes: a budget that swings between little and a whole core lengthens the interval up
# to 256 times and shortens it again, step by step. The sampled total stays the CPU time that the process used.
. "$(dirname "$0")/../jvm/lib.sh"
. "$(dirname "$0")/lib.sh"

sessions=0 all=0

# swings THREADS INTERVAL ENGINE: a session of four swings; the engine is a number of enum wire_engine
swings() {
	local description="$1 threads, from $(($2 / 1000)) us, engine $3" used weight changes
	ok "$description: a session with a swinging budget runs" agent budget=1 swing=3 seconds=12 event=cpu:$2 engine=$3 || diag_file "$T/tool.err"
	used=$(value used_ms) weight=$(value weight_ms) changes=$(of_event cpu changes)
	diag "$description: $changes intervals, $weight ms sampled of $used ms"
	sessions=$((sessions + 1)) all=$((all + ${changes:-0}))
	# A thread that waits for a core at the end has not handled its last signal, so up to a time slice may be missing.
	ok "$description: the sampled time is within 5 % of the CPU time used" close_to "$weight" "$used" 5 $(($1 * 10))
	is "$description: no walk lacked a buffer" "$(value unknown_busy)" 0
}

for threads in 1 8 64; do
	jvm_start Known threads $threads
	for interval in 100000 1000000; do
		swings $threads $interval 2
	done
	[ "$threads" != 8 ] || [ "$(id -u)" != 0 ] || swings 8 100000 1
	jvm_end
done
# Threads with few samples each: what is lost before the first sample and after the last one counts for each of them.
CLASSES=$CLASSES:$builddir/tests/sampler/classes
jvm_start Equal 96 50000
agent_begin event=cpu:10000000 engine=2 seconds=200 weights="$T/weights"
echo go >&"$JVM_IN"
wait_for 120 grep -q '^done' "$JVM_OUT"
agent_end
used=$(awk '/^done/ { printf "%.0f", $2 }' "$JVM_OUT")
got=$(awk '/Equal\.body/ { sum += $NF } END { printf "%.0f", sum }' "$T/weights")
diag "96 threads of 50 ms: $got of $used ns"
ok "96 threads of 50 ms on CPU timers: the sampled time is within 6 % of the program's" close_to "$got" "$used" 6
jvm_end
# The first interval counts. On a busy machine a session may cost less than any budget.
ok "intervals change more than twice per session" [ $all -gt $((2 * sessions)) ]
done_testing
