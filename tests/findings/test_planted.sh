#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Programs with one planted problem each: `jhot why` reports the cause and the place, and nothing else; for healthy programs nothing.
. "$(dirname "$0")/../jvm/lib.sh"

[ -e "$CLASSES/Planted.class" ] || skip_all "no Planted.class (make check builds it)"

# flags NAME: the options of its JVM
flags() {
	case $1 in
	pinned) echo -Dvirtual=true -Djdk.virtualThreadScheduler.parallelism=2 ;;
	metaspace) echo -XX:MaxMetaspaceSize=14m ;;
	humongous) echo -XX:+UseG1GC -XX:G1HeapRegionSize=1m -Xmx128m ;;
	esac
}

# observe NAME...: runs these programs and `jhot why` of each concurrently; the reports are in $T/NAME
observe() {
	local name pids=() asking=()
	for name; do
		jvm_start -XX:+IgnoreUnrecognizedVMOptions -Xmx96m $(flags "$name") Planted "$name" || return
		pids+=("$JVM")
	done
	for name; do
		"$JHOT" why -d 11 "${pids[${#asking[@]}]}" >"$T/$name" 2>"$T/$name.err" </dev/null &
		asking+=($!)
	done
	wait "${asking[@]}"
	for JVM in "${pids[@]}"; do jvm_kill; done
}

# finds NAME PATTERN...: the finding's first line and its evidence. CORES may be reported as well, because of other load.
finds() {
	local name=$1 pattern
	shift
	for pattern; do
		ok "JDK $major: $name: the report matches: $pattern" grep -qsE "$pattern" "$T/$name" || diag_file "$T/$name" "$T/$name.err"
	done
	is "JDK $major: $name: the report has no other finding" "$(grep -cE '^[A-Z/]+  ' <(grep -v '^CORES  ' "$T/$name"))" 1 || diag_file "$T/$name"
}

finds_none() {
	ok "JDK $major: $1: why prints a result" grep -qsE 's: (nothing|[0-9]+) found' "$T/$1" || diag_file "$T/$1.err"
	ok "JDK $major: $1: why finds nothing" not grep -qE '^[A-Z/]+  ' <(grep -v '^CORES  ' "$T/$1") || diag_file "$T/$1"
}

jdks 21 | tail -n 1 >"$T/jdks" # one with virtual threads where there is one
while read -r major java <&3; do
	JAVA=$java
	virtual=()
	[ "$major" -lt 21 ] || virtual=(pinned)
	observe reload finalizers self starved "${virtual[@]}"
	ulimit -Sn 4096 # the program descriptors opens 50 a second
	observe starts descriptors humongous storm healthy
	finds reload '^LOCK  8 threads wait for Planted\$Catalog, .* held by catalog-refresh in Program.sleep \(sleeps\)$' \
		'^      Planted\$Catalog.reload'
	finds finalizers '^FINALIZERS  the finalizer thread is busy for (9[0-9]|100) % of the time' '^      Planted\$Handle.finalize'
	finds self '^I/O  Planted\$BrokerClient.fetch waits for 127.0.0.1:[0-9]*: (7\.[5-9]|8\.[0-5]) threads on average$'
	finds starved '^STARVED  [78]\.[0-9] threads wait for tasks, while all 3 threads ForkJoinPool.commonPool-worker-\* are blocked' \
		'^      Planted.lookUp' '^      Planted.answer'
	finds starts '^THREADS  [0-9]+ threads per second are started, mostly by Planted.perRequest; [0-9]+ live$'
	finds descriptors '^DESCRIPTORS  [0-9]+ of [0-9]+ file descriptors are open, [0-9.]+ more each second'
	finds humongous '^HUMONGOUS  [0-9]+ of [0-9]+ collections .*, mostly by Planted.readBody$'
	observe served served-not itself full
	observe collide explicit metaspace
	finds served '^STARVED  [78]\.[0-9] threads wait for tasks, while all 3 threads ForkJoinPool.commonPool-worker-\* are blocked in tasks'
	finds_none served-not
	finds itself '^STARVED  all 4 threads worker-\* wait for other tasks, and no thread runs these$' '^      Planted.fanOut'
	finds full '^POOL  8 of 8 threads http-\* wait in Planted\$Trail.add for space in a full queue; 0 do other work$' \
		'^      Planted.checkOut'
	finds collide '^COLLISIONS  [0-9]+ % of the CPU time is spent on hash table keys .*, most of it in Planted.height '
	finds explicit '^GC  .* [0-9]+ of [0-9]+ collections are requested by System.gc\(\), mostly in Planted.closeSession$'
	finds metaspace '^GC  .*; [0-9]+ of [0-9]+ collections are caused by metaspace at its limit$'
	finds_none storm
	ok "JDK $major: storm: the report says that classes were not checked" \
		grep -q '^not checked: classes .* (the JVM has run for less than 60 s)$' "$T/storm" || diag_file "$T/storm"
	finds_none healthy
	if [ "$major" -lt 21 ]; then
		skip "JDK $major: pinned virtual threads" "JDK $major has no virtual threads"
	elif [ "$major" -lt 24 ]; then
		finds pinned '^PINNED  virtual threads pin (1\.[0-9]|2\.0) carriers while they wait in Program.sleep; 1[0-9][0-9]\.[0-9] virtual' \
			'^      Planted\$LegacyClient.call'
	else
		finds_none pinned # virtual threads release their carriers
	fi
done 3<"$T/jdks"

jvm_start -Xmx96m Planted reload
"$JHOT" record -e cpu,lock,wall -d 9 -o "$T/reload.jhot" "$JVM" >"$T/reload" 2>&1
jvm_kill
code=0
"$JHOT" why "$T/reload.jhot" >"$T/reload" 2>"$T/reload.err" || code=$?
is "why of a recording exits with 9 as of the JVM" $code 9
finds reload '^LOCK  8 threads wait for Planted\$Catalog, .* held by catalog-refresh in Program.sleep \(sleeps\)$'
code=0
"$JHOT" why --from 1s "$JVM" >"$T/reload" 2>&1 || code=$?
is "why --from of a JVM exits with 2" $code 2
done_testing
