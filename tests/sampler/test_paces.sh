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
# The first interval counts. On a busy machine a session may cost less than any budget.
ok "intervals change more than twice per session" [ $all -gt $((2 * sessions)) ]
done_testing
