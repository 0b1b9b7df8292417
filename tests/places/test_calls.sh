#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Seccomp filters that forbid system calls of the agent (src/wire/calls.h), one each: the JVM lives and writes no errors,
# no child process is left, and jhot either works with fewer features or reports why it cannot.
#
# check runs filters that forbid many calls at once. CALLS=all (make calls-check) or CALLS="statx ioctl" forbids each call alone: the filter
# kills the process, sends SIGSYS, or answers EPERM or ENOSYS. Each row has a control: under the filter the JVM answers jcmd, and
# loads a library that does nothing. Where it does not, the JVM itself makes that call.
. "$(dirname "$0")/../jvm/lib.sh"

"$builddir/tests/places/confine" true 2>/dev/null || skip_all "seccomp filters cannot be set here"
[ -e "$CLASSES/Peers.class" ] || skip_all "no Peers.class (make check builds it)"
mkfifo "$T/fifo"
exec {fifo}<>"$T/fifo"

# calls NEED: the calls in the table with this NEED, separated by commas
calls() {
	sed -n "s/^\tX(\([a-z0-9_]*\), $1, .*/\1/p" "$srcdir/src/wire/calls.h" | paste -sd ,
}

# without "CALL..." LIST: LIST without these calls
without() {
	tr , '\n' <<<"$2" | grep -vxF "${1// /$'\n'}" | paste -sd ,
}

# loads_library: the JVM can load a library, as every attach has it do; the library is not an agent, so the answer is an error
# (JDK 8 has no such command)
loads_library() {
	local jcmd
	jcmd=$(dirname "$(readlink -f "$(command -v "$JAVA")")")/jcmd
	[ ! -x "$jcmd" ] || "$jcmd" "$JVM" JVMTI.agent_load "$builddir/tests/places/undumpable.so" >"$T/jcmd" 2>&1
	grep -q 'Connection reset\|Connection refused' "$T/jcmd" && return 1
	[ ! -s "$JVM_ERR" ] || ! grep -q 'disabled stack guard' "$JVM_ERR"
}

# start FILTER: a JVM that sets this filter while it runs; false when it then cannot do what every attach has it do
start() {
	local sound
	rm -f "$T/filter"
	jvm_start -agentpath:"$builddir/tests/places/libconfine.so=$T/filter" -Xmx64m -XX:+UseSerialGC ${PROGRAM:-Known shares} || return
	jvm_warm_attach "$JVM"
	echo "$1" >"$T/filter.new"
	mv "$T/filter.new" "$T/filter"
	wait_for 20 not [ -e "$T/filter" ] && jvm_warm_attach "$JVM" 2>"$T/jcmd" && loads_library && sleep 0.2 && alive "$JVM"
	sound=$?
	[ $sound = 0 ] || jvm_kill
	return $sound
}

# session ARG...: runs jhot record; sets status, and `said`: its output on one line
session() {
	"$JHOT" record -d "${SECONDS_EACH:-0.6}" "$@" -o "$T/x.collapsed" "$JVM" >"$T/said" 2>&1 </dev/null
	status=$?
	said=$(tr -s ' \n' ' ' <"$T/said")
}

# unharmed: the JVM lives and has written no errors
unharmed() {
	alive "$JVM" && ! grep -qv '^WARNING: \|warning: sched_getaffinity failed' "$JVM_ERR" # HotSpot's own
}

