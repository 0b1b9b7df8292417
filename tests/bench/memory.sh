#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make bench ROWS=memory: memory of a session: resident memory of the JVM with and without it, and of the front end.
#
#   TURNS=3   JVMs of each    SECONDS_EACH=60   of load    ASPROF=PATH   async-profiler on JVMs of its own, interleaved
#
# The same javac each time, with a heap that is touched beforehand; the figure is the difference to a JVM that is not profiled.
# The session's own part is released when it ends; the rest belongs to the JVM: debug information of compiled code, and memory
# that malloc retains, which differs by some MB from JVM to JVM in any case.
. "$(dirname "$0")/lib.sh"

SECONDS_EACH=${SECONDS_EACH:-60}
TURNS=${TURNS:-3}

begin_nothing() {
	:
}

begin_jhot() {
	"$JHOT" record -i 10ms -d 600 -o "$T/r.collapsed" "$JVM" >/dev/null 2>&1 &
	recorder=$!
}

end_jhot() {
	echo "$(rss_kb $recorder)" >>"$T/front"
	"$JHOT" status "$JVM" | sed -n 's/^agent: .*, \([0-9]*\) kB mapped$/\1/p' >>"$T/mapped"
	before=$(rss_kb "$JVM")
	kill -TERM $recorder # background processes of a script ignore INT
	wait $recorder
	sleep 1
	echo $((before - $(rss_kb "$JVM"))) >>"$T/held"
}

begin_async-profiler() {
	"$ASPROF" start -e cpu -i 10ms "$JVM" >/dev/null 2>&1
}

end_async-profiler() {
	"$ASPROF" stop -o collapsed -f "$T/r.collapsed" "$JVM" >/dev/null 2>&1
}

end_nothing() {
	:
}

for ((turn = 0; turn < TURNS; turn++)); do
	for who in $(profilers); do
		jvm_start -Xms512m -Xmx512m -XX:+AlwaysPreTouch -XX:ReservedCodeCacheSize=64m Compile 40 || exit 1
		"begin_$who"
		sleep "$SECONDS_EACH"
		rss_kb "$JVM" >>"$T/$who.rss"
		"end_$who"
		jvm_end
	done
done
without=$(sort -n "$T/nothing.rss" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }')
for who in $(profilers); do
	# shellcheck disable=SC2046
	figure "the JVM's memory more than without, ${SECONDS_EACH} s" "$who" kB - \
		$(awk -v w="$without" '{ print $1 - w }' "$T/$who.rss")
done
# shellcheck disable=SC2046
figure "of it, given back when the session ends" jhot kB 8192 $(cat "$T/held")
# shellcheck disable=SC2046
figure "mapped by the agent" jhot kB - $(cat "$T/mapped")
# shellcheck disable=SC2046
figure "the front end's memory, recording" jhot kB - $(cat "$T/front")
