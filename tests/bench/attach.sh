#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make bench ROWS=attach: time until a JVM is sampled, for the first attach (cold) and later ones (warm), time until the
# live view shows its hot method, and the longest safepoint while a session starts and ends.
#
#   TURNS=10    JVMs of each     ASPROF=PATH    async-profiler on JVMs of its own, interleaved
#
# jhot's time ends with its first sample, which is visible in its shared memory. async-profiler's ends when its command has
# returned: its first sample is not visible from outside. Safepoints are from the JVM's log of a program that causes one every
# millisecond, so that delays are visible; safepoints of collections are excluded.
. "$(dirname "$0")/lib.sh"

TURNS=${TURNS:-10}
BENCH=$builddir/tests/bench

# sampled_jhot NAME: records the ms until the shared memory exists, and until the first sample
sampled_jhot() {
	"$BENCH/bench_attach" "$JVM" "$JHOT" record -i 10ms -d 5 -o "$T/a.collapsed" "$JVM" 2>/dev/null >>"$T/jhot.$1"
}

sampled_async-profiler() {
	local from
	from=$(now_ms)
	"$ASPROF" start -e cpu -i 10ms "$JVM" >/dev/null 2>&1 || return
	echo "- $(($(now_ms) - from))" >>"$T/async-profiler.$1"
	"$ASPROF" stop -o collapsed -f "$T/a.collapsed" "$JVM" >/dev/null 2>&1
}

times() {
	jvm_start $CALM_JVM Known shares || return
	"sampled_$1" cold
	"sampled_$1" warm
	jvm_end
}

screen() {
	jvm_start $CALM_JVM Known shares || return
	python3 "$srcdir/tests/bench/live.py" 0 knownSixty "$JHOT" "$JVM" >>"$T/jhot.screen"
	jvm_end
}

session_nothing() {
	sleep 1.3
}

session_jhot() {
	"$JHOT" record -i 10ms -d 1 -o "$T/p.collapsed" "$JVM" >/dev/null 2>&1
}

session_async-profiler() {
	"$ASPROF" -e cpu -i 10ms -d 1 -o collapsed -f "$T/p.collapsed" "$JVM" >/dev/null 2>&1
}

# pause WHO: records the longest safepoint of a session, in ms, from the part of the JVM's log written during the session
pause() {
	local began
	rm -f "$T/safepoints"
	jvm_start "-Xlog:safepoint*:file=$T/safepoints" -Xmx256m Stops || return
	sleep 0.5
	began=$(stat -c %s "$T/safepoints")
	"session_$1"
	sleep 0.05 # a safepoint is logged when it is over
	tail -c "+$((began + 1))" "$T/safepoints" | grep -vE '"(G1|Gen|Parallel|Serial|Shenandoah|Z|Collect)' |
		sed -n 's/.*Total: *\([0-9]*\) ns.*/\1/p' | sort -n | tail -n 1 | awk '{ printf "%.3f\n", $1 / 1e6 }' >>"$T/$1.pause"
	jvm_end
}

column() {
	cut -d ' ' -f "$1" "$2" 2>/dev/null
}

# shellcheck disable=SC2046
for ((turn = 0; turn < TURNS; turn++)); do
	for who in $(profilers); do
		[ "$who" = nothing ] || times "$who"
		pause "$who"
	done
	screen
done
# shellcheck disable=SC2046
for who in $(profilers); do
	for how in cold warm; do
		figure "attach, $how: until it samples" "$who" ms "$([ $how = cold ] && [ "$who" = jhot ] && echo 100 || echo -)" $(column 2 "$T/$who.$how")
	done
	figure "longest safepoint of a session" "$who" ms "$([ "$who" = jhot ] && echo 10 || echo -)" $(column 1 "$T/$who.pause")
done
# shellcheck disable=SC2046
figure "attach, cold: until its memory is there" jhot ms - $(column 1 "$T/jhot.cold")
# shellcheck disable=SC2046
figure "start to a screen with the hot method" jhot ms 1000 $(column 1 "$T/jhot.screen")
