#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The wall clock on threads that alternate between waits with hardly any CPU time in between: each wait has the share
# that the program measured, and their sum is the elapsed time. Monitor waits match the JVM's own count and time.
. "$(dirname "$0")/../jvm/lib.sh"
. "$(dirname "$0")/lib.sh"

CLASSES=$builddir/tests/sampler/classes
[ -e "$CLASSES/Waits.class" ] || skip_all "no Waits.class (make check builds it)"

# weight_below METHOD [EVENT]: the weight of stacks with this method of Waits, in ns
weight_below() {
	awk -v method="Waits.$1" -v event="${2:-wall};" 'index($0, event) == 1 && index($0, method) { sum += $NF } END { printf "%.0f\n", sum }' "$T/weights"
}

# weight_of PATTERN: the weight of all stacks that match
weight_of() {
	awk -v pattern="$1" '$0 ~ pattern { sum += $NF } END { printf "%.0f\n", sum }' "$T/weights"
}

own() {
	awk -v key="$1" '$1 == key { v = $2 } END { printf "%.0f\n", v }' "$JVM_OUT"
}

# turns MS SHORT LONG CPU: the share of the short waits is within 50 % of the program's (some 170 polls find one; the
# standard deviation is 13), the time of all waits within 25 %.
turns() {
	local share mine
	agent_begin event=wall:20000000 seconds=60 rows=1 weights="$T/weights"
	sites_do turns "$@"
	agent_end
	mine=$(($(own short) * 1000 / ($(own short) + $(own long))))
	share=$(($(weight_below waitShort) * 1000 / ($(weight_below waitShort) + $(weight_below waitLong))))
	diag "waits of $2 and $3 ms, $4 us between: the short ones $share of $mine in 1,000; in all \
$((($(weight_below waitShort) + $(weight_below waitLong)) / 1000000)) of $((($(own short) + $(own long)) / 1000000)) ms"
	ok "JDK $major: waits of $2 and $3 ms have their shares of the time" close_to "$share" "$mine" 50
	ok "JDK $major: waits of $2 and $3 ms have the time that the program measured" \
		close_to $(($(weight_below waitShort) + $(weight_below waitLong))) $(($(own short) + $(own long))) 25
}

# locks MS N HOLD CPU DEPTH: the number of waits is within 60 % of the JVM's own count (counting polls gave 16 times as many),
# and their time is within 30 %
locks() {
	local count weight mine
	agent_begin event=lock seconds=60 rows=1 stacks="$T/stacks" weights="$T/weights"
	sites_do locks "$@"
	agent_end
	read -r _ mine ms < <(grep '^blocked' "$JVM_OUT" | tail -n 1)
	count=$(awk '/Waits.turn/ { sum += $NF } END { print sum + 0 }' "$T/stacks")
	weight=$(weight_below turn lock)
	diag "JDK $major: $count of $mine waits, $((weight / 1000000)) of $ms ms"
	ok "JDK $major: the number of waits $5 frames deep matches the JVM's count" close_to "$count" "$mine" 60
	ok "JDK $major: the time of waits $5 frames deep matches the JVM's" close_to "$((weight / 1000000))" "$ms" 30 300
	ok "JDK $major: every wait $5 frames deep arrives or is counted as lost" accounted
}

# counts KIND HOLD: four threads share a lock that each holds for HOLD us, with 50 us in between: most waits are shorter than
# the interval between polls. Their number and time must match the JVM's own, which truncates the time of each of 24 threads to
# milliseconds. By the program's clock, from the attempt to the acquisition, the time is as long or longer: an attempt takes
# microseconds before it counts as a wait, and a new owner may wait for a CPU before it reads the clock (15 % in one run). The
# threads live for a quarter of a second, six times: waits since the last reading of a thread's count must be included when it
# ends, also for threads that no poll found waiting.
counts() {
	local said count placed ms mine low high
	agent_begin event=lock seconds=60 rows=1 stacks="$T/stacks" weights="$T/weights"
	said=$(wc -l <"$JVM_OUT")
	for _ in 1 2 3 4 5 6; do
		sites_do mix "$1" 250 4 0 50 "$2"
	done
	agent_end
	read -r mine low high < <(tail -n +$((said + 1)) "$JVM_OUT" |
		awk '/^jvm/ { count += $2; ms += $3 } /^lock-0/ { ns += $3 } END { printf "%d %d %d\n", count, ms, ns / 1000000 }')
	# only of these threads: main waits for each of them to end, and for locks that they own then
	count=$(awk '/^\[mix-/ && /turn0|unknown place/ { sum += $NF } END { print sum + 0 }' "$T/stacks")
	placed=$(awk '/^\[mix-/ && /turn0/ { sum += $NF } END { print sum + 0 }' "$T/stacks")
	ms=$(($(weight_of '^lock;\[mix-.*(turn0|unknown place)') / 1000000))
	diag "JDK $major: $1, $2 us: $count of $mine waits, $ms of $low to $high ms; of $placed the place is known"
	ok "JDK $major: $1, $2 us: the number of waits is within 10 % of the JVM's" close_to "$count" "$mine" 10 3
	ok "JDK $major: $1, $2 us: at least a third of the waits have a place" [ $((placed * 3)) -ge "$mine" ]
	ok "JDK $major: $1, $2 us: the time of waits matches the JVM's and the program's" between "$ms" "$low" "$high" 12
}

