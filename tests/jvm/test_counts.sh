#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# perf events against the counts of the kernel and the program; which events are refused, and with what message.
. "$(dirname "$0")/lib.sh"

# order TEXT: sends the program a command; returns when the program has executed it
order() {
	local done
	done=$(grep -c done "$JVM_OUT")
	echo "$1" >&"$JVM_IN"
	wait_for 60 more_done "$done"
}

more_done() {
	[ "$(grep -c done "$JVM_OUT")" -gt "$1" ]
}

thread_of() {
	grep -lx "$1" /proc/"$JVM"/task/*/comm | cut -d / -f 5
}

faults() {
	awk '{ sub(/.*\) /, ""); print $8 + $10 }' "/proc/$JVM/task/$1/stat"
}

switches() {
	awk '/ctxt/ { sum += $2 } END { print sum }' "/proc/$JVM/task/$1/status"
}

is_recording() {
	[ "$("$JHOT" status "$JVM" 2>/dev/null | grep -c '^event .* every')" = "$1" ]
}

# near_count DESCRIPTION GOT WANTED SLACK
near_count() {
	diag "$2 sampled, $3 counted"
	ok "$1" [ $(($2 - $3)) -le "$4" -a $(($3 - $2)) -le "$4" ]
}

"$JHOT" events --json >"$T/events"
ok "jhot events --json lists page-faults" grep -q '"event":"page-faults"' "$T/events"
"$JHOT" events >"$T/table"
ok "jhot events prints a table with context-switches" grep -qE '^context-switches +switches' "$T/table"
ok "jhot events states a reason for each event that is not available" not grep -E ' no:? *$' "$T/table"

jvm_start Counts || exit 1
"$JHOT" events "$JVM" >"$T/of-jvm"
is "jhot events accepts the pid of a JVM" $? 0

hardware=$(awk '$1 == "cycles" { print $4 }' "$T/table")
if [ "$hardware" = no: ]; then
	"$JHOT" record -e cycles -d 1 -o "$T/x.collapsed" "$JVM" 2>"$T/refused"
	is "without hardware counters -e cycles fails" $? 1
	ok "the error of -e cycles mentions hardware counters" grep -q 'hardware counter' "$T/refused" || diag_file "$T/refused"
else
	skip "cycles without hardware counters" "this machine has them"
fi
"$JHOT" record -e nosuchfunction -d 1 -o "$T/x.collapsed" "$JVM" 2>"$T/refused"
is "an event on a function that does not exist is a usage error" $? 2
ok "the error names the function that does not exist" grep -q nosuchfunction "$T/refused"
for method in java.lang.String.indexOf java/lang/String.indexOf; do
	"$JHOT" record -e $method -d 1 -o "$T/x.collapsed" "$JVM" 2>"$T/refused"
	is "an event on a Java method is a usage error: $method" $? 2
	ok "the error says that $method looks like a Java method" grep -q 'looks like a Java method' "$T/refused" || diag_file "$T/refused"
done

if awk '$1 == "page-faults" && $4 != "yes" { exit 1 }' "$T/table"; then
	task=$(thread_of counter)
	order "write 10" # loads the library
	faults_before=$(faults "$task")
	switches_before=$(switches "$task")
	native=libjava.so:Java_java_io_FileOutputStream_writeBytes
	calls=,$native
	if grep -qE '^\[LIBRARY:\]FUNCTION .* no: .*never fire' "$T/table"; then
		"$JHOT" record -e $native -d 1 -o "$T/x.collapsed" "$JVM" 2>"$T/refused"
		is "where breakpoints never fire, events on functions are refused" $? 1
		ok "the error says that breakpoints never fire" grep -q 'breakpoints never fire' "$T/refused" || diag_file "$T/refused"
		calls=
	fi
	events=page-faults,cs$calls
	"$JHOT" record -e $events -t --total -d 60 -o "$T/c.collapsed" "$JVM" 2>"$T/record" &
	RECORD=$!
	ok "several events are sampled at once" wait_for 60 is_recording "$(wc -w <<<"${events//,/ }")" || diag_file "$T/record"
	order "touch 3000"
	order "sleep 300"
	order "write 500"
	kill -TERM $RECORD
	wait $RECORD
	faults_after=$(($(faults "$task") - faults_before))
	switches_after=$(($(switches "$task") - switches_before))
	near_count "samples of page-faults match the kernel's count" "$(weight "$T/c-page-faults.collapsed" '^\[counter')" \
		$faults_after 100
	ok "page faults of new memory are attributed to the method that touches it" \
		[ "$(weight "$T/c-page-faults.collapsed" 'Counts.knownTouch')" -ge 2900 ]
	near_count "samples of context switches match the kernel's count" "$(weight "$T/c-cs.collapsed" '^\[counter')" \
		$switches_after $((switches_after / 10 + 20))
	if [ -n "$calls" ]; then
		near_count "samples of calls of a native function match the program's count" \
			"$(weight "$T"/c-libjava*.collapsed 'Counts.knownWrite')" 500 5
		# strlen is an indirect function, resolved when the program starts; opening a file calls it.
		"$JHOT" record -e strlen -t --total -d 60 -o "$T/m.collapsed" "$JVM" 2>"$T/record" &
		RECORD=$!
		ok "calls of an indirect function (strlen) are sampled" wait_for 60 is_recording 1 || diag_file "$T/record"
		ok "status names the event strlen" sh -c "'$JHOT' status '$JVM' | grep -q '^event strlen: perf'"
		for i in 1 2 3 4 5 6 7 8; do
			order "write 1"
		done
		kill -TERM $RECORD
		wait $RECORD
		diag "$(weight "$T/m.collapsed" 'Counts.knownWrite.*strlen') of at least 8"
		ok "at least one strlen per opened file is sampled" [ "$(weight "$T/m.collapsed" 'Counts.knownWrite.*strlen')" -ge 8 ]
	else
		skip "samples of calls of functions match the program's count" "breakpoints never fire on this machine"
	fi
else
	skip "samples of perf events match the kernel's counts" "the kernel does not allow them: $(awk '$1 == "page-faults"' "$T/table")"
fi
jvm_end
done_testing
