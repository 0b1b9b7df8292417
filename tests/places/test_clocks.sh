#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The wall clock is set while jhot samples or attaches: back or forth, for jhot, the JVM, or both; the host was
# suspended. Sampling continues, totals are right, no session is refused or ended, recordings are read correctly.
#
# FAULTS=1 (make faults-check) has rows that wait longer, too.
. "$(dirname "$0")/../jvm/lib.sh"
. "$srcdir/tests/places/fault.sh"

FAULTS=${FAULTS:-}
preload=$builddir/tests/places/clock.so
far="3600 -3600"

# set_clock WHOSE REAL BOOT FROM: seconds added, for jhot, jvm or both; clock.c says what they are
set_clock() {
	local whose
	for whose in ${1/both/jhot jvm}; do
		printf '%-11s%-11s%-11s ' "$2" "$3" "$4" | dd of="$T/clock.$whose" conv=notrunc status=none
	done
}

was_asked() {
	[ "$(tail -c 1 "$T/clock.$1")" = x ]
}

# clocked COMMAND...: by jhot's clock
clocked() {
	JHOT_TEST_CLOCK=$T/clock.jhot LD_PRELOAD=$preload "$@"
}

seconds_apart() {
	echo $(($(clocked date +%s) - $(date +%s)))
}

# boot_apart: how far the clock that goes on in a suspend is before the one that does not, in hours
boot_apart() {
	clocked python3 -c 'import time; print(round((time.clock_gettime(7) - time.clock_gettime(1)) / 3600))'
}

# The tool does what it says; else all that follows would pass, too.
test_tool() {
	local apart by boot
	set_clock both 0 0 0
	boot=$(boot_apart)
	for by in $far; do
		set_clock jhot "$by" 0 0
		apart=$(seconds_apart)
		ok "the wall clock is set by $by s" [ $((apart > by ? apart - by : by - apart)) -le 60 ] || diag "by $apart s"
	done
	set_clock jhot 0 3600 0
	is "a suspend of an hour is told" $(($(boot_apart) - boot)) 1
	is "which is nothing to the wall clock" "$(($(seconds_apart) / 60))" 0
	set_clock both 0 0 0
}

# samples_of [FILE]: of cpu, by its line in what record or convert prints
samples_of() {
	sed -n 's/^cpu.* s: \([0-9]*\) samples\{0,1\}, .*/\1/p' "$@"
}

