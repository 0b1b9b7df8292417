#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Memory that a session with all four events adds to the JVM, during the session and after it, as counted by the kernel.
. "$(dirname "$0")/lib.sh"

LIMIT_KB=8192
# JDK 8 reports allocations only if libjvm has symbols.
events=cpu,alloc,lock,wall
[ "$(java_major "$JAVA")" -ge 11 ] || events=cpu,lock,wall

exact_rss_kb() {
	awk '/^Rss:/ { sum += $2 } END { print sum + 0 }' "/proc/$1/smaps"
}

# The whole heap is touched at the start, so that it does not grow during the test.
jvm_start -Xmx64m -Xms64m -XX:+AlwaysPreTouch States
"$JHOT" record -e "$events" -d 2 -o "$T/first.collapsed" "$JVM" >"$T/out" 2>"$T/err" </dev/null
becomes_quiet "sampling ends after a first session" "$JVM"
before=$(exact_rss_kb "$JVM")
record_start -e "$events" -d 200 -o "$T/x.collapsed"
ok "a second session with the same events has 300 samples" wait_for 150 has_samples "$JVM" 300 || diag_file "$T/err"
during=$(exact_rss_kb "$JVM")
diag "$((during - before)) kB"
ok "the session adds more than 500 kB to the JVM" [ $((during - before)) -gt 500 ]
ok "the session adds at most $LIMIT_KB kB to the JVM" [ $((during - before)) -le $LIMIT_KB ] || awk '/-/ { at = $0 } /^Rss:/ && $2 > 400 { print "# " $2, at }' "/proc/$JVM/smaps"
record_end
becomes_quiet "sampling ends after the second session" "$JVM"
after=$(exact_rss_kb "$JVM")
diag "$((after - before)) kB"
ok "at most 2048 kB of the session's memory remain afterwards" [ $((after - before)) -le 2048 ]
jvm_end
done_testing
