#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Programs that do everything that is dangerous under a profiler are sampled at the highest rate, on every installed JDK;
# they continue and compute correct results.
. "$(dirname "$0")/../jvm/lib.sh"
. "$(dirname "$0")/lib.sh"

SECONDS_EACH=${SECONDS_EACH:-4}
MODES=${MODES:-malloc dlopen pthread faults exec threads classes deep throwing}
[ -e "$builddir/tests/sampler/libhammer.so" ] || skip_all "no libhammer.so (make check builds it)"
HAMMER=$T/libs # readable for any user
CLASSES=$HAMMER/classes
mkdir "$HAMMER"
cp -r "$builddir"/tests/sampler/lib*.so "$builddir/tests/sampler/classes" "$HAMMER"
chmod -R a+rX "$HAMMER"

# hammer MAJOR KEY=VALUE...: one JVM, one session; USED_MS is the JVM's CPU time during the session
hammer() {
	local major=$1 status
	shift
	# shellcheck disable=SC2086
	jvm_start -Xmx256m Hammer "$HAMMER/libhammer.so" $MODES || return
	USED_MS=$(cpu_ms)
	ok "JDK $major: a session runs to its end" agent seconds="$SECONDS_EACH" "$@" ||
		diag_file "$T/tool.err"
	USED_MS=$(($(cpu_ms) - USED_MS))
	diag "$(grep -E '^(engine|samples|lost|broken_pct|cost_us|counter)' "$T/tool" | tr '\n' ' ')"
	ok "JDK $major: samples arrive" [ "$(value samples)" -gt 0 ]
	ok "JDK $major: every sample arrives or is counted as lost" accounted
	known
	jvm_end
	status=$?
	is "JDK $major: the program exits with 0" $status 0
	ok "JDK $major: the program computes the right sum" grep -qx 'sum 0' "$JVM_OUT" || diag_file "$JVM_OUT"
	is "JDK $major: the JVM writes nothing but JEP 451's warnings to stderr" "$(grep -v '^WARNING: ' "$JVM_ERR")" ""
}

own=$JAVA
while read -r major java; do
	JAVA=$java
	hammer "$major" event=cpu:1000000 event=wall:10000000 event=alloc:65536 event=lock
done < <(jdks_checked) # MAJORS="8 11 21": on these, too

# Threads that block our signals get none: their CPU time is charged to [blocks_signals], their wall time too.
JAVA=$own
MODES=blocked hammer "$(java_major "$JAVA")" event=cpu:1000000 event=wall:10000000
charged=$(awk '$1 == "event" && $2 == "cpu" { printf "%.0f", $6 / 1e6 }' "$T/tool")
diag "$charged ms in samples, $USED_MS ms used"
ok "threads that block signals are counted" [ "$(value blocks_signals)" -gt 0 ]
ok "samples include the CPU time of threads that block signals" between "$charged" $((USED_MS / 2)) "$USED_MS" 10
is "no sample of threads that block signals is late" "$(value late)" 0
# Each of the two would get a hundred signals a second; other threads may end before they handle theirs.
ok "the wall clock sends no signals to threads that block them" [ "$(value unanswered)" -lt 20 ]

# Threads that block all signals in short critical sections, as in pthread_create, are sampled; they do not count as
# threads that collect signals.
SECONDS_EACH=8 MODES=sections hammer "$(java_major "$JAVA")" event=cpu:1000000
is "threads with short critical sections are not counted as blocking signals" "$(value blocks_signals)" 0

# The other engine, for a user without perf_events.
JAVA=$own
other="setpriv --reuid 65534 --regid 65534 --clear-groups"
if [ "$(id -u)" = 0 ] && [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -ge 2 ] &&
	$other "$JAVA" -version 2>/dev/null; then
	JVM_AS="$other --pdeathsig KILL" hammer "$(java_major "$JAVA")" interval=1000000
	is "CPU timers are the engine for a user without perf_events" "$(value engine)" 2
else
	skip "the engine of CPU timers" "needs root and a kernel with perf_event_paranoid >= 2"
fi
done_testing
