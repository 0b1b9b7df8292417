#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# One of the agent's threads is stopped, as by a debugger. The session ends without it, and a new session works.
. "$(dirname "$0")/../jvm/lib.sh"
. "$(dirname "$0")/lib.sh"

# thread_of NAME: its tid in $JVM
thread_of() {
	grep -lx "$1" "/proc/$JVM"/task/*/comm 2>/dev/null | head -n 1 | cut -d / -f 5
}

# stop NAME: stops that thread until release
stop() {
	mkfifo "$T/held.in" 2>/dev/null
	rm -f "$T/inside"
	"$builddir/tests/sampler/stop_inside" "$(thread_of "$1")" <"$T/held.in" >"$T/inside" &
	STOPPER=$!
	exec {hold}>"$T/held.in"
	wait_for 20 eval 'grep -qs inside "$T/inside" || gone $STOPPER'
	grep -qs inside "$T/inside"
}

release() {
	exec {hold}>&-
	wait $STOPPER
}

# remains NAME: the thread NAME is the only one of the agent's threads
remains() {
	[ "$(cat "/proc/$JVM"/task/*/comm 2>/dev/null | grep '^jhot')" = "$1" ]
}

jvm_start Known threads 2
for event in wall lock; do
	"$JHOT" record -e cpu,wall,lock -d 300 -o "$T/$event.jhot" "$JVM" >"$T/out" 2>"$T/err" </dev/null &
	RECORD=$!
	wait_for 20 has_samples "$JVM" 20
	wait_for 20 eval '[ -n "$(thread_of "jhot '$event'")" ]'
	stop "jhot $event" || { skip "a stopped thread" "tracing is not permitted"; continue; }
	"$JHOT" stop "$JVM" >"$T/said" 2>&1
	ok "a session ends while \"jhot $event\" is stopped" wait_for 20 gone $RECORD
	ok "only the thread \"jhot $event\" remains of the session" wait_for 20 remains "jhot $event"
	ok "a new session runs while \"jhot $event\" is stopped" "$JHOT" record -e cpu,wall,lock -d 0.5 -o "$T/next.jhot" "$JVM" 2>"$T/err" ||
		diag_file "$T/err"
	release
	becomes_quiet "the thread \"jhot $event\" ends once it continues" "$JVM"
done
jvm_end
is "the JVM exits with 0" $? 0
done_testing
