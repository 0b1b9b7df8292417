#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Sessions of the agent: how they start, what they report, and all the ways in which they end.
. "$(dirname "$0")/../jvm/lib.sh"
. "$(dirname "$0")/lib.sh"

# --- a known profile
jvm_start Known shares
ok "a session runs" agent samples=400 seconds=60 interval=2000000 stacks="$T/stacks" ||
	diag_file "$T/tool.err"
diag "$(grep -E '^(walker|engine|samples|broken_pct|cost_us)' "$T/tool" | tr '\n' ' ')"
is "the walker uses HotSpot's vmStructs" "$(value walker)" vmstructs
ok "every sample arrives or is counted as lost" accounted
known
all=$(weight "$T/stacks" 'Known\.')
near "knownSixty has 60 % of the samples" "$(weight "$T/stacks" 'knownSixty')" "$all" 60
near "knownThirty has 30 % of the samples" "$(weight "$T/stacks" 'knownThirty')" "$all" 30
near "knownTen has 10 % of the samples" "$(weight "$T/stacks" 'knownTen')" "$all" 10
ok "threads have the names that the JVM gives them" grep -q '^\[known-' "$T/stacks"
ok "no thread of the agent is sampled" not grep -q '^\[jhot' "$T/stacks"

# --- options
bad() {
	"$builddir/tests/attach/attach_tool" load "$JVM" "$AGENT" "$1" 2>/dev/null
}
for options in "" token= token=UPPER take=1 token=a,take=2 token=a,what=1 \
	token=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; do
	is "the agent refuses the options '$options'" "$(bad "$options")" "result 200"
done
becomes_quiet "refused options start no sampling" "$JVM"

# --- one front end at a time
agent_start first seconds=60 token=first
wait_for 20 grep -qs '^interval' "$T/first"
agent seconds=0 token=second
is "a second front end is refused" $? 101
ok "the refused front end's result is busy" grep -qx 'load 201' "$T/tool"
ok "a second front end with take=1 starts a session" agent seconds=60 samples=20 token=third take=1
wait $TOOL_PID
is "the first front end learns that its session has ended" "$(value left_early "$T/first")" 1
ok "the first front end has all of its samples" accounted "$T/first"

# --- endings
ok "a session with a front end that falls silent starts" agent seconds=60 samples=20 leave=silent
becomes_quiet "sampling ends when the front end falls silent" "$JVM"
agent_start killed seconds=60
wait_for 20 grep -qs '^interval' "$T/killed"
ok "sampling runs while the front end lives" sampling "$JVM"
kill -KILL $TOOL_PID
wait $TOOL_PID 2>/dev/null
becomes_quiet "sampling ends when the front end is killed" "$JVM"
ok "a session starts after a front end was killed" agent seconds=60 samples=20

# --- the fallback walker
ok "a session with AsyncGetCallTrace runs" agent agct=1 samples=200 seconds=60 interval=2000000 stacks="$T/agct"
is "the walker is reported as AsyncGetCallTrace" "$(value walker)" agct
known
is "at least 60 % of AsyncGetCallTrace's stacks are Known's" \
	"$(($(weight "$T/agct" 'Known\.known') * 100 / $(value samples) >= 60))" 1

# --- paused
ok "a session can be paused" agent seconds=3 park=1
is "the pause is reported as a gap" "$(value gaps)" 1
ok "no samples are lost by a pause" accounted

# --- a reader that does not read
ok "a session whose reader does not read runs" agent seconds=3 interval=100000 idle=1
ok "samples of a full ring arrive later or are counted as lost" accounted
known

# --- a thread is still in the handler when the session ends: its sample arrives as well
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
	sleep 0.3 # enough for a session to end that does not wait for the thread
	exec {hold}>&-
	wait $TOOL_PID
	is "a session that ends while a thread is in the handler exits with 0" $? 0
	ok "the sample of the thread in the handler is accounted for" accounted "$T/held"
	wait $STOPPER
	is "the thread in the handler continues" $? 0
else
	wait $STOPPER
	is "a thread cannot be stopped in the handler only if tracing is not permitted" $? 77
	skip "a session that ends while a thread is in the handler" "tracing is not permitted"
	agent_end
fi

# --- another version of the agent, whose front end did not detect the running session
{ cat "$AGENT" && echo another version; } >"$T/other.so"
agent_start first seconds=60
wait_for 20 has_samples "$JVM" 20
AGENT=$T/other.so
agent seconds=60 samples=100 take=1
is "an agent of another version starts no session beside the first" $? 106
ok "the refused agent's result is another version" grep -qx 'load 206' "$T/tool"
AGENT=$builddir/libjhot.so
taken=$("$JHOT" status "$JVM" | grep -oE '[0-9]+ samples' | head -n 1 | cut -d ' ' -f 1)
ok "the first session continues beside the refused agent" wait_for 20 has_samples "$JVM" $((taken + 50))
agent_end
ok "the first session has all of its samples" accounted "$T/first"

# --- none of these sessions has disturbed the target
jvm_end
is "the JVM writes only its own lines to stdout" "$(sed 's/^sum .*/sum/' "$JVM_OUT" | tr '\n' ' ')" "ready sum "
is "the JVM writes nothing but JEP 451's warnings to stderr" "$(grep -v '^WARNING: ' "$JVM_ERR")" ""

# --- the JVM ends before the session
jvm_start Known shares
agent_start exits seconds=60
wait_for 20 grep -qs '^interval' "$T/exits"
wait_for 20 has_samples "$JVM" 5
jvm_halt
wait_for 60 gone "$JVM"
wait $TOOL_PID
is "a session exits with 0 when the JVM halts" $? 0
is "the front end is told that the session ended early" "$(value left_early "$T/exits")" 1
ok "all samples arrive when the JVM halts" accounted "$T/exits"
wait "$JVM"
is "the JVM exits with its own status" $? 7
done_testing
