#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `jhot dump` of unmounted virtual threads: all of them, grouped by stack, with the program's numbers; also of a stopped
# JVM; if there are very many, a random subset is examined, which the dump reports.
. "$(dirname "$0")/../jvm/lib.sh"
. "$(dirname "$0")/../sampler/lib.sh"

parked_compile || skip_all "no javac of JDK 21 or newer"

dump() {
	"$JHOT" dump "$@" "$JVM" >"$T/dump" 2>"$T/err"
}

# group METHOD: the heading of the threads whose stack has this method of Parked
group() {
	awk -v method=" Parked.$1:" '/ virtual thread/ { head = $0 } index($0, method) { print head; exit }' "$T/dump"
}

lock_of() {
	awk -v method=" Parked.$1:" '/ virtual thread/ { what = "" } /^    parked for/ { what = $3 } index($0, method) { print what; exit }' "$T/dump"
}

group_is() {
	local head
	head=$(group "$1")
	is "$2: 40 threads in $1 are in one group with their state" "${head%%:*}" "$3"
}

all_wait() {
	dump && grep -q "^$((major < 24 ? 160 : 240)) virtual threads wait without a carrier, in " "$T/dump"
}

# all_of WHERE: the dump has 40 threads of each kind
all_of() {
	group_is sleeper "$1" "40 virtual threads, parked, for a time"
	group_is locker "$1" "40 virtual threads, parked"
	group_is taker "$1" "40 virtual threads, parked"
	group_is parker "$1" "40 virtual threads, parked"
	is "$1: the group of locker has the class of the lock" "$(lock_of locker)" 'java.util.concurrent.locks.ReentrantLock$NonfairSync'
	if [ "$major" -ge 24 ]; then
		group_is enterer "$1" "40 virtual threads, waiting to enter a monitor"
		group_is waiter "$1" "40 virtual threads, in Object.wait"
	fi
	ok "$1: a group has names and ids of three threads, and the number of others" grep -qE '^40 .*: sleeper-[0-9]+ #[0-9]+, sleeper-[0-9]+ #[0-9]+, .* and 37 more$' "$T/dump"
	ok "$1: the dump has the number of virtual threads without a carrier" grep -q "^$((major < 24 ? 160 : 240)) virtual threads wait without a carrier, in " "$T/dump"
}

check_jvm() {
	local gc
	for gc in G1 Serial Z; do
		jvm_start $FLOCK -XX:+Use${gc}GC Parked 40 || return
		ok "JDK $major, $gc: jhot dump exits with 0" dump || diag_file "$T/err"
		all_of "JDK $major, $gc"
		jvm_end
	done
}

# On the first JDK of 21 or newer: a stopped JVM, JSON, very many threads
check_ways() {
	local about
	jvm_start $FLOCK Parked 40 || return
	wait_for 20 all_wait # some threads may not have started yet
	kill -STOP "$JVM"
	ok "JDK $major, stopped: jhot dump exits with 0" dump || diag_file "$T/err"
	kill -CONT "$JVM"
	all_of "JDK $major, stopped"
	ok "jhot dump --json exits with 0" dump --json
	is "the JSON has consistent counts and one group of sleepers" "$(python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))["virtual_threads"]
print(d["count"] == d["looked_at"] == sum(g["count"] for g in d["stacks"]),
	sorted(f["name"] for g in d["stacks"] for f in g["frames"] if f["name"] == "Parked.sleeper"))' "$T/dump")" "True ['Parked.sleeper']"
	jvm_end
	jvm_start $FLOCK -Xmx1g Parked 30000 || return
	ok "jhot dump with very many virtual threads exits with 0" dump || diag_file "$T/err"
	about=$(sed -n 's/^about \([0-9]*\) virtual threads wait without.*/\1/p' "$T/dump")
	diag "about ${about:-none} of $((major < 24 ? 120000 : 180000))"
	ok "the number of very many virtual threads is right within 5 %" close_to "${about:-0}" $((major < 24 ? 120000 : 180000)) 5
	ok "the dump says how many of very many threads were examined" grep -qE '; [0-9]+ of them were examined and extrapolated' "$T/dump"
	jvm_end
}

ways=
while read -r major java; do
	[ "$major" -ge 21 ] || continue
	JAVA=$java
	check_jvm
	[ -n "$ways" ] || check_ways
	ways=done
done < <(jdks_checked)
done_testing
