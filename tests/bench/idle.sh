#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make bench ROWS=idle: cost of the wall clock for a JVM with many idle threads: CPU time of the agent per second,
# handlers included, once every thread has had its first sample. THREADS=2000 SECONDS_EACH=15
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../sampler/lib.sh"

THREADS=${THREADS:-2000}
SECONDS_LONG=${SECONDS_EACH:-15}
jvm_start -Xmx256m States "$THREADS" || exit 1
agent event=wall seconds=3 rows=1
first=$(value cost_total_ms)
agent event=wall seconds=$((3 + SECONDS_LONG)) rows=1
whole=$(value cost_total_ms)
awk -v a="$first" -v b="$whole" -v s="$SECONDS_LONG" -v n="$THREADS" -v samples="$(value samples)" 'BEGIN {
	printf "%d idle threads: %.2f %% of a core (%.1f ms in the first 3 s, %.1f ms in %d s more; %d samples)\n",
		n, (b - a) / s / 10, a, b - a, s, samples
}'
figure "the wall clock on $THREADS idle threads" jhot "% of a core" - \
	"$(awk -v a="$first" -v b="$whole" -v s="$SECONDS_LONG" 'BEGIN { printf "%.2f", (b - a) / s / 10 }')"
jvm_end
