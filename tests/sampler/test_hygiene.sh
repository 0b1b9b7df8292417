#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What remains in the target after many sessions: the mapped agent and inert handlers, nothing that grows.
. "$(dirname "$0")/../jvm/lib.sh"
. "$(dirname "$0")/lib.sh"

CYCLES=${CYCLES:-100}
WARM=10
EVENTS="event=cpu:1000000 event=wall:5000000"
[ "$(id -u)" != 0 ] || EVENTS="$EVENTS event=perf/1/2" # page faults

# data_kb PID: private writable memory, which includes the agent's; the heap's size is fixed
data_kb() {
	awk '/^VmData:/ { print $2 }' "/proc/$1/status"
}

jvm_start $CALM_JVM -Xms64m -XX:+AlwaysPreTouch Known threads 2
jvm_warm_attach "$JVM"
bad=0
for ((i = 0; i < WARM; i++)); do agent $EVENTS samples=30 seconds=30 || bad=$((bad + 1)); done
wait_for 20 quiet "$JVM"
litter "$JVM" >"$T/before"
rss=$(rss_kb "$JVM")
data=$(data_kb "$JVM")
for ((; i < CYCLES; i++)); do agent $EVENTS samples=30 seconds=30 || bad=$((bad + 1)); done
is "all $CYCLES sessions succeed" $bad 0
becomes_quiet "sampling ends after the last session" "$JVM"
litter "$JVM" >"$T/after"
same "descriptors, threads, mappings, timers and handlers are the same after $CYCLES sessions" "$T/after" "$T/before"
mapped=$(($(data_kb "$JVM") - data))
ok "private writable memory grows by less than 4 MB over $CYCLES sessions ($mapped kB)" [ $mapped -lt 4096 ]
grown=$(($(rss_kb "$JVM") - rss))
diag "resident memory: $rss kB after $WARM sessions, $grown kB more after $CYCLES"
ok "resident memory grows by less than 20 kB per session" [ $grown -lt $(((CYCLES - WARM) * 20)) ]

# The engines' signal: a late one still finds a handler, and if somebody has removed the handler, the default action of
# SIGURG is to ignore it.
kill -URG "$JVM"
ok "a SIGURG after the last session does not kill the JVM" alive "$JVM"
jvm_end
is "the JVM writes only its own lines to stdout" "$(sed 's/^sum .*/sum/' "$JVM_OUT" | tr '\n' ' ')" "ready sum "
done_testing
