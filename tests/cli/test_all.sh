#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# jhot top --all: the instances of a name in one list, as plain screens, as JSON and under tmux.
. "$(dirname "$0")/../jvm/lib.sh"

# A name that no other test uses.
NAME=fleet$$
mkdir "$T/jar"
cp "$CLASSES"/Known*.class "$T/jar"
echo 'Main-Class: Known' >"$T/manifest"
jar=$(dirname "$(readlink -f "$(command -v "$JAVA")")")/jar
command -v "$jar" >/dev/null || skip_all "no jar command"
"$jar" cfm "$T/$NAME.jar" "$T/manifest" -C "$T/jar" .
export KNOWN_DUTY=20

# ssh, as jhot calls it: OPTION... -- HOST COMMAND
cat >"$T/ssh" <<-'SH'
	#!/bin/sh
	while [ "$1" != -- ]; do shift; done
	[ "$2" != unreachable ] || { echo "ssh: connect to host unreachable: timed out" >&2; exit 255; }
	exec sh -c "$3"
SH
chmod +x "$T/ssh"
mkdir "$T/bin"
ln -s "$JHOT" "$T/bin/jhot"
export PATH=$T/bin:$PATH

relays() {
	local pid found=
	for pid in $(pgrep -f "^jhot relay"); do
		tr '\0' '\n' <"/proc/$pid/environ" 2>/dev/null | grep -qx "JHOT_TEST=$T" && found+=" $pid"
	done
	echo "$found"
}
no_relays() {
	[ -z "$(relays)" ]
}

# value PID KEY: of the last line of JSON
value() {
	tail -n 1 "$T/json" | python3 -c '
import json, sys
for row in json.load(sys.stdin)["jvms"]:
	if str(row["pid"]) == sys.argv[1] or row["name"] == sys.argv[1]:
		print(row[sys.argv[2]])' "$1" "$2"
}

jvm_start -jar "$T/$NAME.jar" shares
first=$JVM
jvm_start -jar "$T/$NAME.jar" shares
second=$JVM
jvm_start -XX:+DisableAttachMechanism -jar "$T/$NAME.jar" shares
closed=$JVM
jvm_start Known threads 2
other=$JVM

# --- plain screens and JSON, while one of them is being recorded ---
"$JHOT" record -e cpu -o "$T/x.jhot" "$second" >/dev/null 2>&1 </dev/null &
record=$!
wait_for 60 has_samples "$second" 1
LINES=24 COLUMNS=80 timeout 120 "$JHOT" top --all -b -n 1 "$NAME" >"$T/out" 2>"$T/err" </dev/null
is "plain screens exit with 0" $? 0 || diag_file "$T/err"
for pid in "$first" "$second"; do
	ok "the list shows the hottest method of each instance" grep -Eq "^.? *$pid +$NAME.* [0-9]+% Known\." "$T/out" || diag_file "$T/out"
done
ok "no line is wider than the screen" awk 'length > 80 { exit 1 }' "$T/out"
ok "a JVM that cannot be attached is listed" grep -Eq "$closed.*refused" "$T/out" || diag_file "$T/out"
ok "a JVM of another name is not" not grep -q " $other " "$T/out"
ok "the session that was there continues" alive $record
becomes_quiet "sampling ends with the list" "$first"
ok "no process is left" wait_for 10 no_relays

timeout 120 "$JHOT" top --all --json -n 1 --ssh "$T/ssh" "$NAME" "far:$other" unreachable:1 >"$T/json" 2>"$T/err" </dev/null
is "JSON: exit status" $? 0 || diag_file "$T/err"
is "JSON: the hottest method" "$(value "$first" hottest)" Known.knownSixty || diag_file "$T/json"
share=$(value "$first" hottest_pct) # of some 200 samples
ok "JSON: its share, $share %, is about 60 %" [ "$share" -ge 45 -a "$share" -le 75 ]
ok "JSON: CPU use" [ "$(value "$first" cpu_pct)" -gt 3 ]
is "JSON: the verdict of a healthy program" "$(value "$first" verdict)" ok
is "JSON: a JVM that cannot be attached" "$(value "$closed" sampled) $(value "$closed" verdict)" "False refused"
ok "JSON: a JVM of another host" grep -q "^Known\." <(value "far:$other" hottest) || diag_file "$T/json"
ok "JSON: a host that cannot be reached" grep -q "timed out" <(value unreachable:1 why) || diag_file "$T/json"
kill $record
wait $record
wait_for 30 quiet "$second"

