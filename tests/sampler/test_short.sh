#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Threads that run for less than an interval are sampled in proportion to the CPU time that the program measured, and
# short-lived threads have their names, on JVMs that report thread starts (up to 18) and others. Threads that get a
# core a thousand times per second, and the kernel's time for that.
. "$(dirname "$0")/../jvm/lib.sh"

if [ "$(id -u)" != 0 ]; then
	skip_all "CPU timers are as coarse as the kernel's tick: needs perf_events"
fi

# True when a signal to the process is delivered to a running thread: then the process's clock samples unlisted threads.
clocked=no
[ "$(printf '6.4\n%s\n' "$(uname -r)" | sort -V | head -n 1)" != 6.4 ] || clocked=yes

# during DESCRIPTION LINE OPTION...: the program does it while it is recorded with these options
during() {
	local description=$1 line=$2
	shift 2
	jvm_start Short
	record_start "$@" --total -o "$T/family.collapsed"
	ok "$description: sampled" wait_for 20 has_event || diag_file "$T/err"
	echo "$line" >&"$JVM_IN"
	ok "$description: the program is done" wait_for 100 all_done 1
	record_end
	jvm_end
}

# short DESCRIPTION BODY LINE: sampled every 10 ms
short() {
	local own sampled
	during "$1" "$3" -i 10ms
	own=$(awk '/^done/ { printf "%.0f", $2 / 1e6 }' "$JVM_OUT")
	sampled=$(awk -v body="Short.$2" 'index($0, body) { sum += $NF } END { printf "%.0f", sum / 1e6 }' "$T/family.collapsed")
	diag "$own ms by the program's own count, $sampled ms sampled; $(grep -E '^(cpu|lost)' "$T/err" | tr '\n' ' ')"
	ok "$1: in proportion" awk -v own="$own" -v got="$sampled" 'BEGIN { exit got < own / 2 || got > own * 2 }'
}

has_event() {
	"$JHOT" status "$JVM" 2>/dev/null | grep -q '^event cpu: .* every '
}

# all_done COUNT
all_done() {
	[ "$(grep -c '^done' "$JVM_OUT")" -ge "$1" ] || gone "$JVM"
}

# nanoseconds PREFIX TEXT: what was sampled of stacks that begin so and contain it
nanoseconds() {
	awk -v prefix="$1" -v text="$2" 'index($0, prefix) == 1 && index($0, text) { sum += $NF } END { printf "%.0f", sum }' \
		"$T/family.collapsed"
}

# read_line US N: the Nth line's threads: what they used before they ended and what of all was sampled, in ns
read_line() {
	read -r own steady < <(awk '/^done/ && ++n == '"$2"' { print $2, $4 }' "$JVM_OUT")
	got=$(nanoseconds "[$1-" '')
}

# within US N LEAST: are that many per cent of the Nth line's threads' time sampled, and not half as much again?
within() {
	local own steady got
	read_line "$1" "$2"
	[ $((100 * got)) -ge $(($3 * own)) -a $((100 * got)) -le $((150 * own)) ]
}

# judge US N LEAST: the Nth line's threads, in per cent of what they used; adds them up beside "steady"
judge() {
	local own steady got
	read_line "$1" "$2"
	diag "JDK $major, threads of $1 us: $((100 * got / own)) % of $((own / 1000000)) ms sampled, under their names"
	ok "JDK $major: threads that live for $1 us, sampled time" within "$@"
	all_got=$((all_got + got))
	all_own=$((all_own + own))
	all_steady=$((all_steady + steady))
}

# record_family: threads of four lengths and rates in one session
record_family() {
	local lines=("1000 1000 500" "500 4000 250" "60 20000 40" "8000 150 4000") line n=0
	jvm_start Short
	record_start -t -i 5ms --total -o "$T/family.collapsed"
	ok "JDK $major: sampled" wait_for 20 has_event || diag_file "$T/err"
	for line in "${lines[@]}"; do
		echo "paced $line" >&"$JVM_IN"
		n=$((n + 1))
		wait_for 100 all_done $n
	done
	record_end
	jvm_end
}

