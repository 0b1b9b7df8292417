#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The wall clock is set forward or back while jhot samples or attaches, for jhot, the JVM, or both; the host is suspended.
# Sampling continues, totals are right, no session is refused or ended, recordings are read correctly.
#
# FAULTS=1 (make faults-check) also runs rows that wait longer.
. "$(dirname "$0")/../jvm/lib.sh"
. "$srcdir/tests/places/fault.sh"

FAULTS=${FAULTS:-}
preload=$builddir/tests/places/clock.so
far="3600 -3600"

# set_clock WHOSE REAL BOOT FROM: the seconds to add, for jhot, jvm or both; see clock.c
set_clock() {
	local whose
	for whose in ${1/both/jhot jvm}; do
		printf '%-11s%-11s%-11s ' "$2" "$3" "$4" | dd of="$T/clock.$whose" conv=notrunc status=none
	done
}

clock_was_read() {
	[ "$(tail -c 1 "$T/clock.$1")" = x ]
}

# clocked COMMAND...: runs the command with jhot's clock
clocked() {
	JHOT_TEST_CLOCK=$T/clock.jhot LD_PRELOAD=$preload "$@"
}

seconds_apart() {
	echo $(($(clocked date +%s) - $(date +%s)))
}

# boot_apart: how far the boot clock, which includes suspends, is ahead of the monotonic clock, in hours
boot_apart() {
	clocked python3 -c 'import time; print(round((time.clock_gettime(7) - time.clock_gettime(1)) / 3600))'
}

# Verifies the tool: if it did nothing, all other checks would pass.
test_tool() {
	local apart by boot
	set_clock both 0 0 0
	boot=$(boot_apart)
	for by in $far; do
		set_clock jhot "$by" 0 0
		apart=$(seconds_apart)
		ok "the test tool sets the wall clock by $by s" [ $((apart > by ? apart - by : by - apart)) -le 60 ] || diag "by $apart s"
	done
	set_clock jhot 0 3600 0
	is "the test tool advances the boot clock by a suspend of an hour" $(($(boot_apart) - boot)) 1
	is "the test tool's suspend does not change the wall clock" "$(($(seconds_apart) / 60))" 0
	set_clock both 0 0 0
}

# samples_of [FILE]: the number of samples of cpu in the output of record or convert
samples_of() {
	sed -n 's/^cpu.* s: \([0-9]*\) samples\{0,1\}, .*/\1/p' "$@"
}

# right: the duration that record prints is plausible; all samples of cpu are written; .jhot and .collapsed have the same
right() {
	local event took printed
	for event in cpu wall; do
		took=$(sed -n "s/^$event.* every [^,]*, \([0-9]*\)\.[0-9] s: .*/\1/p" "$T/err")
		[ "${took:-99}" -le 60 ] || { diag "$event took ${took:-no time at all}" && return 1; }
		"$JHOT" convert -e $event -o - "$T/a.jhot" 2>"$T/out" | sort >"$T/recorded"
		sort "$T/a-$event.collapsed" >"$T/written"
		cmp -s "$T/recorded" "$T/written" || { diag "$event: not all are recorded" && return 1; }
	done
	printed=$(samples_of "$T/err") written=$(weight "$T/a-cpu.collapsed" .)
	[ "$printed" = "$("$JHOT" convert -e cpu "$T/a.jhot" 2>"$T/out" | samples_of)" ] || { diag "cpu: not all are recorded" && return 1; }
	# The weight of a thread's first sample may exceed one, because it includes the thread's CPU time before the session.
	[ "$written" -ge "$printed" ] && [ "$written" -le $((printed + printed / 10 + 3)) ] || { diag "cpu: $printed samples, $written written" && return 1; }
}

# explains: the samples of cpu add up to the CPU time that the JVM used, within three reported errors
explains() {
	sed -n 's/^cpu: explains \([0-9]*\) % ([^0-9]*\([0-9]*\) points).*/\1 \2/p' "$T/err" |
		awk '{ off = $1 > 100 ? $1 - 100 : 100 - $1; good = off <= 3 * $2 } END { exit !good }'
}

