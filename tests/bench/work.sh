#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make bench ROWS=work: cost of profilers for programs under load, by the programs' own operations and the JVM's CPU
# time.
#
#   WORKLOADS=DIR     where h2.sh and lucene-bench.sh are (see workload.sh)    ONLY="javac h2"   of the programs, these
#   LOADS="100hz 1khz events"    ways to profile    TURNS=10   turns of each    WARM=20   seconds before
#   SECONDS_EACH=6    of a turn at least   ASPROF=PATH   the same from async-profiler, in turns
#   PORT=9092         of the database    VERBOSE=1   each turn on stderr
#
# In turns on one warm JVM; see work.py. javac is a program of ours, which compiles the same sources over and over.
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
		echo "! $name: not run: WORKLOADS=DIR says where $name.sh is"
	else
		workload_start "$name" 7200 || { failed=1; continue; }
		measured "$name" "$WORKLOAD_PID" "$WORKLOAD_RUN" "$JHOT" "$T"
		workload_end
	fi
done
exit $failed
