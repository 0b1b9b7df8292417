#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Faults at every step of attach, events, export and detach: jhot, its helpers or the JVM are killed, or a system call
# fails. The steps are jhot's own system calls, which are first counted by phase (fault_phase.h). After each fault the JVM
# lives, jhot attaches again, nothing is left behind, no file is incomplete.
#
# ./bootstrap check-long kills jhot in each phase and runs a few of the other kinds; FAULTS=N (make faults-check) runs N
# points of each kind, in all phases; KINDS="kill EIO" runs only these kinds.
. "$(dirname "$0")/../jvm/lib.sh"
. "$srcdir/tests/places/fault.sh"

tool=$builddir/tests/places/fault_tool
"$tool" kill - true 2>/dev/null || skip_all "tracing is not permitted here"
FAULTS=${FAULTS:-}
KINDS=${KINDS:-kill child ENOSPC EIO EMFILE ENOMEM jvm upgrade together ${FAULTS:+stopped}}
events=cpu,alloc,lock,wall
export TERM=xterm

# Where faults are injected: RUN:PHASE. The test fails if a run has a phase that is not listed, or if no run has a listed phase.
places="record:begin record:find record:put record:connect woken:wake record:load record:enable record:sample
	live:switch live:detach live:export record:detach record:export record:end"
# In check: jhot is killed once in each phase; the JVM is killed where something of jhot starts or ends in it; other kinds are
# injected where each run has points of them.
phases="record:begin record:find record:put record:connect woken:wake record:load record:enable record:sample
	live:switch record:detach record:export record:end"
declare -A check=([kill]=$phases [jvm]="woken:wake record:load record:enable live:switch record:detach record:export" [child]="record:put record:load" [ENOSPC]="record:put record:export"
	[EIO]="record:enable" [EMFILE]="record:connect" [ENOMEM]="record:enable")

# record: a session with all events, written to files, on a JVM that has been attached to before
run_record() {
	timeout -k 5 60 "$tool" -w 3 "$1" "$2" "$JHOT" record -e $events -o "$T/a.collapsed" -o "$T/a.svg" "$JVM" \
		>"$T/out" 2>"$T/err" </dev/null
	status=$?
}

# woken: the JVM has no attach socket, so jhot has to request one
run_woken() {
	rm -f "/tmp/.java_pid$JVM"
	run_record "$@"
}

# live: the view switches wall on, off and on again, exports another event and quits; Escape and q are repeated in case the first
# was ignored
run_live() {
	(cd "$T" && timeout -k 5 60 "$tool" -k $'~~~4e  1x\025a.collapsed\r~~q\033q' "$1" "$2" "$JHOT" "$JVM" \
		>"$T/out" 2>"$T/err" </dev/null)
	status=$?
}

# run_with RUN WHAT POINT: runs it with a fault; sets $status; the tool's messages are in $T/err
run_with() {
	rm -f "$T"/a*
	"run_$1" "$2" "$3"
}

# count_points: counts the points of each kind in each phase of each run, without faults
count_points() {
	local run bad=0
	for run in record woken live; do
		run_with $run kill -
		[ $status = 0 ] && no_half && ls "$T"/a*.collapsed >/dev/null || { bad=1 && diag "$run: status $status" && diag_file "$T/err"; }
		sed -n "s/^points /$run /p" "$T/err"
	done >"$T/points"
	is "without faults, each run exits with 0 and writes complete files" $bad 0 || diag_file "$T/points"
	is "the runs go through exactly the listed phases" \
		"$(awk '{ print $3 }' "$T/points" | sort -u | tr '\n' ' ')" \
		"$(for place in $phases; do echo "${place#*:}"; done | sort -u | tr '\n' ' ')"
	is "each run has system calls in each phase that is listed for it" \
		"$(for place in $places; do grep -q "^${place%:*} kill ${place#*:} [1-9]" "$T/points" || echo "$place"; done)" ""
}

# points KIND: prints "RUN PHASE:N", the middle of each phase of check; or $FAULTS points, equally distributed over all phases
points() {
	local place kind=${1/jvm/kill}
	for place in $([ -n "$FAULTS" ] && echo "$places" || echo "${check[$1]}"); do
		grep "^${place%:*} $kind ${place#*:} " "$T/points"
	done | awk -v many="${FAULTS:-1}" '{ at[NR] = $1 " " $3; count[NR] = $4 }
		END {
			for (i = 1; i <= NR; i++) {
				of = int((many + NR - 1) / NR)
				of = of < count[i] ? of : count[i]
				for (k = 0; k < of; k++)
					print at[i] ":" 1 + int((k + 0.5) * count[i] / of)
			}
		}'
}

# at_point RUN WHAT POINT: injects the fault there, or earlier if the phase is shorter than when it was counted
at_point() {
	local n=${3#*:}
	while
		run_with "$1" "$2" "${3%:*}:$n"
		! happened && [ "$n" -gt 1 ]
	do
		n=$((n / 2))
	done
}

# happened: the fault was injected (the message need not be at the start of a line, as jhot may have been printing one)
happened() {
	grep -qE 'call [a-z]+:[0-9]+ is ' "$T/err"
}

# ended_properly RUN: jhot exited by itself, with 0 and all files, or with an error. Before main the loader prints errors of its
# own, or, if its first mapping fails, none.
ended_properly() {
	case $status in
	0) [ "$1" = live ] || [ -s "$T/a-cpu.svg" ] ;;
	139) grep -q '^call begin:1 is' "$T/err" ;;
	127) grep -q 'error while loading shared libraries' "$T/err" ;;
	*) [ "$status" -lt 124 ] && grep -qE 'What happened|^jhot: ' "$T/err" ;;
	esac
}

