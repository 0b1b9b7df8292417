#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A JVM that waits for a safepoint that is never reached executes no VM calls. Sessions begin, sample and end
# regardless, and nothing of them is left once it continues.
. "$(dirname "$0")/../jvm/lib.sh"
. "$(dirname "$0")/lib.sh"

CLASSES=$builddir/tests/sampler/classes
ROUNDS=2000000000 # of about 5 ns and more

over() {
	grep -q '^over' "$JVM_OUT"
}

# released PID: of the session only the thread is left that the JVM holds
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
ok "the JVM comes to wait for a safepoint" wait_for 60 grep -q '^stuck' "$JVM_OUT"

# its front end is gone: the lease ends, though the JVM cannot be told to
kill -KILL $BOTH
wait $BOTH 2>/dev/null || [ $? = 137 ] || diag_file "$T/err"
ok "a session whose front end is gone ends" wait_for 30 released "$JVM"
ok "while the JVM lets nobody in" not over

ok "the safepoint comes" wait_for 300 over
becomes_quiet "and nothing is left of the session" "$JVM"
ok "the next session works" "$JHOT" record -e alloc=16k -d 0.5 -o "$T/next.collapsed" "$JVM" 2>"$T/err"
becomes_quiet "and ends" "$JVM"
jvm_end
is "the JVM ends as it should" $? 0
done_testing
