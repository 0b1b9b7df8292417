#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# perf_events that jhot opens for a JVM whose container forbids them: as many kernel frames as the kernel's own
# accounting says, for existing and new threads, in other namespaces, across a pause; nothing is left behind.
. "$(dirname "$0")/../jvm/lib.sh"

[ "$(id -u)" = 0 ] || skip_all "only root can make users and namespaces"
unshare -m -p -f --mount-proc true 2>/dev/null || skip_all "no namespaces may be made here"
"$builddir/tests/places/confine" true 2>/dev/null || skip_all "no filter of system calls may be set here"
[ "$(uname -r | awk -F. '{ print $1 * 100 + $2 }')" -ge 506 ] || skip_all "this needs Linux 5.6"
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

# order WHAT THREAD: this thread of it writes to /dev/null from now on; sets tid
order() {
	echo "$1 1000000000" >&"$JVM_IN"
	tid=$(thread "$2")
}

# thread NAME: its tid, as soon as it is there
thread() {
	wait_for 20 has_thread "$1" && grep -lsx "$1" "/proc/$jvm/task/"*/comm | sed 's,/comm$,,; s,.*/,,'
}
has_thread() {
	grep -qsx "$1" "/proc/$jvm/task/"*/comm
}

# ticks: of the thread, in the program and in the kernel
ticks() {
	sed 's/.*) //' "/proc/$jvm/task/$tid/stat" | awk '{ print $12, $13 }'
}

# percent_since TICKS: the kernel's part of the thread's time since then, as the kernel tells it
percent_since() {
	echo "$1 $(ticks)" | awk '{ u = $3 - $1; k = $4 - $2; printf "%.1f", u + k ? 100 * k / (u + k) : -1 }'
}

# record SECONDS OPTION...: stacks with the kernel's frames marked; sets status, percent
record() {
	local seconds=$1 from
	shift
	from=$(ticks)
	"$JHOT" record -e cpu=5ms -a "$@" -d "$seconds" -o "$T/a.collapsed" "$jvm" >"$T/said" 2>&1 </dev/null
	status=$?
	percent=$(percent_since "$from")
}

# true_share DESCRIPTION: the kernel's share of what was sampled in the thread's own code is the one that the kernel tells
true_share() {
	near "$1" "$(weight "$T/a.collapsed" 'knownWrite.*_\[k\]')" "$(weight "$T/a.collapsed" knownWrite)" "$percent" ||
		diag_file "$T/said"
}

unharmed() {
	alive "$jvm" && not grep -qvxE 'ready|done' "$JVM_OUT" && [ -z "$(grep -v '^WARNING: ' "$JVM_ERR")" ]
}

# Nothing of a session is in it but what each leaves, and the thread that has been begun since.
nothing_left() {
	becomes_quiet "$1: it ends" "$jvm"
	litter "$jvm" >"$T/after"
	is "$1: nothing is left" "$(diff "$T/before" "$T/after" | grep '^[<>]' |
		grep -vE '^> (fd /dev/null|task writer|map .*(libjhot.*|libdl.so.2|libpthread.so.0))$|^[<>] SigCgt:')" ""
	ok "$1: the JVM lives and printed nothing" unharmed
}

# begin: the same, lent, in the background
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
is "the container does forbid them: no kernel frame" "$(weight "$T/a.collapsed" '_\[k\]')" 0
ok "and it is said what may help" grep -q -- '--engine=lent' "$T/said" || diag_file "$T/said"
record 6 --engine=lent # on a busy machine the thread gets a core for a third of it
is "lent to a JVM that is pid 1 of its namespace" $status 0 || diag_file "$T/said"
true_share "the kernel's share is the true one"
ok "and all of the time is there" awk -v explained="$(sed -n 's/^cpu: explains \([0-9]*\) %.*/\1/p' "$T/said")" \
	'BEGIN { exit explained < 80 || explained > 120 }' || diag_file "$T/said"
nothing_left "at its end"

# Who is not heard for two seconds has all engines taken off, and set again when he is.
begin
wait_for 20 has_samples "$jvm" 50
kill -STOP $recorder
sleep 3
kill -CONT $recorder
from=$(ticks)
sleep 2
percent=$(percent_since "$from")
end TERM
true_share "after a pause, too"

begin
wait_for 20 has_samples "$jvm" 50
end KILL
nothing_left "jhot was killed"

begin
ok "before its end: sampled" wait_for 20 has_samples "$jvm" 10 || diag_file "$T/said"
jvm_kill
wait_for 20 gone $recorder
wait $recorder
is "the JVM was killed: the recording is whole" $? 0 || diag_file "$T/said"
ok "with kernel frames" [ "$(weight "$T/a.collapsed" '_\[k\]')" -gt 0 ]

# A thread that begins meanwhile has a timer first.
start "$AS_OTHER"
begin
wait_for 20 sampling "$jvm"
order start writer
sleep 3
percent=$(percent_since "0 0")
end TERM
true_share "of a thread that has begun since, another user's JVM"
nothing_left "at its end"

# A user without the permission is told who has it.
$AS_OTHER "$JHOT" record -d 1 --engine=lent -o - --format=collapsed "$jvm" >"$T/said" 2>&1 </dev/null
is "who may not open them either is refused" $? 3 || diag_file "$T/said"
ok "and told who may" grep -q sudo "$T/said" || diag_file "$T/said"
nothing_left "refused"
jvm_end
done_testing