unaffected() { # RUN KIND
	no_half || { diag "incomplete file: $(ls -l "$T"/a*)"; return 1; }
	unharmed || { diag "the JVM is harmed"; return 1; }
	again || { diag "jhot does not attach again, or something is left"; diag_file "$T/again"; return 1; }
	case $2 in
	kill) [ "$status" = 137 ] ;;
	*) ended_properly "$1" ;;
	esac
}

# calm_jvm: starts a JVM and takes a snapshot of its resources before any fault
calm_jvm() {
	jvm_start $CALM_JVM Known shares
	jvm_warm_attach "$JVM"
	litter "$JVM" >"$T/before"
}

# comes KIND: the fault was injected; a phase that was counted has its first call in every run, but not always one that can fail so
comes() {
	happened || case $1 in
	kill | jvm) diag "it did not happen" && return 1 ;;
	*) without=$((without + 1)) ;;
	esac
}

# at_points KIND
at_points() {
	local kind=$1 run point bad=0 count=0 without=0
	points "$kind" >"$T/at"
	while read -r run point; do
		count=$((count + 1))
		at_point "$run" "$kind" "$point"
		comes "$kind" && unaffected "$run" "$kind" && continue
		bad=$((bad + 1))
		diag "$kind of $run at $point: status $status"
		diag_file "$T/err" && diag_file "$JVM_OUT" && diag_file "$JVM_ERR"
		jvm_kill
		calm_jvm # do not reuse a JVM that may be damaged
	done <"$T/at"
	is "$kind at $count points: the JVM lives, jhot ends properly and attaches again; no partial file" $bad 0
	ok "$kind: at least one point had a system call that can fail so" [ $count -gt $without ]
	[ $without = 0 ] || diag "$without had no such call this time"
}

# The JVM is killed at any step of jhot: jhot ends with an error, in the live view on the screen.
test_jvm() {
	local run point bad=0 count=0
	points jvm >"$T/at"
	while read -r run point; do
		jvm_start $CALM_JVM Known shares
		at_point "$run" "$JVM" "$point"
		jvm_kill
		count=$((count + 1))
		comes jvm && no_half && ended_properly "$run" && { [ "$run-${point%:*}" != live-switch ] || grep -aq 'has ended' "$T/out"; } && continue
		bad=$((bad + 1))
		diag "the JVM killed in $run at $point: status $status"
		diag_file "$T/err"
	done <"$T/at"
	is "the JVM is killed at $count points: jhot ends with an error, without incomplete files" $bad 0
	ok "the JVM is killed at one point at least" [ $count -gt 0 ]
}

# caught: the bit mask of signals that have handlers
caught() {
	sed -n 's/^SigCgt:[[:space:]]*/0x/p' "$1"
}

# version N: a session with an agent that differs from others by N bytes has samples, and ends
version() {
	{ cat "$builddir/libjhot.so" && printf '%*s' "$1" ""; } >"$T/version.so"
	"$builddir/tests/sampler/agent_tool" "$JVM" "$T/version.so" seconds=60 samples=5 >"$T/said" 2>&1 &&
		grep -qE '^samples [1-9]' "$T/said" && wait_for 20 quiet "$JVM"
}

# Each agent takes over the signal from the one before; loaded agents do not disturb each other.
test_versions() {
	local i done=0
	for i in {1..12} 1; do
		version "$i" || { diag "version $i" && diag_file "$T/said" && break; }
		done=$((done + 1))
	done
	is "sessions of twelve versions, and of the first again, all have samples" $done 13
	# and, for native threads, by the signal that libc reserves, 32, where libc does not handle it, and SIGIO in its place
	is "all versions use the same signal, SIGURG" $(($(caught "/proc/$JVM/status") & ~$(caught "$T/before") & ~(1 << 31 | 1 << 28))) $((1 << 22))
	ok "the JVM lives after sessions of twelve versions" unharmed
}

