#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Threads that already wait for a lock when sampling starts: the wait counts from its beginning, by the program's
# clock, and is reported as a lower bound; one that begins later is not.
. "$(dirname "$0")/../jvm/lib.sh"
. "$(dirname "$0")/lib.sh"

CLASSES=$builddir/tests/sampler/classes
[ -e "$CLASSES/Sites.class" ] || skip_all "no Sites.class (make check builds it)"
grep -qs '^se.exec_start' /proc/self/sched || skip_all "this kernel does not report when a thread went to sleep"

STUCK_MS=4000

# wait_start NAME: when its wait began, according to the agent
wait_start() {
	awk -v name="$1" '$1 == name && $2 == "waits" { v = $NF } END { printf "%.0f\n", v }' "$T/waits"
}

# blocked NAME COLUMN: the same according to the program
blocked() {
	awk -v name="$1" -v at="$2" '$1 == "blocked" && $2 == name { v = $at } END { printf "%.0f\n", v }' "$JVM_OUT"
}

all_wait() {
	[ "$(grep -cE '^stuck-[123] waits' "$T/waits")" -ge 3 ]
}

watch() {
	agent_begin event=lock seconds=60 waits="$T/waits"
}

# began NAME: the wait starts no earlier than the program says, and later by at most a tenth of its time, because the
# kernel's timestamps exclude time that the host took from that CPU
began() {
	local got from to
	got=$(wait_start "$1") from=$(blocked "$1" 3) to=$(blocked "$1" 4)
	diag "JDK $major: $1's wait starts $(((got - from) / 1000000)) ms after its first timestamp; its second is $(((to - from) / 1000000)) ms after it"
	ok "JDK $major: $1's wait does not start before the program says" [ "$got" -ge $((from - 50000000)) ]
	# Before JDK 24, the first waiter for a monitor retries each second.
	if [ "$1" = stuck-1 ] && [ "$major" -lt 24 ]; then
		return
	fi
	ok "JDK $major: $1's wait does not start later than the program says" [ "$got" -le $((to + STUCK_MS * 100000)) ]
}

while read -r major java; do
	JAVA=$java
	# shellcheck disable=SC2086
	jvm_start $CALM_JVM Sites || continue
	sites_do stuck $STUCK_MS
	watch
	ok "JDK $major: three threads that already wait are found" wait_for 20 all_wait
	agent_end
	for name in stuck-1 stuck-2 stuck-3; do
		began $name
	done
	is "JDK $major: every wait that began before the session is a lower bound" "$(grep -cE '^stuck-.* after at least ' "$T/waits")" \
		"$(grep -cE '^stuck-' "$T/waits")"
	sites_do free 0
	watch
	sites_do later 600
	ok "JDK $major: threads that the agent saw before they waited are found" wait_for 20 all_wait
	agent_end
	is "JDK $major: waits that begin during the session are not lower bounds" "$(grep -c 'after at least ' "$T/waits")" 0
	sites_do free 0
	jvm_end
done < <(jdks_checked)
done_testing
