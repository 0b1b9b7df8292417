#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make bench ROWS=startup: a JVM that is sampled from its start: time until its main begins, the share of its first 200 ms that is
# in the profile, and how often virtual threads switch carriers.
#
#   TURNS=15     JVMs of each     ASPROF=PATH    async-profiler as an agent of JVMs of its own, interleaved
. "$(dirname "$0")/lib.sh"

TURNS=${TURNS:-15}
CLASSES=$builddir/tests/jvm/classes
LIBRARY=${ASPROF:+$(dirname "$(dirname "$ASPROF")")/lib/libasyncProfiler.so}
cd "$T" || exit

run_nothing() {
	"$JAVA" -cp "$CLASSES" "$@"
}

run_jhot() {
	"$JHOT" record -e cpu=1ms --total -o jhot.collapsed -- "$JAVA" -cp "$CLASSES" "$@"
}

run_async-profiler() {
	"$JAVA" "-agentpath:$LIBRARY=start,event=cpu,interval=1ms,total,collapsed,file=async-profiler.collapsed" -cp "$CLASSES" "$@"
}

# early WHO: records the ms until main begins, and the per cent of earlyFirst's CPU time that was sampled
early() {
	local from
	from=$(now_ms)
	"run_$1" Early 200 >out 2>/dev/null </dev/null
	echo $(($(awk '$1 == "main" { print $2 }' out) - from)) >>"$1.main"
	[ "$1" = nothing ] ||
		echo $((100 * $(weight "$1.collapsed" earlyFirst) / $(awk '$1 == "first" { print $2 }' out))) >>"$1.first"
}

# mounts WHO: records the thousands of mounts per second
mounts() {
	sleep 4 | "run_$1" Rates mounts 2>/dev/null |
		awk '/^rate/ && ++n > 3 { sum += $2; lines++ } END { if (lines) print int(sum / lines / 500) }' >>"$1.mounts"
}

for ((turn = 0; turn < TURNS; turn++)); do
	for who in $(profilers); do
		early "$who"
		[ "$(java_major "$JAVA")" -lt 21 ] || [ $((turn % 3)) != 0 ] || mounts "$who"
	done
done
# shellcheck disable=SC2046
for who in $(profilers); do
	figure "agent loaded at the start: until main begins" "$who" ms - $(cat "$who.main")
	[ "$who" = nothing ] || figure "agent loaded at the start: of the first 200 ms" "$who" % - $(cat "$who.first")
	[ ! -s "$who.mounts" ] || figure "agent loaded at the start: mounts of virtual threads" "$who" k/s - $(cat "$who.mounts")
done
