#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# start, status, save, stop: a recording in the background; and other jhot processes that watch a session without disturbing it.
. "$(dirname "$0")/../jvm/lib.sh"

totals_alone
cd "$T" || exit

# owner: the jhot process that has the session with $JVM
owner() {
	"$JHOT" status "$JVM" | sed -n 's/.*(jhot process \([0-9]*\)).*/\1/p'
}

# seconds_of FILE: the length of a recording
seconds_of() {
	"$JHOT" convert -e cpu "$1" 2>/dev/null | grep -oE '[0-9.]+ s: ' | head -n 1 | cut -d ' ' -f 1
}

start() {
	run start "$@" "$JVM"
	is "start $* returns with 0 once it samples" "$status" 0 || diag_file "$T/err"
	OWNER=$(owner)
}

ended() {
	not alive "$OWNER"
}

jvm_start $CALM_JVM Totals

# --- without a session ---
while IFS='|' read -r code verb words; do
	run $verb "$JVM"
	is "$verb without a session exits with $code" "$status" "$code"
	ok "$verb without a session prints: $words" grep -q "$words" "$T/out" "$T/err"
done <<-ROWS
	4|save|is not being profiled
	4|save -o x.svg|jhot start
	4|stop -o x.svg|is not being profiled
	0|status|not being profiled; no agent is loaded
ROWS
run stop "$JVM"
is "stop without a session exits with 0" "$status" 0
run start -e nonsense "$JVM"
is "a start that is refused exits with 2" "$status" 2
run start -o "$T/nowhere/x.jhot" "$JVM"
is "a start whose file cannot be written exits with 6" "$status" 6
run start 1
ok "a start on a process that is no JVM fails" [ "$status" != 0 ]
ok "what is refused does not touch the JVM" not grep -q libjhot "/proc/$JVM/maps"

# --- a recording in memory, with viewers that come and go ---
start -e cpu,wall -i 5ms
ok "start names the process" grep -q "in the background (jhot process $OWNER)" "$T/out"
ok "the process is in a session of its own" [ "$(ps -o sid= -p "$OWNER" | tr -d ' ')" = "$OWNER" ]
ok "the process has no terminal" [ "$(ps -o tty= -p "$OWNER" | tr -d ' ')" = '?' ]
run start "$JVM"
is "a second start exits with 5" "$status" 5
while IFS='|' read -r words arguments; do
	# shellcheck disable=SC2086
	run record -d 1 $arguments "$JVM"
	is "record $arguments beside it exits with 5" "$status" 5
	ok "and says: it $words" grep -q -- "$words" <(tr -s "\n " " " <"$T/err") || diag_file "$T/err"
done <<-ROWS
	does not sample all of these events|-e cpu,alloc
	samples at another interval|-e cpu=1ms
	samples at another interval|-i 1ms
	--only-threads cannot change|--only-threads main
	--why cannot change|--why
ROWS
wait_for 60 has_samples "$JVM" 1
echo "work 9000" >&"$JVM_IN"
run record -d 3 -e cpu,wall=5ms -o joined.jhot -o joined.collapsed "$JVM"
is "record of events that it samples joins it" "$status" 0 || diag_file "$T/err"
ok "and says so" grep -q "recording its samples" "$T/err"
is "its file has the requested seconds" "$(seconds_of joined.jhot)" 3.0
for event in cpu wall; do
	ok "its file has samples of $event" [ "$(weight joined-$event.collapsed Totals)" -ge 5 ]
done
is "the session continues" "$(owner)" "$OWNER"
COLUMNS=120 timeout 60 "$JHOT" top -b -n 3 --keys t "$JVM" >"$T/screen" 2>"$T/err"
ok "a viewer shows the CPU use of threads" grep -qE '^.totals-0 .* [0-9]+\.[0-9] .* [0-9]+ +[0-9]+ +[-0-9]' "$T/screen" || diag_file "$T/screen"
for ((i = 0; i < 4; i++)); do
	timeout 60 "$JHOT" top -b -n 2 "$JVM" >"$T/screen" 2>"$T/err"
	is "viewer $i leaves with 0" $? 0 || diag_file "$T/err"
	ok "viewer $i shows what is sampled" grep -q 'Totals' "$T/screen" || diag_file "$T/screen"
	ok "viewer $i shows that it only watches" grep -q 'WATCHING.*' "$T/screen"
done
"$JHOT" top -b "$JVM" >/dev/null 2>&1 &
killed=$!
"$JHOT" top -b "$JVM" >/dev/null 2>&1 &
stopped=$!
sleep 1
kill -KILL $killed
kill -STOP $stopped
wait_for 60 grep -q '^done' "$JVM_OUT"
is "the recording has outlived them all" "$(owner)" "$OWNER"
sleep 3 # until all seconds of the work are complete
run save --total -e cpu -o cpu.collapsed "$JVM"
is "save exits with 0" "$status" 0 || diag_file "$T/err"
run save --total -e wall -o wall.collapsed "$JVM"
for event in cpu wall; do
	truth=$(awk -v event=$event '$1 == event { print $2 }' "$JVM_OUT")
	sum=$(weight "$T/$event.collapsed" 'Totals[./]body')
	diag "$event: saved $sum, program $truth"
	ok "what is saved of $event is what the program did" awk -v a="$sum" -v b="$truth" \
		'BEGIN { exit !(a > 0.9 * b && a < 1.1 * b) }'