# right: what record says has a duration that is true; samples of cpu are all written; what is recorded is what is written
right() {
	local event took told
	for event in cpu wall; do
		took=$(sed -n "s/^$event.* every [^,]*, \([0-9]*\)\.[0-9] s: .*/\1/p" "$T/err")
		[ "${took:-99}" -le 60 ] || { diag "$event took ${took:-no time at all}" && return 1; }
		"$JHOT" convert -e $event -o - "$T/a.jhot" 2>"$T/out" | sort >"$T/recorded"
		sort "$T/a-$event.collapsed" >"$T/written"
		cmp -s "$T/recorded" "$T/written" || { diag "$event: not all are recorded" && return 1; }
	done
	told=$(samples_of "$T/err") written=$(weight "$T/a-cpu.collapsed" .)
	[ "$told" = "$("$JHOT" convert -e cpu "$T/a.jhot" 2>"$T/out" | samples_of)" ] || { diag "cpu: not all are recorded" && return 1; }
	# A thread's first sample may weigh more than one: it includes what the thread used before.
	[ "$written" -ge "$told" ] && [ "$written" -le $((told + told / 10 + 3)) ] || { diag "cpu: $told samples, $written written" && return 1; }
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

# more: the session that runs goes on sampling
more() {
	local now
	now=$("$JHOT" status "$JVM" | sed -n 's/^event cpu: .* \([0-9]*\) samples.*/\1/p')
	[ -n "$now" ] && wait_for 20 has_samples "$JVM" $((now + 10))
}

# test_session WHOSE: set in the middle of a session, forth and back over where it was, and a suspend
test_session() {
	local whose=$1 by bad=0
	begin
	wait_for 20 has_samples "$JVM" 10
	for by in $far 0; do
		set_clock "$whose" "$by" $((by ? 0 : 3600)) 0
		more || { bad=$((bad + 1)) && diag "by $by s it does not"; }
	done
	is "$whose: set by an hour and back in a session, after a suspend, it goes on" $bad 0
	record_end
	is "$whose: it ends well" $? 0 || diag_file "$T/err"
	ok "$whose: its totals are right, and its recording is read" right || diag_file "$T/err"
	ok "$whose: it explains what the JVM used" explains || diag_file "$T/err"
	set_clock both 0 0 0
}

# test_attach WHOSE SECONDS...: set in the middle of the attach: after jhot's first look at it, or between the agent's and jhot's
test_attach() {
	local whose=$1 by bad=0
	shift
	for by; do
		set_clock "$whose" "$by" 0 $([ "$whose" = jvm ] && echo 0 || echo 2)
		begin -d 0.3
		wait $RECORD_PID && was_asked "$whose" && right && continue
		bad=$((bad + 1))
		diag "$whose: set by $by s"
		diag_file "$T/err"
	done
	is "$whose: set in the attach, by $* s, it is a session as any" $bad 0
	set_clock both 0 0 0
}

# test_other SECONDS: who is there is not taken for dead, who is dead is not taken for being there, whatever the time is
test_other() {
	begin
	wait_for 20 has_samples "$JVM" 10
	set_clock jhot "$1" 0 0
	clocked "$JHOT" record -d 0.1 -o "$T/c.collapsed" "$JVM" >"$T/out" 2>"$T/said" </dev/null
	is "$1 s later another one is refused" $? 5 || diag_file "$T/said"
	ok "and the first goes on" more
	{ kill -KILL $RECORD_PID && wait $RECORD_PID; } 2>/dev/null
	clocked "$JHOT" record -d 0.1 -o "$T/c.collapsed" "$JVM" >"$T/out" 2>"$T/said" </dev/null
	is "killed, it is succeeded at once" $? 0 || diag_file "$T/said"
	set_clock both 0 0 0
}

# The files that wake a JVM have a time. One that seems to be of just now is waited for.
test_trigger() {
	local by
	for by in $far; do
		rm -f "/tmp/.java_pid$JVM"
		: >"/tmp/.attach_pid$JVM"
		set_clock jhot "$by" 0 0
		clocked "$JHOT" record -d 0.1 -o "$T/c.collapsed" "$JVM" >"$T/out" 2>"$T/said" </dev/null
		is "with what a killed one has left, $by s from now, it attaches" $? 0 || diag_file "$T/said"
		set_clock both 0 0 0
	done
}

# screens: seconds that the windows of `top -b` end in, one by one
test_screens() {
	clocked "$JHOT" top -b --json -n 5 -d 1 "$JVM" >"$T/screens" 2>"$T/said" </dev/null &
	local top=$! by
	for by in 2:3600 3:-3600; do
		wait_for 20 eval "[ \$(grep -c . '$T/screens') -ge ${by%:*} ]"
		set_clock jhot "${by#*:}" 0 0
	done
	wait $top
	is "the live view sees five screens, with the clock set twice" "$?-$(grep -c '}$' "$T/screens")" 0-5
	ok "in seconds that are near each other" awk -F'"time_ns":|,"pid"' '{ t = substr($2, 1, length($2) - 9)
		if (NR > 1 && (t < last || t > last + 20)) exit 1
		last = t }' "$T/screens"
	set_clock both 0 0 0
}

stopped() {
	[ "$(sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "/proc/$JVM/status" "/proc/$RECORD_PID/status" | tr -d '\n')" = TT ]
}

# test_suspend SECONDS ALONE FIRST SECOND: both sides are stopped, the first that goes on is alone for as long. That is the nearest
# thing that a test can do, and harder than a suspend, in which the monotonic clock stands still, and from which both come back at
# once: here both see that nothing was heard for so long. An agent looks once a second, and believes a beat that it had not seen.
test_suspend() {
	local how="both stopped for $1 s, $3 goes on $2 s before $4" ended
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
	if [ $(($1 + ${2%.*})) -lt 10 ]; then # so long an agent waits for a front end that lives and is silent
		ok "$how: the session goes on" more
		record_end
		is "$how: it ends well" $? 0 || diag_file "$T/err"
		ok "$how: its totals are right" right || diag_file "$T/err"
	else
		wait_for 3 gone "$RECORD_PID"
		record_end 2>/dev/null
		ended=$?
		ok "$how: the session goes on, or ends with a sentence" \
			eval "[ $ended = 0 ] || { [ $ended -lt 124 ] && grep -q 'What happened' '$T/err'; }" || diag_file "$T/err"
		diag "with status $ended: $(sed -n '/What happened/{n;p;}' "$T/err")"
		ok "$how: what was sampled is written" [ -s "$T/a-cpu.collapsed" ]
	fi
	ok "$how: jhot attaches again, the JVM lives" eval "again && unharmed"
}

[ -e "$preload" ] || skip_all "no $preload"
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
ok "after all of this jhot attaches" again
ok "it lives" unharmed
becomes_quiet "and sampling has ended" "$JVM"
done_testing
