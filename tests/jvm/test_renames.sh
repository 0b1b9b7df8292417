#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Threads that are renamed while they are sampled: earlier samples keep the old name, later ones have the new one, in
# the shares that the program measured.
. "$(dirname "$0")/lib.sh"

# ms NAME: the thread's CPU time in ms, from samples of 1 ms
ms() {
	weight "$T/x.collapsed" "^\\[$1 tid="
}

# said NAME: the thread's CPU time in ms, according to the program
said() {
	awk -v name="$1" '$1 == "cpu" && $2 == name { ns += $3 } END { print int(ns / 1000000) }' "$JVM_OUT"
}

did() {
	[ "$(grep -c '^done' "$JVM_OUT")" -ge "$1" ]
}

# share WHICH: for a thread that has the new name half of its time, sets share (of the samples) and truth (by its own
# clock), the percentages under the new name
share() {
	local old new
	old=$(ms "$1-old")
	new=$(ms "$1-new")
	[ "$old" -gt 0 ] && [ "$new" -gt 0 ] && truth=$((100 * $(said "$1-new") / ($(said "$1-old") + $(said "$1-new") + 1)))
	share=$((100 * new / (old + new + 1)))
	diag "JDK $major, $1: $share % under the new name, $truth % by its own clock; $((old + new)) samples"
}

# renamed_soon: four threads of each kind have the new name for half a second; jhot notices a new name after 50 ms on average
renamed_soon() {
	local which share truth
	for which in renames-itself-a-long-name renamed-from-outside; do
		truth=1000
		share "$which"
		[ $((share - truth)) -le 17 ] && [ $((truth - share)) -le 17 ] || return 1
	done
}

# recorded: records four rounds of the program as $T/x.collapsed and .jhot
recorded() {
	record_start -t -i 1ms -d 100 -o "$T/x.collapsed" -o "$T/x.jhot"
	local turn
	: >"$JVM_OUT"
	wait_for 30 has_samples "$JVM" 1
	for turn in 1 2 3 4; do
		echo "rename 1000" >&"$JVM_IN"
		wait_for 60 did $turn
	done
	record_end
}

# Up to three attempts: other load on this machine may delay the thread that reads names.
check_jvm() {
	local try
	major=$1
	jvm_start Names || return
	for try in 1 2 3; do
		recorded
		! renamed_soon || break
	done
	ok "JDK $major: samples under the old and the new name match the program's CPU times" renamed_soon
	cp "$T/x.collapsed" "$T/live.collapsed"
	"$JHOT" convert -t -o "$T/x.collapsed" "$T/x.jhot" >"$T/out" 2>&1 </dev/null
	is "JDK $major: the recorded .jhot has the same samples under the new name" "$(ms renames-itself-a-long-name-new)" \
		"$(weight "$T/live.collapsed" '^\[renames-itself-a-long-name-new tid=')"
	jvm_end
}

while read -r major java; do
	JAVA=$java
	check_jvm "$major"
done < <(jdks_checked)
done_testing
