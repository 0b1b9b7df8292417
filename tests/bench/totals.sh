#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make bench-totals: totals of `jhot record -e cpu,alloc,lock,wall` compared with the program's own measurements.
#
#   SECONDS_EACH=10   of the recording; the program works for less    MAJORS="8 17 25"   only these JDKs
#
# The program (Totals) starts to work once all events are on and ends before the recording does, so both cover the same work.
# Its own figures: CPU time of threads and allocated bytes from the JVM, waits and lifetimes by nanoTime. The recording is
# summed over stacks below Totals.body. Each event has its default interval.
. "$(dirname "$0")/../jvm/lib.sh"

SECONDS_EACH=${SECONDS_EACH:-10}
failed=0

row() {
	printf '%-4s %-19s %12s %12s %8s %6s %s\n' "$@"
}

# recorded EVENT [CLASS]: the sum of values below Totals.body, of this class
recorded() {
	[ -e "$T/out-$1.collapsed" ] || return
	awk -v class="${2:-}" 'index($0, "Totals.body") {
			value = $NF
			sub(/ [0-9]+$/, "")
			sub(/_\[i\]$/, "")
			if (class == "" || substr($0, length($0) - length(class)) == ";" class) sum += value
		}
		END { printf "%.0f\n", sum }' "$T/out-$1.collapsed"
}

# compare WHAT LIMIT OWN RECORDED UNIT: UNIT is a million of the base unit
compare() {
	row "$major" "$1" "$(awk -v v="$3" 'BEGIN { printf "%.1f", v / 1e6 }') $5" \
		"$(awk -v v="$4" 'BEGIN { printf "%.1f", v / 1e6 }') $5" \
		"$(awk -v a="$3" -v b="$4" 'BEGIN { printf "%+.1f %%", a ? (b - a) * 100 / a : 0 }')" "$2" \
		"$(awk -v a="$3" -v b="$4" -v l="${2% %}" 'BEGIN {
			off = b - a
			if (!a || (off < 0 ? -off : off) * 100 > l * a) print "OVER"
		}')"
}

events_are_on() {
	[ "$("$JHOT" status "$JVM" 2>/dev/null | grep -c '^event .* every ')" = "$1" ] || gone "$recorder"
}

own() {
	awk -v key="$1" '$0 ~ "^" key { v = $NF } END { print v + 0 }' "$JVM_OUT"
}

# record EVENTS: records $T/out-EVENT.collapsed while the program works
record() {
	local work=$((SECONDS_EACH * 600)) events
	events=$(tr ',' '\n' <<<"$1" | wc -l)
	rm -f "$T"/out-*.collapsed
	"$JHOT" record -e "$1" -d "$SECONDS_EACH" --total -o "$T/out.collapsed" "$JVM" >"$T/record" 2>&1 &
	recorder=$!
	wait_for 10 events_are_on "$events"
	if alive "$recorder"; then
		echo "work $work" >&"$JVM_IN"
		wait_for $((SECONDS_EACH + 10)) grep -q '^done' "$JVM_OUT"
	fi
	wait "$recorder"
}

# refused: prints the reason of a failed recording in one line
refused() {
	sed -n '/^What happened/,/^$/p' "$T/record" | tail -n +2 | tr -s ' \n' ' ' | sed 's/^ //'
}

totals() {
	jvm_start -Xmx256m Totals || return
	if ! record cpu,alloc,lock,wall; then
		row "$major" alloc '' '' '' '' "$(refused)"
		record cpu,lock,wall || { cat "$T/record" >&2; failed=1; jvm_end; return; }
	fi
	compare 'cpu, threads' '10 %' "$(own cpu)" "$(recorded cpu)" ms
	if [ -e "$T/out-alloc.collapsed" ]; then
		compare 'alloc, byte[]' '10 %' "$(own 'alloc byte')" "$(recorded alloc 'byte[]')" MB
		compare 'alloc, Totals$Node' '10 %' "$(own 'alloc Totals')" "$(recorded alloc 'Totals$Node')" MB
	fi
	compare 'lock, waited' '20 %' "$(own lock)" "$(recorded lock)" ms
	compare 'wall, nine threads' '10 %' "$(own wall)" "$(recorded wall)" ms
	jvm_end
}

row JDK event 'the program' recorded off limit ''
# shellcheck disable=SC2086
while read -r major java <&4; do
	[[ " ${MAJORS:-$major} " == *" $major "* ]] || continue
	JAVA=$java
	totals
done 4< <(jdks ${MAJORS:-} | sort -n)
exit $failed
