#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Wake-ups of an idle JVM by sampling: at most 20 times per second with cpu alone, 60 with all four events. A busy
# machine can only reduce them. The test waits until the JVM is idle.
. "$(dirname "$0")/../jvm/lib.sh"

# wakes PID: the number of wake-ups that the agent's threads have had
wakes() {
	grep -l '^jhot' "/proc/$1"/task/*/comm 2>/dev/null | sed 's,comm$,status,' | xargs cat 2>/dev/null |
		awk '/^voluntary_ctxt_switches/ { sum += $2 } END { print sum + 0 }'
}

# calm PID LIMIT: at most LIMIT wake-ups a second during three seconds
calm() {
	local from=${EPOCHREALTIME/./} before after ms
	before=$(wakes "$1")
	sleep 3
	after=$(wakes "$1")
	ms=$(((${EPOCHREALTIME/./} - from) / 1000))
	rate=$(((after - before) * 1000 / ms))
	[ $before -gt 0 ] && [ $rate -le "$2" ]
}

# idle MAJOR EVENTS LIMIT
idle() {
	record_start -e "$2" -d 600 -o "$T/$1.collapsed"
	wait_for 20 sampling "$JVM"
	ok "JDK $1: $2 wakes an idle JVM at most $3 times a second" wait_for 60 calm "$JVM" "$3" || diag_file "$T/err"
	diag "$rate a second"
	record_end
	wait_for 20 quiet "$JVM"
}

while read -r major java; do
	JAVA=$java
	jvm_start -XX:+UseSerialGC -Xmx64m Known idle
	idle "$major" cpu 20
	if [ "$major" -ge 11 ]; then
		idle "$major" cpu,alloc,lock,wall 60
	else
		idle "$major" cpu,lock,wall 60
	fi
	jvm_end
done < <(jdks_checked)
done_testing
