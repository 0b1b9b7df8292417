#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A JVM that waits for a safepoint executes no VM calls. Sessions end regardless, and nothing of them remains once the
# safepoint is reached.
. "$(dirname "$0")/../jvm/lib.sh"
. "$(dirname "$0")/lib.sh"

CLASSES=$builddir/tests/sampler/classes
ROUNDS=2000000000 # of about 5 ns and more

over() {
	grep -q '^over' "$JVM_OUT"
}

# released PID: only the thread that waits for a VM call remains of the session
released() {
	# shellcheck disable=SC2046
	! ls -l "/proc/$1/fd" $(agent_fds "$1") 2>/dev/null | grep -qE 'memfd:jhot-|\[perf_event\]' &&
		! cat "/proc/$1"/task/*/comm 2>/dev/null | grep '^jhot' | grep -qvx 'jhot names'
}

jvm_start -XX:+IgnoreUnrecognizedVMOptions -XX:-UseCountedLoopSafepoints -XX:LoopStripMiningIter=0 -XX:-TieredCompilation \
	-XX:+UseSerialGC -Xmx64m Stuck $ROUNDS
"$JHOT" record -e cpu,alloc -d 300 -o "$T/both.collapsed" "$JVM" >"$T/out" 2>"$T/err" </dev/null &
BOTH=$!
wait_for 20 has_samples "$JVM" 1
echo x >&"$JVM_IN"
ok "the JVM waits for a safepoint" wait_for 60 grep -q '^stuck' "$JVM_OUT"

# The front end is killed: the lease expires without a VM call.
kill -KILL $BOTH
wait $BOTH 2>/dev/null || [ $? = 137 ] || diag_file "$T/err"
ok "an orphaned session ends although the JVM executes no VM calls" wait_for 30 released "$JVM"
ok "the JVM still waits for the safepoint when the session has ended" not over

ok "the safepoint is reached" wait_for 300 over
becomes_quiet "nothing remains of the session after the safepoint" "$JVM"
ok "a session after the safepoint works" "$JHOT" record -e alloc=16k -d 0.5 -o "$T/next.collapsed" "$JVM" 2>"$T/err"
becomes_quiet "sampling ends after the second session" "$JVM"
jvm_end
is "the JVM exits with 0" $? 0
done_testing
