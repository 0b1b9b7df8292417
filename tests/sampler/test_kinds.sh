#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# HotSpot's own threads are shown as compilers, collectors or the JVM's. Java threads with the same names are shown as Java's.
. "$(dirname "$0")/../jvm/lib.sh"
. "$srcdir/tests/sampler/lib.sh"

CLASSES=$builddir/tests/sampler/classes
names=("GC Thread pool" "G1 worker" "Compiler-1" "C2 CompilerThread9" "VM Thread" "JFR consumer")

# kind NAME: the kinds of threads with this name in the output of agent_tool
kind() {
	sed -En "s/^kind ([a-z]*) ($1)\$/\1/p" "$T/tool" | sort -u | tr '\n' ' '
}

while read -r major JAVA; do
	jvm_start -Xmx64m -XX:+UseG1GC -XX:-UseDynamicNumberOfGCThreads -XX:ParallelGCThreads=2 Garbage ${#names[@]} "${names[@]}"
	agent event=wall:10000000 event=cpu:1000000 seconds=4 kinds=1
	for name in "${names[@]}"; do
		case $name in
		"VM Thread") ok "JDK $major: a Java thread called \"$name\" has kind java, HotSpot's own has kind vm" \
			[ "$(kind "$name")" = "java vm " ] ;;
		*) is "JDK $major: a Java thread called \"$name\" has kind java" "$(kind "$name")" "java " ;;
		esac
	done
	is "JDK $major: HotSpot's compiler threads have kind compiler" "$(kind 'C2 CompilerThre|C2 CompilerThread0|C2 Comp\.\.hread0')" "compiler "
	is "JDK $major: HotSpot's collector threads have kind gc" "$(kind 'G1 Ma.*|GC Thread#.*|Gang worker.*')" "gc "
	is "JDK $major: HotSpot's signal dispatcher has kind vm" "$(kind 'Signal .*atch.*')" "vm "
	jvm_end
done < <(jdks ${MAJORS:-8 25})
done_testing
