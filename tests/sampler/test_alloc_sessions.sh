#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Sessions of the event alloc in a heap with back-to-back collections; make soak-alloc is the long form. A JVM 21 or
# 25 whose JVMTI environments are disposed of dies here after some twenty sessions.
. "$(dirname "$0")/../jvm/lib.sh"

SESSIONS=${SESSIONS:-27}
CLASSES=$builddir/tests/sampler/classes

session() {
	"$JHOT" record -e "$@" -d 0.2 -o "$T/x.collapsed" "$JVM" >"$T/said" 2>&1 </dev/null && return
	bad=$((bad + 1))
	[ $bad -gt 1 ] || diag_file "$T/said"
}

while read -r major java; do
	JAVA=$java
	collector=-XX:+UseG1GC
	[ "$major" != 25 ] || collector=-XX:+UseSerialGC
	jvm_start $collector -Xmx24m Garbage 3 || continue
	bad=0
	for ((i = 0; i < SESSIONS; i++)); do
		alive "$JVM" || break
		case $((i % 3)) in
		0) session alloc=16k --live ;;
		1) session alloc=512k --live ;;
		2) session alloc=16k,lock,wall ;;
		esac
	done
	is "JDK $major: the JVM survives $SESSIONS sessions" "$i" "$SESSIONS"
	is "JDK $major: all sessions exit with 0" $bad 0
	becomes_quiet "JDK $major: sampling ends after the last session" "$JVM"
	jvm_end
	is "JDK $major: the JVM exits with 0" $? 0
done < <(jdks_checked | awk '$1 >= 21')
done_testing
