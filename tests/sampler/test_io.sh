#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Peers and files that threads in system calls wait for: each method of the program is shown with the peer or file that it uses, and
# never with another one.
. "$(dirname "$0")/../jvm/lib.sh"

[ -e "$CLASSES/Peers.class" ] || skip_all "no Peers.class (make check builds it)"

# leaves PATTERN: samples whose top frame matches
leaves() {
	weight "$T/wall" ";$1 [0-9]+\$"
}

# waits_for METHOD TEXT [PERCENT]: at least PERCENT (70) of its samples have the text, and none has another. A sample has no
# text if the thread has left the system call by the time its descriptor is read.
waits_for() {
	local all right wrong
	all=$(leaves "Peers\.$1( is in I/O|: .*)")
	right=$(leaves "Peers\.$1: $2")
	wrong=$((all - right - $(leaves "Peers\.$1 is in I/O")))
	diag "JDK $major: $1: $right of $all for $2"
	ok "JDK $major: $1 waits for $2" [ $((right * 100)) -ge $((all * ${3:-70})) -a "$right" -ge 20 ]
	is "JDK $major: $1 is never shown with another peer or file" "$wrong" 0 || diag_file "$T/wall"
}

port() {
	sed -n "s/^$1 //p" "$JVM_OUT"
}

io() {
	local first second third fourth full
	mkfifo "$T/fifo$major"
	exec {fifo}<>"$T/fifo$major"
	jvm_start -Xmx64m Peers "$T/fifo$major" || return
	first=$(port first)
	second=$(port second)
	third=$(port third)
	fourth=$(port fourth)
	full=$(port full)
	is "JDK $major: the kernel lists the program's listening ports" "$(listening "$JVM")" \
		"$(printf '%s\n' "$first" "$second" "$third" "$fourth" "$full" | sort -n)"
	"$JHOT" record -e wall=10ms -d 2 -o "$T/raw.jhot" -o "$T/wall.collapsed" "$JVM" >"$T/out" 2>&1
	jvm_end
	mv "$T/wall.collapsed" "$T/wall" || diag_file "$T/out"
	waits_for askPlain "socket read 127.0.0.1:$first"
	waits_for askTimed "socket read 127.0.0.1:$first"
	waits_for askChannel "socket read 127.0.0.1:$second"
	waits_for askThird "socket read 127.0.0.1:$third" 50
	waits_for askFourth "socket read 127.0.0.1:$fourth" 50
	waits_for listen "accept 127.0.0.1:($first|$second|$third|$fourth)" 50
	waits_for connectTo "socket connect 127.0.0.1:$full"
	waits_for readFifo "pipe read $T/fifo$major"
	waits_for receive "udp read 127.0.0.1:$(port udp)"
	waits_for select epoll
	waits_for loop "epoll of 3 sockets 127.0.0.1:$second"
	waits_for main "pipe read $T/jvm[0-9]*.in"
	is "JDK $major: threads that serve wait for clients, not for a peer's address" \
		"$(leaves 'Peers\.serve: .*')" "$(leaves 'Peers\.serve: socket read clients of .*')"
	is "JDK $major: a sleeping thread waits for no descriptor" "$(leaves 'Peers\.nap: .*')" 0
	"$JHOT" convert --io -o "$T/io.collapsed" "$T/raw.jhot" 2>/dev/null
	ok "JDK $major: --io shows the peer as a frame of its own" \
		grep -q ";Peers.askPlain is in I/O;\[socket read 127.0.0.1:$first\] [0-9]" "$T/io.collapsed"
	is "JDK $major: --io has the same weight as the text without it" \
		"$(weight "$T/io.collapsed" ';Peers.readFifo is in I/O;\[pipe read [^]]*\] ')" \
		"$(leaves 'Peers.readFifo: pipe read [^ ]*')"
}

while read -r major java; do
	JAVA=$java
	io
done < <(jdks_checked)
done_testing
