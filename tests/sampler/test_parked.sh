#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Unmounted virtual threads in wall and lock: shown with the reason of their wait, as many and for as long as the program
# has them; a few, which are all polled, and thousands, of which a part is polled at a time; during collections; their lock
# waits match the program's measurement.
. "$(dirname "$0")/../jvm/lib.sh"
. "$(dirname "$0")/lib.sh"

parked_compile || skip_all "no javac of JDK 21 or newer"

# tenths_below METHOD EVENT: the weight of stacks with this method of Parked, in tenths of a second
tenths_below() {
	awk -v method="Parked.$1;" 'index($0, method) { sum += $NF } END { printf "%.0f\n", sum / 1e8 }' "$T/x-$2.collapsed"
}

methods() {
	echo sleeper locker taker parker
	[ "$1" -lt 24 ] || echo enterer waiter
}

# about_all GOT WANTED PERCENT: GOT is close to WANTED, or less if ZGC has relocated threads, which jhot counts as lost
about_all() {
	close_to "$1" "$2" "$3" || { [ "$GC" = Z ] && [ "$1" -lt "$2" ] && grep -q '^lost: .*moved [0-9]' "$T/out" "$T/err"; }
}

# all_there N PERCENT: N threads of each kind are sampled for the whole recording
all_there() {
	local method time
	for method in $(methods "$major"); do
		time=$(tenths_below "$method" wall)
		diag "JDK $major $GC: $method: $time of $(($1 * RECORDED)) tenths of a second"
		ok "JDK $major $GC: $1 threads in $method are sampled for all of the time" about_all "$time" $(($1 * RECORDED)) "$2"
	done
	for method in locker $([ "$major" -lt 24 ] || echo enterer); do
		ok "JDK $major $GC: lock has the waits of $1 threads in $method" about_all "$(tenths_below "$method" lock)" $(($1 * RECORDED)) "$2"
	done
	is "JDK $major $GC: threads that sleep, take or park have no lock waits" "$(($(tenths_below sleeper lock) + $(tenths_below taker lock) + $(tenths_below parker lock)))" 0
}

# recorder SECONDS: records wall and lock in the background
recorder() {
	record_start -t --total -e wall=20ms,lock=2ms -d "$1" -o "$T/x.collapsed"
}

# recorded SECONDS [LINE...]: a recording, during which the program executes the line; sets RECORDED to its tenths of a second
recorded() {
	local seconds=$1
	shift
	[ $# = 0 ] || echo "$*" >&"$JVM_IN"
	recorder "$seconds"
	wait $RECORD_PID || diag_file "$T/err"
	# measured by a thread that only waits
	RECORDED=$(awk '/waitForReferencePendingList/ { sum += $NF } END { printf "%.0f\n", sum / 1e8 }' "$T/x-wall.collapsed")
}

# turns KIND DEPTH: the time of waits compared with the program's measurement
turns() {
	local count ms time
	recorder 200
	wait_for 30 has_samples "$JVM" 1
	sites_do turns "$1" 3000 8 5000 20000 "$2"
	record_end
	read -r _ count ms < <(grep '^waited' "$JVM_OUT" | tail -n 1)
	time=$(tenths_below "$1Turn" lock)
	diag "JDK $major: $1, $2 deep: $((time * 100)) of $ms ms; $count waits"
	ok "JDK $major: $1, $2 deep: the time of waits is within 20 % of the program's" close_to $((time * 100)) "$ms" 20 400
}

check_jvm() {
	GC=
	jvm_start $FLOCK Parked 20 || return
	recorded 3
	all_there 20 10
	ok "JDK $major: unmounted virtual threads are shown with their names" grep -q '^\[locker-7 #' "$T/x-wall.collapsed"
	ok "JDK $major: unmounted virtual threads are shown with the reason of their wait" grep -q 'Parked.sleeper sleeps ' "$T/x-wall.collapsed"
	turns lock 0
	turns lock 900 # deeper than the depth limit of stacks
	[ "$major" -lt 24 ] || turns monitor 0
	jvm_end
	is "JDK $major: the JVM writes nothing but JEP 451's warnings to stderr" "$(grep -v '^WARNING: ' "$JVM_ERR")" ""
	# About 60 of each kind are polled at a time. ZGC relocates some in between; these are counted as lost.
	for GC in Serial Z; do
		jvm_start $FLOCK -Xmx1g -XX:+Use${GC}GC Parked 4000 || continue
		recorded 4 garbage 8000
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