# family: one in 15 of the shortest is sampled, and stands for the others. Newer JVMs do not tell of threads: looks find
# some, the process's own clock samples the others, where the kernel can (6.4), and at its tick, which may go in step with
# threads that start every 2 ms: three times, then it is not that.
family() {
	local steady share short named true least=50 least_ms=60 try
	[ $clocked = yes ] || least=10 least_ms=33
	for try in 1 2 3; do
		record_family
		[ "$major" -ge 19 ] || break
		within 1000 1 $least_ms && within 4000 2 70 && within 20000 3 70 && within 150 4 $least && break
		diag "JDK $major: too few found the $try. time"
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
	ok "JDK $major: their share beside a thread that stays" [ $share -ge $((true * 6 / 10)) -a $share -le $((true * 14 / 10)) ]
	short=$(nanoseconds '[' Short.shortBody)
	named=$(awk '/^\[[0-9]+-us-of-a-short-life-[0-9]+ / && /Short.shortBody/ { sum += $NF } END { printf "%.0f", sum }' "$T/family.collapsed")
	ok "JDK $major: nearly all of it has names" [ $((100 * named)) -ge $((95 * short)) -a "$short" -gt 0 ] ||
		diag "$named of $short"
}

# chosen: threads that live for 4 ms, chosen by their names, beside one that is not
chosen() {
	local own got
	during "JDK $major, some threads" "paced 500 4000 250" -t -i 5ms --only-threads '4000-*'
	own=$(awk '/^done/ { print $2 }' "$JVM_OUT")
	got=$(nanoseconds '[4000-' Short.shortBody)
	diag "JDK $major, chosen by name: $((100 * got / own)) % of $((own / 1000000)) ms sampled"
	ok "JDK $major, some threads: their time" [ $((100 * got)) -ge $((60 * own)) -a $((100 * got)) -le $((150 * own)) ]
	is "JDK $major, some threads: and nobody else's" "$(nanoseconds '[' Short.steadyBody)" 0
}

# many: as many starts as can be: no list has these threads, and who starts them is not slowed down by perf_events
many() {
	jvm_start Rates starts
	"$JHOT" record -d 5 -o "$T/many.collapsed" "$JVM" >"$T/out" 2>"$T/err" </dev/null
	jvm_end
	diag "JDK $major: $(grep -h explains "$T/err" "$T/out")"
	# "explains 82 % (±20 points)": within its own error bar.
	ok "JDK $major, thousands of starts a second: most of the CPU time is explained" awk '
		/^cpu: explains/ { share = $3; bar = $5; gsub(/[^0-9]/, "", bar) }
		END { exit !share || share + bar < '$([ $clocked = yes ] && echo 80 || echo 20)' || share - bar > 110 }' "$T/err" ||
		diag_file "$T/err"
	[ $clocked = no ] || ok "JDK $major: and no thread is said to be missing" not grep -q threads_missed "$T/err"
}

# wakes US PAUSE: a thread that works for so long, waits, and so on. Being given a core and giving it back takes some 5 us of its
# time that perf's clock does not see: where it works for 10 us, a quarter was missing.
wakes() {
	local own got
	during "works for $1 us at a time" "wakes $1 $2 2000" -t -i 1ms --engine perf
	own=$(awk '/^done/ { print $2 }' "$JVM_OUT")
	got=$(nanoseconds '[wakes' '')
	diag "works for $1 us, waits for $2: $((got / 1000)) of $((own / 1000)) us, \
$(($(nanoseconds '[wakes' '[context switches]') / 1000)) of them switching"
	ok "works for $1 us at a time: all of its time" \
		[ $((100 * got)) -ge $((92 * own)) -a $((100 * got)) -le $((108 * own + 200000000)) ]
}

short "threads that need 0.8 ms now and then" burstBody "bursts 400 800 3000"
wakes 10 300
wakes 50 300
wakes 400 100
while read -r major JAVA; do
	family
	chosen
	many
done < <(jdks_checked) # MAJORS="21 25": on these, too
done_testing
