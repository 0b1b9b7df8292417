#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# jhot dump on JVMs that run, are stopped, or have attaching disabled, and on other processes; none is affected.
. "$(dirname "$0")/../jvm/lib.sh"

export KNOWN_DUTY=100 # a dump is a snapshot: known-1 must always be inside its recursion

# dump ARG...: runs jhot dump; its exit status, output and errors are in $status, $T/out, $T/err
# dump_as [AS...] PROGRAM ARGS...: the same as another user
dump_as() {
	"$@" >"$T/out" 2>"$T/err" </dev/null
	status=$?
}

dump() {
	dump_as "$JHOT" dump "$@"
}

# thread NAME: the frames of the thread of this name, without kernel frames
thread() {
	awk -v head="\"$1\" tid" 'index($0, head) == 1 { on = 1; next } /^$/ { on = 0 } on && $1 != "k"' "$T/out"
}

# has_deep: the thread that recurses 20 times has all 21 levels, then the chain that called them, with the source lines of
# these calls
has_deep() {
	local line drive
	line=$(grep -n 'knownDeep(depth - 1, x) + 1' "$source_file" | cut -d : -f 1)
	drive=$(grep -n 'x = work.run(x)' "$source_file" | cut -d : -f 1)
	thread known-1 >"$T/deep"
	[ "$(grep -c "^    [JIi]  Known.knownDeep:$line\$" "$T/deep")" -ge 20 ] &&
		awk -v drive="Known.drive:$drive" '
			/Known.knownDeep/ { step = 1 }
			step == 1 && $2 == drive { step = 2 }
			step == 2 && /java.lang.Thread.run:[0-9]+$/ { step = 3 }
			step == 3 && $1 == "v" { step = 4 } # libjvm and libc may have no symbols here
			step == 4 && /\[(libc|libpthread)[.-]/ { step = 5 }
			END { exit step != 5 }' "$T/deep"
}

# shows_deep PID [AS...]: a dump has_deep. Up to five dumps, as one may catch the thread between two calls of the recursion.
shows_deep() {
	local try
	for try in 1 2 3 4 5; do
		dump_as "${@:2}" "$JHOT" dump "$1"
		[ "$status" = 0 ] && has_deep && return
	done
	diag_file "$T/deep"
	diag_file "$T/err"
	diag "$(wc -l <"$T/deep") frames"
	return 1
}

untraced() {
	! grep -h '^TracerPid:' /proc/"$1"/task/*/status | grep -qv '[[:space:]]0$'
}

# stopped_of PID: the number of threads in state T
stopped_of() {
	grep -h '^State:' /proc/"$1"/task/*/status | awk '$2 == "T"' | wc -l
}

all_stopped() {
	[ "$(stopped_of "$1")" = "$(count_of "$1" task)" ]
}

# cpu_of PID: clock ticks of user time, which increase while it makes progress
cpu_of() {
	sed 's/.*) //' "/proc/$1/stat" | cut -d ' ' -f 12
}

progressed() {
	[ "$(cpu_of "$1")" -gt "$2" ]
}

good_end() {
	local last
	last=$(tail -n 1 "$T/out")
	is "JDK $major: each thread was paused once" "${last%% *}" "$(count_of "$1" task)"
	ok "JDK $major: the last line has the longest pause" \
		grep -Eq '^[0-9]+ threads, paused one at a time, at most [0-9.]+ ms$' <<<"$last"
	diag "$last"
	is "JDK $major: no stack is broken" "$(grep -c '^    ?' "$T/out")" 0
}

test_healthy() {
	local jvm before
	jvm_start $CALM_JVM Known deep 20
	jvm=$JVM
	litter "$jvm" >"$T/before"
	ok "JDK $major: the stack of known-1 is complete, with line numbers" shows_deep "$jvm"
	good_end "$jvm"
	ok "JDK $major: the thread main is named and reads its standard input" \
		grep -q 'java.io.FileInputStream.readBytes' <(thread main)
	ok "JDK $major: the stack of the VM Thread reaches its native root" \
		grep -Eq 'libc|libpthread' <(thread "VM Thread" | tail -n 1)
	before=$(cpu_of "$jvm")
	ok "JDK $major: the JVM runs on after a dump" wait_for 20 progressed "$jvm" "$before"
	ok "JDK $major: no thread is traced after a dump" untraced "$jvm"
	litter "$jvm" >"$T/after"
	same "JDK $major: a dump leaves nothing in the JVM" "$T/after" "$T/before"
	jvm_end "$jvm"
	is "JDK $major: the JVM exits with 0" $? 0
	is "JDK $major: the JVM writes only its own lines to stdout" "$(sed 's/^sum .*/sum/' "$JVM_OUT" | tr '\n' ' ')" "ready sum "
	is "JDK $major: the JVM writes nothing to stderr" "$(cat "$JVM_ERR")" ""
}

test_closed() {
	jvm_start $CALM_JVM -XX:+DisableAttachMechanism Known deep 20
	ok "JDK $major, attaching disabled: the stack of known-1 is complete" shows_deep "$JVM"
	jvm_end
}

test_stopped() {
	jvm_start $CALM_JVM Known deep 20
	kill -STOP "$JVM"
	ok "stopped JVM: all threads are stopped before the dump" wait_for 20 all_stopped "$JVM"
	dump "$JVM"
	is "stopped JVM: jhot dump exits with 0" "$status" 0
	ok "stopped JVM: the dump has Java frames" grep -q 'Known\.drive:' <(thread known-1)
	ok "stopped JVM: the dump shows the state T" grep -q '^"known-1" tid [0-9]* #[0-9]* T ' "$T/out"
	ok "stopped JVM: all threads are still stopped after the dump" wait_for 5 all_stopped "$JVM"
	ok "stopped JVM: no thread is traced after the dump" untraced "$JVM"
	kill -CONT "$JVM"
	local before
	before=$(cpu_of "$JVM")
	ok "stopped JVM: it runs on after SIGCONT" wait_for 20 progressed "$JVM" "$before"
	jvm_end
	is "stopped JVM: it exits with 0" $? 0
}

# is_thread NAME "STATE" ["LOCK"]: the thread with this full name is in this state, and waits for this lock
is_thread() {
	awk -v name="\"$1\" tid " -v state=" $2, " -v lock="${3:-}" '
		index($0, name) == 1 && index($0, state) { found = lock == ""; on = 1; next }
		on && lock != "" && $0 ~ lock { found = 1 }
		{ on = 0 }
		END { exit !found }' "$T/out"
}

dump_has_runner() {
	dump "$JVM"
	is_thread "spinning, with a name much longer than the kernel keeps" RUNNABLE
}

# shows_locks OPTION...: the dump has names, states, locks and owners of Java threads, whatever the layout of objects
shows_locks() {
	local what="JDK $major" owner='held by "the one that holds all the locks" tid [0-9]+$'
	[ $# = 0 ] || what="$what, $*"
	jvm_start -Xmx64m "$@" Locks || return
	wait_for 30 dump_has_runner # some threads may not have started yet
	is "$what: jhot dump exits with 0" "$status" 0
	ok "$what: a running thread has its full name and is RUNNABLE" \
		is_thread "spinning, with a name much longer than the kernel keeps" RUNNABLE
	ok "$what: a sleeping thread is TIMED_WAITING (sleeping)" is_thread "the one that holds all the locks" "TIMED_WAITING (sleeping)"
	ok "$what: a blocked thread has the monitor and its owner" is_thread "blocked on a monitor of Held" \
		"BLOCKED (on object monitor)" "^    waiting to lock Locks[.\$]Held 0x[0-9a-f]+, $owner"
	ok "$what: a notified thread waits for the monitor and its owner" is_thread "notified, for a monitor of Held" \
		"BLOCKED (on object monitor)" "^    waiting to lock Locks[.\$]Held 0x[0-9a-f]+, $owner"
	ok "$what: a waiting thread has the object" is_thread "waiting on a Waited" "WAITING (on object monitor)" \
		'^    waiting on Locks[.\$]Waited 0x[0-9a-f]+$'
	ok "$what: a parked thread has the lock and its owner" is_thread "parked for a ReentrantLock" "WAITING (parking)" \
		"^    parked for java.util.concurrent.locks.ReentrantLock[.\$]NonfairSync 0x[0-9a-f]+, $owner"
	ok "$what: a signalled thread has the lock and its owner" is_thread "signalled, for a ReentrantLock" "WAITING (parking)" \
		"^    parked for java.util.concurrent.locks.ReentrantLock[.\$]NonfairSync 0x[0-9a-f]+, $owner"
	ok "$what: a thread's name may have any Unicode letters" is_thread "parked für 一秒 😀" "TIMED_WAITING (parking)"
	ok "$what: the thread main is RUNNABLE" is_thread main RUNNABLE
	[ "$tap_failed" = 0 ] || diag_file "$T/out"
	jvm_end
}

# The same with other collectors and layouts of objects, of those that this JVM has.
test_locks() {
	local options
	shows_locks
	while read -r options; do
		# shellcheck disable=SC2086
		"$JAVA" -Xmx64m $options -version >/dev/null 2>&1 && shows_locks $options
	done <<'END'
-XX:+UseZGC
-XX:+UseShenandoahGC
-XX:+UseParallelGC -XX:-UseCompressedOops
-XX:+UseSerialGC -XX:-UseCompressedClassPointers -XX:-UseCompressedOops
-XX:+UnlockExperimentalVMOptions -XX:+UseCompactObjectHeaders
END
}

# circle_of COUNT: the dump has a deadlock of COUNT threads, each of them once
circle_of() {
	dump "$JVM"
	grep -q "^DEADLOCK: $1 threads wait for each other" "$T/out" &&
		[ "$(grep -c '^    "payer-[0-9]" tid [0-9]* waits for .*, held by "payer-[0-9]"$' "$T/out")" = "$1" ]
}

# Threads that wait for each other, with monitors and ReentrantLocks, and chains of waiting threads.
# JDK 25 runs with stack-locking: a monitor's owner is then found by the address of a lock record, instead of by its id.
test_deadlock() {
	local mode=
	[ "$major" != 25 ] || mode=-XX:LockingMode=1
	jvm_start -Xmx64m $mode Problems deadlock
	ok "JDK $major: a deadlock of two threads is reported" wait_for 20 circle_of 2 || diag_file "$T/out"
	dump --json "$JVM"
	ok "JDK $major: the JSON has the deadlock of two threads" python3 -c "
import json, sys
d = json.load(open('$T/out'))
names = {t['tid']: t['name'] for t in d['threads']}
sys.exit([sorted(names[t] for t in c) for c in d['deadlocks']] != [['payer-1', 'payer-2']])"
	jvm_end
	jvm_start -Xmx64m Problems deadlock-3
	ok "JDK $major: a deadlock of three threads is reported" wait_for 20 circle_of 3 || diag_file "$T/out"
	jvm_end
	jvm_start -Xmx64m Problems deadlock-not
	for _ in 1 2 3; do
		dump "$JVM"
		ok "JDK $major: a chain of waits is not reported as a deadlock" not grep -q '^DEADLOCK' "$T/out"
	done
	jvm_end
}

json_right() {
	dump --json "$1"
	python3 - "$T/out" "$1" <<'END'
import json, os, sys
d = json.load(open(sys.argv[1]))
assert d["pid"] == int(sys.argv[2])
assert len(d["threads"]) == len(os.listdir("/proc/%s/task" % sys.argv[2])), "threads"
assert 0 < d["longest_pause_ns"] < 10**12
known = [t for t in d["threads"] if t["name"] == "known-1"]
assert len(known) == 1 and known[0]["java_state"]
frames = [f for f in known[0]["frames"] if f["name"] == "Known.drive"]
assert len(frames) == 1 and frames[0]["line"] > 0 and frames[0]["bci"] >= 0
assert frames[0]["type"] in ("compiled", "interpreted", "inlined")
END
}

# A dump that is killed at any time leaves the JVM running and untraced.
test_killed() {
	local jvm before sig pid
	jvm_start $CALM_JVM Known threads 4
	jvm=$JVM
	ok "the JSON has all threads, and the known stack with lines" json_right "$jvm"
	for sig in INT TERM HUP KILL; do
		for _ in 1 2 3; do
			"$JHOT" dump "$jvm" >"$T/killed" 2>&1 &
			pid=$!
			wait_for 10 eval "grep -q '^TracerPid:.*[1-9]' /proc/$jvm/task/*/status || ! alive $pid" 2>/dev/null
			kill -$sig "$pid" 2>/dev/null
			wait "$pid" 2>/dev/null
		done
		ok "dump killed by SIG$sig: no thread is traced" wait_for 5 untraced "$jvm"
		is "dump killed by SIG$sig: no thread is stopped" "$(stopped_of "$jvm")" 0
	done
	before=$(cpu_of "$jvm")
	ok "dump killed: the JVM runs on" wait_for 20 progressed "$jvm" "$before"
	jvm_end "$jvm"
	is "dump killed: the JVM exits with 0" $? 0
	is "dump killed: the JVM writes only its own lines to stdout" "$(sed 's/^sum .*/sum/' "$JVM_OUT" | tr '\n' ' ')" "ready sum "
}


test_refused() {
	local other
	mkfifo "$T/never"
	exec {never}<>"$T/never"
	cat <"$T/never" &
	other=$!
	wait_for 20 grep -qx cat "/proc/$other/comm" # until then it is this script
	dump "$other"
	is "not a JVM: jhot dump exits with 3" "$status" 3
	ok "not a JVM: the error names the program" grep -q "$other (cat).*" "$T/err"
	ok "not a JVM: the error has the reason" grep -q 'not a Java process' "$T/err"
	ok "not a JVM: the process lives" alive "$other"
	kill "$other"
	wait "$other" 2>/dev/null
	dump 4194304
	is "jhot dump of a pid without a process exits with 4" "$status" 4
}

# As another user: our JVM is refused with advice; their own works, or is refused with the name of the kernel setting.
test_other_user() {
	local ours scope=0
	[ ! -r /proc/sys/kernel/yama/ptrace_scope ] || scope=$(cat /proc/sys/kernel/yama/ptrace_scope)
	jvm_start $CALM_JVM Known deep 20
	ours=$JVM
	if for_other; then
		dump_as $AS_OTHER "$JHOT" dump "$ours"
		is "another user's JVM: jhot dump exits with 3" "$status" 3
		ok "another user's JVM: the error suggests sudo" grep -q 'sudo' "$T/err"
		ok "another user's JVM: no thread is traced" untraced "$ours"
		JVM_AS=$AS_OTHER jvm_start $CALM_JVM Known deep 20
		if [ "$scope" = 0 ]; then
			ok "a user's own JVM: the stack of known-1 is complete" shows_deep "$JVM" $AS_OTHER
		else
			dump_as $AS_OTHER "$JHOT" dump "$JVM"
			is "a user's own JVM, ptrace_scope $scope: jhot dump exits with 3" "$status" 3
			ok "a user's own JVM: the error names ptrace_scope" grep -q 'ptrace_scope' "$T/err"
		fi
		jvm_end
	else
		skip "JVMs of two users" "needs root, and a JDK that all can read"
	fi
	jvm_end "$ours"
}

# Where the kernel forbids tracing, jhot uses the agent; a JVM that does not accept it is refused.
test_untraceable() {
	local untraceable=$builddir/tests/dump/untraceable.so
	jvm_start -Xmx64m Locks
	LD_PRELOAD=$untraceable dump "$JVM"
	is "untraceable JVM: jhot dump exits with 0" "$status" 0
	ok "untraceable JVM: the last line says that the agent sampled the threads" grep -q '^[0-9]* threads, sampled by the agent, ' "$T/out"
	ok "untraceable JVM: a running thread has its full name and lines" \
		grep -Eq '^    [JIi]  Locks.spin:[0-9]+$' <(thread "spinning, with a name much longer than the kernel keeps")
	ok "untraceable JVM: threads have states" grep -q '^"waiting on a Waited" tid [0-9]* .*waits' "$T/out" ||
		grep '^"' "$T/out" | sed 's/^/# /'
	ok "untraceable JVM: the thread main reads its standard input" grep -q 'java.io.FileInputStream.readBytes' <(thread main)
	LD_PRELOAD=$untraceable dump --json "$JVM"
	ok "untraceable JVM: the JSON has by_agent" python3 -c 'import json, sys; assert json.load(open(sys.argv[1]))["by_agent"]' "$T/out"
	ok "untraceable JVM: sampling ends after the dump" wait_for 20 quiet "$JVM"
	jvm_end
	jvm_start $CALM_JVM -XX:+DisableAttachMechanism Known deep 20
	FAKE_SCOPE=0 LD_PRELOAD=$untraceable dump "$JVM"
	is "untraceable JVM, attaching disabled: jhot dump exits with 3" "$status" 3
	ok "untraceable JVM, attaching disabled: the error suggests sudo" grep -q 'sudo' "$T/err"
	FAKE_SCOPE=1 LD_PRELOAD=$untraceable dump "$JVM"
	is "ptrace_scope 1: advice for this JVM precedes advice that changes the whole system" \
		"$(grep -oE '[0-9]  (sudo jhot|jcmd|sudo sysctl)' "$T/err" | tr -s ' \n' ' ')" \
		"1 sudo jhot 2 jcmd 3 sudo sysctl "
	ok "ptrace_scope 1: the error says how to restore the setting" grep -q 'back to 1' <(tr -s ' \n' ' ' <"$T/err")
	FAKE_SCOPE=3 LD_PRELOAD=$untraceable dump "$JVM"
	ok "ptrace_scope 3: the error suggests nothing that cannot help" not grep -q sudo "$T/err"
	jvm_end
}

# Tracing needs privileges where ptrace_scope says so, and some containers forbid it altogether.
may_trace() {
	[ "$(id -u)" = 0 ] || [ ! -r /proc/sys/kernel/yama/ptrace_scope ] ||
		[ "$(cat /proc/sys/kernel/yama/ptrace_scope)" = 0 ]
}

source_file=$srcdir/tests/jvm/programs/Known.java
first_java=$JAVA
if may_trace; then
	while read -r major java; do
		JAVA=$java
		test_healthy
		test_closed
		test_locks
		case $major in 8 | 21 | 25) test_deadlock ;; esac
	done < <(jdks_checked) # MAJORS="8 11 21": on these, too
	JAVA=$first_java
	test_stopped
	test_killed
else
	skip "JVMs that are traced" "kernel.yama.ptrace_scope lets only root trace"
fi
test_refused
test_untraceable
test_other_user
done_testing
