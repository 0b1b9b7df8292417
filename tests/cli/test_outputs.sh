#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# record, convert, status and stop: files and formats, errors before attaching, full disks, exit codes.
. "$(dirname "$0")/../jvm/lib.sh"

# some ARG...: runs `jhot record` until it has some samples or has failed
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

# untouched: the agent was never loaded into the JVM
untouched() {
	! grep -q libjhot "/proc/$JVM/maps"
}

jvm_start $CALM_JVM Known shares

# --- errors that are detected before jhot attaches ---
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
	is "record ${row#* } exits with ${row%% *}" "$status" "${row%% *}"
done
run record -e cqu "$JVM"
ok "the error of a misspelt event suggests the nearest one" grep -q -- '-e cpu' "$T/err"
run record -o "$T/a.nonsense" "$JVM"
ok "the error of an unknown suffix lists the known ones" grep -q '\.svg.*\.collapsed' "$T/err"
ok "usage and output errors do not touch the JVM" untouched
is "usage and output errors create no file" "$(ls "$T" | grep -v '^jvm0\|^out$\|^err$\|^folder.svg$')" ""

# --- a folder that cannot be written ---
if [ "$(id -u)" = 0 ] && mkdir "$T/ro" && mount -t tmpfs -o ro,size=64k none "$T/ro" 2>/dev/null; then
	run record -d 1 -o "$T/ro/a.svg" "$JVM"
	is "record into a read-only folder exits with 6" $status 6
	ok "the error of a read-only folder has the reason" grep -qi 'read-only' "$T/err"
	ok "record into a read-only folder does not touch the JVM" untouched
	umount "$T/ro"
else
	skip "record into a read-only folder" "needs root and mount"
fi

# part_has_stacks: the unfinished recording is readable and has samples
part_has_stacks() {
	"$JHOT" convert -o - "$T"/.jhot-*.part 2>/dev/null | grep -q 'Known.drive'
}

# --- an existing recording is replaced only when the new one is complete ---
echo old >"$T/old.jhot"
run record -d 1 -o "$T/old.jhot" --agent "$T/nowhere/libjhot.so" "$JVM"
ok "record with a missing agent fails" [ $status != 0 ]
is "a failed record leaves an existing recording as it was" "$(cat "$T/old.jhot")" old
run record -d 1 -o "$T/new.jhot" --agent "$T/nowhere/libjhot.so" "$JVM"
is "a failed record creates no recording" "$(ls "$T" | grep -c '\.jhot$\|part$')" 1
record_start -o "$T/old.jhot"
ok "record writes a new recording to a temporary file beside the old one" wait_for 60 part_has_stacks
is "the old recording is intact while the new one is written" "$(cat "$T/old.jhot")" old
kill -KILL $RECORD_PID
wait $RECORD_PID 2>/dev/null
is "the old recording is intact after jhot is killed" "$(cat "$T/old.jhot")" old
is "a jhot that is killed leaves one temporary file" "$(find "$T" -maxdepth 1 -name '.jhot-*.part' | wc -l)" 1
ok "the temporary file of a killed jhot is readable" part_has_stacks
rm -f "$T"/.jhot-*.part
wait_for 20 quiet "$JVM"
some -o "$T/old.jhot"
run convert -o - "$T/old.jhot"
is "the new recording replaces the old one when it is complete" $status 0
rm "$T/old.jhot"
record_start -o "$T/new.jhot"
wait_for 60 has_samples "$JVM" 15
ok "a recording without a predecessor has its final name from the start" wait_for 60 [ -s "$T/new.jhot" ]
record_end
rm "$T/new.jhot"
is "no temporary files are left" "$(find "$T" -name '*.part')" ""

