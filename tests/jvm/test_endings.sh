#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# How sessions end: Ctrl-C, kill -9, jhot stop, the JVM's exit, a second jhot. Nothing is left behind, no samples are lost.
. "$(dirname "$0")/lib.sh"

# record_start ARG...: in the background; RECORD is its pid. Returns when it samples.
record_start() {
	"$JHOT" record "$@" "$JVM" >"$T/out" 2>"$T/err" </dev/null &
	RECORD=$!
	wait_for 20 sampling "$JVM" || { diag "no session started"; diag_file "$T/err"; }
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

# record_int: with SIGINT enabled, which bash ignores in background jobs
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
is "jhot record exits with 0 on Ctrl-C" $status 0
ok "jhot record writes its samples on Ctrl-C" grep -q knownSixty "$T/int.collapsed"
becomes_quiet "Ctrl-C of jhot record ends sampling" "$JVM"

# What the first session may have changed in the JVM: the mapping of the agent, of two libraries of an older libc that
# it depends on, and the signal handlers.
litter "$JVM" >"$T/after"
is "after the first session only the agent's mapping and signal handlers remain in the JVM" "$(diff "$T/before" "$T/after" | grep '^[<>]' |
	grep -vE '^> map .*(libjhot.*|libdl.so.2|libpthread.so.0)$|^[<>] SigCgt:')" ""
is "exactly one agent file is mapped" "$(grep -c 'map .*libjhot' "$T/after")" 1
cp "$T/after" "$T/rested"

record_start -o "$T/killed.collapsed"
kill -KILL "$RECORD"
wait "$RECORD" 2>/dev/null
becomes_quiet "kill -9 of jhot ends sampling" "$JVM"
litter "$JVM" >"$T/after"
same "kill -9 of jhot leaves nothing more in the JVM" "$T/after" "$T/rested"

# A front end that is stopped: sampling pauses, and its session resumes when it continues.
armed() {
	# shellcheck disable=SC2046
	ls -l "/proc/$1/fd" $(agent_fds "$1") 2>/dev/null | grep -q '\[perf_event\]' || grep -qs '^ID:' "/proc/$1/timers"
}
record_start -o "$T/slow.collapsed"
wait_for 20 has_samples "$JVM" 20
kill -STOP "$RECORD"
ok "the agent disarms its clocks while the front end is stopped" wait_for 8 not armed "$JVM"
kill -CONT "$RECORD"
ok "the agent re-arms its clocks when the front end continues" wait_for 20 armed "$JVM"
kill -STOP "$RECORD"
wait_for 8 not armed "$JVM"
kill -KILL "$RECORD"
wait "$RECORD" 2>/dev/null
becomes_quiet "sampling ends when a stopped front end is killed" "$JVM"
litter "$JVM" >"$T/after"
same "killing a stopped front end leaves nothing more in the JVM" "$T/after" "$T/rested"

# A new front end replaces an orphaned session at once, without --take-over.
record_start
kill -KILL "$RECORD"
wait "$RECORD" 2>/dev/null
"$JHOT" record -d 1 -o "$T/next.collapsed" "$JVM" >"$T/out" 2>"$T/err" </dev/null
is "a session whose front end was killed is replaced without --take-over" $? 0 || diag_file "$T/err"
ok "the session that replaces an orphaned one has samples" grep -q knownSixty "$T/next.collapsed"

record_start -o "$T/first.collapsed"
wait_for 20 has_samples "$JVM" 20
"$JHOT" record -d 1 -e alloc "$JVM" >"$T/out2" 2>"$T/err2" </dev/null
is "a second jhot record of another event on the same JVM exits with 5" $? 5
ok "the error of the second jhot record names the session's owner" grep -q "jhot process $RECORD" "$T/err2" || diag_file "$T/err2"
ok "the first jhot record keeps running when a second one is refused" alive "$RECORD"
"$JHOT" status "$JVM" >"$T/status" 2>&1
is "jhot status exits with 0 while a session runs" $? 0
diag_file "$T/status"
"$JHOT" record -d 1 --take-over -o "$T/taken.collapsed" "$JVM" >"$T/out2" 2>"$T/err2" </dev/null
is "a second jhot record with --take-over succeeds" $? 0 || diag_file "$T/err2"
record_end
diag "the first recording ended with status $status: $(head -c 300 "$T/err")"
ok "the first recording keeps its samples when it is taken over" grep -q knownSixty "$T/first.collapsed"
ok "the recording with --take-over has samples" grep -q knownSixty "$T/taken.collapsed"
becomes_quiet "sampling ends after the recording with --take-over" "$JVM"

# ^Z for longer than the lease of a silent front end
record_start -o "$T/paused.collapsed"
wait_for 20 has_samples "$JVM" 20
kill -TSTP "$RECORD"
ok "jhot record stops on ^Z" wait_for 10 is_stopped "$RECORD"
sleep 11
ok "the session still has its event after the front end was stopped for 11 s" eval "'$JHOT' status $JVM | grep -q 'event cpu'"
kill -CONT "$RECORD"
sleep 0.5
ok "jhot record runs on after SIGCONT" alive "$RECORD"
kill -TERM "$RECORD"
record_end
is "jhot record exits with 0 after it was stopped and continued" $status 0 || diag_file "$T/err"

record_start -o "$T/stopped.collapsed"
wait_for 20 has_samples "$JVM" 20
"$JHOT" stop "$JVM" >"$T/out2" 2>&1
is "jhot stop exits with 0 when it ends a session" $? 0 || diag_file "$T/out2"
record_end
ok "a recording that is ended by jhot stop keeps its samples" grep -q knownSixty "$T/stopped.collapsed"
becomes_quiet "jhot stop ends sampling" "$JVM"
"$JHOT" stop "$JVM" >"$T/out2" 2>&1
is "jhot stop exits with 0 when there is no session" $? 0
litter "$JVM" >"$T/after"
same "all of these sessions leave nothing more in the JVM than the first" "$T/after" "$T/rested"
jvm_end
is "the JVM writes only its own lines to stdout" "$(sed 's/^sum .*/sum/' "$T/jvm0.out" | tr '\n' ' ')" "ready sum "
is "the JVM writes nothing but JEP 451's warnings to stderr" "$(grep -v '^WARNING: ' "$T/jvm0.err")" ""

jvm_start $CALM_JVM Known shares
record_start -d 60 -o "$T/exited.collapsed"
wait_for 20 has_samples "$JVM" 20
jvm_halt
wait_for 60 gone "$JVM"
wait "$JVM"
is "a JVM that halts during a recording exits with its own status" $? 7
record_end
is "jhot record exits with 8 when the JVM ends" $status 8
ok "a recording keeps its samples when the JVM ends" grep -q knownSixty "$T/exited.collapsed"
is "a JVM that halts during a recording writes only its own lines" "$(cat "$JVM_OUT")$(grep -v '^WARNING: ' "$JVM_ERR")" "ready"
done_testing