# processes: the number of the JVM's child processes, including zombies
processes() {
	cat /proc/"$JVM"/task/*/children 2>/dev/null | wc -w
}

# works_or_says CALL: jhot has samples, or an error; if the agent needs the call, the error names it
works_or_says() {
	local names='What happened'
	case ,$(calls NEEDED), in *,"$1",*) names="seccomp filter of JVM $JVM forbids $1" ;; esac
	if [ $status = 0 ]; then
		[ -n "$(ls "$T"/x*.collapsed 2>/dev/null)" ]
	else
		grep -q "$names" <<<"$said"
	fi
}

# row NAME FILTER: checks a session with $EVENTS under the filter, and prints a row of the table
row() {
	local name=$1 left
	shift
	rm -f "$T"/x*.collapsed
	if ! start "$1"; then
		printf '%-34s %s\n' "$name" "the JVM itself makes this call" | sed 's/^/# /'
		skip "$name" "the JVM does not run under this filter"
		return
	fi
	left=$(processes)
	session -e "${EVENTS:-cpu,alloc,lock,wall}" ${OPTIONS:-}
	ok "$name: the JVM lives and writes no errors" unharmed || diag_file "$JVM_ERR"
	ok "$name: jhot works, or its error names the forbidden call" works_or_says "${name%% *}" || diag_file "$T/said"
	is "$name: no child process of the JVM is left" "$(($(processes) - left))" "${ZOMBIES:-0}"
	printf '%-34s %-7s %s\n' "$name" "$([ $status = 0 ] && echo works || echo refused)" \
		"$(grep -oE 'The seccomp filter of JVM [0-9]+ forbids .*|the JVM.s seccomp filter forbids .*|no (perf_events|CPU timers)[^:;]*: [^:;]*' "$T/said" | head -n 2 | paste -sd ';')" | sed 's/^/# /'
	jvm_end
	is "$name: the JVM exits with 0" $? 0
}

optional=$(calls OPTIONAL)
own="prctl madvise pread64 sched_getaffinity getsockopt" # the JVM makes these itself
# The system calls of the engines.
engines="timer_create timer_settime timer_delete rt_tgsigqueueinfo"

# --- every call -------------------------------------------------------------------------------------------

# vital CALL: a JVM whose threads start and end, and that loads a library, does not survive without it
vital() {
	PROGRAM="Peers $T/fifo"
	ok "$1 killed: the JVM does not survive this filter without jhot" not start "kill=$1"
	printf '%-34s %s\n' "$1 killed" "the JVM itself makes this call" | sed 's/^/# /'
}

# selected NEED: the calls in the table with this NEED that $CALLS selects, one per line
selected() {
	calls "$1" | tr , '\n' | if [ "$CALLS" = all ]; then cat; else grep -xF "${CALLS// /$'\n'}"; fi
}

matrix() {
	local call
	for call in $(selected VITAL); do
		# HotSpot itself returns from signal handlers, but rarely when idle
		[ "$call" = rt_sigreturn ] || vital "$call" 2>/dev/null
	done
	for call in $(selected '[NO][A-Z]*'); do
		PROGRAM= EVENTS= OPTIONS= ZOMBIES=0
		case $call in
		statx | readlinkat | getpeername) PROGRAM="Peers $T/fifo" ;; # reads sockets and files
		gettid | madvise | sched_getaffinity) PROGRAM="Peers $T/fifo" ;; # HotSpot makes them when threads begin or end
		socket | bind | listen | connect | accept4 | recvmsg | recvfrom) EVENTS=cpu OPTIONS=--engine=lent ;;
		timer_*) EVENTS=cpu OPTIONS=--engine=ctimer ;;
		wait4) ZOMBIES=1 ;; # the child that tried it
		esac
		row "$call killed" "kill=$call"
		row "$call trapped" "trap=$call"
		row "$call EPERM" "errno=1:$call"
		row "$call ENOSYS" "errno=38:$call"
	done
}

if [ -n "${CALLS:-}" ]; then
	matrix
	PROGRAM= EVENTS= OPTIONS= ZOMBIES=0
	row "all optional calls, killed" "kill=$(without "$own" "$optional")"
	is "all optional calls killed: jhot record exits with 1" $status 1
	row "all optional calls but those of an engine, ENOSYS" "errno=38:$(without "$own $engines" "$optional")"
	is "all optional calls but those of an engine, ENOSYS: jhot record exits with 0" $status 0
	done_testing
	exit
fi

# --- many at once -----------------------------------------------------------------------------------------

ok "calls.h has more than 20 optional calls" [ "$(tr , '\n' <<<"$optional" | wc -l)" -gt 20 ]

row "all optional calls but those of an engine, killed" "kill=$(without "$own $engines" "$optional")"
is "all optional calls but those of an engine, killed: jhot record exits with 0" $status 0
ok "all optional calls but those of an engine, killed: jhot names forbidden calls and their effect" grep -q 'seccomp filter forbids statx (no names of what threads read and write);.*readlinkat' "$T/said" || diag_file "$T/said"
row "memfd_create, killed" kill=memfd_create
is "memfd_create, killed: jhot record exits with 3" $status 3
ok "memfd_create, killed: the error names the call and why it is needed" grep -q 'forbids memfd_create, which the agent needs for' <<<"$said" || diag_file "$T/said"
done_testing