# --- one session in three formats, one of which is the complete recording ---
some -o "$T/a.jhot" -o "$T/a.collapsed" -o "$T/a.svg"
is "record to three files exits with 0" $status 0
recorded=$(sed -n 's/.*: \([0-9]*\) samples.*/\1/p' "$T/err")
ok "record names the files that it wrote" grep -q "wrote $T/a.collapsed" "$T/err"
ok "record to files prints nothing to stdout" [ ! -s "$T/out" ]
ok "the collapsed file has the program's method" grep -q 'Known.drive' "$T/a.collapsed"
run convert -o - "$T/a.jhot"
is "convert of a recording exits with 0" $status 0
sort "$T/out" >"$T/sorted"
sort "$T/a.collapsed" >"$T/a.sorted"
same "convert prints the same stacks that record wrote" "$T/sorted" "$T/a.sorted"
run top --replay "$T/a.jhot" --dump-screen 80x24
ok "the view of a recording starts with cpu" grep -q '^ \[1 cpu\]' "$T/out"
"$JHOT" record -e wall -d 2 -o "$T/wall.jhot" "$JVM" >"$T/out" 2>"$T/err" </dev/null
run top --replay "$T/wall.jhot" --dump-screen 80x24
ok "the view of a recording without cpu starts with its event" grep -q '\[4 wall\]' "$T/out"
run top -e cpu --replay "$T/wall.jhot" --dump-screen 80x24
ok "the view of a recording starts with the event of -e" grep -q '^ \[1 cpu\]' "$T/out"
run convert -o "$T/b.svg" "$T/a.jhot"
is "convert to a flame graph exits with 0" $status 0
ok "the converted flame graph has the program's method" grep -q 'Known.drive' "$T/b.svg"
run convert "$T/a.jhot"
ok "convert without -o prints the hot methods" grep -q 'SELF%' "$T/out"
ok "convert without -o names the recorded JVM" grep -q "^$JVM Known" "$T/out"
samples=$(sed -n 's/.*: \([0-9]*\) samples.*/\1/p' "$T/out")
is "convert without -o prints as many samples as record did" "$samples" "$recorded"
ok "the recording has more than 10 samples" [ "${samples:-0}" -gt 10 ]
run record -d 1.5 -o "$T/timed.collapsed" "$JVM"
is "record -d exits with 0" $status 0
run convert -t "$T/a.jhot"
ok "convert -t prints threads" grep -q 'known-1 (tid' "$T/out"
run convert -t --dot --total -o - "$T/a.jhot"
ok "convert -t --dot --total prints threads, dotted names and nanoseconds" grep -Eq '^\[known-1 tid=[0-9]+\];.*java\.lang\.Thread\.run.* [0-9]{7,}$' "$T/out"
run convert -a -o - "$T/a.jhot"
ok "convert -a marks how frames ran" grep -Eq '_\[[j01i]\]' "$T/out"
run convert -o "$T/all.collapsed" "$T/a.jhot"
run convert --fold -o "$T/folded.collapsed" "$T/a.jhot"
is "convert --fold keeps the number of samples" "$(weight "$T/folded.collapsed" .)" "$(weight "$T/all.collapsed" .)"
ok "convert --fold removes JVM frames above the thread's run method" sh -c "grep -q 'call_stub;.*knownSixty' '$T/all.collapsed' &&
	grep -q '^[^;]*Thread\.run;.*knownSixty' '$T/folded.collapsed' && ! grep -q 'call_stub;' '$T/folded.collapsed'"
run convert --format pprof --label version=1.4 -o "$T/%n-%p-%e" "$T/a.jhot"
ok "convert expands patterns in file names, and --format sets the format" gzip -t "$T/Known-$JVM-cpu"
run convert --format text --label version=1.4 -o - "$T/a.jhot"
ok "convert --label writes the label" grep -q '^label.version *1.4$' "$T/out"
run convert "$T/none.jhot"
is "convert of a missing recording exits with 7" $status 7
run convert "$T/a.svg"
is "convert of a file that is not a recording exits with 7" $status 7
head -c $(($(wc -c <"$T/a.jhot") - 60)) "$T/a.jhot" >"$T/cut.jhot"
run convert -o - "$T/cut.jhot"
is "convert of a truncated recording exits with 0" $status 0
ok "convert reports that the recording is incomplete" grep -q 'recording is incomplete' "$T/err"
ok "convert writes the samples of a truncated recording" grep -q 'Known.drive' "$T/out"

some -o -
is "record -o - exits with 0" $status 0
ok "record -o - prints stacks to stdout" grep -q 'Thread.run.* [0-9][0-9]*$' "$T/out"
some
ok "record without -o prints the hot methods to stdout" grep -q 'SELF%' "$T/out"

