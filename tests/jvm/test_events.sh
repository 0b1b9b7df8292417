#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Several events in one session: recorded at once, switched by a key in the live view, each with its own figures.
. "$(dirname "$0")/lib.sh"

# record ARG...: sets status; output in $T/out and $T/err
record() { run record "$@"; }

jvm_start $CALM_JVM States 2

record -t -e cpu=5ms,alloc=4k,lock,wall=20ms -d 2 -o "$T/o.jhot" -o "$T/o.jfr" -o "$T/o.pb.gz" -o "$T/o.collapsed" "$JVM"
is "jhot record of four events at once exits with 0" $status 0 || diag_file "$T/err"
ok "cpu has samples of the running thread" grep -q knownBusy "$T/o-cpu.collapsed"
ok "cpu has no samples of the sleeping thread" not grep -q knownSleeper "$T/o-cpu.collapsed"
ok "wall has samples of the running and of the sleeping thread" sh -c "grep -q knownBusy '$T/o-wall.collapsed' && grep -q knownSleeper '$T/o-wall.collapsed'"
ok "lock has the thread that waits for a monitor, with the monitor's class" grep -q 'knownBlocked.*java.lang.Object' "$T/o-lock.collapsed"
ok "lock has no samples of threads that are merely parked" not grep -q knownParked "$T/o-lock.collapsed"

# --- round trips: every format has the same stacks of the recording ---
# back EVENT OPTION FILE: the file's stacks, sorted; for samples of time a flight recording has their number only
back() {
	"$JHOT" convert -t $2 -e "$1" -o - "$3" 2>"$T/err" | sort
}
# alike WANT GOT: the same samples in all and per stack, except for one in each second that rounding may move
alike() {
	awk '{ n = $NF; sub(/ [0-9]+$/, "") } NR == FNR { want[$0] = n; sum += n; next }
		{ sum -= n; d = n - want[$0]; bad += d > 3 || d < -3; delete want[$0] }
		END { for (s in want) bad += want[s] > 3; exit bad || sum > 1 || sum < -1 }' "$1" "$2"
}
for event in cpu alloc lock wall; do
	for total in '' --total; do
		back $event "$total" "$T/o.jhot" >"$T/want"
		for file in o.jfr "o-$event.pb.gz"; do
			case $event$total$file in cpu--total*.jfr | wall--total*.jfr) continue ;; esac
			back $event "$total" "$T/$file" >"$T/got"
			case $event$file in
			wall*.jfr) ok "wall has the same stacks in $file as in o.jhot" alike "$T/want" "$T/got" || diff "$T/want" "$T/got" | cut -c1-40,200- | sed 's/^/# /' ;;
			*) same "$event $total has the same stacks in $file as in o.jhot ($(wc -l <"$T/want"))" "$T/got" "$T/want" ;;
			esac
		done
	done
	back $event '' "$T/o.jhot" >"$T/want"
	sort "$T/o-$event.collapsed" >"$T/got"
	same "o-$event.collapsed has the same stacks as $event in o.jhot" "$T/got" "$T/want"
done
# Names with characters that are special in a format, a page, a shell or a terminal.
sed -e "s|known\([A-Z]\)|\1<script>alert('x')</script>]]>\&amp;\"%s ü漢|g" -e 's|java/lang/Object|two  blanks/O bject|g' \
	-e "s|Thread.run|$(printf 'L%.0s' {1..4000}).run|g" "$T/o-wall.collapsed" | sort >"$T/nasty.collapsed"
for first in jhot jfr pb.gz collapsed; do
	"$JHOT" convert -t -o "$T/n.$first" "$T/nasty.collapsed" 2>"$T/err"
	for then in jhot jfr pb.gz; do
		"$JHOT" convert -o "$T/m.$then" "$T/n.$first" 2>"$T/err"
		back samples '' "$T/m.$then" >"$T/got"
		same "hostile names survive conversion to $first and then to $then" "$T/got" "$T/nasty.collapsed"
	done
done
"$JHOT" convert -e wall "$T/o.jhot" >"$T/out" 2>&1
ok "converted to text, wall shows the states of threads" grep -q '^Thread states: .*sleeps' "$T/out"
ok "converted to text, wall's values are times" grep -Eq 's of threads. time' "$T/out"

record -e wall=20ms --only-threads 'st-sl*' -d 1 -t -o "$T/only.collapsed" "$JVM"
is "jhot record with --only-threads exits with 0" $status 0 || diag_file "$T/err"
ok "--only-threads records the thread that matches" grep -q 'st-sleeper.*knownSleeper' "$T/only.collapsed"
ok "--only-threads records no other thread" not grep -q 'st-busy' "$T/only.collapsed"
record -e cpu=5ms --include knownBusy -d 1 -o "$T/include.collapsed" "$JVM"
ok "--include keeps only stacks that have a matching frame" sh -c "grep -q knownBusy '$T/include.collapsed' && ! grep -v knownBusy '$T/include.collapsed'"
record -e cpu=5ms --exclude knownBusy -d 1 -o "$T/exclude.collapsed" "$JVM"
ok "--exclude drops stacks that have a matching frame" not grep -q knownBusy "$T/exclude.collapsed"
record -e cpu --budget=1% -d 0.5 -o "$T/budget.collapsed" "$JVM"
is "jhot record with --budget exits with 0" $status 0 || diag_file "$T/err"

