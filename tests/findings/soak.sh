#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make soak-findings: observes the demo and eleven healthy programs for ten minutes each; every finding is a false alarm. A run
# in which, according to the kernel, the program's threads waited for a core for half of the time while cores were idle for less
# than half as long, is counted separately as starved: then everything is slow, and findings are true.
#
#   MINUTES=10       per program        MAJORS="17 21 25"
#   TOGETHER=2       concurrent programs: more of them compete for cores
#   ONLY=Waiting     programs whose line contains this
. "$(dirname "$0")/../jvm/lib.sh"

MINUTES=${MINUTES:-10}
TOGETHER=${TOGETHER:-2}
RUN_S=20
alarms=0
runs=0
CLASSES=$CLASSES:$builddir/demo/classes

# programs: prints a class and its arguments per line; "+": also with virtual threads, where available
programs() {
	cat <<'END'
+Waiting pool-not
+Waiting pool-enough
+Waiting io-idle
+Waiting locks-not
Problems gc-not
Problems classes-not
Problems late
Problems exceptions-not
Known shares
Known threads 2
Known deep 50
org.example.shop.Main
END
}

# free_ms: the idle time of the machine's CPUs
free_ms() {
	awk -v hz="$(getconf CLK_TCK)" '/^cpu / { printf "%.0f\n", ($5 + $6) * 1000 / hz; exit }' /proc/stat
}

# watch PID NAME: runs jhot why repeatedly; findings go to $T/NAME.alarms, a line per run to $T/NAME.runs or .starved
watch() {
	local end=$((SECONDS + MINUTES * 60)) before free delay
	while [ $SECONDS -lt $end ] && kill -0 "$1" 2>/dev/null; do
		before=$(delay_ns "$1")
		free=$(free_ms)
		"$JHOT" why -d $RUN_S "$1" >"$T/$2.said" 2>&1 </dev/null
		delay=$((($(delay_ns "$1") - before) / 1000000))
		free=$(($(free_ms) - free))
		if [ $delay -ge $((RUN_S * 500)) ] && [ $((free * 2)) -lt $delay ]; then
			echo >>"$T/$2.starved"
			grep -E '^[A-Z][A-Z/ ]+  ' "$T/$2.said" >>"$T/$2.starving"
		elif grep -Eq 'nothing found$|[0-9]+ found$' "$T/$2.said"; then
			echo >>"$T/$2.runs"
			grep -E '^[A-Z][A-Z/ ]+  ' "$T/$2.said" >>"$T/$2.alarms"
		fi
	done
}

# finish: waits until the watched programs have been observed for long enough, prints the results, and ends the programs
finish() {
	local at name n
	wait "${watchers[@]}"
	for at in "${!names[@]}"; do
		name=${names[at]}
		touch "$T/$name.runs" "$T/$name.alarms" "$T/$name.starved" "$T/$name.starving"
		n=$(wc -l <"$T/$name.runs")
		runs=$((runs + n))
		alarms=$((alarms + $(wc -l <"$T/$name.alarms")))
		printf '%-34s %4d runs  %2d alarms  %d runs starved\n' "$name" "$n" \
			"$(wc -l <"$T/$name.alarms")" "$(wc -l <"$T/$name.starved")"
		sort "$T/$name.alarms" | uniq -c | sort -rn | head -n 5
		sed 's/  .*//' "$T/$name.starving" | sort | uniq -c | sed 's/^/        while starved: /'
		jvm_end "${pids[at]}" >/dev/null 2>&1
	done
	names=() pids=() watchers=()
}

# begin NAME FLAG PROGRAM ARGS...: starts and watches a program
begin() {
	local name=$1
	shift
	# shellcheck disable=SC2068
	jvm_launch -Xmx128m $@
	wait_for 60 grep -Eqs '^(ready|shop: open)' "$JVM_OUT" || return
	names+=("$name")
	pids+=("$JVM")
	watch "$JVM" "$name" &
	watchers+=($!)
	[ ${#names[@]} -lt "$TOGETHER" ] || finish
}

names=() pids=() watchers=()
while read -r major JAVA; do
	while read -r program args; do
		begin "$major-${program#+}-${args// /-}" '' "${program#+}" "$args"
		[[ $program != +* || $major -lt 21 ]] ||
			begin "$major-${program#+}-${args// /-}-virtual" -Dvirtual=true "${program#+}" "$args"
	done < <(programs | grep -e "${ONLY:-.}")
	[ ${#names[@]} = 0 ] || finish
done < <(jdks ${MAJORS:-17 21 25})
echo "$runs runs of $RUN_S s, $alarms false alarms"
[ "$runs" -gt 0 ] && [ "$alarms" = 0 ]
