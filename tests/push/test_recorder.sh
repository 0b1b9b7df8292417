#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# record --push: files of a JVM reach the receiver in order, once each, whatever the receiver does in the meantime; what does not
# reach it is counted.
. "$(dirname "$0")/../jvm/lib.sh"
. "$(dirname "$0")/../cli/recorder.sh"
. "$(dirname "$0")/lib.sh"

# said N PATTERN: at least N lines of the recorder match
said() {
	[ "$(grep -c -- "$2" "$T/recorder.err")" -ge "$1" ]
}

# pushes FIELD: of jhot status --json
pushes() {
	"$JHOT" status --json "$JVM" 2>/dev/null | python3 -c 'import json, sys; print(json.load(sys.stdin)["push"][sys.argv[1]])' "$1" 2>/dev/null
}

all_are_refused() {
	"$JHOT" status --json "$JVM" 2>/dev/null | python3 -c 'import json, sys
push = json.load(sys.stdin)["push"]
sys.exit(push["refused"] != push["attempts"] or not push["attempts"])' 2>/dev/null
}

all_waiting_are_pushed() {
	[ "$(pushes waiting)" = 0 ]
}

wait_for_more() {
	local have
	have=$(find "$D" -type f | wc -l)
	wait_for 60 files $((have + $1))
}

receiver_start
url=http://127.0.0.1:$PORT
jvm_start $CALM_JVM Totals || done_testing

# --- what is refused ---
while IFS='|' read -r code words; do
	eval "set -- $words"
	run record "$@" "$JVM"
	is "record $words exits with $code" "$status" "$code"
done <<-ROWS
	2|-d 1 -o "$D/a.jhot" --push $url
	2|--rotate 1m -o "$D/%t.jhot" --token-file "$T/token"
	2|--rotate 1m -o "$D/%t.jhot" --header 'A: b'
	2|--rotate 1m -o "$D/%t.svg" --push $url
	2|--rotate 1m -o "$D/%t.jhot" --push ftp://a/
	2|--rotate 1m -o "$D/%t.jhot" --push http://a:b@c/
	7|--rotate 1m -o "$D/%t.jhot" --push $url --token-file "$T/nowhere"
ROWS
ok "what is refused does not touch the JVM" not grep -q libjhot "/proc/$JVM/maps"

# --- one recorder, and a receiver that goes through everything; requests time out after 2 s ---
for path in / /ingest /push.v1.PusherService/Push; do
	forget
	mode 200
	recorder -e cpu,alloc,lock,wall -i 5ms --rotate 1s -o "$D/%n-%t.jhot" --push "$url$path" --timeout 2 "$JVM"
	wait_for 60 has_samples "$JVM" 1 || diag_file "$T/recorder.err"
	echo "work 60000" >&"$JVM_IN"
	ok "$path: files are pushed while the recorder runs" wait_for 60 accepted 2
	for wrong in 500 "retry 429 1" garbage bytes close hang; do
		[ $path = / ] || [ "$wrong" = 500 ] || continue
		before=$(cat "$R/log" | wc -l)
		mode "$wrong"
		wait_for 30 requests $((before + 2))
		wait_for_more 1
		is "$path: while the receiver answers \"$wrong\", status says that it fails" "$(pushes failing)" True
		ok "$path: and that files wait" [ "$(pushes waiting)" -ge 1 ]
		mode 200
		ok "$path: when it works again, they are pushed" wait_for 30 all_waiting_are_pushed || diag_file "$T/recorder.err"
	done
	if [ $path = / ]; then
		receiver_kill
		ok "while the receiver is away, files are written" wait_for_more 2
		"$JHOT" status "$JVM" >"$T/status"
		ok "status says since when, and why" grep -q 'push: failing for .*: Cannot push' "$T/status" || diag_file "$T/status"
		receiver_start
		ok "when it is back, they are pushed" wait_for 60 all_waiting_are_pushed
	fi
	alive "$JVM" || diag_file "$JVM_ERR"
	recorder_end
	is "$path: SIGTERM ends the recorder with 0" $? 0
	ok "$path: the receiver has each file, also the last one, in order, once" received "$D"/*.jhot || diag_file "$T/recorder.err"
	wrongs=$(grep -c 'Trying again' "$T/recorder.err")
	diag "$(grep -c 'push' "$T/recorder.err") lines about pushing; attempts: $(wc -l <"$R/log")"
	is "$path: each failure and each recovery is one line" "$(grep -c 'works again' "$T/recorder.err")" "$wrongs"
	ok "$path: nothing is reported as lost" not grep -qE 'not pushed|removed|refused' "$T/recorder.err"
	find "$D" -mindepth 1 -delete
	jvm_kill
	jvm_start $CALM_JVM Totals
done
echo "work 600000" >&"$JVM_IN"

# --- what is lost is counted ---
forget
mode only event=wall
recorder -e cpu,wall --rotate 1s -o "$D/%t.jhot" --push "$url/ingest" "$JVM"
ok "an event that is refused does not prevent others from being pushed" wait_for 60 accepted 2
is "it is counted" "$(pushes refused)" 0
ok "as rejected" [ "$(pushes rejected)" -ge 1 ]
wait_for 60 accepted 4
is "and reported once" "$(grep -c 'cpu: .*answered 422: not this type' "$T/recorder.err")" 1 || diag_file "$T/recorder.err"
recorder_end
find "$D" -mindepth 1 -delete

forget
mode 400 go away
recorder -e cpu --rotate 1s -o "$D/%t.jhot" --push "$url" "$JVM"
wait_for 60 requests 3
ok "files that are refused are counted" wait_for 20 all_are_refused
is "and reported once" "$(grep -c 'was refused' "$T/recorder.err")" 1
mode 200
ok "they do not delay others" wait_for 30 said 1 'works again'
recorder_end
ok "at the end, the number is reported" grep -qE 'push: [0-9]+ files pushed, 0 removed before, [1-9][0-9]* refused' "$T/recorder.err" || diag_file "$T/recorder.err"
find "$D" -mindepth 1 -delete

forget
mode 503
recorder -e cpu --rotate 1s --keep 3 -o "$D/%t.jhot" --push "$url" "$JVM"
wait_for 60 said 7 'wrote' || diag_file "$T/recorder.err"
ok "files that --keep removes before they can be pushed are counted" wait_for 30 eval '[ "$(pushes removed)" -ge 2 ]'
is "and reported once" "$(grep -c 'removed before it could' "$T/recorder.err")" 1
mode 200
ok "those that are left are pushed" wait_for 60 all_waiting_are_pushed
wrote=$(grep -c wrote "$T/recorder.err")
recorder_end
sum=$(sed -nE 's/.*push: ([0-9]+) files pushed, ([0-9]+) removed before, 0 refused.*/\1 + \2/p' "$T/recorder.err")
is "written = pushed + removed" "$((${sum:-0}))" "$(grep -c wrote "$T/recorder.err")" || diag_file "$T/recorder.err"
is "the receiver has that many" "$(find "$R" -name '*.json' | wc -l)" "${sum%% *}"
find "$D" -mindepth 1 -delete

