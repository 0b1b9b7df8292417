#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make bench-causes: programs that are slow for a known reason: the keys, and the seconds from the start of `jhot PID` on a terminal
# of 80x24, until a frame shows the cause.
#
#   MAJORS="17 21 25"   JDKs      ONLY=heap   problems whose line contains this
#   SCREENS=DIR         the folder for the last JDK's frames, as text
. "$(dirname "$0")/../jvm/lib.sh"

MAJORS=${MAJORS:-17 21 25}
LIMIT_S=3
SCREENS=${SCREENS:-$T}
mkdir -p "$SCREENS"

# problem | JVM arguments | keys | pattern of the screen as one line. "+" before the name: also with virtual threads.
problems() {
	cat <<'END'
+8 workers behind one lock|Waiting locks|w|[2-8] threads wait for Waiting.Repo, .* held .* in Waiting.Repo.save \(sleeps\)
+deadlock|Problems deadlock|w|payer-1 waits for Object, held by payer-2.* payer-2 waits for Object, held by payer-1
deadlock, no key|Problems deadlock||DEADLOCK payer-[12] and payer-[12] wait for each other
+slow socket peer|Waiting io|w|PaymentClient.charge waits for 127.0.0.1:[0-9]+: .* Waiting.placeOrder
+pool exhausted|Waiting pool|w|3[5-8] of 40 threads http-. wait in Waiting.ConnectionPool.borrow
heap full|-Xmx128m Problems heap|w|the heap is nearly full: at least [0-9]+ of [0-9]+ MB .* find what retains it: jhot record -e alloc --live
3,000 threads, 3 of them busy|Causes idle|t|pricing-[0-2] .* Causes.price
warm-up|Causes warm||CPU [0-9]+% java [0-9]+ jit [3-9][0-9]
large arrays|Causes arrays|2|byte\[\] .* Causes.render
log lock|Causes log|w|threads wait for Causes.Logger, .* held .* in Causes.Logger.(log|write)
exits after 10 s|Causes exits||Program.spin .* Causes.settle
END
}

# measure LABEL KEYS PATTERN: measures, and prints a line of the table
measure() {
	local s note=
	s=$("$builddir/tests/bench/bench_cause" "$JHOT" "$JVM" "$2" "$3" "$SCREENS/$screen.txt")
	awk -v s="$s" -v limit=$LIMIT_S 'BEGIN { exit !(s == "-" || s > limit) }' && note='  OVER'
	printf '%-6s %-34s %-6s %6s%s\n' "$major" "$1" "${2:-none}" "$s" "$note"
}

# try LABEL FLAG PROGRAM KEYS PATTERN
try() {
	# shellcheck disable=SC2086
	jvm_start -Xmx256m $2 $3 || return
	[ "$3" = 'Causes exits' ] || sleep 2
	screen=${1//[^a-z0-9]/-}
	measure "$1" "$4" "$5"
	jvm_kill
}

printf '%-6s %-34s %-6s %6s\n' JDK problem keys s
while read -r major JAVA <&4; do
	while IFS='|' read -r name program keys pattern <&5; do
		try "${name#+}" '' "$program" "$keys" "$pattern"
		[[ $name != +* || $major -lt 21 ]] ||
			try "${name#+}, virtual threads" -Dvirtual=true "$program" "$keys" "$pattern"
	done 5< <(problems | grep -e "${ONLY:-.}")
done 4< <(jdks $MAJORS)
