#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# record, convert, status and stop: files and formats, errors before attaching, full disks, exit codes.
. "$(dirname "$0")/../jvm/lib.sh"

# some ARG...: `jhot record` until it has taken some samples or has given up
some() {
	wait_for 60 quiet "$JVM" # the samples below are not those of the previous session
	"$JHOT" record "$@" "$JVM" >"$T/out" 2>"$T/err" </dev/null &
	wait_for 60 has_samples_or_ended $! || diag "no samples came"
	kill -TERM $! 2>/dev/null
	wait $!
	status=$?
}
has_samples_or_ended() {
	has_samples "$JVM" 15 || ! kill -0 "$1" 2>/dev/null
}

# untouched: nothing of jhot's was ever loaded into the JVM
untouched() {
	! grep -q libjhot "/proc/$JVM/maps"
}

jvm_start $CALM_JVM Known shares

# --- what is refused, before anything is attached ---
mkdir "$T/folder.svg"
for row in \
	"2 -e nonsense $JVM" \
	"2 -e cpu,cpu $JVM" \
	"2 -i 10ms -e alloc $JVM" \
	"2 -i 512k $JVM" \
	"2 -d never $JVM" \
	"2 -o $T/a.nonsense $JVM" \
	"2 -o $T/nosuffix $JVM" \
	"2 -e cpu,wall -o - $JVM" \
	"2 --format nonsense -o - $JVM" \
	"2 --format pprof -o $T/a.svg $JVM" \
	"2 --label nonsense -o $T/a.svg $JVM" \
	"2 --minwidth wide -o $T/a.svg $JVM" \
	"2 --colors pink -o $T/a.svg $JVM" \
	"2 --width 5 -o $T/a.svg $JVM" \
	"2 -o $T/%q.svg $JVM" \
	"2 $JVM surplus" \
	"2 -d 1" \
	"6 -o $T/nowhere/a.svg $JVM" \
	"6 -o $T/folder.svg $JVM" \
	"6 -o $T/nowhere/a.jhot $JVM" \
	"2 -I x -o $T/a.jhot $JVM"; do
	run record ${row#* }
	is "record ${row#* }: exit ${row%% *}" "$status" "${row%% *}"
done
run record -e cqu "$JVM"
ok "a misspelt event: the nearest is named" grep -q -- '-e cpu' "$T/err"
run record -o "$T/a.nonsense" "$JVM"
ok "an unknown suffix: the known ones are named" grep -q '\.svg.*\.collapsed' "$T/err"
ok "none of this touched the JVM" untouched
is "or left a file" "$(ls "$T" | grep -v '^jvm0\|^out$\|^err$\|^folder.svg$')" ""

# --- a folder that cannot be written ---
if [ "$(id -u)" = 0 ] && mkdir "$T/ro" && mount -t tmpfs -o ro,size=64k none "$T/ro" 2>/dev/null; then
	run record -d 1 -o "$T/ro/a.svg" "$JVM"
	is "a read-only folder: exit 6" $status 6
	ok "the reason is told" grep -qi 'read-only' "$T/err"
	ok "the JVM was left alone" untouched
	umount "$T/ro"
else
	skip "a read-only folder" "needs root and mount"
fi

# part_has_stacks: the recording that is being made is readable and has samples
part_has_stacks() {
	"$JHOT" convert -o - "$T"/.jhot-*.part 2>/dev/null | grep -q 'Known.drive'
}

# --- a recording that is there stays until its successor is whole ---
echo old >"$T/old.jhot"
run record -d 1 -o "$T/old.jhot" --agent "$T/nowhere/libjhot.so" "$JVM"
ok "nothing was attached" [ $status != 0 ]
is "the old recording is as it was" "$(cat "$T/old.jhot")" old
run record -d 1 -o "$T/new.jhot" --agent "$T/nowhere/libjhot.so" "$JVM"
is "and a new one is not begun" "$(ls "$T" | grep -c '\.jhot$\|part$')" 1
record_start -o "$T/old.jhot"
ok "the new one is written beside it" wait_for 60 part_has_stacks
is "while the new one is made it is there" "$(cat "$T/old.jhot")" old
kill -KILL $RECORD_PID
wait $RECORD_PID 2>/dev/null
is "nor does it go with a jhot that is killed" "$(cat "$T/old.jhot")" old
is "of which its own file is left" "$(find "$T" -maxdepth 1 -name '.jhot-*.part' | wc -l)" 1
ok "which can be read up to there" part_has_stacks
rm -f "$T"/.jhot-*.part
wait_for 20 quiet "$JVM"
some -o "$T/old.jhot"
run convert -o - "$T/old.jhot"
is "replaced when the new one is whole" $status 0
rm "$T/old.jhot"
record_start -o "$T/new.jhot"
wait_for 60 has_samples "$JVM" 15
ok "one without a predecessor has its name at once" wait_for 60 [ -s "$T/new.jhot" ]
record_end
rm "$T/new.jhot"
is "nothing is left beside them" "$(find "$T" -name '*.part')" ""

# --- one session in three formats, of which one is all of it ---
some -o "$T/a.jhot" -o "$T/a.collapsed" -o "$T/a.svg"
is "record to files: exit 0" $status 0
ok "what was written is named" grep -q "wrote $T/a.collapsed" "$T/err"
ok "stdout stays empty" [ ! -s "$T/out" ]
ok "the method is in the stacks" grep -q 'Known.drive' "$T/a.collapsed"
run convert -o - "$T/a.jhot"
is "convert: exit 0" $status 0
sort "$T/out" >"$T/sorted"
sort "$T/a.collapsed" >"$T/a.sorted"
same "a recording gives the very same stacks" "$T/sorted" "$T/a.sorted"
run top --replay "$T/a.jhot" --dump-screen 80x24
ok "its view begins with cpu" grep -q '^ \[1 cpu\]' "$T/out"
"$JHOT" record -e wall -d 2 -o "$T/wall.jhot" "$JVM" >"$T/out" 2>"$T/err" </dev/null
run top --replay "$T/wall.jhot" --dump-screen 80x24
ok "that of one without cpu with what it has" grep -q '\[4 wall\]' "$T/out"
run top -e cpu --replay "$T/wall.jhot" --dump-screen 80x24
ok "or with what is asked for" grep -q '^ \[1 cpu\]' "$T/out"
run convert -o "$T/b.svg" "$T/a.jhot"
is "convert to a flame graph: exit 0" $status 0
ok "with the same methods" grep -q 'Known.drive' "$T/b.svg"
run convert "$T/a.jhot"
ok "without a file it prints the hot methods" grep -q 'SELF%' "$T/out"
ok "of the JVM that was recorded" grep -q "^$JVM Known" "$T/out"
samples=$(sed -n 's/.*: \([0-9]*\) samples.*/\1/p' "$T/out")
is "as many samples as in the file" "$samples" "$(weight "$T/a.collapsed" .)"
ok "samples there were" [ "${samples:-0}" -gt 10 ]
run record -d 1.5 -o "$T/timed.collapsed" "$JVM"
is "record -d: exit 0" $status 0
run convert -t "$T/a.jhot"
ok "-t: threads, too" grep -q 'known-1 (tid' "$T/out"
run convert -t --dot --total -o - "$T/a.jhot"
ok "-t --dot --total: the thread first, dots, nanoseconds" grep -Eq '^\[known-1 tid=[0-9]+\];.*java\.lang\.Thread\.run.* [0-9]{7,}$' "$T/out"
run convert -a -o - "$T/a.jhot"
ok "-a: how frames ran" grep -Eq '_\[[j01i]\]' "$T/out"
run convert -o "$T/all.collapsed" "$T/a.jhot"
run convert --fold -o "$T/folded.collapsed" "$T/a.jhot"
is "--fold: as many samples" "$(weight "$T/folded.collapsed" .)" "$(weight "$T/all.collapsed" .)"
ok "which begin with the program's own frames" sh -c "grep -q 'call_stub;.*knownSixty' '$T/all.collapsed' &&
	grep -q '^[^;]*Thread\.run;.*knownSixty' '$T/folded.collapsed' && ! grep -q 'call_stub;' '$T/folded.collapsed'"
run convert --format pprof --label version=1.4 -o "$T/%n-%p-%e" "$T/a.jhot"
ok "patterns in names, and a format that no suffix tells" gzip -t "$T/Known-$JVM-cpu"
run convert --format text --label version=1.4 -o - "$T/a.jhot"
ok "--label is noted" grep -q '^label.version *1.4$' "$T/out"
run convert "$T/none.jhot"
is "a recording that is not there: exit 7" $status 7
run convert "$T/a.svg"
is "a file that is none: exit 7" $status 7
head -c $(($(wc -c <"$T/a.jhot") - 60)) "$T/a.jhot" >"$T/cut.jhot"
run convert -o - "$T/cut.jhot"
is "a recording that was cut off is read" $status 0
ok "which is told" grep -q 'recording is incomplete' "$T/err"
ok "but what it has is written" grep -q 'Known.drive' "$T/out"

some -o -
is "-o -: exit 0" $status 0
ok "stacks on stdout" grep -q 'Thread.run.* [0-9][0-9]*$' "$T/out"
some
ok "no -o: hot methods on stdout" grep -q 'SELF%' "$T/out"

# --- disks that fill up ---
ln -s /dev/full "$T/full.collapsed"
ln -s /dev/full "$T/full.jhot"
some -o "$T/full.collapsed" -o "$T/kept.collapsed"
is "a full disk: exit 6" $status 6
ok "said so" grep -q 'No space left' "$T/err"
ok "the other file is written" [ -s "$T/kept.collapsed" ]
"$JHOT" record -d 0.3 "$JVM" >/dev/full 2>"$T/err"
is "text to a full disk: exit 6" $? 6
some -o "$T/full.jhot"
is "a recording to a full disk: exit 6" $status 6
ok "and why" sh -c "tr -s ' \n' ' ' <'$T/err' | grep -q 'No space left'"
echo old >"$T/old.svg"
if [ "$(id -u)" = 0 ] && mkdir "$T/tiny" && mount -t tmpfs -o size=4k none "$T/tiny" 2>/dev/null; then
	echo old >"$T/tiny/old.svg"
	some -o "$T/tiny/old.svg"
	is "a disk without space for the new file: exit 6" $status 6
	is "the old one is intact" "$(cat "$T/tiny/old.svg")" old
	is "and nothing else is there" "$(ls "$T/tiny")" old.svg
	umount "$T/tiny"
	mount -t tmpfs -o size=4k none "$T/tiny" && echo old >"$T/tiny/old.jhot"
	some -o "$T/tiny/old.jhot"
	is "a recording for which there is no space: exit 6" $status 6
	is "the old one of it is intact" "$(cat "$T/tiny/old.jhot")" old
	umount "$T/tiny"
else
	skip "a disk without space" "needs root and mount"
fi

# --- status and stop ---
wait_for 20 quiet "$JVM"
run status "$JVM"
is "status: exit 0" $status 0
ok "it says that nobody profiles" grep -q 'not being profiled' "$T/out"
ok "and what stays" grep -q libjhot "$T/out"
run status --json "$JVM"
ok "status --json is JSON" python3 -m json.tool "$T/out" /dev/null
"$JHOT" record -o "$T/long.collapsed" "$JVM" >"$T/out2" 2>"$T/err2" </dev/null &
RECORD_PID=$!
wait_for 60 has_samples "$JVM" 15
run status "$JVM"
ok "status of a session: who holds it" grep -q "profiled by .*(jhot process $RECORD_PID)" "$T/out"
ok "with what event" grep -q '^event cpu: .* every 10 ms' "$T/out"
run record -d 1 "$JVM"
is "a second jhot: exit 5" $status 5
ok "the front end is named" grep -q "jhot process $RECORD_PID" "$T/err"
ok "and how to take over" grep -q -- '--take-over' "$T/err"
run stop "$JVM"
is "stop: exit 0" $status 0
wait "$RECORD_PID"
is "the one that was stopped: exit 1" $? 1
ok "it wrote what it had" [ -s "$T/long.collapsed" ]
run stop "$JVM"
is "nothing to stop: exit 0" $status 0

# --- the JVM ends ---
known=$JVM
jvm_start $CALM_JVM Known shares
record_start -o "$T/end.collapsed"
wait_for 60 has_samples "$JVM" 15
jvm_halt
wait $RECORD_PID
is "until the JVM's end: exit 0" $? 0
ok "that it ended is told" grep -q "JVM $JVM has ended" "$T/err"
ok "what there was is written" [ -s "$T/end.collapsed" ]
run record -d 1 "$JVM"
is "when it has ended: exit 4" $status 4
JVM=$known

# --- no JVM ---
run status 999999999
is "status of no process: exit 4" $status 4
sleep 1000 &
wait_for 20 grep -q sleep /proc/$!/comm # before that it is this shell, with its traps
run status $!
ok "status of another program is refused" [ $status != 0 ]
run stop $!
ok "and so is stop" [ $status != 0 ]
kill $!
wait $! 2>/dev/null
jvm_end
is "the JVM's output is its own" "$(grep -vc '^ready$\|^sum ' "$T/jvm0.out")" 0
done_testing