begin() { # ARG...
	rm -f "$T"/a*
	JHOT_TEST_CLOCK=$T/clock.jhot LD_PRELOAD=$preload "$JHOT" record -e cpu,wall=20ms -o "$T/a.jhot" -o "$T/a.collapsed" "$@" "$JVM" >"$T/out" 2>"$T/err" </dev/null &
	RECORD_PID=$!
}

# more: the running session takes ten more samples
more() {
	local now
	now=$("$JHOT" status "$JVM" | sed -n 's/^event cpu: .* \([0-9]*\) samples.*/\1/p')
	[ -n "$now" ] && wait_for 20 has_samples "$JVM" $((now + 10))
}

# test_session WHOSE: the clock is set forward and back in the middle of a session, then a suspend follows
test_session() {
	local whose=$1 by bad=0
	begin
	wait_for 20 has_samples "$JVM" 10
	for by in $far 0; do
		set_clock "$whose" "$by" $((by ? 0 : 3600)) 0
		more || { bad=$((bad + 1)) && diag "it stops when set by $by s"; }
	done
	is "$whose: the session continues when the clock is set by an hour and back, and after a suspend" $bad 0
	record_end
	is "$whose: jhot record exits with 0 after the clock was set" $? 0 || diag_file "$T/err"
	ok "$whose: totals are right and the recording is readable after the clock was set" right || diag_file "$T/err"
	ok "$whose: the samples add up to the JVM's CPU time after the clock was set" explains || diag_file "$T/err"
	set_clock both 0 0 0
}

# test_attach WHOSE SECONDS...: the clock is set during the attach: after jhot has read it once, or between the agent's reading
# and jhot's
test_attach() {
	local whose=$1 by bad=0
	shift
	for by; do
		set_clock "$whose" "$by" 0 $([ "$whose" = jvm ] && echo 0 || echo 2)
		begin -d 0.3
		wait $RECORD_PID && clock_was_read "$whose" && right && continue
		bad=$((bad + 1))
		diag "$whose: set by $by s"
		diag_file "$T/err"
	done
	is "$whose: a session works when the clock is set by $* s during the attach" $bad 0
	set_clock both 0 0 0
}

# test_other SECONDS: a live front end is not mistaken for a dead one, nor a dead one for a live one, whatever the time is
test_other() {
	begin
	wait_for 20 has_samples "$JVM" 10
	set_clock jhot "$1" 0 0
	# A recording of some threads does not join a session of all.
	clocked "$JHOT" record --only-threads none -d 0.1 -o "$T/c.collapsed" "$JVM" >"$T/out" 2>"$T/said" </dev/null
	is "a second front end is refused when the clock is set by $1 s" $? 5 || diag_file "$T/said"
	ok "the first session continues when the clock is set by $1 s" more
	{ kill -KILL $RECORD_PID && wait $RECORD_PID; } 2>/dev/null
	clocked "$JHOT" record -d 0.1 -o "$T/c.collapsed" "$JVM" >"$T/out" 2>"$T/said" </dev/null
	is "a killed front end is replaced at once when the clock is set by $1 s" $? 0 || diag_file "$T/said"
	set_clock both 0 0 0
}

# Trigger files have a time. jhot waits for one that seems to be recent.
test_trigger() {
	local by
	for by in $far; do
		rm -f "/tmp/.java_pid$JVM"
		: >"/tmp/.attach_pid$JVM"
		set_clock jhot "$by" 0 0
		clocked "$JHOT" record -d 0.1 -o "$T/c.collapsed" "$JVM" >"$T/out" 2>"$T/said" </dev/null
		is "jhot attaches with a trigger file of a killed jhot and the clock set by $by s" $? 0 || diag_file "$T/said"
		set_clock both 0 0 0
	done
}

# A JVM in another time namespace, which it enters by execve from Linux 6.3 on.
test_namespace() {
	local ns="unshare --time --monotonic 100000"
	$ns true 2>/dev/null || { skip "jhot slow in a time namespace" "no time namespaces here"; return; }
	# shellcheck disable=SC2086
	JVM_AS=$ns jvm_start $CALM_JVM Known shares
	"$JHOT" slow -d 2 Known.knownRound "$JVM" >"$T/out" 2>"$T/said" </dev/null
	is "jhot slow sees calls in a JVM in another time namespace" $? 0 || diag_file "$T/said"
	jvm_end
}

