#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# record -- java ...: a program that is sampled from its start runs as it does without jhot, and its profile is right.
. "$(dirname "$0")/../jvm/lib.sh"

cd "$T" || exit
CLASSES=$builddir/tests/jvm/classes

# launch OPTION... -- ARGUMENT...: jhot record of $JAVA. Sets status; output of the program in out, errors of both in err.
launch() {
	local options=()
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	"$JHOT" record "${options[@]}" -- "$JAVA" -cp "$CLASSES" "$@" >out 2>err </dev/null
	status=$?
}

# ns NAME: what Early says of a method
ns() {
	awk -v name="$1" '$1 == name { print $2 }' out
}

# agree DESCRIPTION A B: they differ by less than a fifth
agree() {
	diag "$1: $2 and $3"
	ok "$1" awk -v a="$2" -v b="$3" 'BEGIN { exit !(b > 0 && a > 0.8 * b && a < 1.25 * b) }'
}

# --- what is refused, before anything is started ---
while IFS='|' read -r code words; do
	eval "set -- $words"
	run record "$@"
	is "record $words exits with $code" "$status" "$code"
done <<-'ROWS'
	2|--
	2|-- nosuchcommand
	2|-- /bin/sh -c true
	2|-- /nowhere/java Early
	2|4711 -- java Early
	2|4711 4712
	2|-d 3 -- java Early
	2|-e malloc -- java Early
	2|--rotate 1m -o '%t.jhot' -- java Early
	6|-o /nowhere/x.jhot -- java Early
ROWS

while read -r major java; do
	JAVA=$java
	launch -e cpu=1ms --total -o early.collapsed -- Early 200 7
	is "JDK $major: the exit status is the program's" "$status" 7 || diag_file err
	is "JDK $major: the output is the program's" "$(cut -d ' ' -f 1 out | tr '\n' ' ')" "main first second third "
	is "JDK $major: the program writes nothing else" "$(grep -cE 'WARNING|Picked up|jhot-load' err)" 0
	ok "JDK $major: files of native code are read although the program has ended" not grep -q 'could be read' err
	for name in second third; do
		agree "JDK $major: the samples of $name are its CPU time" \
			"$(weight early.collapsed "early${name^}")" "$(ns $name)"
	done
	# Sampling begins some milliseconds after the JVM is initialized, more if the machine is busy.
	diag "first: $(weight early.collapsed earlyFirst) of $(ns first)"
	ok "JDK $major: at least half of the first method is in the profile" \
		[ "$(weight early.collapsed earlyFirst)" -gt $(($(ns first) / 2)) ]
done < <(jdks_checked)
JAVA=$(jdks_checked | head -n 1 | cut -d ' ' -f 2)

# --- the program's own output, errors and descriptors ---
launch -o x.txt -- Nosuch
is "a JVM that cannot start passes its status on" "$status" 1
ok "a JVM that cannot start passes its errors on" grep -q 'Nosuch' err
launch -o x.txt -- -version
is "java -version exits with 0" "$status" 0
launch -e page-faults=1 -o faults.collapsed -- Early 100
ok "a perf event is sampled from the start" [ "$(awk '{ sum += $NF } END { print sum + 0 }' faults.collapsed)" -gt 100 ] ||
	diag_file err
launch -- Early 100
ok "without -o the hot methods are printed on stderr" grep -q METHOD err
ok "without -o stdout has only the program's output" not grep -q METHOD out
"$JHOT" record -o x.txt -- "$JAVA" -cp "$CLASSES" Known idle >out 2>err < <(sleep 6; echo q) &
record=$!
wait_for 30 grep -q ready out
child=$(pgrep -P $record -x java)
is "the program has no descriptor of jhot's" "$(ls -l "/proc/$child/fd" | grep -c 'libjhot\|pipe:.*jhot')" 0
ok "the agent's file is removed" [ "$(find /tmp /dev/shm -maxdepth 1 -name "libjhot-*-$child.so" 2>/dev/null | wc -l)" = 0 ]
run top -b -n 1 "$child"
ok "it can be watched while it is recorded" grep -q WATCHING "$T/out" || diag_file "$T/err"
run stop "$child"
is "stop ends the recording" "$status" 0
ok "the program continues" alive "$child"
run record -d 1 -o second.collapsed "$child"
is "it can be attached to again" "$status" 0 || diag_file "$T/err"
is "the agent is mapped once" "$(grep 'r-xp.*libjhot' "/proc/$child/maps" | sort -u | wc -l)" 1
wait $record
is "jhot exits with the program's status, not with that of its stopped recording" $? 0

# --- signals ---
for signal in TERM HUP; do
	"$JHOT" record -e cpu=1ms -o "$signal.collapsed" -- "$JAVA" -cp "$CLASSES" Known shares >out 2>err < <(sleep 200) &
	record=$!
	wait_for 30 grep -q ready out
	child=$(pgrep -P $record -x java)
	wait_for 60 has_samples "$child" 800 # most of the first ones are of the JVM's start
	kill -$signal $record
	wait $record
	is "SIG$signal is forwarded, and ends both" $? $((128 + $(kill -l $signal)))
	ok "SIG$signal ends the program" not alive "$child"
	ok "after SIG$signal the samples are written" grep -q knownSixty "$signal.collapsed" || diag_file err
done
"$JHOT" record -e cpu -o x.collapsed -- "$JAVA" -cp "$CLASSES" Known shares >out 2>err < <(sleep 8; echo q) &
record=$!
wait_for 30 grep -q ready out
child=$(pgrep -P $record -x java)
kill -KILL $record
sleep 1
ok "the program outlives a jhot that is killed" alive "$child"
becomes_quiet "its session ends" "$child"
done_testing
