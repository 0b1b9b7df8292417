#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Lock waits: as long as the program measured, none without contention, and the owner of each; nothing is left behind
# when the event is off.
. "$(dirname "$0")/../jvm/lib.sh"
. "$(dirname "$0")/lib.sh"

CLASSES=$builddir/tests/sampler/classes
[ -e "$CLASSES/Sites.class" ] || skip_all "no Sites.class (make check builds it)"

# watched LINE...: the program executes it while lock is sampled
watched() {
	agent_begin event=lock seconds=60 weights="$T/weights" waits="$T/waits"
	sites_do "$@"
	case $1 in
	hold) wait_for 20 waits_over 2 ;; # the next poll finds that
	inherit) wait_for 20 eval "waits_over $2 && [ \"\$(endless)\" = 0 ]" ;;
	esac
	agent_end
}

waits_over() {
	[ "$(grep -c '^waiter-[0-9] waited ' "$T/waits")" = "$1" ]
}

# endless: the number of threads whose wait has been reported, but not its end
endless() {
	awk '{ last[$1] = $2 } END { for (thread in last) n += last[thread] == "waits"; print n + 0 }' "$T/waits"
}

# own_waits: waits for the program's own locks. Excluded are: a joining thread, which is notified while the ending thread
# still owns its monitor, and threads that end together and wait for their group. Those waits are real, but so short that
# the JVM may have counted them without a poll that found their place.
own_waits() {
	grep '^lock;' "$T/weights" |
		grep -vE ';java/lang/Thread\.(join|exit)_|^lock;\[(main|sites-[0-9]+)\];\[unknown place\] '
}

# contended WHAT METHOD CLASS: waits are within 20 % of the program's time, plus the time that the machine was suspended,
# which suspends polling as well
contended() {
	local got blocked stood
	watched "$1" 1200
	got=$(weight_at lock "$2" "$3")
	read -r _ blocked _ stood < <(grep '^blocked' "$JVM_OUT" | tail -n 1)
	diag "JDK $major: $1: $((got / 1000000)) of $((blocked / 1000000)) ms; the machine stood $((stood / 1000000))"
	ok "JDK $major: waits for a $1 are within 20 % of the program's time" close_to "$got" "$blocked" 20 "$stood"
	is "JDK $major: no other site than $2 has waits" \
		"$(own_waits | awk '{ sum += $NF } END { print sum + 0 }')" "$got"
	is "JDK $major: all stacks of waits for a $1 reach the thread's root" "$(own_waits | grep -vcE ';java/lang/Thread.run.*;Sites')" 0
	ok "JDK $major: every wait for a $1 arrives or is counted as lost" accounted
	known
}

locks() {
	local major=$1
	# shellcheck disable=SC2086
	jvm_start $CALM_JVM Sites || return
	jvm_warm_attach "$JVM"
	sites_do monitor 10
	agent event=lock seconds=0 # the first session leaves the mapped agent and its handlers
	wait_for 20 quiet "$JVM"
	litter "$JVM" >"$T/before"
	contended monitor turnMonitor java/lang/Object
	contended lock turnLock 'java/util/concurrent/locks/ReentrantLock$NonfairSync'
	contended semaphore turnSemaphore 'java/util/concurrent/Semaphore$NonfairSync'
	watched calm 500
	is "JDK $major: without contention there are no waits" "$(own_waits)" "" || diag_file "$T/weights"
	watched hold 300
	ok "JDK $major: a waiter for a monitor is reported with the class and the owner" \
		grep -q '^waiter-1 waits for Class Sites$Node of holder' "$T/waits"
	ok "JDK $major: a waiter for a lock is reported with the class and the owner" grep -q '^waiter-2 waits for java/.* of holder' "$T/waits"
	for waiter in 1 2; do
		ok "JDK $major: the end of waiter-$waiter's wait is reported" grep -q "^waiter-$waiter waited " "$T/waits" ||
			diag_file "$T/waits"
	done
	known
	watched inherit 5
	ok "JDK $major: the thread that inherits a lock is reported as its owner" grep -q "^waiter-[1-5] waits for java/.* of heir" "$T/waits"
	is "JDK $major: waits whose owner has just changed end" "$(endless)" 0 || diag_file "$T/waits"
	known
	becomes_quiet "JDK $major: sampling ends after the session" "$JVM"
	litter "$JVM" >"$T/after"
	same "JDK $major: descriptors, threads, mappings and handlers are the same after the session" "$T/after" "$T/before"
	jvm_end
	is "JDK $major: the JVM writes nothing but JEP 451's warnings to stderr" "$(grep -v '^WARNING: ' "$JVM_ERR")" ""
	is "JDK $major: the JVM writes only its own lines to stdout" "$(grep -cvE '^(ready|done|blocked )' "$JVM_OUT")" 0
}

while read -r major java; do
	JAVA=$java
	locks "$major"
done < <(jdks_checked) # MAJORS="8 11 21": on these, too
done_testing
