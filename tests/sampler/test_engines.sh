#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Which engine is used, and that a fallback reports why.
. "$(dirname "$0")/../jvm/lib.sh"
. "$(dirname "$0")/lib.sh"

# measured DESCRIPTION KEY=VALUE...: sampled time against the process's own
measured() {
	local description=$1 before after weight
	shift
	before=$(cpu_ms)
	agent "$@" || diag_file "$T/tool.err"
	after=$(cpu_ms)
	weight=$(value weight_ms)
	diag "CPU time $((after - before)) ms around it, sampled $weight ms by engine $(value engine)"
	ok "$description" [ "$weight" -le $((after - before + 200)) ]
	ok "$description, and not much less" \
		[ "$weight" -ge $(((after - before) * 8 / 10 - 300)) ]
}

# --- with all rights
if [ "$(id -u)" = 0 ]; then
	jvm_start Known threads 1
	measured "perf_events see the thread's CPU time" seconds=60 samples=100
	ok "publications tell what was sampled by half of them" [ "$(value halves)" -ge 2 ]
	is "perf_events are the engine" "$(value engine) $(value engine_note)" "1 "
	jvm_end
else
	skip "perf_events as root" "not root"
fi

# --- without: another user, whom the kernel shows nothing of itself
paranoid=$(cat /proc/sys/kernel/perf_event_paranoid 2>/dev/null || echo 9)
if [ "$(id -u)" = 0 ] && [ "$paranoid" -ge 2 ] &&
	setpriv --reuid 65534 --regid 65534 --clear-groups "$JAVA" -version 2>/dev/null; then
	chmod 777 "$T"
	JVM_AS="setpriv --reuid 65534 --regid 65534 --clear-groups --pdeathsig KILL" jvm_start Known threads 1
	measured "CPU timers see the thread's CPU time" seconds=60 samples=100
	is "CPU timers are the engine" "$(value engine)" 2
	ok "and it is said why, and what is missing" \
		grep -qx 'engine_note no perf_events: EACCES (kernel.perf_event_paranoid): no kernel frames' "$T/tool"
	measured "also at 1 ms, below the timers' resolution" seconds=60 samples=1000 interval=1000000
	jvm_end
else
	skip "CPU timers for another user" "needs root and a kernel with perf_event_paranoid >= 2"
fi

# --- only the program, only the kernel: writes to /dev/null spend their time in both
jvm_start Counts
echo "write 100000000" >&"$JVM_IN"
ok "only the program's time" agent flags=2 interval=1000000 samples=100 seconds=60
is "without the kernel's" "$(value kernel_pct)" 0.00
if [ "$(id -u)" = 0 ]; then
	ok "only the kernel's time" agent flags=4 interval=1000000 samples=100 seconds=60
	ok "nothing else ($(value kernel_pct) %)" awk -v p="$(value kernel_pct)" 'BEGIN { exit p < 99 }'
else
	skip "only the kernel's time" "not root"
	skip "nothing else" "not root"
fi

# --- few descriptors: the agent's table has as many as the program's
JVM_AS="prlimit --nofile=60:60" jvm_start Known threads 64
ok "a session works with few descriptors" agent seconds=30 samples=50
ok "part of the threads have a lesser engine" \
	[ "$(value timer_threads)" -gt 0 -o "$(value engine)" = 2 ]
ok "and it is said" [ -n "$(value engine_note)" ]
ok "nobody's sample is lost" accounted
jvm_end

# --- near its limit of descriptors: what is left is the target's
open_all() { # N COMMAND...: with so many descriptors open besides, of 500
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
ok "a session takes no descriptor but those of the attach itself" [ $((used - fds)) -le 4 ]
jvm_end

# --- more often than the engine can, which is told of engines with a thread of their own, too
jvm_start Known threads 1
ok "the wall clock at 100 us" agent event=wall:100000 samples=10 seconds=60
is "is at 1 ms, and that is said" "$(value engine_note)" "every 1 ms, not 100 us: wall clock cannot sample faster"
jvm_end
done_testing
