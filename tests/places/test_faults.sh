#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What may happen to jhot or the JVM at any step of attach, events, export and detach: a kill of jhot, of its helpers, of the JVM,
# a system call that fails. The steps are jhot's own system calls, counted first. After each the JVM lives, jhot attaches
# again, nothing is left, no file is half there.
#
# A few points each are part of check; FAULTS=N (make faults-check) has N of each kind; KINDS="kill EIO" only these.
. "$(dirname "$0")/../jvm/lib.sh"

tool=$builddir/tests/places/fault_tool
"$tool" kill 0 true 2>/dev/null || skip_all "no process may be traced here"
FAULTS=${FAULTS:-}
KINDS=${KINDS:-kill child ENOSPC EIO EMFILE ENOMEM jvm upgrade together ${FAULTS:+stopped}}
events=cpu,alloc,lock,wall

# points OF MANY: so many steps among that many, each in the middle of its part
points() {
	awk -v of="$1" -v n="$2" 'BEGIN { for (i = 0; i < n && i < of; i++) print 1 + int((i + 0.5) * of / n) }'
}

# record_to WHAT N: a whole run with what happens at its Nth call
record_to() {
	rm -f "$T"/a*
	timeout -k 5 60 "$tool" "$1" "$2" "$JHOT" record -e $events -d 0.2 -o "$T/a.collapsed" -o "$T/a.svg" "$JVM" \
		>"$T/out" 2>"$T/err" </dev/null
	status=$?
}

# calls: how many count
calls() {
	sed -n '$s/^calls //p' "$T/err"
}

# no_half: what is there under its final name is whole
no_half() {
	local file
	for file in "$T"/a*.collapsed; do
		[ ! -s "$file" ] || ! grep -qvE '^.+ [0-9]+$' "$file" || return 1
	done
	for file in "$T"/a*.svg; do
		[ ! -e "$file" ] || [ "$(tail -c 7 "$file")" = "</svg>" ] || return 1
	done
}

# told: it ended by itself, well with all files, or with a sentence. Before main the loader has its own words, or without its
# first mapping none.
told() {
	case $status in
	0) [ -s "$T/a-cpu.svg" ] ;;
	139) [ "$(calls)" = 1 ] ;;
	127) grep -q 'error while loading shared libraries' "$T/err" ;;
	*) [ "$status" -lt 124 ] && grep -qE 'What happened|^jhot: ' "$T/err" ;;
	esac
}

unharmed() {
	alive "$JVM" && [ "$(cat "$JVM_OUT")" = ready ] && [ -z "$(grep -v '^WARNING: ' "$JVM_ERR")" ]
}

# again: jhot attaches, a dead session or not, and is heard to the end
again() {
	wait_for 20 attaches && [ -z "$(find /tmp /dev/shm "/proc/$JVM/cwd/." -maxdepth 1 \( -name ".attach_pid$JVM" -o -name "libjhot-*-$JVM.so" \))" ]
}
attaches() {
	"$JHOT" record -d 0.1 -o "$T/again.collapsed" "$JVM" >"$T/again" 2>&1 </dev/null
}

holds() { # KIND
	no_half || { diag "half a file: $(ls -l "$T"/a*)"; return 1; }
	unharmed || { diag "the JVM is harmed"; return 1; }
	again || { diag "jhot does not attach again, or something is left"; diag_file "$T/again"; return 1; }
	case $1 in
	kill) [ "$status" = 137 ] ;;
	*) told ;;
	esac
}

# a JVM that holds still, and what is there before anything happens to it
calm_jvm() {
	jvm_start $CALM_JVM Known shares
	jvm_warm_attach "$JVM"
	litter "$JVM" >"$T/before"
}

# at_points KIND MANY
at_points() {
	local kind=$1 n bad=0 count=0
	record_to "$kind" 0
	is "$kind: without it, a run is good" "$status" 0 || diag_file "$T/err"
	for n in $(points "$(calls)" "${FAULTS:-$2}"); do
		record_to "$kind" "$n"
		count=$((count + 1))
		# a run may be shorter than the one that was counted
		[ "$(grep -c '^call ' "$T/err")" = 1 ] || status=$([ "$kind" = kill ] && echo 137 || echo "$status")
		holds "$kind" && continue
		bad=$((bad + 1))
		diag "$kind at call $n: status $status"
		diag_file "$T/err" && diag_file "$JVM_OUT" && diag_file "$JVM_ERR"
		jvm_kill
		calm_jvm # what has been harmed is so from now on
	done
	is "$kind, at $count points: the JVM lives, jhot says what it is or goes on, and attaches again; no half file" $bad 0
}

# The JVM is killed at any step of jhot's: that ends with a sentence.
test_jvm() {
	local n bad=0 count=0 steps
	record_to kill 0
	steps=$(calls)
	for n in $(points "$steps" "$1"); do
		jvm_start $CALM_JVM Known shares
		record_to "$JVM" "$n"
		count=$((count + 1))
		jvm_kill
		no_half && told && continue
		bad=$((bad + 1))
		diag "the JVM killed at call $n: status $status"
		diag_file "$T/err"
	done
	is "the JVM is killed at $count points: jhot says so and ends, no half file" $bad 0
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
	is "each by the same signal, SIGURG" $(($(caught "/proc/$JVM/status") & ~$(caught "$T/before"))) $((1 << 22))
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

# begin NAME: jhot with this agent, until it is told to end; sets BEGUN
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

declare -A few=([kill]=3 [child]=1 [ENOSPC]=2 [EIO]=1 [EMFILE]=1 [ENOMEM]=1)
[[ " $KINDS " != *" jvm "* ]] || { jvm_start $CALM_JVM Known shares && test_jvm $(((${FAULTS:-7} + 7) / 8)); }
[[ " $KINDS " != *" together "* ]] || test_together
calm_jvm
for kind in $KINDS; do
	case $kind in
	jvm | together) ;;
	upgrade | stopped) test_$kind ;;
	*) at_points "$kind" "${few[$kind]}" ;;
	esac
done
becomes_quiet "after all of this sampling has ended" "$JVM"
litter "$JVM" >"$T/after"
is "and only what is documented is left" "$(diff "$T/before" "$T/after" | grep '^[<>]' |
	grep -vE '^> map .*(libjhot.*|libdl.so.2|libpthread.so.0)$|^[<>] SigCgt:')" ""
done_testing
