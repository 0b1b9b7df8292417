#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Which engine is used, and that a fallback reports why.
. "$(dirname "$0")/../jvm/lib.sh"
. "$(dirname "$0")/lib.sh"

# measured DESCRIPTION KEY=VALUE...: sampled time compared with the process's CPU time
measured() {
	local description=$1 before after weight
	shift
	before=$(cpu_ms)
	agent "$@" || diag_file "$T/tool.err"
	after=$(cpu_ms)
	weight=$(value weight_ms)
	diag "CPU time $((after - before)) ms around it, sampled $weight ms by engine $(value engine)"
	ok "$description: the sampled time is at most the CPU time used" [ "$weight" -le $((after - before + 200)) ]
	ok "$description: the sampled time is at least 80 % of it" \
		[ "$weight" -ge $(((after - before) * 8 / 10 - 300)) ]
}

# --- as root
if [ "$(id -u)" = 0 ]; then
	jvm_start Known threads 1
	measured "perf_events" seconds=60 samples=100
	ok "at least two publications were sent when half of a buffer was full" [ "$(value halves)" -ge 2 ]
	is "perf_events are the engine without a note" "$(value engine) $(value engine_note)" "1 "
	jvm_end
else
	skip "engine perf_events for root" "not root"
fi

# --- as a user without perf_events
paranoid=$(cat /proc/sys/kernel/perf_event_paranoid 2>/dev/null || echo 9)
if [ "$(id -u)" = 0 ] && [ "$paranoid" -ge 2 ] &&
	setpriv --reuid 65534 --regid 65534 --clear-groups "$JAVA" -version 2>/dev/null; then
	chmod 777 "$T"
	JVM_AS="setpriv --reuid 65534 --regid 65534 --clear-groups --pdeathsig KILL" jvm_start Known threads 1
	measured "CPU timers" seconds=60 samples=100
	is "CPU timers are the engine for a user without perf_events" "$(value engine)" 2
	ok "the note has the reason for CPU timers and what they lack" \
		grep -qx 'engine_note no perf_events: EACCES (kernel.perf_event_paranoid): no kernel frames' "$T/tool"
	measured "CPU timers at 1 ms, below their resolution" seconds=60 samples=1000 interval=1000000
	jvm_end
else
	skip "engine CPU timers for another user" "needs root and a kernel with perf_event_paranoid >= 2"
fi

# --- user time only, kernel time only: writes to /dev/null spend time in both
jvm_start Counts
echo "write 100000000" >&"$JVM_IN"
ok "a session of user time only runs" agent flags=2 interval=1000000 samples=100 seconds=60
is "a session of user time only has no kernel samples" "$(value kernel_pct)" 0.00
if [ "$(id -u)" = 0 ]; then
	ok "a session of kernel time only runs" agent flags=4 interval=1000000 samples=100 seconds=60
	ok "a session of kernel time only has at least 99 % kernel samples ($(value kernel_pct) %)" awk -v p="$(value kernel_pct)" 'BEGIN { exit p < 99 }'
else
	skip "a session of kernel time only runs" "not root"
	skip "a session of kernel time only has at least 99 % kernel samples" "not root"
fi

# --- a low limit of descriptors, which applies to the agent's own table as well
JVM_AS="prlimit --nofile=60:60" jvm_start Known threads 64
ok "a session runs in a JVM with few descriptors" agent seconds=30 samples=50
ok "some threads use CPU timers when descriptors are short" \
	[ "$(value timer_threads)" -gt 0 -o "$(value engine)" = 2 ]
ok "a note says that descriptors are short" [ -n "$(value engine_note)" ]
ok "every sample arrives or is counted as lost when descriptors are short" accounted
jvm_end

# --- near the limit of descriptors: the agent leaves the rest to the target
open_all() { # N COMMAND...: runs the command with N more descriptors open, of 500
	local n=$1
	shift
	while [ $((n--)) -gt 0 ]; do exec {fd}</dev/null; done
	exec prlimit --nofile=500:500 "$@"
}
JVM_AS="open_all 380" jvm_start Known threads 64
fds=$(count_of "$JVM" fd)
agent seconds=30 samples=50 &
used=0
while kill -0 $! 2>/dev/null; do
	now=$(count_of "$JVM" fd)
	[ "$now" -le $used ] || used=$now
done
wait $!
diag "of $((500 - fds)) descriptors that were left a session of 64 threads had up to $((used - fds))"
ok "a session uses at most 4 of the target's descriptors, those of attaching" [ $((used - fds)) -le 4 ]
jvm_end

# --- an interval below the engine's minimum, which engines with a thread of their own report as well
jvm_start Known threads 1
ok "a session with wall at 100 us runs" agent event=wall:100000 samples=10 seconds=60
is "wall is sampled every 1 ms, and a note says so" "$(value engine_note)" "every 1 ms, not 100 us: wall clock cannot sample faster"
jvm_end
done_testing
