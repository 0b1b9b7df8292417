#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# record --rotate and --when of a JVM that another jhot is sampling: they record its session, and go on with one of their own.
. "$(dirname "$0")/../jvm/lib.sh"
. "$(dirname "$0")/recorder.sh"

# owner: the jhot process that has the session with $JVM
owner() {
	"$JHOT" status "$JVM" | sed -n 's/.*(jhot process \([0-9]*\)).*/\1/p'
}

said() {
	[ "$(grep -c -- "$1" "$T/recorder.err")" -ge "${2:-1}" ]
}

# recorded EVENT METHOD: its weight in all files
recorded() {
	for f in "$D"/*.jhot; do
		"$JHOT" convert -e "$1" --total -o - "$f" 2>/dev/null
	done >"$T/x.collapsed"
	weight "$T/x.collapsed" "$2"
}

# adds_up WHAT: the files have the CPU and wall time that the program has measured
adds_up() {
	local event sum truth
	for event in cpu wall; do
		truth=$(awk -v event=$event '$1 == event { print $2 }' "$JVM_OUT" | tail -n 1)
		sum=$(recorded $event 'Totals[./]body')
		diag "$event: files $sum, program $truth"
		ok "$1: the files add up to the program's own $event time" \
			awk -v a="$sum" -v b="$truth" 'BEGIN { exit !(b > 0 && a > 0.9 * b && a < 1.1 * b) }'
	done
}

# works N: the program has done N pieces of work
works() {
	[ "$(grep -c '^done' "$JVM_OUT")" = "$1" ]
}

cd "$T" || exit
jvm_start $CALM_JVM Totals
run start -e cpu,wall -i 5ms "$JVM"
is "a session in the background" "$status" 0
first=$(owner)
while IFS='|' read -r words arguments; do
	# shellcheck disable=SC2086
	run record $arguments -o "$D/%t.jhot" "$JVM"
	is "$arguments beside a session exits with 5" "$status" 5
	ok "and says: it $words" grep -q -- "$words" <(tr -s "\n " " " <"$T/err") || diag_file "$T/err"
done <<-ROWS
	does not sample all of these events|--rotate 1s -e cpu,alloc
	samples at another interval|--rotate 1s -e cpu=1ms
	--only-threads cannot change|--when why --only-threads main
ROWS

recorder --rotate 2s -o "$D/%n-%t.jhot" "$JVM"
ok "record --rotate joins the session" wait_for 60 said "jhot process $first; recording its samples" || diag_file "$T/recorder.err"
wait_for 30 files 1
echo "work 6000" >&"$JVM_IN"
wait_for 60 works 1
sleep 3 # until its last second is complete
recorder_end
is "SIGTERM ends it with 0" $? 0
ok "there is a file per interval" files 3 || diag_file "$T/recorder.err"
adds_up "beside a session"
is "the session continues" "$(owner)" "$first"
find "$D" -mindepth 1 -delete

# --- an incident that has begun before the recorder ---
echo "work 9000" >&"$JVM_IN"
sleep 3
recorder --when 'cpu>10% for 1s' --before 20s --after 1s -o "$D/%n-%t.jhot" "$JVM"
ok "record --when joins the session" wait_for 60 said "recording its samples" || diag_file "$T/recorder.err"
joined=$(date -u +%s)
ok "an incident is written" wait_for 60 files 1 || diag_file "$T/recorder.err"
f=$(basename "$D"/*-cpu.jhot -cpu.jhot)
at=$(date -u -d "${f: -15:8} ${f: -6:2}:${f: -4:2}:${f: -2:2}" +%s)
ok "its file begins before the recorder" [ $((joined - at)) -ge 2 ] || diag "$joined $at"
recorder_end
find "$D" -mindepth 1 -delete

# --- the session ends, the recorder goes on ---
recorder -e cpu,wall -i 5ms --rotate 2s -o "$D/%n-%t.jhot" "$JVM"
wait_for 60 said "recording its samples"
run stop "$JVM"
ok "after the end of the session it begins its own" wait_for 30 eval '[ "$(owner)" = "$RECORDER" ]' || diag_file "$T/recorder.err"
ok "it says why" said 'session .*ended'
wait_for 30 works 2
sleep 3
find "$D" -mindepth 1 -delete
echo "work 4000" >&"$JVM_IN"
wait_for 60 works 3
jvm_end
ok "the JVM's end ends it" wait_for 30 not alive "$RECORDER"
wait "$RECORDER"
is "with 0" $? 0 || diag_file "$T/recorder.err"
adds_up "after the session"

# --- two recorders that begin at the same moment ---
jvm_start $CALM_JVM Totals
for i in 1 2 3; do
	recorder --rotate 1s -o "$D/$i-%t.jhot" "$JVM"
	recorders+=("$RECORDER")
done
for i in 1 2 3; do
	ok "of recorders that begin at the same moment, each writes files: $i" wait_for 30 eval "ls $D | grep -q ^$i-" || diag_file "$T/recorder.err"
done
kill "${recorders[@]}"
wait "${recorders[@]}"
is "each ends with 0" $? 0
jvm_end

# --- JVM and session end together ---
jvm_start $CALM_JVM Totals
run start -e cpu "$JVM"
run record --when 'pool:http-*=busy' -o "$D/%t.jhot" "$JVM"
is "a rule about a pool beside a session without wall exits with 5" "$status" 5
ok "and says so" grep -q 'does not sample wall' <(tr -s '\n ' ' ' <"$T/err")
recorder --rotate 1s -o "$D/%n-%t.jhot" "$JVM"
wait_for 60 said "recording its samples"
jvm_end
ok "the end of JVM and session ends the recorder" wait_for 30 not alive "$RECORDER"
wait "$RECORDER"
is "with 0, too" $? 0 || diag_file "$T/recorder.err"
done_testing