record -e cpu=5ms --engine ctimer -d 60 -o "$T/engine.collapsed" "$JVM" &
recorder=$!
wait_for 20 has_samples "$JVM" 5
ok "status shows the engine that --engine requests" sh -c "'$JHOT' status '$JVM' | grep -q 'event cpu: ctimer.*as requested'"
"$JHOT" stop "$JVM"
wait $recorder
ok "a session with --engine ctimer has samples" grep -q knownBusy "$T/engine.collapsed"
record -e cpu --engine wall -d 1 "$JVM"
ok "--engine with an unknown name is a usage error that lists the engines" sh -c "[ $status = 2 ] && grep -q 'perf, ctimer or lent' '$T/err'"
record -e wall --engine perf -d 1 "$JVM"
ok "--engine without the event cpu is a usage error" sh -c "[ $status = 2 ] && grep -q 'needs the event cpu' '$T/err'"

# --- the live view ---
command -v tmux >/dev/null || {
	skip "the live view" "no tmux"
	done_testing
	exit
}
mkdir -p "$T/settings/jhot"
echo 'unsaved = never' >"$T/settings/jhot/config" # q does not ask on a slow machine, either
mux() {
	tmux -L "jhot-test-$$" -f /dev/null "$@"
}
shows() {
	mux capture-pane -p | grep -q -- "$1"
}
ok_shows() {
	ok "$1" wait_for 20 shows "$2" || mux capture-pane -p | sed 's/^/# |/'
}
trap 'mux kill-server 2>/dev/null; test_end' EXIT
mux new-session -d -x 120 -y 64 "$JHOT" "$JVM"
ok_shows "the live view starts with cpu" 'knownBusy'
mux send-keys 4
ok_shows "key 4 switches to wall" '\[4 wall\]'
ok_shows "wall shows rows by method and reason of the wait" 'w States.knownParked is parked'
mux send-keys 3
ok_shows "key 3 switches to lock" '[0-9]s waited'
mux send-keys o
ok_shows "key o shows what the owners of locks do while others wait" ' 100 .* java.lang.Thread.sleep'
ok_shows "key o labels the tab of lock as holders" '\[3 holders\]'
mux send-keys o
ok_shows "key o again shows the waiters" '\[3 lock\]'
mux send-keys 1
ok_shows "key 1 switches back to cpu" '\[1 cpu\]'
"$JHOT" status "$JVM" >"$T/status"
ok "status shows the cost of walks" grep -qE '^walks: [1-9][0-9]*, median [1-9]' "$T/status"
ok "status shows separately the cost of naming frames of new stacks" \
	grep -qE '^naming stacks with new names: [1-9][0-9]*, median [1-9]' "$T/status"
for event in cpu lock wall; do
	ok "$event is still sampled after the view switched events" grep -q "event $event: .*every" "$T/status"
done
"$JHOT" status --json "$JVM" >"$T/status.json"
ok "status --json shows cpu, lock and wall as on" python3 -c '
import json, sys
events = {e["event"]: e for e in json.load(open(sys.argv[1]))["events"]}
sys.exit(any(events[e]["state"] != "on" for e in ("cpu", "lock", "wall")))' "$T/status.json"
mux send-keys t
ok_shows "the threads view shows states, and idle threads of a pool in one row" 'st-idle-\* 2 idle .* P '
ok_shows "the threads view shows what a blocked thread waits for and the owner" 'st-blocked .* B .*waits: Object, held by st-sleeper'
diag "the threads:"
mux capture-pane -p | sed 's/^/# |/'
mux send-keys =
ok_shows "key = merges the threads of a pool into one row" 'st-idle-\* (2)'
mux send-keys e
ok_shows "key e opens the event menu" 'Space on/off'
mux send-keys -l a
ok_shows "key a in the event menu asks for a perf event" 'perf event'
mux send-keys -l page-faults; mux send-keys Enter
ok_shows "the perf event is shown, or an error states why it cannot be" '\[5 page-faults\]\|page-faults.*could not be started'
if mux capture-pane -p | grep -q '\[5 page-faults\]'; then
	ok "status has the perf event page-faults" sh -c "'$JHOT' status '$JVM' | grep -q '^event page-faults: '"
	add_event() {
		mux send-keys e
		wait_for 20 shows 'Space on/off'
		mux send-keys -l a
		wait_for 20 shows 'perf event, '
		mux send-keys -l "$1"; mux send-keys Enter
	}
	for event in 6:cs 7:minor-faults 8:major-faults; do
		add_event "${event#*:}"
		ok_shows "the perf event ${event#*:} gets key ${event%:*}" "\\[${event%:*} ${event#*:}\\]"
	done
	add_event cpu-migrations
	ok_shows "a fifth perf event is refused while four are on" "All 4 perf events are on"
	mux send-keys 5
	ok_shows "key 5 shows the first perf event" '\[5 page-faults\]'
	mux send-keys e
	wait_for 20 shows 'Space on/off'
	mux send-keys -l ' '
	ok_shows "Space in the event menu switches page-faults off" '5 page-faults  *off'
	mux send-keys Escape
	add_event cpu-migrations
	ok_shows "a new perf event reuses the key of the one that is off" '\[5 cpu-migrations\]'
	ok "status has the perf event cpu-migrations" sh -c "'$JHOT' status '$JVM' | grep -q '^event cpu-migrations: '"
fi
mux send-keys 1
mux send-keys e
ok_shows "the event menu shows the engine of cpu" '1 cpu  *on  *[a-z]'
before=$(mux capture-pane -p | sed -n 's/.*1 cpu  *on  *\([a-z]*\).*/\1/p')
mux send-keys g
if [ "$before" = perf ]; then
	ok_shows "key g in the event menu switches cpu from perf to ctimer" '1 cpu  *on  *ctimer'
	mux send-keys g
	ok_shows "key g again switches cpu back to perf" '1 cpu  *on  *perf'
else
	ok_shows "an error is shown where perf is not available" 'could not be started'
fi
mux send-keys Escape
mux send-keys q
becomes_quiet "sampling ends after q" "$JVM"
jvm_end
done_testing
