#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `jhot dump` of unmounted virtual threads: all of them, grouped by what they do, as many as the program has; also of
# a stopped JVM; of very many, a random subset, which is reported.
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

known() {
	local head
	head=$(group "$1")
	is "$2: $1: how many, and what they do" "${head%%:*}" "$3"
}

all_wait() {
	dump && grep -q "^$((major < 24 ? 160 : 240)) virtual threads wait without a carrier, in " "$T/dump"
}

# all_of WHERE: 40 of each
all_of() {
	known sleeper "$1" "40 virtual threads, parked, for a time"
	known locker "$1" "40 virtual threads, parked"
	known taker "$1" "40 virtual threads, parked"
	known parker "$1" "40 virtual threads, parked"
	is "$1: what for" "$(lock_of locker)" 'java.util.concurrent.locks.ReentrantLock$NonfairSync'
	if [ "$major" -ge 24 ]; then
		known enterer "$1" "40 virtual threads, waiting to enter a monitor"
		known waiter "$1" "40 virtual threads, in Object.wait"
	fi
	ok "$1: with names and numbers" grep -qE '^40 .*: sleeper-[0-9]+ #[0-9]+, sleeper-[0-9]+ #[0-9]+, .* and 37 more$' "$T/dump"
	ok "$1: in all" grep -q "^$((major < 24 ? 160 : 240)) virtual threads wait without a carrier, in " "$T/dump"
}

check_jvm() {
	local gc
	for gc in G1 Serial Z; do
		jvm_start $FLOCK -XX:+Use${gc}GC Parked 40 || return
		ok "JDK $major, $gc: dump" dump || diag_file "$T/err"
		all_of "JDK $major, $gc"
		jvm_end
	done
}

# JDK 21 or newer that is there first: stopped, as JSON, many
check_ways() {
	local about
	jvm_start $FLOCK Parked 40 || return
	wait_for 20 all_wait # it has only just started them
	kill -STOP "$JVM"
	ok "JDK $major, stopped: dump" dump || diag_file "$T/err"
	kill -CONT "$JVM"
	all_of "JDK $major, stopped"
	ok "JSON" dump --json
	is "JSON: the same" "$(python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))["virtual_threads"]
print(d["count"] == d["looked_at"] == sum(g["count"] for g in d["stacks"]),
	sorted(f["name"] for g in d["stacks"] for f in g["frames"] if f["name"] == "Parked.sleeper"))' "$T/dump")" "True ['Parked.sleeper']"
	jvm_end
	jvm_start $FLOCK -Xmx1g Parked 30000 || return
	ok "very many: dump" dump || diag_file "$T/err"
	about=$(sed -n 's/^about \([0-9]*\) virtual threads wait without.*/\1/p' "$T/dump")
	diag "about ${about:-none} of $((major < 24 ? 120000 : 180000))"
	ok "very many: about so many" close_to "${about:-0}" $((major < 24 ? 120000 : 180000)) 5
	ok "and it says that it is a part" grep -qE '; [0-9]+ of them were examined and extrapolated' "$T/dump"
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
