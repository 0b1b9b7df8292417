#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs a test that measures shares and rates once no other process uses much CPU time. A failed run is repeated, up to three runs
# in all, because load on a virtual machine's host is invisible here: a defect fails each of them. The last run is the result;
# the log also has the failures of earlier runs, and the CPU time that other processes used.
#   usage: alone.sh COMMAND...
set -u

settle_s=120    # how long to wait for a quiet machine before running anyway
quiet_percent=15 # of one core, used by others
runs_most=3

# machine_ticks: CPU time of all processes since boot, stolen time included, in clock ticks
machine_ticks() {
	awk '$1 == "cpu" { print $2 + $3 + $4 + $7 + $8 + $9 }' /proc/stat
}

# own_ticks: CPU time of this process and of its descendants that have ended
own_ticks() {
	sed 's/.*) //' /proc/$$/stat | awk '{ print $12 + $13 + $14 + $15 }'
}

begin() {
	began_ns=$(date +%s%N)
	machine_before=$(machine_ticks)
	own_before=$(own_ticks)
}

# others_percent: the share of one core that other processes have used since begin
others_percent() {
	local others=$(($(machine_ticks) - machine_before - ($(own_ticks) - own_before)))
	local elapsed=$((($(date +%s%N) - began_ns) / 10000000))
	echo $((others > 0 ? 100 * others / (elapsed > 0 ? elapsed : 1) : 0))
}

settle() {
	local deadline=$(($(date +%s) + settle_s)) percent
	while :; do
		begin
		sleep 1
		percent=$(others_percent)
		[ "$percent" -le $quiet_percent ] && return
		if [ "$(date +%s)" -ge $deadline ]; then
			echo "# other processes still use $percent % of a core after $settle_s s"
			return
		fi
	done
}

output=$(mktemp "${TMPDIR:-/tmp}/jhot-alone.XXXXXX") || exit 99
trap 'rm -f "$output"' EXIT
run=1
while :; do
	settle
	begin
	"$@" >"$output" 2>&1
	status=$?
	percent=$(others_percent)
	echo "# others used $percent % of a core"
	[ $status != 0 ] && [ $run -lt $runs_most ] || break
	echo "# run $run failed, so it is repeated:"
	grep -A4 '^not ok' "$output" | sed 's/^/# /'
	run=$((run + 1))
done
cat "$output"
exit $status