done
run save --last 3s -o last.jhot "$JVM"
is "save --last 3s holds 3 s" "$(seconds_of last.jhot)" 3.0
run save --last nonsense "$JVM"
is "save with an impossible --last exits with 2" "$status" 2
run save "$JVM"
ok "save without a file prints the hot methods" grep -q 'SELF%.*METHOD' "$T/out"
run why "$JVM"
ok "why judges what has been sampled already" grep -q "^sampled by jhot process $OWNER: $JVM Totals" "$T/out" ||
	diag_file "$T/out"
run why --json "$JVM"
ok "so does why --json" grep -q '"name":"Totals"' "$T/out"
run status
ok "status without a name lists it" grep -q "^$JVM Totals: profiled by .*jhot process $OWNER" "$T/out"
run status "$JVM"
ok "status has the command" grep -q '^command: .*jhot start -e cpu,wall -i 5ms' "$T/out"

# --- its end ---
run stop -o whole.jhot "$JVM"
is "stop -o exits with 0" "$status" 0 || diag_file "$T/err"
ok "stop -o prints no hot methods" not grep -q METHOD "$T/out"
ok "stop -o ends the process" wait_for 10 ended
ok "the file has everything" [ "$("$JHOT" convert --total -e cpu -o - whole.jhot 2>/dev/null |
	awk '{ sum += $NF } /Totals[.\/]body/ { body += $NF } END { print (body > 0 && sum >= body) }')" = 1 ]
becomes_quiet "after stop nothing is sampled" "$JVM"
kill -CONT $stopped
kill $stopped
wait $killed $stopped 2>/dev/null

trap '' INT # as in a script's background job: stop must work all the same
start -e cpu
trap - INT
echo "work 2000" >&"$JVM_IN"
sleep 3
run stop "$JVM"
is "stop exits with 0" "$status" 0
ok "stop prints the hot methods" grep -q 'METHOD' "$T/out"
ok "and how much of the CPU time they explain" grep -q '^cpu: explains' "$T/err"

run start -e cpu -- "$JVM"
is "start accepts -- before the PID" "$status" 0 || diag_file "$T/err"
run stop "$JVM"
start -o own.collapsed -e cpu
sleep 2
run stop "$JVM"
ok "stop prints which files were written" grep -q 'wrote own.collapsed' "$T/err" || diag_file "$T/err"
ok "the file is there" [ -e own.collapsed ]

start --rotate 2s -o 'part-%t.jhot'
sleep 5
run status "$JVM"
ok "status has the last lines of the log" grep -q 'wrote part-.*jhot' "$T/out" || diag_file "$T/out"
run stop "$JVM"
ok "a rotating recording has several files" [ "$(find . -name 'part-*.jhot' | wc -l)" -ge 2 ]

# --- samples that were not saved are not lost ---
start -e cpu
sleep 2
kill -TERM "$OWNER"
ok "SIGTERM ends it" wait_for 20 ended
ok "SIGTERM saves the samples" [ "$(find . -name 'Totals-*.jhot' | wc -l)" = 1 ]
start -e cpu
kill -HUP "$OWNER"
sleep 1
is "SIGHUP does not end it" "$(owner)" "$OWNER"
jvm_end "$JVM"
ok "the JVM's end ends it" wait_for 20 ended
ok "the JVM's end saves the samples" [ "$(find . -name 'Totals-*.jhot' | wc -l)" = 2 ]

# --- another network namespace, as that of a container or of a sidecar ---
if ! unshare -n true 2>/dev/null; then
	skip "another network namespace" "unshare -n is not allowed"
else
	JVM_AS='unshare -n' jvm_start $CALM_JVM Totals
	start -e cpu
	run save -o inside.jhot "$JVM"
	is "save from the namespace of the recorder, not of the JVM" "$status" 0 || diag_file "$T/err"
	nsenter -t "$JVM" -n "$JHOT" save -o inside.jhot "$JVM" >"$T/out" 2>"$T/err"
	is "save from the namespace of the JVM" $? 0 || diag_file "$T/err"
	run stop -o all.jhot "$JVM"
	is "stop from the namespace of the recorder" "$status" 0
	nsenter -t "$JVM" -n "$JHOT" start -e cpu "$JVM" >"$T/out" 2>"$T/err"
	is "start in the namespace of the JVM" $? 0 || diag_file "$T/err"
	run save -o outside.jhot "$JVM"
	is "save from outside" "$status" 0 || diag_file "$T/err"
	run stop "$JVM"
	jvm_end "$JVM"
fi
done_testing
