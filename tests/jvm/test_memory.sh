#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Memory that a session with all four events adds to the JVM, during the session and after it, as counted by the kernel.
. "$(dirname "$0")/lib.sh"

LIMIT_KB=8192
# JDK 8 tells of allocations only with symbols of libjvm.
events=cpu,alloc,lock,wall
[ "$(java_major "$JAVA")" -ge 11 ] || events=cpu,lock,wall

exact_rss_kb() {
	awk '/^Rss:/ { sum += $2 } END { print sum + 0 }' "/proc/$1/smaps"
}

# The heap is all there from the start, so that it does not grow meanwhile.
jvm_start -Xmx64m -Xms64m -XX:+AlwaysPreTouch States
"$JHOT" record -e "$events" -d 2 -o "$T/first.collapsed" "$JVM" >"$T/out" 2>"$T/err" </dev/null
becomes_quiet "a first session brings what stays" "$JVM"
before=$(exact_rss_kb "$JVM")
record_start -e "$events" -d 60 -o "$T/x.collapsed"
ok "another one samples" wait_for 30 has_samples "$JVM" 300 || diag_file "$T/err"
during=$(exact_rss_kb "$JVM")
diag "$((during - before)) kB"
ok "it takes something" [ $((during - before)) -gt 500 ]
ok "and no more than $LIMIT_KB kB" [ $((during - before)) -le $LIMIT_KB ] || awk '/-/ { at = $0 } /^Rss:/ && $2 > 400 { print "# " $2, at }' "/proc/$JVM/smaps"
record_end
becomes_quiet "it ends" "$JVM"
after=$(exact_rss_kb "$JVM")
diag "$((after - before)) kB"
ok "and gives it back" [ $((after - before)) -le 2048 ]
jvm_end
done_testing
