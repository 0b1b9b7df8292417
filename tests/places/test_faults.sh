#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Faults at every step of attach, events, export and detach: jhot, its helpers or the JVM are killed, or a system call
# fails. The steps are jhot's own system calls, counted first, by phase (fault_phase.h). After each fault the JVM
# lives, jhot attaches again, nothing is left behind, no file is incomplete.
#
# A kill of jhot in each phase is part of ./bootstrap check-long, and a few of the others; FAULTS=N (make faults-check) has N
# points of each kind, in all phases; KINDS="kill EIO" only these.
. "$(dirname "$0")/../jvm/lib.sh"
. "$srcdir/tests/places/fault.sh"

tool=$builddir/tests/places/fault_tool
"$tool" kill - true 2>/dev/null || skip_all "no process may be traced here"
FAULTS=${FAULTS:-}
KINDS=${KINDS:-kill child ENOSPC EIO EMFILE ENOMEM jvm upgrade together ${FAULTS:+stopped}}
events=cpu,alloc,lock,wall
export TERM=xterm

# Where something happens: in what run, in which phase. A phase of any run that is not here fails the test, one that no run has, too.
places="record:begin record:find record:put record:connect woken:wake record:load record:enable record:sample
	live:switch live:detach live:export record:detach record:export record:end"
# In check: each phase is once for a kill of jhot; one of the JVM is where something of jhot's begins or ends in it; other kinds
# are where each run has points of them.
phases="record:begin record:find record:put record:connect woken:wake record:load record:enable record:sample
	live:switch record:detach record:export record:end"
declare -A check=([kill]=$phases [jvm]="woken:wake record:load record:enable live:switch record:detach record:export" [child]="record:put record:load" [ENOSPC]="record:put record:export"
	[EIO]="record:enable" [EMFILE]="record:connect" [ENOMEM]="record:enable")

# record: a session with all events on a JVM that has been attached to before, and files of all of them
run_record() {
	timeout -k 5 60 "$tool" -w 3 "$1" "$2" "$JHOT" record -e $events -o "$T/a.collapsed" -o "$T/a.svg" "$JVM" \
		>"$T/out" 2>"$T/err" </dev/null
	status=$?
}

# woken: the JVM has no attach socket and has to be asked for one
run_woken() {
	rm -f "/tmp/.java_pid$JVM"
	run_record "$@"
}

# live: wall on, off and on again, a file of the other event, the end; Escape and q again in case the first was not taken
run_live() {
	(cd "$T" && timeout -k 5 60 "$tool" -k $'~~~4e  1x\025a.collapsed\r~~q\033q' "$1" "$2" "$JHOT" "$JVM" \
		>"$T/out" 2>"$T/err" </dev/null)
	status=$?
}

# run RUN WHAT POINT: what happened is in $status and $T/err
run_with() {
	rm -f "$T"/a*
	"run_$1" "$2" "$3"
}

# count_points: of each kind in each phase of each run, when nothing happens
count_points() {
	local run bad=0
	for run in record woken live; do
		run_with $run kill -
		[ $status = 0 ] && no_half && ls "$T"/a*.collapsed >/dev/null || { bad=1 && diag "$run: status $status" && diag_file "$T/err"; }
		sed -n "s/^points /$run /p" "$T/err"
	done >"$T/points"
	is "without them, each run is good" $bad 0 || diag_file "$T/points"
	is "phases of the runs are those that are listed" \
		"$(awk '{ print $3 }' "$T/points" | sort -u | tr '\n' ' ')" \
		"$(for place in $phases; do echo "${place#*:}"; done | sort -u | tr '\n' ' ')"
	is "and each has points where it is listed" \
		"$(for place in $places; do grep -q "^${place%:*} kill ${place#*:} [1-9]" "$T/points" || echo "$place"; done)" ""
}

# points KIND: "RUN PHASE:N" in the middle of its phases of check; or $FAULTS, as many of each phase, in the middles of its parts
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

# at_point RUN WHAT POINT: it happens there, or, where that phase is shorter than the one that was counted, before
at_point() {
	local n=${3#*:}
	while
		run_with "$1" "$2" "${3%:*}:$n"
		! happened && [ "$n" -gt 1 ]
	do
		n=$((n / 2))
	done
}

# happened: jhot may be in the middle of a line of its own
happened() {
	grep -qE 'call [a-z]+:[0-9]+ is ' "$T/err"
}

# told RUN: it ended by itself, well with all files, or with a sentence. Before main the loader has its own words, or without its
# first mapping none.
told() {
	case $status in
	0) [ "$1" = live ] || [ -s "$T/a-cpu.svg" ] ;;
	139) grep -q '^call begin:1 is' "$T/err" ;;
	127) grep -q 'error while loading shared libraries' "$T/err" ;;
	*) [ "$status" -lt 124 ] && grep -qE 'What happened|^jhot: ' "$T/err" ;;
	esac
}

