#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# perf_events that jhot opens and a JVM borrows because its container forbids them: the share of kernel frames matches the
# kernel's own accounting, for existing and new threads, in other namespaces, after a pause; nothing is left behind.
. "$(dirname "$0")/../jvm/lib.sh"

[ "$(id -u)" = 0 ] || skip_all "only root can create users and namespaces"
unshare -m -p -f --mount-proc true 2>/dev/null || skip_all "namespaces cannot be created here"
"$builddir/tests/places/confine" true 2>/dev/null || skip_all "seccomp filters cannot be set here"
[ "$(uname -r | awk -F. '{ print $1 * 100 + $2 }')" -ge 506 ] || skip_all "needs Linux 5.6"
for_other || skip_all "another user cannot run this JDK"
pid1_alone
cp "$builddir/tests/places/confine" "$T/for-other"
chmod a+rx "$T/for-other/confine"

# start WHERE: a JVM that may not open perf_events; sets jvm
start() {
	JVM_AS="$1 $T/for-other/confine" jvm_start $CALM_JVM Counts || return
	jvm=$(java_of "$JVM")
	jvm_warm_attach "$jvm"
	litter "$jvm" >"$T/before"
}

# order COMMAND THREAD: has this thread write to /dev/null from now on; sets tid
order() {
	echo "$1 1000000000" >&"$JVM_IN"
	tid=$(thread "$2")
}

# thread NAME: waits for the thread and prints its tid
thread() {
	wait_for 20 has_thread "$1" && grep -lsx "$1" "/proc/$jvm/task/"*/comm | sed 's,/comm$,,; s,.*/,,'
}
has_thread() {
	grep -qsx "$1" "/proc/$jvm/task/"*/comm
}

# ticks: the thread's user and system time in ticks
ticks() {
	sed 's/.*) //' "/proc/$jvm/task/$tid/stat" | awk '{ print $12, $13 }'
}

# percent_since TICKS: the system time's share of the thread's CPU time since then, according to the kernel
percent_since() {
	echo "$1 $(ticks)" | awk '{ u = $3 - $1; k = $4 - $2; printf "%.1f", u + k ? 100 * k / (u + k) : -1 }'
}

# record SECONDS OPTION...: records stacks with kernel frames marked; sets status, percent
record() {
	local seconds=$1 from
	shift
	from=$(ticks)
	"$JHOT" record -e cpu=5ms -a "$@" -d "$seconds" -o "$T/a.collapsed" "$jvm" >"$T/said" 2>&1 </dev/null
	status=$?
	percent=$(percent_since "$from")
}

# true_share DESCRIPTION: the share of kernel frames in the thread's samples matches the kernel's accounting
true_share() {
	near "$1" "$(weight "$T/a.collapsed" 'knownWrite.*_\[k\]')" "$(weight "$T/a.collapsed" knownWrite)" "$percent" ||
		diag_file "$T/said"
}

unharmed() {
	alive "$jvm" && not grep -qvxE 'ready|done' "$JVM_OUT" && [ -z "$(grep -v '^WARNING: ' "$JVM_ERR")" ]
}

# nothing_left WHEN: nothing of a session remains but what every session leaves; the program may have a new thread
nothing_left() {
	becomes_quiet "$1: sampling ends" "$jvm"
	litter "$jvm" >"$T/after"
	is "$1: nothing more remains in the JVM than the agent's mapping and handlers" "$(diff "$T/before" "$T/after" | grep '^[<>]' |
		grep -vE '^> (fd /dev/null|task writer|map .*(libjhot.*|libdl.so.2|libpthread.so.0))$|^[<>] SigCgt:')" ""
	ok "$1: the JVM lives and wrote nothing of its own" unharmed
}

# begin: records with borrowed perf_events in the background
begin() {
	"$JHOT" record -e cpu=5ms -a --engine=lent -o "$T/a.collapsed" "$jvm" >"$T/said" 2>&1 </dev/null &
	recorder=$!
}

# end SIGNAL: sets status
end() {
	{ kill "-$1" $recorder && wait $recorder; } 2>/dev/null
	status=$?
}

start "unshare -m -p -f --kill-child --mount-proc"
order write counter
record 1
is "without --engine=lent there are no kernel frames" "$(weight "$T/a.collapsed" '_\[k\]')" 0
ok "jhot suggests --engine=lent" grep -q -- '--engine=lent' "$T/said" || diag_file "$T/said"
record 6 --engine=lent # on a busy machine the thread may get a core for a third of this time
is "--engine=lent works with a JVM that is pid 1 of its namespace" $status 0 || diag_file "$T/said"
true_share "--engine=lent: the share of kernel frames is that of the kernel's accounting"
ok "--engine=lent: the samples add up to the JVM's CPU time within 20 %" awk -v explained="$(sed -n 's/^cpu: explains \([0-9]*\) %.*/\1/p' "$T/said")" \
	'BEGIN { exit explained < 80 || explained > 120 }' || diag_file "$T/said"
nothing_left "jhot record -d with --engine=lent"

# When the front end is silent for two seconds, the agent removes all engines, and sets them again afterwards.
begin
wait_for 20 has_samples "$jvm" 50
kill -STOP $recorder
sleep 3
kill -CONT $recorder
from=$(ticks)
sleep 2
percent=$(percent_since "$from")
end TERM
true_share "--engine=lent: the share of kernel frames is right after a pause"

begin
wait_for 20 has_samples "$jvm" 50
end KILL
nothing_left "jhot killed with --engine=lent"

begin
ok "a session with --engine=lent samples before the JVM is killed" wait_for 20 has_samples "$jvm" 10 || diag_file "$T/said"
jvm_kill
wait_for 20 gone $recorder
wait $recorder
is "jhot record with --engine=lent exits with 0 when the JVM is killed" $? 0 || diag_file "$T/said"
ok "the recording of a killed JVM has kernel frames" [ "$(weight "$T/a.collapsed" '_\[k\]')" -gt 0 ]

# A thread that starts during the session has a timer at first.
start "$AS_OTHER"
begin
wait_for 20 sampling "$jvm"
order start writer
sleep 3
percent=$(percent_since "0 0")
end TERM
true_share "--engine=lent: the share of kernel frames of a new thread of another user's JVM is right"
nothing_left "jhot terminated with --engine=lent"

# A user without the permission gets an error that says who has it.
$AS_OTHER "$JHOT" record -d 1 --engine=lent -o - --format=collapsed "$jvm" >"$T/said" 2>&1 </dev/null
is "--engine=lent is refused for a user who may not open perf_events either" $? 3 || diag_file "$T/said"
ok "the error suggests sudo" grep -q sudo "$T/said" || diag_file "$T/said"
nothing_left "--engine=lent refused"
jvm_end
done_testing
