#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Sessions of the agent: how they begin, what they tell, all the ways in which they end.
. "$(dirname "$0")/../jvm/lib.sh"
. "$(dirname "$0")/lib.sh"

# --- a profile that is known by construction
jvm_start Known shares
ok "a session works" agent samples=400 seconds=60 interval=2000000 stacks="$T/stacks" ||
	diag_file "$T/tool.err"
diag "$(grep -E '^(walker|engine|samples|broken_pct|cost_us)' "$T/tool" | tr '\n' ' ')"
is "the walker reads HotSpot's tables" "$(value walker)" vmstructs
ok "every sample is accounted for" accounted
known
all=$(weight "$T/stacks" 'Known\.')
near "knownSixty" "$(weight "$T/stacks" 'knownSixty')" "$all" 60
near "knownThirty" "$(weight "$T/stacks" 'knownThirty')" "$all" 30
near "knownTen" "$(weight "$T/stacks" 'knownTen')" "$all" 10
ok "threads have the names that the JVM gives them" grep -q '^\[known-' "$T/stacks"
ok "none is the agent's own" not grep -q '^\[jhot' "$T/stacks"

# --- options
bad() {
	"$builddir/tests/attach/attach_tool" load "$JVM" "$AGENT" "$1" 2>/dev/null
}
for options in "" token= token=UPPER take=1 token=a,take=2 token=a,what=1 \
	token=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; do
	is "options '$options' are refused" "$(bad "$options")" "result 200"
done
becomes_quiet "and start nothing" "$JVM"

# --- one front end at a time
agent_start first seconds=60 token=first
wait_for 20 grep -qs '^interval' "$T/first"
agent seconds=0 token=second
is "a second front end is refused" $? 101
ok "its result says busy" grep -qx 'load 201' "$T/tool"
ok "unless it takes over" agent seconds=60 samples=20 token=third take=1
wait $TOOL_PID
is "the first has been told" "$(value left_early "$T/first")" 1
ok "with all its samples" accounted "$T/first"

# --- endings
ok "a front end that falls silent ends the session" agent seconds=60 samples=20 leave=silent
becomes_quiet "nothing samples any more" "$JVM"
agent_start killed seconds=60
wait_for 20 grep -qs '^interval' "$T/killed"
ok "while it lives it samples" sampling "$JVM"
kill -KILL $TOOL_PID
wait $TOOL_PID 2>/dev/null
becomes_quiet "a front end that is killed ends it, too" "$JVM"
ok "and the next one begins" agent seconds=60 samples=20

# --- the fallback walker
ok "AsyncGetCallTrace walks, too" agent agct=1 samples=200 seconds=60 interval=2000000 stacks="$T/agct"
is "and is named" "$(value walker)" agct
known
is "most of its stacks are Known's" \
	"$(($(weight "$T/agct" 'Known\.known') * 100 / $(value samples) >= 60))" 1

# --- parked
ok "a session can be parked" agent seconds=3 park=1
is "the gap is told" "$(value gaps)" 1
ok "nothing is lost by it" accounted

# --- a reader that does not read
ok "the ring may run full" agent seconds=3 interval=100000 idle=1
ok "every sample arrives later, or is counted" accounted
known

# --- a thread that is still in the handler when the session ends: its sample comes, too
busiest() { # of the target's threads
	awk '{ match($0, /.*\) /); split(substr($0, RLENGTH), f, " "); print f[12], $1 }' "/proc/$JVM"/task/*/stat |
		sort -rn | sed -n '1s/.* //p'
}
clock_ended() {
	not grep -qsx 'jhot wall' "/proc/$JVM"/task/*/comm
}
thread=$(busiest)
agent_start held seconds=60 event=wall:1000000
wait_for 20 has_samples "$JVM" 20
mkfifo "$T/held.in"
exec {hold}<>"$T/held.in"
"$builddir/tests/sampler/stop_inside" "$thread" libjhot <"$T/held.in" >"$T/inside" {hold}>&- &
STOPPER=$!
wait_for 20 eval 'grep -qs inside "$T/inside" || gone $STOPPER'
if grep -qs inside "$T/inside"; then
	kill -INT $TOOL_PID
	wait_for 20 clock_ended
	sleep 0.3 # and as long as a session takes to end that does not wait for it
	exec {hold}>&-
	wait $TOOL_PID
	is "a session whose end comes while a thread is in the handler ends as it should" $? 0
	ok "when that thread has put its sample" accounted "$T/held"
	wait $STOPPER
	is "and the thread goes on" $? 0
else
	wait $STOPPER
	is "a thread is stopped in the handler, or cannot be traced here" $? 77
	skip "a session's end while a thread is in the handler" "no tracing here"
	agent_end
fi

# --- another version at the same time, of which a front end did not know
{ cat "$AGENT" && echo another version; } >"$T/other.so"
agent_start first seconds=60
wait_for 20 has_samples "$JVM" 20
AGENT=$T/other.so
agent seconds=60 samples=100 take=1
is "an agent of another version begins no session beside it" $? 106
ok "its result says so" grep -qx 'load 206' "$T/tool"
AGENT=$builddir/libjhot.so
taken=$("$JHOT" status "$JVM" | grep -oE '[0-9]+ samples' | head -n 1 | cut -d ' ' -f 1)
ok "the first goes on as before" wait_for 20 has_samples "$JVM" $((taken + 50))
agent_end
ok "with all its samples" accounted "$T/first"

# --- nothing of it all has disturbed the target
jvm_end
is "the JVM's output is its own" "$(sed 's/^sum .*/sum/' "$JVM_OUT" | tr '\n' ' ')" "ready sum "
is "and its errors are empty" "$(grep -v '^WARNING: ' "$JVM_ERR")" ""

# --- the JVM ends first
jvm_start Known shares
agent_start exits seconds=60
wait_for 20 grep -qs '^interval' "$T/exits"
wait_for 20 has_samples "$JVM" 5
jvm_halt
wait_for 60 gone "$JVM"
wait $TOOL_PID
is "the end of the JVM ends the session" $? 0
is "early" "$(value left_early "$T/exits")" 1
ok "with all its samples" accounted "$T/exits"
wait "$JVM"
is "the JVM's exit status is its own" $? 7
done_testing
