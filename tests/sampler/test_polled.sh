#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Peers that unmounted virtual threads wait for: each method of the program is shown with the peer that it uses, for the right
# share of time, and never with another one; also when sockets are reused at once, and during collections.
. "$(dirname "$0")/../jvm/lib.sh"
. "$(dirname "$0")/lib.sh"

[ -e "$CLASSES/Peers.class" ] || skip_all "no Peers.class (make check builds it)"

port() {
	sed -n "s/^$1 //p" "$JVM_OUT"
}

# leaves PATTERN: the weight of stacks whose top frame matches, in hundredths of a second
leaves() {
	awk -v leaf=";$1 [0-9]+\$" '$0 ~ leaf { sum += $NF } END { printf "%.0f\n", sum / 1e7 }' "$T/x.collapsed"
}

# thread NAME: the weight of the thread, in hundredths of a second
thread() {
	awk -v name="[$1 #" 'index($0, name) == 1 { sum += $NF } END { printf "%.0f\n", sum / 1e7 }' "$T/x.collapsed"
}

# for_else METHOD [TEXT]: the method's waits for anything else, in hundredths of a second; except that allocation may have
# ZGC grow its heap
for_else() {
	echo $(($(leaves "Peers\.$1: .*") - $(leaves "Peers\.$1: $2") - $(leaves "Peers\.$1: file write /memfd:java_heap .*")))
}

# only_for WHAT METHOD [TEXT]
only_for() {
	is "$at: $1" "$(for_else "$2" "${3-}")" 0 || diag "$(grep -oE "Peers\.$2: [^;]*$" "$T/x.collapsed" | sort | uniq -c)"
}

# waits_for METHOD TEXT PERCENT: at least PERCENT of its time has the text, and none has another; with ZGC, which relocates
# the objects that are read, only the latter is checked
waits_for() {
	local all right
	all=$(leaves "Peers\.$1( is in I/O|: .*)")
	right=$(leaves "Peers\.$1: $2")
	diag "$at: $1: $right of $all cs for $2"
	[ "$GC" = Z ] || ok "$at: $1 waits for $2" [ $((right * 100)) -ge $((all * $3)) -a "$right" -gt 20 ]
	only_for "$1 is never shown with another peer" "$1" "$2"
}

# all_time NAME: the thread is sampled for all of the time
all_time() {
	local time
	time=$(thread "$1")
	ok "$at: $1 is sampled for all of the time" close_to "$time" "$RECORDED" 25 || diag "$time of $RECORDED cs"
}

# Records until there were enough polls for the shares below: the CPU time of polls is limited, so a busy machine has fewer.
recorded() {
	local try
	for try in 1 2 3 4; do
		"$JHOT" record -e wall=10ms -d 4 -o "$T/x.jhot" "$JVM" >"$T/out" 2>&1 || diag_file "$T/out"
		"$JHOT" convert -t -o "$T/x.collapsed" "$T/x.jhot" >"$T/out" 2>&1 || diag_file "$T/out"
		POLLS=$(awk '/^\[sleeper #/ { sum += $NF } END { print sum + 0 }' "$T/x.collapsed")
		"$JHOT" convert -t --total -o "$T/x.collapsed" "$T/x.jhot" >"$T/out" 2>&1 || diag_file "$T/out"
		[ "$POLLS" -lt 20 ] || return 0
		diag "only $POLLS polls, so the recording is repeated"
	done
	return 1
}

polled() {
	local name at
	at="JDK $major $GC"
	jvm_start "-XX:+Use${GC}GC" -Xmx256m -Dvirtual=true -Djdk.virtualThreadScheduler.parallelism=24 Peers "$T/fifo" || return
	sleep 1 # the program is ready before all of its threads are connected
	recorded || diag "$at: only $POLLS polls"
	# measured by a thread that only waits
	RECORDED=$(awk '/waitForReferencePendingList/ { sum += $NF } END { printf "%.0f\n", sum / 1e7 }' "$T/x.collapsed")
	waits_for askPlain "socket read 127.0.0.1:$(port first)" 75
	waits_for askTimed "socket read 127.0.0.1:$(port first)" 75
	waits_for askChannel "socket read 127.0.0.1:$(port second)" 75
	waits_for askThird "socket read 127.0.0.1:$(port third)" 50 # short waits by new sockets: some are over before the socket is known
	waits_for askFourth "socket read 127.0.0.1:$(port fourth)" 50
	waits_for connectTo "socket connect 127.0.0.1:$(port full)" 75
	waits_for receive "udp read 127.0.0.1:$(port udp)" 75
	waits_for select epoll 75
	waits_for loop "epoll( of 3 sockets 127.0.0.1:$(port second))?" 75
	waits_for listen "accept 127.0.0.1:($(port first)|$(port second)|$(port third)|$(port fourth))" 50
	only_for "threads that serve wait for clients" serve "socket read clients of .*"
	only_for "a sleeping thread waits for no descriptor" nap
	for name in plain timed channel connecting datagrams sleeper; do
		[ "$GC" = Z ] || all_time "$name"
	done
	jvm_end
	is "$at: the JVM writes nothing but JEP 451's warnings to stderr" "$(grep -v '^WARNING: ' "$JVM_ERR")" ""
}

mkfifo "$T/fifo"
exec {fifo}<>"$T/fifo"
while read -r major java; do
	[ "$major" -ge 21 ] || continue
	JAVA=$java
	for GC in G1 Serial Z; do
		polled
	done
done < <(jdks_checked)
done_testing