# test_screens: the times at which the windows of successive screens of `top -b` end
test_screens() {
	clocked "$JHOT" top -b --json -n 5 -d 1 "$JVM" >"$T/screens" 2>"$T/said" </dev/null &
	local top=$! by
	for by in 2:3600 3:-3600; do
		wait_for 20 eval "[ \$(grep -c . '$T/screens') -ge ${by%:*} ]"
		set_clock jhot "${by#*:}" 0 0
	done
	wait $top
	is "top -b prints five screens while the clock is set twice" "$?-$(grep -c '}$' "$T/screens")" 0-5
	ok "the times of the screens are at most 20 s apart" awk -F'"time_ns":|,"pid"' '{ t = substr($2, 1, length($2) - 9)
		if (NR > 1 && (t < last || t > last + 20)) exit 1
		last = t }' "$T/screens"
	set_clock both 0 0 0
}

stopped() {
	[ "$(sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "/proc/$JVM/status" "/proc/$RECORD_PID/status" | tr -d '\n')" = TT ]
}

# test_suspend SECONDS ALONE FIRST SECOND: both sides are stopped for SECONDS; FIRST then continues ALONE seconds before SECOND.
# This is the closest imitation of a suspend in a test, and harsher: in a suspend the monotonic clock stops and both sides
# continue at once, while here both see a long silence. The agent polls the heartbeat once a second, and accepts one that it had
# not seen.
test_suspend() {
	local how="both stopped for $1 s, $3 continues $2 s before $4" ended
	declare -A pid=([jvm]=$JVM)
	begin
	pid[jhot]=$RECORD_PID
	wait_for 20 has_samples "$JVM" 10
	kill -STOP "$RECORD_PID" "$JVM"
	wait_for 20 stopped || diag "not stopped"
	sleep "$1"
	kill -CONT "${pid[$3]}"
	sleep "$2"
	kill -CONT "${pid[$4]}"
	if [ $(($1 + ${2%.*})) -lt 10 ]; then # an agent waits 10 s for a live front end that is silent
		ok "$how: the session continues" more
		record_end
		is "$how: jhot record exits with 0" $? 0 || diag_file "$T/err"
		ok "$how: totals are right" right || diag_file "$T/err"
	else
		wait_for 3 gone "$RECORD_PID"
		record_end 2>/dev/null
		ended=$?
		ok "$how: the session continues, or ends with an error" \
			eval "[ $ended = 0 ] || { [ $ended -lt 124 ] && grep -q 'What happened' '$T/err'; }" || diag_file "$T/err"
		diag "with status $ended: $(sed -n '/What happened/{n;p;}' "$T/err")"
		ok "$how: the samples are written" [ -s "$T/a-cpu.collapsed" ]
	fi
	ok "$how: jhot attaches again, and the JVM lives" eval "again && unharmed"
}

[ -e "$preload" ] || skip_all "$preload is not built"
printf '%34s' '' >"$T/clock.jhot"
printf '%34s' '' >"$T/clock.jvm"
test_tool
JVM_AS="env JHOT_TEST_CLOCK=$T/clock.jvm LD_PRELOAD=$preload" jvm_start $CALM_JVM Known shares
test_session both
test_attach jhot -3600 30
test_attach jvm 3600 -30
test_other 3600
test_suspend 2 3 jvm jhot
if [ -n "$FAULTS" ]; then
	test_session jhot
	test_session jvm
	test_attach jhot 3600 -30
	test_attach jvm -3600 30
	test_other -3600
	test_screens
	test_trigger
	test_suspend 2 3 jhot jvm
	test_suspend 12 0.3 jvm jhot
	test_suspend 12 0.3 jhot jvm
	test_suspend 2 13 jvm jhot
fi
ok "jhot attaches after all of these sessions" again
ok "the JVM lives and wrote nothing of its own" unharmed
becomes_quiet "sampling ends after all of these sessions" "$JVM"
test_namespace
done_testing
