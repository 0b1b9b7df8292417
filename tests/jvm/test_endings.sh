#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# How sessions end: Ctrl-C, kill -9, jhot stop, the JVM's exit, a second jhot. Nothing is left behind, no data is lost.
. "$(dirname "$0")/lib.sh"

# record_start ARG...: in the background; RECORD is its pid. Returns when it samples.
record_start() {
	"$JHOT" record "$@" "$JVM" >"$T/out" 2>"$T/err" </dev/null &
	RECORD=$!
	wait_for 20 sampling "$JVM" || { diag "no session came up"; diag_file "$T/err"; }
}

is_stopped() {
	grep -q '^State:.T' "/proc/$1/status"
}

record_end() {
	wait_for 20 gone "$RECORD"
	wait "$RECORD"
	status=$?
}

jvm_start $CALM_JVM Known shares
jvm_warm_attach "$JVM"
litter "$JVM" >"$T/before"

# an enabled SIGINT, which bash takes from background jobs
record_int() {
	setpriv --pdeathsig KILL bash -c 'trap - INT; exec "$@"' bash env --default-signal=INT "$JHOT" record \
		"$@" "$JVM" >"$T/out" 2>"$T/err" </dev/null &
	RECORD=$!
	wait_for 20 sampling "$JVM"
}
record_int -o "$T/int.collapsed"
wait_for 20 has_samples "$JVM" 20
kill -INT "$RECORD"
record_end
is "Ctrl-C is a good end" $status 0
ok "and writes what there is" grep -q knownSixty "$T/int.collapsed"
becomes_quiet "Ctrl-C ends sampling" "$JVM"

# What may have changed in the JVM after its first session: the agent's file, the two parts of an older libc that
# it names, and its handlers.
litter "$JVM" >"$T/after"
is "only the agent's file and its handlers stay" "$(diff "$T/before" "$T/after" | grep '^[<>]' |
	grep -vE '^> map .*(libjhot.*|libdl.so.2|libpthread.so.0)$|^[<>] SigCgt:')" ""
is "one such file" "$(grep -c 'map .*libjhot' "$T/after")" 1
cp "$T/after" "$T/rested"

record_start -o "$T/killed.collapsed"
kill -KILL "$RECORD"
wait "$RECORD" 2>/dev/null
becomes_quiet "kill -9 of jhot ends sampling" "$JVM"
litter "$JVM" >"$T/after"
same "and leaves nothing" "$T/after" "$T/rested"

# One that lives, but does not get to run: nothing is sampled for it meanwhile, and its session goes on.
armed() {
	# shellcheck disable=SC2046
	ls -l "/proc/$1/fd" $(agent_fds "$1") 2>/dev/null | grep -q '\[perf_event\]' || grep -qs '^ID:' "/proc/$1/timers"
}
record_start -o "$T/slow.collapsed"
wait_for 20 has_samples "$JVM" 20
kill -STOP "$RECORD"
ok "a jhot that is silent gets no samples" wait_for 8 not armed "$JVM"
kill -CONT "$RECORD"
ok "when it is heard again its session goes on" wait_for 20 armed "$JVM"
kill -STOP "$RECORD"
wait_for 8 not armed "$JVM"
kill -KILL "$RECORD"
wait "$RECORD" 2>/dev/null
becomes_quiet "killed while it is silent, it leaves nothing" "$JVM"
litter "$JVM" >"$T/after"
same "and nothing stays" "$T/after" "$T/rested"

# A dead front end is succeeded at once, without --take-over.
record_start
kill -KILL "$RECORD"
wait "$RECORD" 2>/dev/null
"$JHOT" record -d 1 -o "$T/next.collapsed" "$JVM" >"$T/out" 2>"$T/err" </dev/null
is "a dead session is taken over silently" $? 0 || diag_file "$T/err"
ok "and works" grep -q knownSixty "$T/next.collapsed"

record_start -o "$T/first.collapsed"
wait_for 20 has_samples "$JVM" 20
"$JHOT" record -d 1 "$JVM" >"$T/out2" 2>"$T/err2" </dev/null
is "a second jhot is refused" $? 5
ok "with the name of who has it" grep -qiE "$(id -un)|since|holds" "$T/err2" || diag_file "$T/err2"
ok "the first runs on" alive "$RECORD"
"$JHOT" status "$JVM" >"$T/status" 2>&1
is "status knows of a session" $? 0
diag_file "$T/status"
"$JHOT" record -d 1 --take-over -o "$T/taken.collapsed" "$JVM" >"$T/out2" 2>"$T/err2" </dev/null
is "--take-over takes it" $? 0 || diag_file "$T/err2"
record_end
diag "the first ended with status $status: $(head -c 300 "$T/err")"
ok "the first kept its data" grep -q knownSixty "$T/first.collapsed"
ok "the second has its own" grep -q knownSixty "$T/taken.collapsed"
becomes_quiet "and then nobody samples" "$JVM"

# ^Z for longer than the lease of a silent front end
record_start -o "$T/paused.collapsed"
wait_for 20 has_samples "$JVM" 20
kill -TSTP "$RECORD"
ok "^Z stops jhot" wait_for 10 is_stopped "$RECORD"
sleep 11
ok "whose session waits" eval "'$JHOT' status $JVM | grep -q 'event cpu'"
kill -CONT "$RECORD"
sleep 0.5
ok "and goes on" alive "$RECORD"
kill -TERM "$RECORD"
record_end
is "to an end without an error" $status 0 || diag_file "$T/err"

record_start -o "$T/stopped.collapsed"
wait_for 20 has_samples "$JVM" 20
"$JHOT" stop "$JVM" >"$T/out2" 2>&1
is "jhot stop ends a session" $? 0 || diag_file "$T/out2"
record_end
ok "whose data is kept" grep -q knownSixty "$T/stopped.collapsed"
becomes_quiet "jhot stop ends sampling" "$JVM"
"$JHOT" stop "$JVM" >"$T/out2" 2>&1
is "jhot stop without a session is no error" $? 0
litter "$JVM" >"$T/after"
same "after all of this nothing more stays" "$T/after" "$T/rested"
jvm_end
is "the JVM's output is its own" "$(sed 's/^sum .*/sum/' "$T/jvm0.out" | tr '\n' ' ')" "ready sum "
is "and its errors are empty" "$(grep -v '^WARNING: ' "$T/jvm0.err")" ""

jvm_start $CALM_JVM Known shares
record_start -d 60 -o "$T/exited.collapsed"
wait_for 20 has_samples "$JVM" 20
jvm_halt
wait_for 60 gone "$JVM"
wait "$JVM"
is "a JVM that ends under jhot ends as it would" $? 7
record_end
is "jhot says that it ended" $status 8
ok "and keeps what it had" grep -q knownSixty "$T/exited.collapsed"
is "the JVM wrote nothing else" "$(cat "$JVM_OUT")$(grep -v '^WARNING: ' "$JVM_ERR")" "ready"
done_testing
