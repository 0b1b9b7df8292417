#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Several events in one session: recorded at once, switched by a key in the live view, each with its own figures.
. "$(dirname "$0")/lib.sh"

# record ARG...: sets status; output in $T/out and $T/err
record() { run record "$@"; }

jvm_start $CALM_JVM States 2

record -t -e cpu=5ms,alloc=4k,lock,wall=20ms -d 2 -o "$T/o.jhot" -o "$T/o.jfr" -o "$T/o.pb.gz" -o "$T/o.collapsed" "$JVM"
is "four events at once" $status 0 || diag_file "$T/err"
ok "cpu has the thread that runs" grep -q knownBusy "$T/o-cpu.collapsed"
ok "and not the one that sleeps" not grep -q knownSleeper "$T/o-cpu.collapsed"
ok "wall has both" sh -c "grep -q knownBusy '$T/o-wall.collapsed' && grep -q knownSleeper '$T/o-wall.collapsed'"
ok "lock has the one that waits for a monitor" grep -q 'knownBlocked.*java.lang.Object' "$T/o-lock.collapsed"
ok "and not those that are merely parked" not grep -q knownParked "$T/o-lock.collapsed"

# --- there and back: what one format has of the recording, all have ---
# back EVENT OPTION FILE: the file's stacks, in order; of samples of time a flight recording knows the number alone
back() {
	"$JHOT" convert -t $2 -e "$1" -o - "$3" 2>"$T/err" | sort
}
# alike WANT GOT: as many samples in all, and at each stack, but for one in each second that rounding puts elsewhere
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
			wall*.jfr) ok "wall is in $file as it is in o.jhot" alike "$T/want" "$T/got" || diff "$T/want" "$T/got" | cut -c1-40,200- | sed 's/^/# /' ;;
			*) same "$event $total is in $file as it is in o.jhot, $(wc -l <"$T/want") stacks" "$T/got" "$T/want" ;;
			esac
		done
	done
	back $event '' "$T/o.jhot" >"$T/want"
	sort "$T/o-$event.collapsed" >"$T/got"
	same "and in o-$event.collapsed" "$T/got" "$T/want"
done
# Names that mean something to a format, a page, a shell or a terminal.
sed -e "s|known\([A-Z]\)|\1<script>alert('x')</script>]]>\&amp;\"%s ü漢|g" -e 's|java/lang/Object|two  blanks/O bject|g' \
	-e "s|Thread.run|$(printf 'L%.0s' {1..4000}).run|g" "$T/o-wall.collapsed" | sort >"$T/nasty.collapsed"
for first in jhot jfr pb.gz collapsed; do
	"$JHOT" convert -t -o "$T/n.$first" "$T/nasty.collapsed" 2>"$T/err"
	for then in jhot jfr pb.gz; do
		"$JHOT" convert -o "$T/m.$then" "$T/n.$first" 2>"$T/err"
		back samples '' "$T/m.$then" >"$T/got"
		same "hostile names come back from $first by $then" "$T/got" "$T/nasty.collapsed"
	done
done
"$JHOT" convert -e wall "$T/o.jhot" >"$T/out" 2>&1
ok "as text: what threads did" grep -q '^Thread states: .*sleeps' "$T/out"
ok "values are times" grep -Eq 's of threads. time' "$T/out"

record -e wall=20ms --only-threads 'st-sl*' -d 1 -t -o "$T/only.collapsed" "$JVM"
is "some threads alone" $status 0 || diag_file "$T/err"
ok "the one that was named" grep -q 'st-sleeper.*knownSleeper' "$T/only.collapsed"
ok "and no other" not grep -q 'st-busy' "$T/only.collapsed"
record -e cpu=5ms --include knownBusy -d 1 -o "$T/include.collapsed" "$JVM"
ok "--include keeps stacks with that frame" sh -c "grep -q knownBusy '$T/include.collapsed' && ! grep -v knownBusy '$T/include.collapsed'"
record -e cpu=5ms --exclude knownBusy -d 1 -o "$T/exclude.collapsed" "$JVM"
ok "--exclude leaves them out" not grep -q knownBusy "$T/exclude.collapsed"
record -e cpu --budget=1% -d 0.5 -o "$T/budget.collapsed" "$JVM"
is "a budget" $status 0 || diag_file "$T/err"

