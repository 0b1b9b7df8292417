#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make bench-throughput: what all four events at default intervals cost programs under load, in operations.
#
#   WORKLOADS=DIR     needed: its h2.sh and lucene-bench.sh (see workload.sh)    ONLY="h2"  of these, some
#   RUNS=10           turns of each profiler    WARM=20 seconds before    SECONDS_EACH=6 of a turn (h2; lucene: a round)
#   ASPROF=PATH       async-profiler's asprof: the same events from it, in turns
#   PORT=9092         of the database    VERBOSE=1   each turn on stderr
#
# Loss in per cent against nothing attached, in turns on one warm JVM; see throughput.py.
. "$(dirname "$0")/../jvm/lib.sh"
. "$(dirname "$0")/workload.sh"

RUNS=${RUNS:-10}
WARM=${WARM:-20}
SECONDS_EACH=${SECONDS_EACH:-6}
H2_JAR=${H2_JAR:-${JWORK:-$HOME/.cache/jhot/workloads}/root/usr/share/java/h2.jar}
PORT=${PORT:-9092}
JAVA=$(command -v "$JAVA")
export RUNS WARM SECONDS_EACH ASPROF H2_JAR PORT JAVA
failed=0

[ -n "${WORKLOADS:-}" ] || { echo "WORKLOADS=DIR says where h2.sh and lucene-bench.sh are" >&2; exit 2; }
printf '%-13s %-28s %5s %8s %18s %20s\n' program attached turns 'loss %' quartiles 'least .. most'
for name in ${ONLY:-h2 lucene-bench}; do
	workload_start "$name" 3600 || { failed=1; continue; }
	python3 "$srcdir/tests/bench/throughput.py" "$name" "$WORKLOAD_PID" "$WORKLOAD_RUN" "$JHOT" "$T" || failed=1
	workload_end
done
exit $failed
