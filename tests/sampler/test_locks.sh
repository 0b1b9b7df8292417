#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Lock waits: as long as the program measured, none without contention, and the owner of each; nothing is left behind
# when the event is off.
. "$(dirname "$0")/../jvm/lib.sh"
. "$(dirname "$0")/lib.sh"

CLASSES=$builddir/tests/sampler/classes
[ -e "$CLASSES/Sites.class" ] || skip_all "no Sites.class (make check builds it)"

# watched LINE...: the program does it while lock is sampled
watched() {
	agent_begin event=lock seconds=60 weights="$T/weights" waits="$T/waits"
	sites_do "$@"
	case $1 in
	hold) wait_for 20 waits_over 2 ;; # that is seen at the next look
	inherit) wait_for 20 eval "waits_over $2 && [ \"\$(endless)\" = 0 ]" ;;
	esac
	agent_end
}

waits_over() {
	[ "$(grep -c '^waiter-[0-9] waited ' "$T/waits")" = "$1" ]
}

# endless: how many threads are said to wait, and never that they do not any more
endless() {
	awk '{ last[$1] = $2 } END { for (thread in last) n += last[thread] == "waits"; print n + 0 }' "$T/waits"
}

# own_waits: those for the program's own locks. Who joins a thread is notified while that one still holds its monitor,
# and threads that end together wait for their group: such waits are true, of main also where no look has found them.
own_waits() {
	grep '^lock;' "$T/weights" | grep -vE ';java/lang/Thread\.(join|exit)_|^lock;\[main\];\[unknown place\] '
}

# contended WHAT METHOD CLASS: within 20 %, and what the machine stood still: whoever looks was kept from it, too
contended() {
	local got blocked stood
	watched "$1" 1200
	got=$(weight_at lock "$2" "$3")
	read -r _ blocked _ stood < <(grep '^blocked' "$JVM_OUT" | tail -n 1)
	diag "JDK $major: $1: $((got / 1000000)) of $((blocked / 1000000)) ms; the machine stood $((stood / 1000000))"
	ok "JDK $major: waits for a $1 within 20 %" close_to "$got" "$blocked" 20 "$stood"
	is "JDK $major: and nothing else waits" \
		"$(own_waits | awk '{ sum += $NF } END { print sum + 0 }')" "$got"
	is "JDK $major: stacks are whole" "$(own_waits | grep -vcE ';java/lang/Thread.run.*;Sites')" 0
	ok "JDK $major: every sample is accounted for" accounted
	known
}

locks() {
	local major=$1
	# shellcheck disable=SC2086
	jvm_start $CALM_JVM Sites || return
	jvm_warm_attach "$JVM"
	sites_do monitor 10
	agent event=lock seconds=0 # what stays after the first session
	wait_for 20 quiet "$JVM"
	litter "$JVM" >"$T/before"
	contended monitor turnMonitor java/lang/Object
	contended lock turnLock 'java/util/concurrent/locks/ReentrantLock$NonfairSync'
	contended semaphore turnSemaphore 'java/util/concurrent/Semaphore$NonfairSync'
	watched calm 500
	is "JDK $major: without contention there are no waits" "$(own_waits)" "" || diag_file "$T/weights"
	watched hold 300
	ok "JDK $major: who waits for whom, and for which class" \
		grep -q '^waiter-1 waits for Class Sites$Node of holder' "$T/waits"
	ok "JDK $major: or for a lock" grep -q '^waiter-2 waits for java/.* of holder' "$T/waits"
	for waiter in 1 2; do
		ok "JDK $major: until it is over, $waiter" grep -q "^waiter-$waiter waited " "$T/waits" ||
			diag_file "$T/waits"
	done
	known
	watched inherit 5
	ok "JDK $major: an heir becomes the owner" grep -q "^waiter-[1-5] waits for java/.* of heir" "$T/waits"
	is "JDK $major: no wait stays when its owner has changed shortly before" "$(endless)" 0 || diag_file "$T/waits"
	known
	becomes_quiet "JDK $major: the session has ended" "$JVM"
	litter "$JVM" >"$T/after"
	same "JDK $major: descriptors, threads, mappings and handlers are as before" "$T/after" "$T/before"
	jvm_end
	is "JDK $major: its errors are empty" "$(grep -v '^WARNING: ' "$JVM_ERR")" ""
	is "JDK $major: its output is its own" "$(grep -cvE '^(ready|done|blocked )' "$JVM_OUT")" 0
}

while read -r major java; do
	JAVA=$java
	locks "$major"
done < <(jdks_checked) # MAJORS="8 11 21": on these, too
done_testing