holds() { # RUN KIND
	no_half || { diag "half a file: $(ls -l "$T"/a*)"; return 1; }
	unharmed || { diag "the JVM is harmed"; return 1; }
	again || { diag "jhot does not attach again, or something is left"; diag_file "$T/again"; return 1; }
	case $2 in
	kill) [ "$status" = 137 ] ;;
	*) told "$1" ;;
	esac
}

# a JVM that holds still, and what is there before anything happens to it
calm_jvm() {
	jvm_start $CALM_JVM Known shares
	jvm_warm_attach "$JVM"
	litter "$JVM" >"$T/before"
}

# comes KIND: a phase that was counted has its first call again, but not always one that can fail so
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
		comes "$kind" && holds "$run" "$kind" && continue
		bad=$((bad + 1))
		diag "$kind of $run at $point: status $status"
		diag_file "$T/err" && diag_file "$JVM_OUT" && diag_file "$JVM_ERR"
		jvm_kill
		calm_jvm # what has been harmed is so from now on
	done <"$T/at"
	is "$kind, at $count points: the JVM lives, jhot says what it is or goes on, and attaches again; no half file" $bad 0
	ok "which are some" [ $count -gt $without ]
	[ $without = 0 ] || diag "$without had no such call this time"
}

# The JVM is killed at any step of jhot's: that ends with a sentence, in the live view on the screen.
test_jvm() {
	local run point bad=0 count=0
	points jvm >"$T/at"
	while read -r run point; do
		jvm_start $CALM_JVM Known shares
		at_point "$run" "$JVM" "$point"
		jvm_kill
		count=$((count + 1))
		comes jvm && no_half && told "$run" && { [ "$run-${point%:*}" != live-switch ] || grep -aq 'has ended' "$T/out"; } && continue
		bad=$((bad + 1))
		diag "the JVM killed in $run at $point: status $status"
		diag_file "$T/err"
	done <"$T/at"
	is "the JVM is killed at $count points: jhot says so and ends, no half file" $bad 0
	ok "which are some" [ $count -gt 0 ]
}

# caught: the signals that have handlers, by bits
caught() {
	sed -n 's/^SigCgt:[[:space:]]*/0x/p' "$1"
}

# version N: a session by the agent of a version of its own has samples, and ends
version() {
	{ cat "$builddir/libjhot.so" && printf '%*s' "$1" ""; } >"$T/version.so"
	"$builddir/tests/sampler/agent_tool" "$JVM" "$T/version.so" seconds=60 samples=5 >"$T/said" 2>&1 &&
		grep -qE '^samples [1-9]' "$T/said" && wait_for 20 quiet "$JVM"
}

# Whichever agent had the signal before, the next one has it; the agents do not get in each other's way by being there.
test_versions() {
	local i done=0
	for i in {1..12} 1; do
		version "$i" || { diag "version $i" && diag_file "$T/said" && break; }
		done=$((done + 1))
	done
	is "sessions of twelve versions, and the first of them again, all sample" $done 13
	# and, for native threads, by the signal that libc reserves, 32, where libc does not handle it, and SIGIO in its place
	is "each by the same signal, SIGURG" $(($(caught "/proc/$JVM/status") & ~$(caught "$T/before") & ~(1 << 31 | 1 << 28))) $((1 << 22))
	ok "it lives" unharmed
}

