#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make bench ROWS=events: time to switch to another event, with its limits.
#
#   MAJORS="8 17 25"   JDKs under $JDKS for switching events on inside the JVM    TURNS=15   repetitions
#   REPEAT=5           JVMs for the first switch in the live view
#
# On a JVM with activity for all events (Totals). In the live view: from a key to the frame that shows rows of its event
# (bench_switch). Inside the JVM: from the start command to the agent's reply (bench_enable).
. "$(dirname "$0")/lib.sh"

MAJORS=${MAJORS:-8 17 25}
TURNS=${TURNS:-15}
REPEAT=${REPEAT:-5}
BENCH=$builddir/tests/bench
AGENT=$builddir/libjhot.so

row() {
	printf '%-44s %12s  %s\n' "$1" "$2" "$3"
}

# figures LIMIT: prints median and maximum of the numbers on stdin, and OVER if the median exceeds the limit
figures() {
	sort -n | awk -v limit="$1" '{ v[NR] = $1 } END {
		if (!NR) { print "no result"; exit }
		m = v[int((NR + 1) / 2)]
		printf "%.1f ms, longest %.1f, of %d%s\n", m, v[NR], NR, (m > limit ? "  OVER" : "")
	}'
}

# steady: a JVM with all activity for an hour
steady() {
	jvm_start -Xmx256m Totals || return
	echo "work 3600000" >&"$JVM_IN"
}

steady_end() {
	{
		kill -KILL "$JVM"
		wait "$JVM"
	} 2>/dev/null
}

bench_keys() {
	local i event
	for ((i = 0; i < REPEAT; i++)); do
		steady || return
		sleep 3
		"$BENCH/bench_switch" "$JHOT" "$JVM" >>"$T/keys" || { echo "bench_switch: $(tail -n 1 "$T/keys")" >&2; }
		steady_end
	done
	for event in alloc lock wall; do
		row "key to rows of $event, never on before" '<= 1000 ms' \
			"$(awk -v e=$event '$1 == e && $2 == "first" { print $3 }' "$T/keys" | figures 1000)"
		# shellcheck disable=SC2046
		figure "from a key to rows of $event, never on before" jhot ms 1000 \
			$(awk -v e=$event '$1 == e && $2 == "first" && $3 != "-" { print $3 }' "$T/keys")
	done
	row "key to rows of an event that runs" 'one frame' \
		"$(awk '$2 == "again" { print $3 }' "$T/keys" | figures 50), frames: $(
			awk '$2 == "again" { print $4 }' "$T/keys" | sort -n | tail -n 1)"
}

bench_enable() {
	local event first median longest text
	steady || return
	"$BENCH/bench_enable" "$JVM" "$AGENT" "$TURNS" cpu alloc lock wall page-faults context-switches >"$T/enable" || return
	while read -r event first median longest; do
		if [ "$first" = - ]; then
			text="refused: $median $longest"
		else
			text=$(awk -v f="$first" -v m="$median" -v l="$longest" -v n="$TURNS" 'BEGIN {
				printf "%.1f ms, longest %.1f, first %.1f, of %d%s", m, l, f, n, (m > 50 ? "  OVER" : "") }')
		fi
		row "JDK $major: $event switched on in the JVM" '<= 50 ms' "$text"
		[ "$first" = - ] || figure "$event switched on in the JVM, JDK $major" jhot ms 50 "$median"
	done <"$T/enable"
	steady_end
}

row figure limit 'measured: median'
if [ -x "$BENCH/bench_switch" ]; then
	bench_keys
else
	row 'key to rows' '' 'libvterm is not here (Debian: libvterm-dev)'
fi
# shellcheck disable=SC2086
while read -r major java <&4; do
	[[ " $MAJORS " == *" $major "* ]] || continue
	JAVA=$java
	bench_enable
done 4< <(jdks $MAJORS | sort -n)
exit 0 # not the status of ending the last JVM
