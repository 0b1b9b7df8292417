#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Unmounted virtual threads in wall and lock: by what they wait for, as many and as long as the program has them; a
# few that are all polled and a crowd of which a part is; during collections; their lock waits as measured by the
# program.
. "$(dirname "$0")/../jvm/lib.sh"
. "$(dirname "$0")/lib.sh"

parked_compile || skip_all "no javac of JDK 21 or newer"

# tenths_below METHOD EVENT: below this method of Parked, in tenths of a second
tenths_below() {
	awk -v method="Parked.$1;" 'index($0, method) { sum += $NF } END { printf "%.0f\n", sum / 1e8 }' "$T/x-$2.collapsed"
}

methods() {
	echo sleeper locker taker parker
	[ "$1" -lt 24 ] || echo enterer waiter
}

# about_all GOT WANTED PERCENT: or less, because ZGC has moved them, and that is said
about_all() {
	close_to "$1" "$2" "$3" || { [ "$GC" = Z ] && [ "$1" -lt "$2" ] && grep -q '^lost: .*moved [0-9]' "$T/out" "$T/err"; }
}

# all_there N PERCENT: of each kind N threads for as long as was looked
all_there() {
	local method time
	for method in $(methods "$major"); do
		time=$(tenths_below "$method" wall)
		diag "JDK $major $GC: $method: $time of $(($1 * LOOKED)) tenths of a second"
		ok "JDK $major $GC: $1 threads in $method, each for all of the time" about_all "$time" $(($1 * LOOKED)) "$2"
	done
	for method in locker $([ "$major" -lt 24 ] || echo enterer); do
		ok "JDK $major $GC: $method waits for a lock" about_all "$(tenths_below "$method" lock)" $(($1 * LOOKED)) "$2"
	done
	is "JDK $major $GC: nothing else does" "$(($(tenths_below sleeper lock) + $(tenths_below taker lock) + $(tenths_below parker lock)))" 0
}

# recorder SECONDS: of both events, in the background
recorder() {
	record_start -t --total -e wall=20ms,lock=2ms -d "$1" -o "$T/x.collapsed"
}

# looked SECONDS [LINE...]: a recording, while the program does that
looked() {
	local seconds=$1
	shift
	[ $# = 0 ] || echo "$*" >&"$JVM_IN"
	recorder "$seconds"
	wait $RECORD_PID || diag_file "$T/err"
	# by a thread that does nothing but to wait
	LOOKED=$(awk '/waitForReferencePendingList/ { sum += $NF } END { printf "%.0f\n", sum / 1e8 }' "$T/x-wall.collapsed")
}

# turns KIND DEPTH: the time that was waited, as the program measured it
turns() {
	local count ms time
	recorder 200
	wait_for 30 has_samples "$JVM" 1
	sites_do turns "$1" 3000 8 5000 20000 "$2"
	record_end
	read -r _ count ms < <(grep '^waited' "$JVM_OUT" | tail -n 1)
	time=$(tenths_below "$1Turn" lock)
	diag "JDK $major: $1, $2 deep: $((time * 100)) of $ms ms; $count waits"
	ok "JDK $major: $1, $2 deep: waits take the time that the program measures" close_to $((time * 100)) "$ms" 20 400
}

check_jvm() {
	GC=
	jvm_start $FLOCK Parked 20 || return
	looked 3
	all_there 20 10
	ok "JDK $major: by their names" grep -q '^\[locker-7 #' "$T/x-wall.collapsed"
	ok "JDK $major: and reasons" grep -q 'Parked.sleeper sleeps ' "$T/x-wall.collapsed"
	turns lock 0
	turns lock 900 # deeper than stacks that are kept
	[ "$major" -lt 24 ] || turns monitor 0
	jvm_end
	is "JDK $major: its errors are empty" "$(grep -v '^WARNING: ' "$JVM_ERR")" ""
	# Of each kind some 60 are looked at at a time. ZGC moves them meanwhile: some are lost, and counted.
	for GC in Serial Z; do
		jvm_start $FLOCK -Xmx1g -XX:+Use${GC}GC Parked 4000 || continue
		looked 4 garbage 8000
		all_there 4000 35
		jvm_end
	done
}

while read -r major java; do
	[ "$major" -ge 21 ] || continue
	JAVA=$java
	check_jvm
done < <(jdks_checked)
done_testing
