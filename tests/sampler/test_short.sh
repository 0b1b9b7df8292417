#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Threads that run for less than an interval are sampled in proportion to the CPU time that the program measured, and
# short-lived threads have their names, on JVMs that report thread starts (up to 18) and others. Threads that get a
# core a thousand times per second, and the kernel's time for that.
. "$(dirname "$0")/../jvm/lib.sh"

if [ "$(id -u)" != 0 ]; then
	skip_all "CPU timers have the resolution of the kernel's tick: needs perf_events"
fi

# True when a signal to the process is delivered to a running thread: then the process's clock samples unlisted threads.
clocked=no
[ "$(printf '6.4\n%s\n' "$(uname -r)" | sort -V | head -n 1)" != 6.4 ] || clocked=yes

# during DESCRIPTION LINE OPTION...: the program executes the line while it is recorded with these options
during() {
	local description=$1 line=$2
	shift 2
	jvm_start Short
	record_start "$@" --total -o "$T/family.collapsed"
	ok "$description: the session samples cpu" wait_for 20 has_event || diag_file "$T/err"
	echo "$line" >&"$JVM_IN"
	ok "$description: the program finishes" wait_for 100 all_done 1
	record_end
	jvm_end
}

# short DESCRIPTION BODY LINE: threads that run the method BODY, sampled every 10 ms
short() {
	local own sampled
	during "$1" "$3" -i 10ms
	own=$(awk '/^done/ { printf "%.0f", $2 / 1e6 }' "$JVM_OUT")
	sampled=$(awk -v body="Short.$2" 'index($0, body) { sum += $NF } END { printf "%.0f", sum / 1e6 }' "$T/family.collapsed")
	diag "$own ms by the program's own count, $sampled ms sampled; $(grep -E '^(cpu|lost)' "$T/err" | tr '\n' ' ')"
	ok "$1: the sampled time is proportional to the CPU time" awk -v own="$own" -v got="$sampled" 'BEGIN { exit got < own / 2 || got > own * 2 }'
}

has_event() {
	"$JHOT" status "$JVM" 2>/dev/null | grep -q '^event cpu: .* every '
}

# all_done COUNT
all_done() {
	[ "$(grep -c '^done' "$JVM_OUT")" -ge "$1" ] || gone "$JVM"
}

# nanoseconds PREFIX TEXT: the weight of stacks that begin with the prefix and contain the text
nanoseconds() {
	awk -v prefix="$1" -v text="$2" 'index($0, prefix) == 1 && index($0, text) { sum += $NF } END { printf "%.0f", sum }' \
		"$T/family.collapsed"
}

# read_line US N: the Nth line's threads: sets own and steady (their and the other thread's CPU time) and got (sampled), in ns
read_line() {
	read -r own steady < <(awk '/^done/ && ++n == '"$2"' { print $2, $4 }' "$JVM_OUT")
	got=$(nanoseconds "[$1-" '')
}

# within US N LEAST: at least LEAST and at most 150 per cent of the CPU time of the Nth line's threads are sampled
within() {
	local own steady got
	read_line "$1" "$2"
	[ $((100 * got)) -ge $(($3 * own)) -a $((100 * got)) -le $((150 * own)) ]
}

# judge US N LEAST: checks the Nth line's threads and adds them to the totals
judge() {
	local own steady got
	read_line "$1" "$2"
	diag "JDK $major, threads of $1 us: $((100 * got / own)) % of $((own / 1000000)) ms sampled, under their names"
	ok "JDK $major: threads that live for $1 us have at least $3 % of their CPU time sampled" within "$@"
	all_got=$((all_got + got))
	all_own=$((all_own + own))
	all_steady=$((all_steady + steady))
}

# record_family: threads of four lengths and rates in one session
record_family() {
	local lines=("1000 1000 500" "500 4000 250" "60 20000 40" "8000 150 4000") line n=0
	jvm_start Short
	record_start -t -i 5ms --total -o "$T/family.collapsed"
	ok "JDK $major: threads of four lengths: the session samples cpu" wait_for 20 has_event || diag_file "$T/err"
	for line in "${lines[@]}"; do
		echo "paced $line" >&"$JVM_IN"
		n=$((n + 1))
		wait_for 100 all_done $n
	done
	record_end
	jvm_end
}

