#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Waits: each rule finds its problem in a program that has it, and names who and where; none reports anything about
# programs that nearly have it.
. "$(dirname "$0")/../jvm/lib.sh"

[ -e "$CLASSES/Waiting.class" ] || skip_all "no Waiting.class (make check builds it)"

LOOKS="1 2" # at each program, and each of them has to find what there is
BUSY_NS=1000000000
SIDE_BY_SIDE=4

# looks_at NAME...: what jhot says of these programs in $T/NAME.1 and .2, where each listens in .port, and for how long its
# threads waited for a core meanwhile in .delay. A+B: both in one JVM; virtual-A: with virtual threads, and so many carriers
# that pinned ones leave some. Few at a time: each session uses most of a second of CPU time when it begins.
looks_at() {
	while [ $# -gt "$SIDE_BY_SIDE" ]; do
		look_together "${@:1:SIDE_BY_SIDE}"
		shift "$SIDE_BY_SIDE"
	done
	look_together "$@"
}

look_together() {
	local name program look flags pid asking pids=() before
	for name; do
		program=Waiting flags=()
		[[ $name != *deadlock* ]] || program=Problems
		[[ $name != virtual-* ]] || flags=(-Dvirtual=true -Djdk.virtualThreadScheduler.parallelism=24)
		for look in $LOOKS; do : >"$T/$name.$look"; done
		jvm_start -XX:+IgnoreUnrecognizedVMOptions -Xmx64m "${flags[@]}" $program "${name#virtual-}" || return
		for look in $LOOKS; do listening "$JVM" >"$T/$name.$look.port"; done
		pids+=("$JVM")
	done
	for look in $LOOKS; do
		asking=() before=()
		for name; do
			pid=${pids[${#asking[@]}]}
			before+=("$(delay_ns "$pid")")
			"$JHOT" why -d "${LOOK_SECONDS:-4}" "$pid" >"$T/$name.$look" 2>"$T/$name.$look.err" </dev/null &
			asking+=($!)
		done
		wait "${asking[@]}"
		asking=()
		for name; do
			pid=${pids[${#asking[@]}]}
			echo $(($(delay_ns "$pid") - ${before[${#asking[@]}]})) >"$T/$name.$look.delay"
			asking+=(.)
			diag "JDK $major: $name: $(grep -E '^(LOCK|POOL|I/O|CORES)  ' "$T/$name.$look" | head -n 1)"
		done
	done
	for JVM in "${pids[@]}"; do jvm_kill; done
}

looked_at() {
	local look
	for look in $LOOKS; do grep -qsE ' s: (nothing|[0-9]+) found' "$T/$1.$look" || return; done
}

# kept_away NAME LOOK: it found nothing, as too little was seen, or as others kept the JVM from running. The threads of cores want that.
kept_away() {
	! grep -qE ' s: (nothing|[0-9]+) found' "$T/$1.$2" ||
		{ [ "$1" != cores ] && [ "$(cat "$T/$1.$2.delay")" -ge $BUSY_NS ]; }
}

# finds NAME PATTERN...: the first line of a finding, and what proves it, by every look; "PORT" is where the program listens. A look
# that was kept away is done once more, alone and for longer: that one has to find it.
finds() {
	local name=$1 look pattern
	shift
	[ -e "$T/$name.1" ] || looks_at "$name"
	for look in $LOOKS; do
		grep -qsE "${1/PORT/$(cat "$T/$name.$look.port" 2>/dev/null)}" "$T/$name.$look" || ! kept_away "$name" "$look" ||
			LOOKS=$look LOOK_SECONDS=16 looks_at "$name"
		for pattern; do
			ok "JDK $major: $name, look $look: $pattern" grep -qE "${pattern/PORT/$(cat "$T/$name.$look.port")}" "$T/$name.$look" ||
				{ diag "its threads waited $(cat "$T/$name.$look.delay") ns for a core" && diag_file "$T/$name.$look"; }
		done
	done
}

# finds_no NAME RULE...: cores is asked for by itself: others use this machine, too
finds_no() {
	local name=$1 look rule
	shift
	looked_at "$name" || looks_at "$name"
	ok "JDK $major: $name was looked at" looked_at "$name" || diag_file "$T/$name.1.err"
	for look in $LOOKS; do
		for rule; do
			ok "JDK $major: $name, look $look: no $rule" not grep -q "^$rule  " "$T/$name.$look" || diag_file "$T/$name.$look"
		done
	done
}

# lines NAME PATTERN: the number of matching lines in its reports
lines() {
	local look
	for look in $LOOKS; do cat "$T/$1.$look"; done | grep -cE "$2"
}

one_peer='^I/O  Waiting\$PaymentClient.charge waits for 127\.0\.0\.1:PORT: [4-6]\.[0-9] threads on average$'

# waits [NAME...]: asks about these, too
waits() {
	looks_at locks locks-chain deadlock pool pool-limit pool-enough pool-not io io-idle "$@"
	looks_at locks-not io-not # these take cores
	finds locks '^LOCK  8 threads wait for Waiting\$Repo, [4-8]\.[0-9] on average; held in turn, mostly by worker-[0-9] in Waiting\$Repo.save \(sleeps\)' \
		'^    worker-[0-9] waits for Waiting\$Repo here:' '^      Waiting\$Repo.save' '^      Program.sleep'
	is "JDK $major: locks: and nothing else" "$(lines locks '^(POOL|I/O)  ')" 0
	finds locks-chain 'held by flusher, which waits for ReentrantLock, held by compactor in (Waiting.compact|Program.sleep) \(sleeps\)'
	is "JDK $major: the chain is told once by each" "$(lines locks-chain '^LOCK  ')" 2
	finds deadlock '^DEADLOCK  '
	finds_no deadlock LOCK POOL
	finds_no locks-not LOCK POOL I/O
	finds pool '^POOL  3[5-8] of 40 threads http-\* wait in Waiting\$ConnectionPool.borrow; [2-5] do other work' \
		'^      Waiting.handle' '^    those that do not wait, such as http-' '^      Waiting.query'
	is "JDK $major: pool: and no lock" "$(lines pool '^LOCK  ')" 0
	finds pool-limit '^POOL  (9|10|11) of 12 threads caller-\* wait in Waiting.callLimited; [123] do'
	finds_no pool-enough POOL LOCK I/O
	finds_no pool-not POOL LOCK I/O
	finds io "$one_peer" '^      Waiting.placeOrder'
	finds_no io-not I/O POOL LOCK
	finds_no io-idle I/O POOL LOCK
}

# What virtual threads wait for, whether they keep their carriers meanwhile (monitors before JDK 24) or not.
virtual=(virtual-locks-chain+locks virtual-deadlock+deadlock-3+deadlock-tried virtual-io virtual-io-idle)
virtual() {
	finds "${virtual[0]}" '^LOCK  8 threads wait for Waiting\$Repo, [4-8]\.[0-9] on average; held in turn, mostly by worker-[0-9] in Waiting\$Repo.save \((sleeps|is parked)\)' \
		'^    worker-[0-9] waits for Waiting\$Repo here:' '^      Waiting\$Repo.save' '^      Program.sleep' \
		'held by flusher, which waits for ReentrantLock, held by compactor in (Waiting.compact|Program.sleep) \(sleeps\)'
	finds "${virtual[1]}" '^DEADLOCK  payer-[12] and payer-[12] wait for each other' \
		'^    payer-1 waits for Object, held by payer-2$' '^    payer-2 waits for Object, held by payer-1$' '^      Problems.transfer' \
		'^DEADLOCK  payer-[012], payer-[012] and payer-[012] wait' '^    payer-2 waits for ReentrantLock\$NonfairSync, held by payer-0$'
	is "JDK $major: virtual threads that give up are in none" "$(lines "${virtual[1]}" '^DEADLOCK  .*trier')" 0
	finds virtual-io "$one_peer" '^      Waiting.placeOrder'
	finds_no virtual-io-not I/O POOL LOCK
	finds_no virtual-io-idle I/O POOL LOCK
}

# Nothing else says how long threads really waited for a core: the kernel does.
cores() {
	local cpus before after
	rm -f "$T"/cores.*
	JVM_AS="taskset -c $(taskset -cp $$ | sed 's/.*: *//; s/[,-].*//')" finds cores \
		'^CORES  CPU saturated: .* \(runnable threads wait [4-9][0-9] % of the time\)' \
		'^    spinner-[0-3]: runs [0-9]+ % of the time, waits for a core [0-9]+ %'
	cpus=$(nproc)
	[ "$cpus" -ge 2 ] || { skip "JDK $major: cores-not" "one CPU"; return; }
	jvm_start -Xmx64m Waiting cores-not || return
	before=$(delay_ns "$JVM")
	"$JHOT" why -d 4 "$JVM" >"$T/cores-not" 2>"$T/err"
	after=$(delay_ns "$JVM")
	jvm_end
	diag "its threads waited $(((after - before) / 1000000)) ms for a core"
	if [ $((after - before)) -gt 1000000000 ]; then
		skip "JDK $major: cores-not: no CORES" "others use the machine"
	else
		ok "JDK $major: cores-not: no CORES" not grep -q '^CORES  ' "$T/cores-not" || diag_file "$T/cores-not"
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