# --- the end with a receiver that is away, or hangs: what was not pushed is reported ---
for wrong in 503 hang "retry 503 1000"; do
	forget
	mode "$wrong"
	recorder -e cpu --rotate 1s -o "$D/%t.jhot" --push "$url" "$JVM"
	wait_for 60 files 2
	wait_for 30 requests 1
	from=$SECONDS
	recorder_end
	is "the recorder ends although the receiver answers \"$wrong\"" $? 0
	ok "within 15 s" [ $((SECONDS - from)) -le 15 ]
	n=$(ls "$D" | wc -l)
	ok "and says that $n files were not pushed" grep -q "push: $n files not pushed, from " "$T/recorder.err" || diag_file "$T/recorder.err"
	[ "$wrong" != "retry 503 1000" ] || is "Retry-After is honoured at the end, too" "$(wc -l <"$R/log")" 1
	mode 200
	run push "$D"/*.jhot "$url"
	ok "they can be pushed by hand" received "$D"/*.jhot
	find "$D" -mindepth 1 -delete
done

# --- a receiver that hangs delays no file ---
forget
mode hang
recorder -e cpu --rotate 1s -o "$D/%t.jhot" --push "$url" "$JVM"
wait_for 60 requests 1
from=$SECONDS
wait_for_more 5
ok "a receiver that hangs delays no file" [ $((SECONDS - from)) -le 9 ]
kill -KILL "$RECORDER"
wait "$RECORDER" 2>/dev/null
find "$D" -mindepth 1 -delete

# --- a token that changes while it runs ---
forget
mode 401
echo old >"$T/token"
recorder -e cpu --rotate 1s -o "$D/%t.jhot" --push "$url" --token-file "$T/token" "$JVM"
ok "a token that is not accepted loses no file" wait_for 60 said 1 'answered 401'
echo new >"$T/token"
mode 200
ok "the new one is used" wait_for 60 accepted 1
ok "for the same file" grep -q '"Authorization": "Bearer new"' "$R/000.json"
recorder_end
ok "no file is missing" received "$D"/*.jhot
ok "tokens are not printed" not grep -qE 'old|new' "$T/recorder.err"
find "$D" -mindepth 1 -delete

# --- in the background ---
forget
run start -e cpu --rotate 1s -o "$D/%t.jhot" --push "$url" "$JVM"
is "jhot start --push succeeds" "$status" 0 || diag_file "$T/err"
wait_for 60 accepted 2
mode 503
ok "what the pusher reports is in the log" wait_for 30 eval '"$JHOT" status "$JVM" | grep -q "push: .*answered 503.*Trying again"'
mode 200
run stop "$JVM"
is "jhot stop ends it" "$status" 0
ok "after it has pushed everything" received "$D"/*.jhot || diag_file "$T/err"
find "$D" -mindepth 1 -delete
jvm_kill

# --- JVMs by name: one process pushes for all ---
forget
mode 200
recorder -e cpu --rotate 1s -o "$D/%n-%p-%t.jhot" --push "$url" Totals
jvm_start $CALM_JVM Totals
first=$JVM
jvm_start $CALM_JVM Totals
wait_for 60 eval "ls $D | grep -q -- -$first- && ls $D | grep -q -- -$JVM-"
ok "status of each JVM shows what is pushed" wait_for 30 eval '[ "$(pushes pushed)" -ge 2 ]'
jvm_end "$first"
jvm_end
wait_for 30 said 1 "$JVM Totals ended"
recorder_end
is "SIGTERM ends it with 0" $? 0
for f in "$D"/*; do
	"$JHOT" convert -e cpu --total -o - "$f" 2>/dev/null | grep -q . && echo "$f"
done >"$T/with-samples"
is "the receiver has all files with samples" "$(find "$R" -name '*.json' | wc -l)" "$(wc -l <"$T/with-samples")"
receiver_kill
done_testing
