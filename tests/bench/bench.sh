#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make bench: what a session costs the target and the front end, measured here and now, beside its limits.
#
#   ROWS="attach pause screen rss live"   which figures     SECONDS_EACH=60   of load for rss and live
#   TARGET=PID   the live view's figures on this JVM, not on our own javac load
. "$(dirname "$0")/../jvm/lib.sh"

ROWS=${ROWS:-attach pause screen rss live}
SECONDS_EACH=${SECONDS_EACH:-60}
REPEAT=${REPEAT:-5}
BENCH=$builddir/tests/bench

row() {
	printf '%-44s %12s  %s\n' "$1" "$2" "$3"
}

median() {
	sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

# A JVM that was never attached to, each time.
bench_attach() {
	local i
	for ((i = 0; i < REPEAT; i++)); do
		jvm_start $CALM_JVM Known shares || return
		"$BENCH/bench_attach" "$JVM" "$JHOT" record -d 5 -o "$T/a.collapsed" "$JVM" 2>/dev/null >>"$T/attach"
		jvm_end
	done
	row "cold attach: shared memory there" '' "$(cut -d ' ' -f 1 "$T/attach" | median) ms"
	row "cold attach: first sample" '<= 50 ms' "$(cut -d ' ' -f 2 "$T/attach" | median) ms  ($(cut -d ' ' -f 2 "$T/attach" | tr '\n' ' '))"
}

# The longest safepoint while a session comes and goes, by the JVM's own log; and without one.
bench_pause() {
	local longest
	jvm_start -Xlog:safepoint*:file="$T/safepoints" -Xmx512m Compile || return
	: >"$T/safepoints"
	sleep 5
	longest=$(longest_pause)
	: >"$T/safepoints"
	for ((i = 0; i < REPEAT; i++)); do
		"$JHOT" record -d 1 -o "$T/p.collapsed" "$JVM" >/dev/null 2>&1
	done
	row "longest safepoint, $REPEAT sessions come and go" '<= 10 ms' "$(longest_pause)  (without: $longest)"
	jvm_end
}

longest_pause() {
	# the collector's own pauses are not ours
	grep -vE '"(G1|Gen|Parallel|Serial|Shenandoah|Z)' "$T/safepoints" |
		sed -n 's/.*"\([A-Za-z0-9]*\)".*Total: *\([0-9]*\) ns.*/\2 \1/p' | sort -n | tail -n 1 |
		awk '{ printf "%.2f ms (%s)\n", $1 / 1e6, $2 }'
}

bench_screen() {
	local i
	for ((i = 0; i < REPEAT; i++)); do
		jvm_start $CALM_JVM Known shares || return
		python3 "$srcdir/tests/bench/live.py" 1 knownSixty "$JHOT" "$JVM" >>"$T/screen" 2>>"$T/screen.err"
		jvm_end
	done
	row "start to first useful screen" '<= 1000 ms' "$(cut -d ' ' -f 1 "$T/screen" | median) ms"
}

# The same load with and without a session, a fixed heap that is touched beforehand: the difference of resident
# memory after SECONDS_EACH, and what the agent itself says that it mapped.
bench_rss() {
	local i with
	for ((i = 0; i < 3; i++)); do
		for with in no yes; do
			jvm_start -Xms512m -Xmx512m -XX:+AlwaysPreTouch -XX:ReservedCodeCacheSize=64m Compile 40 || return
			if [ $with = yes ]; then
				"$JHOT" record -i 10ms -d "$SECONDS_EACH" -o "$T/r.collapsed" "$JVM" >/dev/null 2>&1 &
				local recorder=$!
				sleep $((SECONDS_EACH - 2))
				"$JHOT" status "$JVM" >"$T/status" 2>&1
			else
				sleep $((SECONDS_EACH - 2))
			fi
			rss_kb "$JVM" >>"$T/rss.$with"
			[ $with = no ] || wait $recorder
			jvm_end
		done
	done
	row "agent: resident memory after ${SECONDS_EACH} s, A/B" '<= 8192 kB' \
		"$(($(median <"$T/rss.yes") - $(median <"$T/rss.no"))) kB"
	row "agent: what it says itself" '' "$(grep -i -m 1 -oE '[0-9.]+ ?[kKMG]i?B?.*mapped|memory.*' "$T/status" | head -n 1)"
}

bench_live() {
	local target=${TARGET:-} figures
	if [ -z "$target" ]; then
		jvm_start -Xmx512m Compile 40 || return
		target=$JVM
	fi
	read -ra figures < <(python3 "$srcdir/tests/bench/live.py" "$SECONDS_EACH" METHOD "$JHOT" "$target")
	row "list refresh at 80x24, steady load" '<= 1024 B' "${figures[1]} B (${figures[2]} refreshes)"
	row "front end's CPU, 1 s refresh" '<= 2 %' "${figures[3]} %"
	[ -n "${TARGET:-}" ] || jvm_end
}

row figure limit measured
for name in $ROWS; do
	"bench_$name"
done