# --- disks that fill up ---
ln -s /dev/full "$T/full.collapsed"
ln -s /dev/full "$T/full.jhot"
some -o "$T/full.collapsed" -o "$T/kept.collapsed"
is "record to a full disk exits with 6" $status 6
ok "the error of a full disk has the reason" grep -q 'No space left' "$T/err"
ok "record to a full disk still writes the other file" [ -s "$T/kept.collapsed" ]
"$JHOT" record -d 0.3 "$JVM" >/dev/full 2>"$T/err"
is "record's text to a full disk exits with 6" $? 6
some -o "$T/full.jhot"
is "a .jhot recording to a full disk exits with 6" $status 6
ok "the error of a .jhot recording to a full disk has the reason" sh -c "tr -s ' \n' ' ' <'$T/err' | grep -q 'No space left'"
echo old >"$T/old.svg"
if [ "$(id -u)" = 0 ] && mkdir "$T/tiny" && mount -t tmpfs -o size=4k none "$T/tiny" 2>/dev/null; then
	echo old >"$T/tiny/old.svg"
	some -o "$T/tiny/old.svg"
	is "replacing a file on a full disk exits with 6" $status 6
	is "the old file on a full disk is intact" "$(cat "$T/tiny/old.svg")" old
	is "replacing a file on a full disk leaves no temporary file" "$(ls "$T/tiny")" old.svg
	umount "$T/tiny"
	mount -t tmpfs -o size=4k none "$T/tiny" && echo old >"$T/tiny/old.jhot"
	some -o "$T/tiny/old.jhot"
	is "replacing a recording on a full disk exits with 6" $status 6
	is "the old recording on a full disk is intact" "$(cat "$T/tiny/old.jhot")" old
	umount "$T/tiny"
else
	skip "replacing files on a full disk" "needs root and mount"
fi

# --- status and stop ---
wait_for 20 quiet "$JVM"
run status "$JVM"
is "status without a session exits with 0" $status 0
ok "status says that the JVM is not being profiled" grep -q 'not being profiled' "$T/out"
ok "status lists the agent that remains mapped" grep -q libjhot "$T/out"
run status --json "$JVM"
ok "status --json prints JSON" python3 -m json.tool "$T/out" /dev/null
"$JHOT" record -o "$T/long.collapsed" "$JVM" >"$T/out2" 2>"$T/err2" </dev/null &
RECORD_PID=$!
wait_for 60 has_samples "$JVM" 15
run status "$JVM"
ok "status of a session names the front end" grep -q "profiled by .*(jhot process $RECORD_PID)" "$T/out"
ok "status of a session shows its event and interval" grep -q '^event cpu: .* every 10 ms' "$T/out"
run record -d 1 -e alloc "$JVM"
is "record of another event beside a session exits with 5" $status 5
ok "the error names the front end of the session" grep -q "jhot process $RECORD_PID" "$T/err"
ok "the error suggests --take-over" grep -q -- '--take-over' "$T/err"
run stop "$JVM"
is "stop exits with 0" $status 0
wait "$RECORD_PID"
is "the record that was stopped exits with 1" $? 1
ok "the record that was stopped writes its samples" [ -s "$T/long.collapsed" ]
run stop "$JVM"
is "stop without a session exits with 0" $status 0

# --- the JVM ends ---
known=$JVM
jvm_start $CALM_JVM Known shares
record_start -o "$T/end.collapsed"
wait_for 60 has_samples "$JVM" 15
jvm_halt
wait $RECORD_PID
is "record exits with 0 when the JVM ends and there are samples" $? 0
ok "record reports that the JVM has ended" grep -q "JVM $JVM ended; these are its samples" "$T/err"
ok "record writes its samples when the JVM ends" [ -s "$T/end.collapsed" ]
run record -d 1 "$JVM"
is "record of a JVM that has ended exits with 4" $status 4
JVM=$known

# --- no JVM ---
run status 999999999
is "status of a pid without a process exits with 4" $status 4
sleep 1000 &
wait_for 20 grep -q sleep /proc/$!/comm # before that it is this shell, with its traps
run status $!
ok "status refuses a program that is not a JVM" [ $status != 0 ]
run stop $!
ok "stop refuses a program that is not a JVM" [ $status != 0 ]
kill $!
wait $! 2>/dev/null
jvm_end
is "the JVM writes only its own lines to stdout" "$(grep -vc '^ready$\|^sum ' "$T/jvm0.out")" 0
done_testing