# Another version's agent is another file, loaded beside the first. Its sessions and those of the first exclude each other.
test_upgrade() {
	local other
	test_versions
	cp "$builddir/libjhot.so" "$T/other.so"
	echo another version >>"$T/other.so"
	"$JHOT" record --agent="$T/other.so" -o "$T/b.collapsed" "$JVM" >"$T/out" 2>"$T/err" </dev/null &
	other=$!
	wait_for 20 sampling "$JVM"
	"$JHOT" record -d 0.2 -o "$T/c.collapsed" "$JVM" >"$T/out" 2>"$T/said" </dev/null
	is "a front end of one version is refused while another version samples" $? 5 || diag_file "$T/said"
	"$JHOT" record -d 0.2 --take-over -o "$T/c.collapsed" "$JVM" >"$T/out" 2>"$T/said" </dev/null
	is "a front end of one version replaces that of another with --take-over" $? 0 || diag_file "$T/said"
	ok "the session that replaces another version's reports no lost signal handler" not grep -q 'SIGSEGV' "$T/said"
	ok "the front end of the replaced version ends" wait_for 20 gone "$other"
	"$JHOT" record --agent="$T/other.so" -o "$T/b.collapsed" "$JVM" >"$T/out" 2>"$T/err" </dev/null &
	other=$!
	wait_for 20 sampling "$JVM"
	{ kill -KILL "$other" && wait "$other"; } 2>/dev/null
	"$JHOT" record -d 0.2 -o "$T/c.collapsed" "$JVM" >"$T/out" 2>"$T/said" </dev/null
	is "a killed front end of another version is replaced" $? 0 || diag_file "$T/said"
	ok "agents of two versions are loaded" [ "$(awk '$6 ~ /libjhot-/ { print $6 }' "/proc/$JVM/maps" | sort -u | wc -l)" -ge 2 ]
	ok "the JVM lives with agents of two versions" unharmed
}

# begin NAME: runs jhot with this agent in the background; sets BEGUN
begin() {
	"$JHOT" record --agent="$T/$1.so" -o "$T/$1.collapsed" "$JVM" >"$T/$1.out" 2>"$T/$1.err" </dev/null &
	BEGUN=$!
}

# ends WANTED PID: it exits within a minute, with this status
ends() {
	wait_for 60 gone "$2" && wait "$2"
	[ $? = "$1" ]
}

either_gone() {
	gone "$1" || gone "$2"
}

# one_of PID PID: one of them samples until it is terminated, the other is refused
one_of() {
	wait_for 20 either_gone "$1" "$2" || return 1
	gone "$2" || set -- "$2" "$1"
	ends 5 "$2" && wait_for 20 has_samples "$JVM" 5 && kill -TERM "$1" && ends 0 "$1"
}

# Two versions that start at the same time, on a JVM that has neither agent and on one that has both.
test_together() {
	local i one bad=0 count=${FAULTS:-4}
	for one in one two; do
		{ cat "$builddir/libjhot.so" && echo $one; } >"$T/$one.so"
	done
	for ((i = 1; i <= count; i++)); do
		[ $((i % 2)) = 0 ] || jvm_start $CALM_JVM Known shares
		begin one && one=$BEGUN && begin two
		one_of $one $BEGUN && unharmed && not grep -q SIGSEGV "$T/one.err" "$T/two.err" && wait_for 20 quiet "$JVM" && continue
		bad=$((bad + 1))
		diag "beginning together for time $i"
		diag_file "$T/one.err" && diag_file "$T/two.err" && diag_file "$JVM_ERR"
		kill -KILL $one $BEGUN 2>/dev/null
		break
	done
	{ jvm_stop_all; } 2>/dev/null
	is "two versions that start together $count times: one samples, the other is refused, the JVM lives" $bad 0
}

# A JVM that is stopped in the middle of a session: jhot ends in time, and sampling ends when the JVM continues.
test_stopped() {
	"$JHOT" record -d 2 -o "$T/b.collapsed" "$JVM" >"$T/out" 2>"$T/err" </dev/null &
	local record=$!
	wait_for 20 has_samples "$JVM" 5
	kill -STOP "$JVM"
	ok "jhot record ends while the JVM is stopped" wait_for 40 gone "$record"
	wait "$record"
	diag "with status $?: $(head -c 200 "$T/err" | tr '\n' ' ')"
	kill -CONT "$JVM"
	becomes_quiet "sampling ends once the JVM continues" "$JVM"
	ok "jhot attaches again after the JVM was stopped" again
	ok "the JVM lives after it was stopped" unharmed
}

[[ " $KINDS " != *" together "* ]] || test_together
calm_jvm
count_points
for kind in $KINDS; do
	case $kind in
	jvm | together) ;;
	upgrade | stopped) test_$kind ;;
	*) at_points "$kind" ;;
	esac
done
becomes_quiet "sampling ends after all faults" "$JVM"
litter "$JVM" >"$T/after"
is "after all faults only the agent's mapping and signal handlers remain in the JVM" "$(diff "$T/before" "$T/after" | grep '^[<>]' |
	grep -vE '^> map .*(libjhot.*|libdl.so.2|libpthread.so.0)$|^[<>] SigCgt:')" ""
jvm_kill
[[ " $KINDS " != *" jvm "* ]] || test_jvm
done_testing
