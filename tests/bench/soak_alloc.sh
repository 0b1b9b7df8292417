#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make soak-alloc: sessions of the event alloc in tiny heaps, some of them killed at random. Each JVM must survive, accept every
# session, and use no more memory than a JVM that is not profiled.
#
#   SESSIONS=100     sessions with each JVM          MAJORS="8 11 17 21 25 26 27 28"
#   ONLY=REGEX       only collectors that match      HEAP=24m
. "$(dirname "$0")/../jvm/lib.sh"

SESSIONS=${SESSIONS:-100}
MAJORS=${MAJORS:-8 11 17 21 25 26 27 28}
HEAP=${HEAP:-24m}
CLASSES=$builddir/tests/sampler/classes
failed=0
all=0

# collector | options; collectors that a JDK does not have are skipped
collectors() {
	cat <<'END'
G1 | -XX:+UseG1GC
Serial | -XX:+UseSerialGC
Parallel | -XX:+UseParallelGC
Shenandoah | -XX:+UseShenandoahGC
ZGC | -XX:+UseZGC
END
}

heap_of() {
	case $1 in Shenandoah | ZGC) echo 64m ;; *) echo "$HEAP" ;; esac
}

# session PID: one of the kinds that there are, at random
session() {
	local kinds=('alloc=16k --live' 'alloc=16k' 'alloc=512k --live' 'alloc=16k,lock,wall') kind pid
	local seconds=0.$((RANDOM % 4 + 1))
	kind=${kinds[RANDOM % ${#kinds[@]}]}
	rm -f "$T"/x.*
	# shellcheck disable=SC2086
	"$JHOT" record -e $kind -d $seconds -o "$T/x.collapsed" "$1" >"$T/said" 2>&1 </dev/null &
	pid=$!
	if [ $((RANDOM % 5)) = 0 ]; then
		sleep 0.$((RANDOM % 4))$((RANDOM % 10))
		kill -KILL $pid 2>/dev/null
		killed=$((killed + 1))
		wait $pid 2>/dev/null
		return 0
	fi
	wait $pid 2>/dev/null
}

# judged MAJOR COLLECTOR OPTIONS...
judged() {
	local major=$1 collector=$2 n refused=0 grown twin verdict=right first second
	shift 2
	killed=0
	jvm_start "$@" Garbage 3 >/dev/null 2>&1 || return 0
	second=$JVM
	jvm_start "$@" Garbage 3 >/dev/null 2>&1 || return 0
	for ((n = 0; n < SESSIONS; n++)); do
		alive "$JVM" || break
		# the first sessions leave memory: the agent, the JVM's attach listener, memory that its heaps reuse
		[ $n != $((SESSIONS / 4)) ] || { first=$(rss_kb "$JVM") && twin=$(rss_kb "$second"); }
		session "$JVM" && continue
		# JDK 8 reports allocations only if libjvm has symbols; otherwise its sessions end at once
		grep -qs 'symbols' "$T/said" && continue
		refused=$((refused + 1))
		[ $refused -gt 3 ] || sed "s/^/   $n: /" "$T/said"
	done
	all=$((all + n))
	alive "$JVM" || verdict=DEAD
	grown=$(($(rss_kb "$JVM" 2>/dev/null || echo 0) - first))
	twin=$(($(rss_kb "$second") - twin))
	[ $verdict = DEAD ] || wait_for 30 quiet "$JVM" || verdict=LITTER
	[ $verdict != right ] || [ $refused = 0 ] || verdict=REFUSED
	[ $verdict = right ] || failed=1
	printf '%-4s %-11s %8d %7d %8d %10d %10d  %s\n' "$major" "$collector" $n $killed $refused $grown $twin $verdict
	jvm_end "$second" >/dev/null
	[ $verdict = DEAD ] || jvm_end >/dev/null
}

printf '%-4s %-11s %8s %7s %8s %10s %10s  %s\n' JDK collector sessions killed refused 'grown kB' 'twin kB' verdict
for major in $MAJORS; do
	JAVA=$(jdks | awk -v major="$major" '$1 == major { print $2; exit }')
	[ -n "$JAVA" ] || continue
	while IFS=' |' read -r collector option; do
		echo "$collector" | grep -qE "${ONLY:-.}" || continue
		judged "$major" "$collector" "$option" "-Xmx$(heap_of "$collector")" -Xss512k
	done < <(collectors)
done
echo "$all sessions"
exit $failed
