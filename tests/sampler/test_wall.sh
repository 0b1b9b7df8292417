#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The wall clock on a program whose threads each do one thing forever: equal shares, the right state, almost no signals to
# threads that do not run; on every installed JDK. Then on threads that are awake briefly: often, and rarely.
. "$(dirname "$0")/../jvm/lib.sh"
. "$(dirname "$0")/lib.sh"

# thread_ms NAME [STATES]: the sampled time of the thread (in one of these states)
thread_ms() {
	awk -F '\t' -v name="^state $1" -v states="${2:-.}" \
		'$1 ~ name "$" && $2 ~ "^(" states ")" { sum += $3 } END { print sum + 0 }' "$T/tool"
}

# switches NAME: the number of voluntary context switches of the thread
switches() {
	local task
	for task in /proc/"$JVM"/task/*; do
		[ "$(cat "$task/comm" 2>/dev/null)" != "$1" ] ||
			awk '/^voluntary/ { print $2 }' "$task/status"
	done
}

# equal MS MS: the same, except for the rounds at both ends, whose length depends on the machine's load
equal() {
	[ $(($1 - $2)) -le $(($2 / 10 + 200)) ] && [ $(($2 - $1)) -le $(($2 / 10 + 200)) ]
}

# mostly PART WHOLE: PART is at least 90 % of WHOLE
mostly() {
	[ "$2" -gt 0 ] && [ $(($1 * 10)) -ge $(($2 * 9)) ]
}

states() {
	cat <<-END
		st-sleeper sleeping
		st-waiter waiting
		st-parked parked
		st-blocked monitor
		st-notified monitor
		st-reader io
		st-accept io
	END
}

# check_jvm MAJOR
check_jvm() {
	local major=$1 name state ms reference before
	jvm_start States || return
	agent event=wall samples=10 seconds=60 # the first one leaves the mapped agent and inert handlers
	wait_for 20 quiet "$JVM"
	litter "$JVM" >"$T/before"
	before=$(switches st-parked)
	ok "JDK $major: a session runs to its end" agent event=wall:20000000 samples=2000 seconds=60 rows=1 states=1 ||
		diag_file "$T/tool.err"
	reference=$(thread_ms st-busy)
	ok "JDK $major: the busy thread is on a core or runnable" \
		mostly "$(thread_ms st-busy 'on_cpu|runnable')" "$reference"
	while read -r name state; do
		ms=$(thread_ms "$name")
		ok "JDK $major: $name has the same time as the busy thread ($ms of $reference ms)" equal "$ms" "$reference"
		ok "JDK $major: $name is mostly in state $state" mostly "$(thread_ms "$name" "$state")" "$ms"
	done < <(states)
	before=$(($(switches st-parked) - before))
	ok "JDK $major: a parked thread is interrupted at most 3 times ($before)" [ $before -le 3 ]
	ok "JDK $major: every sample arrives or is counted as lost" accounted
	known
	ok "JDK $major: at most 1 of 1,000 stacks is broken ($(value broken_pct) %)" \
		awk -v p="$(value broken_pct)" 'BEGIN { exit p > 0.1 }'
	becomes_quiet "JDK $major: sampling ends after the session" "$JVM"
	litter "$JVM" >"$T/after"
	same "JDK $major: the session leaves nothing more in the JVM than the first" "$T/after" "$T/before"
	jvm_end
}

own=$JAVA
while read -r major java; do
	JAVA=$java
	check_jvm "$major"
done < <(jdks_checked) # MAJORS="8 11 21": on these, too
JAVA=$own

# --- more runnable threads than cores
jvm_start Known threads 3
ok "a session with three busy threads runs" agent event=wall:20000000 samples=600 seconds=60 states=1
ok "three busy threads are on a core or runnable" \
	mostly "$(thread_ms 'known-[123]' 'on_cpu|runnable')" "$(thread_ms 'known-[123]')"
ok "a session with lock, cpu and wall runs" agent event=lock event=cpu:20000000 event=wall:20000000 samples=600 seconds=60 stacks="$T/stacks"
is "no thread of the agent is sampled" "$(grep -o '^\[jhot[^]]*\]' "$T/stacks" | sort -u)" ""
jvm_end

# --- threads that are scheduled thousands of times a second: their time on a core and runnable matches the kernel's

# kernel_ms PREFIX: the ms that the threads of this name have run and have waited for a core, according to the kernel
kernel_ms() {
	local task
	for task in /proc/"$JVM"/task/*; do
		[[ $(<"$task/comm") != "$1"* ]] || cat "$task/schedstat"
	done | awk '{ ran += $1; waited += $2 } END { printf "%.0f %.0f\n", ran / 1e6, waited / 1e6 }'
}

# relay_near STATE SAMPLED KERNEL: both in thousandths of the threads' time
relay_near() {
	ok "relay threads: the time $1 is the kernel's" close_to "$2" "$3" 10 || diag "$2, the kernel says $3 in 1000"
}

jvm_start Relay
sleep 2 # until its code is compiled
read -r ran waited < <(kernel_ms relay-)
before=$EPOCHREALTIME
ok "a session with relay threads runs" agent event=wall:20000000 samples=6000 seconds=60 states=1
took=$((6 * (${EPOCHREALTIME/[.,]/} - ${before/[.,]/}) / 1000))
read -r ran_now waited_now < <(kernel_ms relay-)
all=$(thread_ms 'relay-[0-5]')
diag "$(thread_ms 'relay-[0-5]' on_cpu) ms on a core and $(thread_ms 'relay-[0-5]' runnable) waiting for one of $all; by the kernel $((ran_now - ran)) and $((waited_now - waited)) of $took"
relay_near "on a core" $(($(thread_ms 'relay-[0-5]' on_cpu) * 1000 / all)) $(((ran_now - ran) * 1000 / took))
relay_near "runnable" $(($(thread_ms 'relay-[0-5]' runnable) * 1000 / all)) $(((waited_now - waited) * 1000 / took))
jvm_end

# --- threads that work briefly and rarely, beside 300 that rest: few polls find them awake, or none while the polling thread
# gets a core only when they sleep. BUSY=N: beside N busy loops.

# rests_check EVERY_MS ROUNDS SAMPLES
rests_check() {
	local ran waited ran_now waited_now before took sampled kernel
	jvm_start Rests 300 10 "$1" "$2"
	sleep 3 # until its code is compiled
	read -r ran waited < <(kernel_ms work-)
	before=$EPOCHREALTIME
	ok "rare work every $1 ms: a session runs" agent event=wall:100000000 samples="$3" seconds=60 states=1
	took=$((10 * (${EPOCHREALTIME/[.,]/} - ${before/[.,]/}) / 1000))
	read -r ran_now waited_now < <(kernel_ms work-)
	sampled=$(($(thread_ms 'work-.*' 'on_cpu|runnable') * 100000 / $(thread_ms 'work-.*')))
	kernel=$(((ran_now - ran + waited_now - waited) * 100000 / took))
	ok "rare work every $1 ms: the time awake is the kernel's" close_to "$sampled" "$kernel" 15 ||
		diag "beside ${BUSY:-no} busy loops"
	diag "$sampled, the kernel says $kernel of 100000; $(thread_ms 'rest-.*') ms at rest of $((took * 30))"
	ok "rare work every $1 ms: threads at rest have all of their time" close_to "$(thread_ms 'rest-.*' 'sleeping|parked|waiting')" $((took * 30)) 10
	jvm_end
}

for ((i = 0; i < ${BUSY:-0}; i++)); do
	timeout 120 sh -c 'while :; do :; done' &
done
rests_check 400 4000 12000
rests_check 3000 40000 12000
done_testing