# timed: true while the JVM measures the time of waits, according to ThreadInfo (-1: it does not)
timed() {
	sites_do time -
	[ "$(own time)" != -1 ]
}
not_timed() {
	! timed
}

# switched: the JVM measures the time of waits during a session with the event lock; afterwards only if the program has
# requested it, before or during the session
switched() {
	ok "JDK $major: the JVM does not time waits before the session" not_timed
	agent_begin event=lock seconds=60 rows=1 weights="$T/weights"
	ok "JDK $major: the JVM times waits during a session with lock" wait_for 10 timed
	agent_end
	ok "JDK $major: the JVM does not time waits after the session" wait_for 10 not_timed
	agent_begin event=lock seconds=60 rows=1 weights="$T/weights"
	wait_for 10 timed
	sites_do time on
	agent_end
	sleep 0.5
	ok "JDK $major: timing that the program requests during a session stays on" timed
	agent_begin event=lock seconds=60 rows=1 weights="$T/weights"
	agent_end
	sleep 0.5
	ok "JDK $major: timing that the program requested before a session stays on" timed
	sites_do time off
	ok "JDK $major: timing ends when the program switches it off" not_timed
}

# signals N HOLD: N signalled threads wait for the lock that each owns for HOLD ms in turn, while they are still parked for the
# Condition. Up to three attempts, as the polling thread may be preempted.
signals() {
	local weight mine try
	for try in 1 2 3; do
		agent_begin event=lock seconds=60 rows=1 weights="$T/weights"
		sites_do signal 1500 "$@"
		agent_end
		mine=$(grep '^signalled' "$JVM_OUT" | tail -n 1 | cut -d ' ' -f 2)
		weight=$(awk '/^lock;.*Signals.awaits.*ReentrantLock/ { sum += $NF } END { printf "%.0f\n", sum }' "$T/weights")
		diag "JDK $major: signalled: $((weight / 1000000)) of $((mine / 1000000)) ms, the $try. time"
		! close_to "$weight" "$mine" 25 || break
	done
	ok "JDK $major: a signalled thread waits for the lock" close_to "$weight" "$mine" 25
	ok "JDK $major: every wait of signalled threads arrives or is counted as lost" accounted
}

# holders KIND [TRIES]: the time that others wait while the owner computes, or sleeps, is charged to those stacks of the owner,
# in the amount that the program measured; the sum is the time of the waits. Repeated if need be, as the polling thread may
# be preempted.
holders() {
	local try
	for ((try = 1; try <= ${2:-1}; try++)); do
		agent_begin event=lock seconds=60 rows=1 weights="$T/weights"
		sites_do hold "$1" 1500 3 8000 12
		agent_end
		priced=$(weight_of '^held;.*price')
		shipped=$(weight_of '^held;.*ship')
		held=$(weight_of '^held;')
		lock=$(weight_of '^lock;')
		diag "JDK $major: $1: while it computes $((priced / 1000000)) of $(($(own priced) / 1000000)) ms, \
while it sleeps $((shipped / 1000000)) of $(($(own shipped) / 1000000)); in all $((held / 1000000)) of $((lock / 1000000)), the $try. time"
		! { close_to "$priced" "$(own priced)" 17 && close_to "$shipped" "$(own shipped)" 10 &&
			close_to "$held" "$lock" 10; } || break
	done
}

# holders_known KIND: the same for a kind of lock that has an owner
holders_known() {
	holders "$1" 3
	ok "JDK $major: $1: waits while the owner computes are charged to its stack" close_to "$priced" "$(own priced)" 17
	ok "JDK $major: $1: waits while the owner sleeps are charged to its stack" close_to "$shipped" "$(own shipped)" 10
	ok "JDK $major: $1: the time charged to owners is that of all waits" close_to "$held" "$lock" 10
	ok "JDK $major: $1: every sample arrives or is counted as lost" accounted
}

# all checks, on two JDKs
all_of_it() {
	counts monitor 100
	counts monitor 1000
	holders_known lock
	holders semaphore
	ok "JDK $major: waits for a semaphore are charged to an unknown owner" \
		close_to "$(weight_of '^held;.*unknown owner')" "$(weight_of '^lock;')" 10
	turns 5000 10 140 0
	locks 2000 3 20000 1000 0
	locks 2000 3 20000 1000 900 # deeper than the depth limit of stacks
}

own=$(java_major "$JAVA")
while read -r major java; do
	JAVA=$java
	jvm_start -Xmx64m Waits || continue
	switched # before locks, in which the program requests timing
	case $major in "$own" | 21) all_of_it ;; esac
	counts lock 100
	counts monitor 20
	counts monitor 5
	signals 4 5
	case $major in 21 | 25) holders_known monitor ;; esac
	case $major in
	21) holders_known virtual-lock ;;
	25 | 28) holders_known virtual-monitor ;;
	esac
	jvm_end
done < <(jdks_checked) # MAJORS="8 11 21": on these, too
done_testing
