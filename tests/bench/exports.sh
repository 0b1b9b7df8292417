#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make bench ROWS=exports: time from the end of a recording of javac at 1 kHz until its file is complete, and its
# size; time and memory of each format for a synthetic profile of 21,000 stacks.
#
#   TURNS=3   SECONDS_EACH=10   of each recording      ASPROF=PATH   async-profiler's file of the same format, interleaved
. "$(dirname "$0")/lib.sh"

TURNS=${TURNS:-3}
SECONDS_EACH=${SECONDS_EACH:-10}
FORMATS=${FORMATS:-html collapsed jfr otlp pb.gz}

# written FORMAT FILE FROM: prints "ms bytes" of a file that has just been written
written() {
	echo "$(($(now_ms) - $3)) $(stat -c %s "$2")"
}

file_jhot() {
	local from recorder
	"$JHOT" record -e cpu -i 1ms -d 600 -o "$T/jhot.$1" "$JVM" >/dev/null 2>&1 </dev/null &
	recorder=$!
	sleep "$SECONDS_EACH"
	from=$(now_ms)
	kill -TERM $recorder
	wait $recorder
	written "$1" "$T/jhot.$1" "$from" >>"$T/jhot.times.$1"
	rm "$T/jhot.$1"
}

# In the formats that it supports: a .jfr file is named at the start, others at the stop.
file_async-profiler() {
	local from file=$T/asprof.$1
	[[ $1 != pb.gz ]] || return 0
	"$ASPROF" start -e cpu -i 1ms $([ "$1" != jfr ] || echo "-f $file") "$JVM" >/dev/null 2>&1 || return
	sleep "$SECONDS_EACH"
	from=$(now_ms)
	"$ASPROF" stop $([ "$1" = jfr ] || echo "-o ${1/html/flamegraph} -f $file") "$JVM" >/dev/null 2>&1
	[ ! -e "$file" ] || written "$1" "$file" "$from" >>"$T/async-profiler.times.$1"
	rm -f "$file"
}

jvm_start -Xmx512m Compile 40 2 || exit 1
for ((turn = 0; turn < TURNS; turn++)); do
	for format in $FORMATS; do
		file_jhot "$format"
		[ -z "$ASPROF" ] || file_async-profiler "$format"
	done
done
jvm_end
for format in $FORMATS; do
	for who in $(profilers); do
		# shellcheck disable=SC2046
		figure "end of a recording to its .$format" "$who" ms - $(cut -d ' ' -f 1 "$T/$who.times.$format" 2>/dev/null)
		# shellcheck disable=SC2046
		figure "size of that .$format" "$who" B - $(cut -d ' ' -f 2 "$T/$who.times.$format" 2>/dev/null)
	done
done
"$builddir/tests/export/export_tool" -m -n 21000 | tee "$T/formats"
while read -r name bytes _ ms _; do
	figure "21,000 stacks as $name, in memory" jhot ms - "$ms"
	figure "size of that $name" jhot B - "$bytes"
done < <(sed 1d "$T/formats")
