#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A recorder's rate needs no adaptation: an idle JVM costs next to nothing, and a spike after it is sampled at the full rate from
# its first moment. Truth: the thread's own CPU time, and CPU times in /proc.
#
#   IDLE=600   seconds before the spike, default 20
. "$(dirname "$0")/../jvm/lib.sh"

IDLE=${IDLE:-20}
SPIKE_MS=2000

# CPU time of a process, in ms
cpu_ms() {
	awk '{ sub(/.*\) /, ""); print ($12 + $13) * 10 }' "/proc/$1/stat"
}
# CPU time in the file, in ns, of stacks that match
ns_of() {
	"$JHOT" convert -e cpu --total -o "$T/x.collapsed" "$T/x.jhot" >/dev/null 2>&1
	weight "$T/x.collapsed" "$1"
}

jvm_start Spike
sleep 5
begun=$(cpu_ms "$JVM")
sleep 10
alone=$(($(cpu_ms "$JVM") - begun))
"$JHOT" record -e cpu,wall -o "$T/x.jhot" "$JVM" >/dev/null 2>&1 </dev/null &
recorder=$!
wait_for 60 sampling "$JVM"
sleep 5
begun=$(cpu_ms "$JVM")
recorded=$(cpu_ms $recorder)
sleep "$IDLE"
# in 0.01 % of a core
jvm=$(((($(cpu_ms "$JVM") - begun) * 10 - alone * IDLE) / IDLE))
own=$((($(cpu_ms $recorder) - recorded) * 10 / IDLE))
diag "an idle JVM costs $jvm in the JVM and $own in jhot, in 0.01 % of a core ($alone ms of CPU time in 10 s without)"
ok "an idle JVM costs less than 1 % of a core" [ $((jvm + own)) -lt 100 ]

echo "spike $SPIKE_MS" >&"$JVM_IN"
wait_for 60 grep -q spent "$JVM_OUT"
sleep 3
kill -TERM $recorder
wait $recorder
spent=$(awk '$1 == "spent" { print $2 }' "$JVM_OUT")
seen=$(ns_of "Spike\.spikeWork")
diag "$seen of $spent ns"
ok "the spike has its CPU time in the file, within 5 %" awk -v seen="$seen" -v spent="$spent" \
	'BEGIN { exit !(seen >= 0.95 * spent && seen <= 1.05 * spent) }'
# At the full rate, a sample each 10 ms: fewer, heavier ones have the same sum.
"$JHOT" convert -e cpu -o "$T/count.collapsed" "$T/x.jhot" >/dev/null 2>&1
count=$(weight "$T/count.collapsed" "Spike\.spikeWork")
ok "the spike has $count samples, at least 90 % of the full rate" [ "$count" -ge $((spent / 10000000 * 9 / 10)) ]
jvm_end
done_testing
