#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Seccomp filters that forbid system calls of the agent (src/wire/calls.h), one each: the JVM lives, its output is
# clean, no process is left beside it, and jhot works with less or reports why it cannot.
#
# Part of check are filters that forbid many calls at once. CALLS=all (make calls-check) or CALLS="statx ioctl" forbids each call alone: the filter
# kills the process, sends SIGSYS, or answers EPERM or ENOSYS. Each row has a control: under the filter the JVM answers jcmd, and
# loads a library that does nothing. Where it does not, the JVM itself makes that call.
. "$(dirname "$0")/../jvm/lib.sh"

"$builddir/tests/places/confine" true 2>/dev/null || skip_all "no filter of system calls may be set here"
[ -e "$CLASSES/Peers.class" ] || skip_all "no Peers.class (make check builds it)"
mkfifo "$T/fifo"
exec {fifo}<>"$T/fifo"

# calls NEED: those of the table, separated by commas
calls() {
	sed -n "s/^\tX(\([a-z0-9_]*\), $1, .*/\1/p" "$srcdir/src/wire/calls.h" | paste -sd ,
}

# without "CALL..." LIST: the list without these
without() {
	tr , '\n' <<<"$2" | grep -vxF "${1// /$'\n'}" | paste -sd ,
}

# loads_library: the JVM, as any attach has it do; the library is no agent, so the answer is an error (JDK 8 has no such command)
loads_library() {
	local jcmd
	jcmd=$(dirname "$(readlink -f "$(command -v "$JAVA")")")/jcmd
	[ ! -x "$jcmd" ] || "$jcmd" "$JVM" JVMTI.agent_load "$builddir/tests/places/undumpable.so" >"$T/jcmd" 2>&1
	grep -q 'Connection reset\|Connection refused' "$T/jcmd" && return 1
	[ ! -s "$JVM_ERR" ] || ! grep -q 'disabled stack guard' "$JVM_ERR"
}

# start FILTER: a JVM with this filter put on it while it runs; false when it cannot do then what any attach has it do
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

# look ARG...: a session; sets status, and `said`: what jhot said, on one line
look() {
	"$JHOT" record -d "${SECONDS_EACH:-0.6}" "$@" -o "$T/x.collapsed" "$JVM" >"$T/said" 2>&1 </dev/null
	status=$?
	said=$(tr -s ' \n' ' ' <"$T/said")
}

# unharmed: the JVM, after a session
unharmed() {
	alive "$JVM" && ! grep -qv '^WARNING: \|warning: sched_getaffinity failed' "$JVM_ERR" # HotSpot's own
}

# processes: children of the JVM's, zombies included
processes() {
	cat /proc/"$JVM"/task/*/children 2>/dev/null | wc -w
}

# works_or_says: samples, or a sentence; where the agent cannot do without the call, one that names it
works_or_says() {
	local names='What happened'
	case ,$(calls NEEDED), in *,"$1",*) names="seccomp filter of JVM $JVM forbids $1" ;; esac
	if [ $status = 0 ]; then
		[ -n "$(ls "$T"/x*.collapsed 2>/dev/null)" ]
	else
		grep -q "$names" <<<"$said"
	fi
}

# row NAME FILTER...: EVENTS; the row of the table
row() {
	local name=$1 left
	shift
	rm -f "$T"/x*.collapsed
	if ! start "$1"; then
		printf '%-34s %s\n' "$name" "the JVM itself makes this call" | sed 's/^/# /'
		skip "$name" "no JVM runs under this filter"
		return
	fi
	left=$(processes)
	look -e "${EVENTS:-cpu,alloc,lock,wall}" ${OPTIONS:-}
	ok "$name: the JVM lives, its output is clean" unharmed || diag_file "$JVM_ERR"
	ok "$name: jhot works or says why not" works_or_says "${name%% *}" || diag_file "$T/said"
	is "$name: no process is left" "$(($(processes) - left))" "${ZOMBIES:-0}"
	printf '%-34s %-7s %s\n' "$name" "$([ $status = 0 ] && echo works || echo refused)" \
		"$(grep -oE 'The seccomp filter of JVM [0-9]+ forbids .*|the JVM.s seccomp filter forbids .*|no (perf_events|CPU timers)[^:;]*: [^:;]*' "$T/said" | head -n 2 | paste -sd ';')" | sed 's/^/# /'
	jvm_end
	is "$name: and ends as it would" $? 0
}

optional=$(calls OPTIONAL)
own="prctl madvise pread64 sched_getaffinity getsockopt" # the JVM makes these itself
# What remains without these are the wall clock and CPU timers.
engines="timer_create timer_settime timer_delete rt_tgsigqueueinfo"

# --- every call -------------------------------------------------------------------------------------------

# vital CALL: a JVM whose threads come and go, and that loads a library, does not live without it
vital() {
	PROGRAM="Peers $T/fifo"
	ok "$1 killed: no JVM lives" not start "kill=$1"
	printf '%-34s %s\n' "$1 killed" "the JVM itself makes this call" | sed 's/^/# /'
}

# chosen NEED: calls of the table, one a line, that are asked for
chosen() {
	calls "$1" | tr , '\n' | if [ "$CALLS" = all ]; then cat; else grep -xF "${CALLS// /$'\n'}"; fi
}

matrix() {
	local call
	for call in $(chosen VITAL); do
		# HotSpot returns from signal handlers, too, but an idle one seldom does
		[ "$call" = rt_sigreturn ] || vital "$call" 2>/dev/null
	done
	for call in $(chosen '[NO][A-Z]*'); do
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
	is "refused" $status 1
	row "all optional calls but those of an engine, ENOSYS" "errno=38:$(without "$own $engines" "$optional")"
	is "and there are samples" $status 0
	done_testing
	exit
fi

# --- many at once -----------------------------------------------------------------------------------------

ok "the table is read" [ "$(tr , '\n' <<<"$optional" | wc -l)" -gt 20 ]

row "all optional calls but those of an engine, killed" "kill=$(without "$own $engines" "$optional")"
is "and there are samples" $status 0
ok "and it is said what is not there" grep -q 'seccomp filter forbids statx (no names of what threads read and write);.*readlinkat' "$T/said" || diag_file "$T/said"
row "memfd_create, killed" kill=memfd_create
is "refused" $status 3
ok "with a sentence that names it" grep -q 'forbids memfd_create, which the agent needs for' <<<"$said" || diag_file "$T/said"
done_testing
