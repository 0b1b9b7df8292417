#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make bench ROWS=work: cost of profilers for programs under load, by the programs' own operations and the JVM's CPU
# time.
#
#   WORKLOADS=DIR     the folder of h2.sh and lucene-bench.sh (see workload.sh)    ONLY="javac h2"   only these programs
#   LOADS="100hz 1khz events"    ways to profile, or latency    TURNS=10   turns of each    WARM=20   seconds before the first
#   SECONDS_EACH=6    least duration of a turn   ASPROF=PATH   async-profiler, interleaved
#   PORT=9092         of the database    VERBOSE=1   prints each turn to stderr
#
# Turns are interleaved on one warm JVM; see work.py. javac is a program of this project, which compiles the same sources repeatedly.
. "$(dirname "$0")/lib.sh"

H2_JAR=${H2_JAR:-${JWORK:-$HOME/.cache/jhot/workloads}/root/usr/share/java/h2.jar}
PORT=${PORT:-9092}
JAVA=$(command -v "$JAVA")
export ASPROF H2_JAR PORT JAVA
failed=0

measured() {
	python3 "$srcdir/tests/bench/work.py" "$@" || failed=1
}

for name in ${ONLY:-javac h2 lucene-bench}; do
	if [ "$name" = javac ]; then
		jvm_start -Xmx512m Compile 20 || { failed=1; continue; }
		mkdir -p "$T/javac"
		ln -sf "$JVM_OUT" "$T/javac/out"
		measured javac "$JVM" "$T/javac" "$JHOT" "$T" "$T/jvm$((${#JVMS[@]} - 1)).in"
		jvm_end
	elif [ -z "${WORKLOADS:-}" ]; then
		echo "! $name: not run: WORKLOADS=DIR is not given, the folder of $name.sh"
	else
		workload_start "$name" 7200 || { failed=1; continue; }
		measured "$name" "$WORKLOAD_PID" "$WORKLOAD_RUN" "$JHOT" "$T"
		workload_end
	fi
done
exit $failed