# Another version's agent is another file, loaded beside the first. Its sessions and those of the first keep out of each other's way.
test_upgrade() {
	local other
	test_versions
	cp "$builddir/libjhot.so" "$T/other.so"
	echo another version >>"$T/other.so"
	"$JHOT" record --agent="$T/other.so" -o "$T/b.collapsed" "$JVM" >"$T/out" 2>"$T/err" </dev/null &
	other=$!
	wait_for 20 sampling "$JVM"
	"$JHOT" record -d 0.2 -o "$T/c.collapsed" "$JVM" >"$T/out" 2>"$T/said" </dev/null
	is "who comes while another version is at work is refused" $? 5 || diag_file "$T/said"
	"$JHOT" record -d 0.2 --take-over -o "$T/c.collapsed" "$JVM" >"$T/out" 2>"$T/said" </dev/null
	is "or takes over" $? 0 || diag_file "$T/said"
	ok "with all its rights" not grep -q 'SIGSEGV' "$T/said"
	ok "and the other ends" wait_for 20 gone "$other"
	"$JHOT" record --agent="$T/other.so" -o "$T/b.collapsed" "$JVM" >"$T/out" 2>"$T/err" </dev/null &
	other=$!
	wait_for 20 sampling "$JVM"
	{ kill -KILL "$other" && wait "$other"; } 2>/dev/null
	"$JHOT" record -d 0.2 -o "$T/c.collapsed" "$JVM" >"$T/out" 2>"$T/said" </dev/null
	is "one that was killed is succeeded" $? 0 || diag_file "$T/said"
	ok "both are there" [ "$(awk '$6 ~ /libjhot-/ { print $6 }' "/proc/$JVM/maps" | sort -u | wc -l)" -ge 2 ]
	ok "it lives" unharmed
}

# begin NAME: runs jhot with this agent in the background; sets BEGUN
begin() {
	"$JHOT" record --agent="$T/$1.so" -o "$T/$1.collapsed" "$JVM" >"$T/$1.out" 2>"$T/$1.err" </dev/null &
	BEGUN=$!
}

# ends WANTED PID: by itself or told to, with this status
ends() {
	wait_for 60 gone "$2" && wait "$2"
	[ $? = "$1" ]
}

either_gone() {
	gone "$1" || gone "$2"
}

# one_of PID PID: the one samples and keeps its rights, the other is refused
one_of() {
	wait_for 20 either_gone "$1" "$2" || return 1
	gone "$2" || set -- "$2" "$1"
	ends 5 "$2" && wait_for 20 has_samples "$JVM" 5 && kill -TERM "$1" && ends 0 "$1"
}

# Two versions that begin in the same moment, on a JVM that has neither and on one that has both.
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
	is "two versions begin together $count times: one samples, the other is refused, nothing is harmed" $bad 0
}

# A JVM that is stopped in the middle of a session: jhot ends in time, and sampling does when the JVM goes on.
test_stopped() {
	"$JHOT" record -d 2 -o "$T/b.collapsed" "$JVM" >"$T/out" 2>"$T/err" </dev/null &
	local record=$!
	wait_for 20 has_samples "$JVM" 5
	kill -STOP "$JVM"
	ok "stopped under jhot: that ends" wait_for 40 gone "$record"
	wait "$record"
	diag "with status $?: $(head -c 200 "$T/err" | tr '\n' ' ')"
	kill -CONT "$JVM"
	becomes_quiet "going on, it is not sampled any more" "$JVM"
	ok "and jhot attaches again" again
	ok "it lives" unharmed
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
becomes_quiet "after all of this sampling has ended" "$JVM"
litter "$JVM" >"$T/after"
is "and only what is documented is left" "$(diff "$T/before" "$T/after" | grep '^[<>]' |
	grep -vE '^> map .*(libjhot.*|libdl.so.2|libpthread.so.0)$|^[<>] SigCgt:')" ""
jvm_kill
[[ " $KINDS " != *" jvm "* ]] || test_jvm
done_testing