# family: one in 15 of the shortest threads is sampled, with the weight of 15. Newer JVMs do not report thread starts: polls
# find some threads, and the process's own clock samples the others, where the kernel can (6.4). It fires at the kernel's
# tick, which may be in step with threads that start every 2 ms, so there are three attempts.
family() {
	local steady share short named true least=50 least_ms=60 try
	[ $clocked = yes ] || least=10 least_ms=33
	for try in 1 2 3; do
		record_family
		[ "$major" -ge 19 ] || break
		within 1000 1 $least_ms && within 4000 2 70 && within 20000 3 70 && within 150 4 $least && break
		diag "JDK $major: too few samples in recording $try"
	done
	[ "$major" -ge 19 ] || least=60
	all_got=0 all_own=0 all_steady=0
	judge 1000 1 $least_ms
	judge 4000 2 70
	judge 20000 3 70
	judge 150 4 $least
	steady=$(nanoseconds '[' Short.steadyBody)
	share=$((100 * all_got / (all_got + steady + 1)))
	true=$((100 * all_own / (all_own + all_steady)))
	diag "JDK $major: $share % of the whole, $true % true; $(grep -E '^threads that' "$T/err")"
	ok "JDK $major: short threads have their share beside a long-lived thread" [ $share -ge $((true * 6 / 10)) -a $share -le $((true * 14 / 10)) ]
	short=$(nanoseconds '[' Short.shortBody)
	named=$(awk '/^\[[0-9]+-us-of-a-short-life-[0-9]+ / && /Short.shortBody/ { sum += $NF } END { printf "%.0f", sum }' "$T/family.collapsed")
	ok "JDK $major: at least 95 % of the short threads' time is under their names" [ $((100 * named)) -ge $((95 * short)) -a "$short" -gt 0 ] ||
		diag "$named of $short"
}

# filtered: threads that live for 4 ms and match --only-threads, beside one that does not
filtered() {
	local own got
	during "JDK $major, filtered threads" "paced 500 4000 250" -t -i 5ms --only-threads '4000-*'
	own=$(awk '/^done/ { print $2 }' "$JVM_OUT")
	got=$(nanoseconds '[4000-' Short.shortBody)
	diag "JDK $major, filtered threads: $((100 * got / own)) % of $((own / 1000000)) ms sampled"
	ok "JDK $major, filtered threads: at least 60 % of their CPU time is sampled" [ $((100 * got)) -ge $((60 * own)) -a $((100 * got)) -le $((150 * own)) ]
	is "JDK $major, filtered threads: no other thread is sampled" "$(nanoseconds '[' Short.steadyBody)" 0
}

# many: as many thread starts as possible: no list has these threads, and perf_events do not slow down the thread that starts them
many() {
	jvm_start Rates starts
	"$JHOT" record -d 5 -o "$T/many.collapsed" "$JVM" >"$T/out" 2>"$T/err" </dev/null
	jvm_end
	diag "JDK $major: $(grep -h explains "$T/err" "$T/out")"
	# "explains 82 % (±20 points)": within its own error bar.
	ok "JDK $major, thousands of thread starts a second: most of the CPU time is explained" awk '
		/^cpu: explains/ { share = $3; bar = $5; gsub(/[^0-9]/, "", bar) }
		END { exit !share || share + bar < '$([ $clocked = yes ] && echo 80 || echo 20)' || share - bar > 110 }' "$T/err" ||
		diag_file "$T/err"
	[ $clocked = no ] || ok "JDK $major, thousands of thread starts a second: no thread is reported missing" not grep -q threads_missed "$T/err"
}

# wakes US PAUSE: a thread that alternately works for US and waits for PAUSE. A context switch takes some 5 us of its time
# that perf's clock does not count: of a thread that works for 10 us, a quarter was missing.
wakes() {
	local own got
	during "works for $1 us at a time" "wakes $1 $2 2000" -t -i 1ms --engine perf
	own=$(awk '/^done/ { print $2 }' "$JVM_OUT")
	got=$(nanoseconds '[wakes' '')
	diag "works for $1 us, waits for $2: $((got / 1000)) of $((own / 1000)) us, \
$(($(nanoseconds '[wakes' '[context switches]') / 1000)) of them switching"
	ok "works for $1 us at a time: the sampled time is within 8 % of the CPU time" \
		[ $((100 * got)) -ge $((92 * own)) -a $((100 * got)) -le $((108 * own + 200000000)) ]
}

short "threads that need 0.8 ms per burst" burstBody "bursts 400 800 3000"
wakes 10 300
wakes 50 300
wakes 400 100
while read -r major JAVA; do
	family
	filtered
	many
done < <(jdks_checked) # MAJORS="21 25": on these, too
done_testing
