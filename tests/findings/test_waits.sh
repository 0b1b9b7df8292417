#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Waits: each rule finds its problem in a program that has it, and names who and where; none reports anything about
# programs that nearly have it.
. "$(dirname "$0")/../jvm/lib.sh"

[ -e "$CLASSES/Waiting.class" ] || skip_all "no Waiting.class (make check builds it)"

RUNS=${RUNS:-1} # of why for each program; each run has to find the problem. RUNS="1 2 3" shows how reliably they do
BUSY_NS=1000000000
SIDE_BY_SIDE=4

# observe NAME...: runs jhot why for each of $RUNS; reports are in $T/NAME.RUN, the program's listening ports in .port, and the time
# that its threads waited for a core in .delay. A+B: both in one JVM; virtual-A: with virtual threads, and enough carriers for
# pinned threads. Few at a time: each session uses most of a second of CPU time when it starts.
observe() {
	while [ $# -gt "$SIDE_BY_SIDE" ]; do
		observe_together "${@:1:SIDE_BY_SIDE}"
		shift "$SIDE_BY_SIDE"
	done
	observe_together "$@"
}

observe_together() {
	local name program run flags pid asking pids=() before
	for name; do
		program=Waiting flags=()
		[[ $name != *deadlock* ]] || program=Problems
		[[ $name != virtual-* ]] || flags=(-Dvirtual=true -Djdk.virtualThreadScheduler.parallelism=24)
		for run in $RUNS; do : >"$T/$name.$run"; done
		jvm_start -XX:+IgnoreUnrecognizedVMOptions -Xmx64m "${flags[@]}" $program "${name#virtual-}" || return
		for run in $RUNS; do listening "$JVM" >"$T/$name.$run.port"; done
		pids+=("$JVM")
	done
	for run in $RUNS; do
		asking=() before=()
		for name; do
			pid=${pids[${#asking[@]}]}
			before+=("$(delay_ns "$pid")")
			"$JHOT" why -d "${RUN_SECONDS:-4}" "$pid" >"$T/$name.$run" 2>"$T/$name.$run.err" </dev/null &
			asking+=($!)
		done
		wait "${asking[@]}"
		asking=()
		for name; do
			pid=${pids[${#asking[@]}]}
			echo $(($(delay_ns "$pid") - ${before[${#asking[@]}]})) >"$T/$name.$run.delay"
			asking+=(.)
			diag "JDK $major: $name: $(grep -E '^(LOCK|POOL|I/O|CORES)  ' "$T/$name.$run" | head -n 1)"
		done
	done
	for JVM in "${pids[@]}"; do jvm_kill; done
}

has_results() {
	local run
	for run in $RUNS; do grep -qsE ' s: (nothing|[0-9]+) found' "$T/$1.$run" || return; done
}

# inconclusive NAME RUN: the run has no result because too little was observed, or other load kept the JVM from running, except for
# the program cores, whose threads are meant to wait for a core.
inconclusive() {
	! grep -qE ' s: (nothing|[0-9]+) found' "$T/$1.$2" ||
		{ [ "$1" != cores ] && [ "$(cat "$T/$1.$2.delay")" -ge $BUSY_NS ]; }
}

# finds NAME PATTERN...: each run reports the first line of a finding and its evidence; "PORT" is where the program listens. A run
# that is inconclusive is repeated once, alone and for longer; that one has to find it.
finds() {
	local name=$1 run pattern
	shift
	[ -e "$T/$name.1" ] || observe "$name"
	for run in $RUNS; do
		grep -qsE "${1/PORT/$(cat "$T/$name.$run.port" 2>/dev/null)}" "$T/$name.$run" || ! inconclusive "$name" "$run" ||
			RUNS=$run RUN_SECONDS=16 observe "$name"
		for pattern; do
			ok "JDK $major: $name, run $run: the report matches: $pattern" grep -qE "${pattern/PORT/$(cat "$T/$name.$run.port")}" "$T/$name.$run" ||
				{ diag "its threads waited $(cat "$T/$name.$run.delay") ns for a core" && diag_file "$T/$name.$run"; }
		done
	done
}

# finds_no NAME RULE...: no run reports these rules. (For CORES see cores: other load is possible.)
finds_no() {
	local name=$1 run rule
	shift
	has_results "$name" || observe "$name"
	ok "JDK $major: $name: why prints a result in each run" has_results "$name" || diag_file "$T/$name.1.err"
	for run in $RUNS; do
		for rule; do
			ok "JDK $major: $name, run $run: why does not report $rule" not grep -q "^$rule  " "$T/$name.$run" || diag_file "$T/$name.$run"
		done
	done
}

# lines NAME PATTERN: the number of matching lines in its reports
lines() {
	local run
	for run in $RUNS; do cat "$T/$1.$run"; done | grep -cE "$2"
}

one_peer='^I/O  Waiting\$PaymentClient.charge waits for 127\.0\.0\.1:PORT: [4-6]\.[0-9] threads on average$'

# waits [NAME...]: observes these programs as well
waits() {
	observe locks locks-chain deadlock pool pool-limit pool-enough pool-not io io-idle "$@"
	observe locks-not io-not # these use cores
	finds locks '^LOCK  8 threads wait for Waiting\$Repo, [4-8]\.[0-9] on average; held in turn, mostly by worker-[0-9] in Waiting\$Repo.save \(sleeps\)' \
		'^    worker-[0-9] waits for Waiting\$Repo here:' '^      Waiting\$Repo.save' '^      Program.sleep'
	is "JDK $major: locks: why reports neither POOL nor I/O" "$(lines locks '^(POOL|I/O)  ')" 0
	finds locks-chain 'held by flusher, which waits for ReentrantLock, held by compactor in (Waiting.compact|Program.sleep) \(sleeps\)'
	is "JDK $major: locks-chain: why reports LOCK once in each run" "$(lines locks-chain '^LOCK  ')" "$(wc -w <<<"$RUNS")"
	finds deadlock '^DEADLOCK  '
	finds_no deadlock LOCK POOL
	finds_no locks-not LOCK POOL I/O
	finds pool '^POOL  3[5-8] of 40 threads http-\* wait in Waiting\$ConnectionPool.borrow; [2-5] do other work' \
		'^      Waiting.handle' '^    those that do not wait, such as http-' '^      Waiting.query'
	is "JDK $major: pool: why does not report LOCK" "$(lines pool '^LOCK  ')" 0
	finds pool-limit '^POOL  (9|10|11) of 12 threads caller-\* wait in Waiting.callLimited; [123] do'
	finds_no pool-enough POOL LOCK I/O
	finds_no pool-not POOL LOCK I/O
	finds io "$one_peer" '^      Waiting.placeOrder'
	finds_no io-not I/O POOL LOCK
	finds_no io-idle I/O POOL LOCK
}

# Waits of virtual threads, whether they pin their carriers meanwhile (monitors before JDK 24) or not.
virtual=(virtual-locks-chain+locks virtual-deadlock+deadlock-3+deadlock-tried virtual-io virtual-io-idle)
virtual() {
	finds "${virtual[0]}" '^LOCK  8 threads wait for Waiting\$Repo, [4-8]\.[0-9] on average; held in turn, mostly by worker-[0-9] in Waiting\$Repo.save \((sleeps|is parked)\)' \
		'^    worker-[0-9] waits for Waiting\$Repo here:' '^      Waiting\$Repo.save' '^      Program.sleep' \
		'held by flusher, which waits for ReentrantLock, held by compactor in (Waiting.compact|Program.sleep) \(sleeps\)'
	finds "${virtual[1]}" '^DEADLOCK  payer-[12] and payer-[12] wait for each other' \
		'^    payer-1 waits for Object, held by payer-2$' '^    payer-2 waits for Object, held by payer-1$' '^      Problems.transfer' \
		'^DEADLOCK  payer-[012], payer-[012] and payer-[012] wait' '^    payer-2 waits for ReentrantLock\$NonfairSync, held by payer-0$'
	is "JDK $major: virtual threads that give up waiting are in no deadlock" "$(lines "${virtual[1]}" '^DEADLOCK  .*trier')" 0
	finds virtual-io "$one_peer" '^      Waiting.placeOrder'
	finds_no virtual-io-not I/O POOL LOCK
	finds_no virtual-io-idle I/O POOL LOCK
}

# CORES: checked against the kernel's own count of the time that threads waited for a core.
cores() {
	local cpus before after
	rm -f "$T"/cores.*
	JVM_AS="taskset -c $(taskset -cp $$ | sed 's/.*: *//; s/[,-].*//')" finds cores \
		'^CORES  CPU saturated: .* \(runnable threads wait [4-9][0-9] % of the time\)' \
		'^    spinner-[0-3]: runs [0-9]+ % of the time, waits for a core [0-9]+ %'
	cpus=$(nproc)
	[ "$cpus" -ge 2 ] || { skip "JDK $major: cores-not: why does not report CORES" "the machine has one CPU"; return; }
	jvm_start -Xmx64m Waiting cores-not || return
	before=$(delay_ns "$JVM")
	"$JHOT" why -d 4 "$JVM" >"$T/cores-not" 2>"$T/err"
	after=$(delay_ns "$JVM")
	jvm_end
	diag "its threads waited $(((after - before) / 1000000)) ms for a core"
	if [ $((after - before)) -gt 1000000000 ]; then
		skip "JDK $major: cores-not: why does not report CORES" "the machine has other load"
	else
		ok "JDK $major: cores-not: why does not report CORES" not grep -q '^CORES  ' "$T/cores-not" || diag_file "$T/cores-not"
	fi
}

while read -r major java; do
	case $major in 17 | 21 | 25) ;; *) [ "$java" = "$JAVA" ] || continue ;; esac
	JAVA=$java
	if [ "$major" -lt 21 ]; then
		waits
	else
		waits "${virtual[@]}"
		virtual
	fi
	cores
done < <(jdks_checked)
done_testing
