#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make soak-findings: the demo and eleven programs that have no problem are looked at for ten minutes each: every finding is a false alarm. A look
# in which the kernel says that the program's threads waited for a core for half of the time, and that no core was free for half
# as long, does not count: then all is slow, and that is what is found. It is told apart.
#
#   MINUTES=10       of each            MAJORS="17 21 25"
#   TOGETHER=2       programs at a time: more of them take each other's cores
#   ONLY=Waiting     those whose line has this in it
. "$(dirname "$0")/../jvm/lib.sh"

MINUTES=${MINUTES:-10}
TOGETHER=${TOGETHER:-2}
LOOK_S=20
alarms=0
looks=0
CLASSES=$CLASSES:$builddir/demo/classes

# what is looked at: a class and its arguments; "+": with virtual threads, too, where there are some
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

# free_ms: for how long the machine's CPUs have had nothing to do
free_ms() {
	awk -v hz="$(getconf CLK_TCK)" '/^cpu / { printf "%.0f\n", ($5 + $6) * 1000 / hz; exit }' /proc/stat
}

# watch PID NAME: looks again and again; what is found goes to $T/NAME.alarms, a line for each look to $T/NAME.looks or .starved
watch() {
	local end=$((SECONDS + MINUTES * 60)) before free delay
	while [ $SECONDS -lt $end ] && kill -0 "$1" 2>/dev/null; do
		before=$(delay_ns "$1")
		free=$(free_ms)
		"$JHOT" why -d $LOOK_S "$1" >"$T/$2.said" 2>&1 </dev/null
		delay=$((($(delay_ns "$1") - before) / 1000000))
		free=$(($(free_ms) - free))
		if [ $delay -ge $((LOOK_S * 500)) ] && [ $((free * 2)) -lt $delay ]; then
			echo >>"$T/$2.starved"
			grep -E '^[A-Z][A-Z/ ]+  ' "$T/$2.said" >>"$T/$2.starving"
		elif grep -Eq 'nothing found$|[0-9]+ found$' "$T/$2.said"; then
			echo >>"$T/$2.looks"
			grep -E '^[A-Z][A-Z/ ]+  ' "$T/$2.said" >>"$T/$2.alarms"
		fi
	done
}

# settle: those that are watched have been for long enough
settle() {
	local at name n
	wait "${watchers[@]}"
	for at in "${!names[@]}"; do
		name=${names[at]}
		touch "$T/$name.looks" "$T/$name.alarms" "$T/$name.starved" "$T/$name.starving"
		n=$(wc -l <"$T/$name.looks")
		looks=$((looks + n))
		alarms=$((alarms + $(wc -l <"$T/$name.alarms")))
		printf '%-34s %4d looks  %2d alarms  %d looks starved\n' "$name" "$n" \
			"$(wc -l <"$T/$name.alarms")" "$(wc -l <"$T/$name.starved")"
		sort "$T/$name.alarms" | uniq -c | sort -rn | head -n 5
		sed 's/  .*//' "$T/$name.starving" | sort | uniq -c | sed 's/^/        while starved: /'
		jvm_end "${pids[at]}" >/dev/null 2>&1
	done
	names=() pids=() watchers=()
}

# begin NAME FLAG PROGRAM ARGS...: one more that is watched
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
	[ ${#names[@]} -lt "$TOGETHER" ] || settle
}

names=() pids=() watchers=()
while read -r major JAVA; do
	while read -r program args; do
		begin "$major-${program#+}-${args// /-}" '' "${program#+}" "$args"
		[[ $program != +* || $major -lt 21 ]] ||
			begin "$major-${program#+}-${args// /-}-virtual" -Dvirtual=true "${program#+}" "$args"
	done < <(programs | grep -e "${ONLY:-.}")
	[ ${#names[@]} = 0 ] || settle
done < <(jdks ${MAJORS:-17 21 25})
echo "$looks looks of $LOOK_S s, $alarms false alarms"
[ "$looks" -gt 0 ] && [ "$alarms" = 0 ]
