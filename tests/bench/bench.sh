#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make bench: what a session costs the target and the front end, measured here and now, beside its limits.
#
#   ROWS="attach pause screen rss live"   which figures     SECONDS_EACH=60   of load for rss and live
#   TARGET=PID   the live view's figures on this JVM, not on our own javac load
#   WORKLOADS=DIR   resident memory under DIR/javac.sh, not under our own javac load (see workload.sh)
. "$(dirname "$0")/../jvm/lib.sh"
. "$(dirname "$0")/workload.sh"

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

# The longest safepoint while sessions come and go, by the JVM's own log; and in 5 s without any.
bench_pause() {
	local without began i
	jvm_start "-Xlog:safepoint*:file=$T/safepoints" -Xmx512m Compile || return
	began=$(log_bytes)
	sleep 5
	without=$(longest_pause "$began")
	began=$(log_bytes)
	for ((i = 0; i < REPEAT; i++)); do
		"$JHOT" record -d 1 -o "$T/p.collapsed" "$JVM" >/dev/null 2>&1
	done
	row "longest safepoint, $REPEAT sessions come and go" '<= 10 ms' \
		"$(longest_pause "$began")  (5 s without: $without)"
	jvm_end
}

# The JVM goes on writing where it was, so the log is not emptied but read from a byte on.
log_bytes() {
	stat -c %s "$T/safepoints"
}

# longest_pause FROM: of what the log says behind its first FROM bytes, without the collector's own pauses
longest_pause() {
	tail -c "+$(($1 + 1))" "$T/safepoints" | grep -vE '"(G1|Gen|Parallel|Serial|Shenandoah|Z|Collect)' |
		sed -n 's/.*"\([A-Za-z0-9_]*\)".*Total: *\([0-9]*\) ns.*/\2 \1/p' | sort -n | tail -n 1 |
		awk '{ printf "%.2f ms (%s)\n", $1 / 1e6, $2 } END { if (!NR) print "none" }'
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

# load_start: a JVM under javac's load with a fixed heap that is touched beforehand; sets JVM
FIXED_HEAP='-XX:+AlwaysPreTouch -XX:ReservedCodeCacheSize=64m'
load_start() {
	if [ -n "${WORKLOADS:-}" ]; then
		JOPTS="-Xms2g $FIXED_HEAP" workload_start javac $((SECONDS_EACH + 30)) || return
		JVM=$WORKLOAD_PID
		wait_for 60 heap_touched "$JVM" # 2 GB
	else
		# shellcheck disable=SC2086
		jvm_start -Xms512m -Xmx512m $FIXED_HEAP Compile 40
	fi
}

heap_touched() {
	[ "$(rss_kb "$1")" -ge 2097152 ]
}

load_end() {
	if [ -n "${WORKLOADS:-}" ]; then
		workload_end
	else
		jvm_end
	fi
}

# The same load with and without a session: the difference of resident memory after SECONDS_EACH, and what the
# agent itself says that it mapped.
bench_rss() {
	local i with recorder
	for ((i = 0; i < 3; i++)); do
		for with in no yes; do
			load_start || return
			if [ $with = yes ]; then
				"$JHOT" record -i 10ms -d "$SECONDS_EACH" -o "$T/r.collapsed" "$JVM" >/dev/null 2>&1 &
				recorder=$!
				sleep $((SECONDS_EACH - 2))
				"$JHOT" status "$JVM" >"$T/status" 2>&1
			else
				sleep $((SECONDS_EACH - 2))
			fi
			rss_kb "$JVM" >>"$T/rss.$with"
			[ $with = no ] || wait $recorder
			load_end
		done
	done
	row "agent: resident memory after ${SECONDS_EACH} s, A/B" '<= 8192 kB' \
		"$(($(median <"$T/rss.yes") - $(median <"$T/rss.no"))) kB  ($(tr '\n' ' ' <"$T/rss.yes")- $(tr '\n' ' ' <"$T/rss.no"))"
	row "agent: what it says itself" '' "$(sed -n 's/^agent: .*, \(.*\) mapped$/\1/p' "$T/status")"
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
