#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Threads that are renamed while they are sampled: what they did before stays with the old name, what they do then
# is the new one's, in shares as the program itself measures them.
. "$(dirname "$0")/lib.sh"

# ms NAME: of CPU time, in samples of 1 ms
ms() {
	weight "$T/x.collapsed" "^\\[$1 tid="
}

# said NAME: ms of CPU time, as the program says
said() {
	awk -v name="$1" '$1 == "cpu" && $2 == name { print int($3 / 1000000) }' "$JVM_OUT"
}

did() {
	grep -qs '^done' "$JVM_OUT"
}

# check_thread WHICH: it is called the new name for half of its time, and seen so within a second
check_thread() {
	local old new all share truth
	old=$(ms "$1-old")
	new=$(ms "$1-new")
	all=$((old + new))
	share=$((all ? 100 * new / all : 0))
	truth=$((100 * $(said "$1-new") / ($(said "$1-old") + $(said "$1-new") + 1)))
	diag "JDK $major, $1: $share % under the new name, $truth % by its own clock; $all samples"
	# A second of the four, and as much again for a machine that is busy elsewhere; all or nothing before.
	ok "JDK $major: $1 has samples under both names, as many as it says" \
		[ $((share - truth)) -le 30 -a $((truth - share)) -le 30 -a $old -gt 0 -a $new -gt 0 ]
}

check_jvm() {
	major=$1
	jvm_start Names || return
	"$JHOT" record -t -i 1ms -d 100 -o "$T/x.collapsed" -o "$T/x.jhot" "$JVM" >"$T/out" 2>"$T/err" </dev/null &
	local recorder=$!
	wait_for 30 has_samples "$JVM" 1
	echo "rename 4000" >&"$JVM_IN"
	wait_for 60 did
	kill -TERM $recorder
	wait $recorder
	check_thread renames-itself-a-long-name
	check_thread renamed-from-outside
	cp "$T/x.collapsed" "$T/live.collapsed"
	"$JHOT" convert -t -o "$T/x.collapsed" "$T/x.jhot" >"$T/out" 2>&1 </dev/null
	is "JDK $major: and so says a recording" "$(ms renames-itself-a-long-name-new)" \
		"$(weight "$T/live.collapsed" '^\[renames-itself-a-long-name-new tid=')"
	jvm_end
}

while read -r major java; do
	JAVA=$java
	check_jvm "$major"
done < <(jdks ${MAJORS:-8 25})
done_testing
