#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Threads that are renamed while they are sampled: earlier samples keep the old name, later ones have the new one, in
# the shares that the program measured.
. "$(dirname "$0")/lib.sh"

# ms NAME: of CPU time, in samples of 1 ms
ms() {
	weight "$T/x.collapsed" "^\\[$1 tid="
}

# said NAME: ms of CPU time, as the program says
said() {
	awk -v name="$1" '$1 == "cpu" && $2 == name { ns += $3 } END { print int(ns / 1000000) }' "$JVM_OUT"
}

did() {
	[ "$(grep -c '^done' "$JVM_OUT")" -ge "$1" ]
}

# share WHICH: of a thread that is called the new name for half of its time, per cent under it and by its own clock
share() {
	local old new
	old=$(ms "$1-old")
	new=$(ms "$1-new")
	[ "$old" -gt 0 ] && [ "$new" -gt 0 ] && truth=$((100 * $(said "$1-new") / ($(said "$1-old") + $(said "$1-new") + 1)))
	share=$((100 * new / (old + new + 1)))
	diag "JDK $major, $1: $share % under the new name, $truth % by its own clock; $((old + new)) samples"
}

# renamed_soon: four threads of each kind are called the new name for half a second, which is seen after 50 ms on average
renamed_soon() {
	local which share truth
	for which in renames-itself-a-long-name renamed-from-outside; do
		truth=1000
		share "$which"
		[ $((share - truth)) -le 17 ] && [ $((truth - share)) -le 17 ] || return 1
	done
}

# recorded: what they did, as $T/x.collapsed and .jhot
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

# Up to three times: the thread that reads names may be delayed by other load on this machine.
check_jvm() {
	local try
	major=$1
	jvm_start Names || return
	for try in 1 2 3; do
		recorded
		! renamed_soon || break
	done
	ok "JDK $major: threads have samples under both names, as many as they say" renamed_soon
	cp "$T/x.collapsed" "$T/live.collapsed"
	"$JHOT" convert -t -o "$T/x.collapsed" "$T/x.jhot" >"$T/out" 2>&1 </dev/null
	is "JDK $major: and so says a recording" "$(ms renames-itself-a-long-name-new)" \
		"$(weight "$T/live.collapsed" '^\[renames-itself-a-long-name-new tid=')"
	jvm_end
}

while read -r major java; do
	JAVA=$java
	check_jvm "$major"
done < <(jdks_checked)
done_testing