# --- errors ---
while IFS='|' read -r words arguments; do
	# shellcheck disable=SC2086
	timeout 20 "$JHOT" top -b -n 1 $arguments >/dev/null 2>"$T/err" </dev/null
	is "top $arguments: exit status" $? 2
	ok "top $arguments: $words" grep -q -- "$words" "$T/err" || diag_file "$T/err"
done <<-ROWS
	needs a NAME|--all
	Only one JVM|$first $second
	cannot be used together|--all --take-over $NAME
	cannot be used together|--all --replay x.jhot $NAME
ROWS
timeout 60 "$JHOT" top --all -b -n 1 "nosuch$$" >"$T/out" 2>&1 </dev/null
ok "no instance: the list says so" grep -q "No running JVM matches" "$T/out" || diag_file "$T/out"

# --- the list on a terminal ---
if ! command -v tmux >/dev/null; then
	skip "the list on a terminal" "no tmux"
else
	mux() { tmux -L "jhot-all-$$" -f /dev/null "$@"; }
	screen() { mux capture-pane -p; }
	shows() { screen | grep -Eq -- "$1"; }
	ok_shows() { ok "$1" wait_for 30 shows "$2" || screen | sed 's/^/# |/'; }
	trap 'mux kill-server 2>/dev/null; test_end' EXIT
	jvm_end "$closed"
	mux new-session -d -x 80 -y 24 sh -c "'$JHOT' top --all $NAME; echo \"status=\$?\"; cat"
	mux set -g remain-on-exit on 2>/dev/null
	ok_shows "a row per instance" "^> +$first .*knownSixty"
	ok_shows "the second one" "^ +$second .*knownSixty"
	mux send-keys Down
	ok_shows "Down moves to the second" "^> +$second"
	mux send-keys Enter
	ok_shows "Enter opens its live view" "METHOD"
	ok_shows "of that JVM" "$second"
	mux send-keys T
	ok_shows "with all views" "CALL TREE"
	mux send-keys Escape
	ok_shows "Esc returns to the list" "^> +$second .*knownSixty"
	mux send-keys Up Enter
	ok_shows "another one can be opened" "$first.*$NAME|$NAME.*$first"
	mux send-keys Escape
	jvm_start -jar "$T/$NAME.jar" shares
	third=$JVM
	ok_shows "a JVM that starts later is added" "$third .*knownSixty"
	kill -KILL "$second"
	ok_shows "a JVM that dies is shown as ended" "$second .*ended"
	ok "and its row disappears" wait_for 30 eval '! shows "$second"'
	kill -STOP "$third"
	sleep 3
	ok_shows "a JVM that hangs delays no other row" "^. +$first .*knownSixty"
	kill -CONT "$third"
	"$JHOT" stop "$first" >/dev/null 2>&1
	ok_shows "a session that is stopped begins again" "$first .*(waiting|attaching)"
	ok_shows "with new samples" "$first .*knownSixty"
	mux send-keys q
	ok_shows "q ends the list" "status=0"
	becomes_quiet "sampling ends" "$first"
	ok "no process is left after q" wait_for 10 no_relays
fi

# --- killed ---
"$JHOT" top --all -b "$NAME" >"$T/out" 2>&1 </dev/null &
viewer=$!
wait_for 60 has_samples "$first" 1
kill -KILL $viewer
wait $viewer 2>/dev/null
becomes_quiet "sampling ends when the list is killed" "$first"
ok "no process is left when the list is killed" wait_for 20 no_relays
done_testing