record -e cpu=5ms --engine ctimer -d 60 -o "$T/engine.collapsed" "$JVM" &
recorder=$!
wait_for 20 has_samples "$JVM" 5
ok "an engine that is asked for" sh -c "'$JHOT' status '$JVM' | grep -q 'event cpu: ctimer.*as requested'"
"$JHOT" stop "$JVM"
wait $recorder
ok "samples as well" grep -q knownBusy "$T/engine.collapsed"
record -e cpu --engine wall -d 1 "$JVM"
ok "which must be one" sh -c "[ $status = 2 ] && grep -q 'perf, ctimer or lent' '$T/err'"
record -e wall --engine perf -d 1 "$JVM"
ok "for the event that has a choice" sh -c "[ $status = 2 ] && grep -q 'needs the event cpu' '$T/err'"

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
ok_shows "cpu is shown" 'knownBusy'
mux send-keys 4
ok_shows "4 shows the wall clock" '\[4 wall\]'
ok_shows "by place and reason" 'w States.knownParked is parked'
mux send-keys 3
ok_shows "3 shows locks" '[0-9]s waited'
mux send-keys o
ok_shows "o: what their holder does meanwhile" ' 100 .* java.lang.Thread.sleep'
ok_shows "which the tab says" '\[3 holders\]'
mux send-keys o
ok_shows "o again: who waits" '\[3 lock\]'
mux send-keys 1
ok_shows "1 leads back" '\[1 cpu\]'
"$JHOT" status "$JVM" >"$T/status"
ok "status tells what walks cost" grep -qE '^walks: [1-9][0-9]*, median [1-9]' "$T/status"
ok "and, apart from that, what new names cost" \
	grep -qE '^stacks with new names, to name them: [1-9][0-9]*, median [1-9]' "$T/status"
for event in cpu lock wall; do
	ok "$event goes on" grep -q "event $event: .*every" "$T/status"
done
"$JHOT" status --json "$JVM" >"$T/status.json"
ok "status --json has them, too" python3 -c '
import json, sys
events = {e["event"]: e for e in json.load(open(sys.argv[1]))["events"]}
sys.exit(any(events[e]["state"] != "on" for e in ("cpu", "lock", "wall")))' "$T/status.json"
mux send-keys t
ok_shows "threads have their states, idle ones of a pool in one row" 'st-idle-\* 2 idle .* P '
ok_shows "and what they wait for" 'st-blocked .* B .*waits: Object, held by st-sleeper'
diag "the threads:"
mux capture-pane -p | sed 's/^/# |/'
mux send-keys =
ok_shows "pools are merged" 'st-idle-\* (2)'
mux send-keys e
ok_shows "e opens the menu" 'Space on/off'
mux send-keys -l a
ok_shows "a asks for one of perf's events" 'perf event'
mux send-keys -l page-faults; mux send-keys Enter
ok_shows "which is shown, or why it cannot be" '\[5 page-faults\]\|page-faults.*could not be started'
if mux capture-pane -p | grep -q '\[5 page-faults\]'; then
	ok "status calls it by its name" sh -c "'$JHOT' status '$JVM' | grep -q '^event page-faults: '"
	add_event() {
		mux send-keys e
		wait_for 20 shows 'Space on/off'
		mux send-keys -l a
		wait_for 20 shows 'perf event, '
		mux send-keys -l "$1"; mux send-keys Enter
	}
	for event in 6:cs 7:minor-faults 8:major-faults; do
		add_event "${event#*:}"
		ok_shows "${event#*:} has the next key" "\\[${event%:*} ${event#*:}\\]"
	done
	add_event cpu-migrations
	ok_shows "four are all that are on at a time" "All 4 perf events are on"
	mux send-keys 5
	ok_shows "the first of them" '\[5 page-faults\]'
	mux send-keys e
	wait_for 20 shows 'Space on/off'
	mux send-keys -l ' '
	ok_shows "switched off" '5 page-faults  *off'
	mux send-keys Escape
	add_event cpu-migrations
	ok_shows "gives its key to another" '\[5 cpu-migrations\]'
	ok "whose name status knows" sh -c "'$JHOT' status '$JVM' | grep -q '^event cpu-migrations: '"
fi
mux send-keys 1
mux send-keys e
ok_shows "the menu says how cpu is sampled" '1 cpu  *on  *[a-z]'
before=$(mux capture-pane -p | sed -n 's/.*1 cpu  *on  *\([a-z]*\).*/\1/p')
mux send-keys g
if [ "$before" = perf ]; then
	ok_shows "of perf and CPU timers the other" '1 cpu  *on  *ctimer'
	mux send-keys g
	ok_shows "and back" '1 cpu  *on  *perf'
else
	ok_shows "where perf cannot be had, that is told" 'could not be started'
fi
mux send-keys Escape
mux send-keys q
becomes_quiet "sampling has ended" "$JVM"
jvm_end
done_testing
