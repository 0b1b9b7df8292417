#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Threads that never fill an interval are seen in proportion: sampled time against what the program says that it used.
. "$(dirname "$0")/../jvm/lib.sh"

if [ "$(id -u)" != 0 ]; then
	skip_all "CPU timers are as coarse as the kernel's tick: needs perf_events"
fi

# short DESCRIPTION BODY LINE: of the program; sampled every 10 ms until it is done
short() {
	local own sampled
	jvm_start Short
	"$JHOT" record -i 10ms --total -o "$T/short.collapsed" "$JVM" >"$T/out" 2>"$T/err" </dev/null &
	local recorder=$!
	ok "$1: sampled" wait_for 20 has_event || diag_file "$T/err"
	echo "$3" >&"$JVM_IN"
	ok "the program is done" wait_for 100 grep -q '^done' "$JVM_OUT"
	kill -TERM $recorder
	wait $recorder
	jvm_end
	own=$(awk '/^done/ { printf "%.0f", $2 / 1e6 }' "$JVM_OUT")
	sampled=$(awk -v body="Short.$2" 'index($0, body) { sum += $NF } END { printf "%.0f", sum / 1e6 }' "$T/short.collapsed")
	diag "$own ms by the program's own count, $sampled ms sampled; $(grep -E '^(cpu|lost)' "$T/err" | tr '\n' ' ')"
	ok "$1: in proportion" awk -v own="$own" -v got="$sampled" 'BEGIN { exit got < own / 2 || got > own * 2 }'
}

has_event() {
	"$JHOT" status "$JVM" 2>/dev/null | grep -q '^event cpu: .* every '
}

short "threads that need 0.8 ms now and then" burstBody "bursts 400 800 3000"
if [ "$(java_major "$JAVA")" -lt 21 ]; then
	short "threads that live for 2 ms" shortBody "lives 600 2000"
fi
done_testing
