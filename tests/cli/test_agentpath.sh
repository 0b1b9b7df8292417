#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# -agentpath: a JVM that loads the agent at its start is recorded by a jhot in the background, and runs as without it.
. "$(dirname "$0")/../jvm/lib.sh"

cd "$T" || exit
CLASSES=$builddir/tests/jvm/classes

run agent -o lib.so
is "agent -o exits with 0" "$status" 0
ok "agent prints how to use the library" grep -q -- "-agentpath:$T/lib.so=start" "$T/out"
ok "the library names this jhot" grep -qa "jhot program:$(readlink -f "$JHOT")" lib.so
run agent -o nowhere/lib.so
is "agent that cannot write exits with 6" "$status" 6

# owner: the jhot process that records $JVM
owner() {
	"$JHOT" status "$JVM" | sed -n 's/.*(jhot process \([0-9]*\)).*/\1/p'
}

while read -r major java; do
	JAVA=$java
	"$JAVA" "-agentpath:$T/lib.so=start,event=cpu,interval=1ms,total,label=a=b,file=$T/early-%p.collapsed" -cp "$CLASSES" Early 200 7 \
		>out 2>err </dev/null
	is "JDK $major: the exit status is the program's" $? 7
	is "JDK $major: the output is the program's" "$(cut -d ' ' -f 1 out | tr '\n' ' ')" "main first second third "
	is "JDK $major: nothing is written to stderr" "$(cat err)" ""
	ok "JDK $major: a file is written" wait_for 20 eval 'ls early-*.collapsed >/dev/null 2>&1'
	for name in second third; do
		sampled=$(weight early-*.collapsed "early${name^}") truth=$(awk -v name=$name '$1 == name { print $2 }' out)
		diag "$name: $sampled of $truth"
		ok "JDK $major: the samples of $name are its CPU time" awk -v a="$sampled" -v b="$truth" \
			'BEGIN { exit !(b > 0 && a > 0.8 * b && a < 1.25 * b) }'
	done
	rm -f early-*
done < <(jdks_checked)

# --- the process of the recorder ---
jvm_start "-agentpath:$T/lib.so=start,event=cpu,interval=5ms" Known shares
wait_for 30 has_samples "$JVM" 10
recorder=$(owner)
ok "the JVM is being recorded" [ -n "$recorder" ]
is "the JVM has no child process" "$(pgrep -P "$JVM")" ""
ok "the recorder is in a session of its own" [ "$(ps -o sid= -p "$recorder" | tr -d ' ')" = "$recorder" ]
is "the recorder has only descriptors of its own" "$(ls -l "/proc/$recorder/fd" | grep -c "$T")" 0
run top -b -n 1 "$JVM"
ok "top joins it" grep -q WATCHING "$T/out" || diag_file "$T/err"
run stop "$JVM"
ok "stop prints the hot methods" grep -q knownSixty "$T/out"
ok "stop ends the recorder" wait_for 10 eval 'not alive "$recorder"'
becomes_quiet "after stop nothing is sampled" "$JVM"
run record -d 1 -o again.collapsed "$JVM"
is "the JVM can be attached to afterwards" "$status" 0 || diag_file "$T/err"
jvm_end
is "the JVM writes only its own lines" "$(sed 's/^sum .*/sum/' "$JVM_OUT" | tr '\n' ' ')" "ready sum "

# --- files in a loop, through the environment; nothing is lost when the JVM is killed ---
JVM_AS="env JAVA_TOOL_OPTIONS=-agentpath:$T/lib.so=start,event=cpu,loop=2s,file=$T/loop-%t.jhot" jvm_start Known shares
ok "files are written in a loop" wait_for 30 eval '[ "$(ls loop-*.jhot 2>/dev/null | wc -l)" -ge 2 ]'
recorder=$(owner)
jvm_kill
ok "the recorder ends with the JVM" wait_for 20 eval 'not alive "$recorder"'

# --- what cannot be recorded runs without ---
while read -r options; do
	"$JAVA" "-agentpath:$T/lib.so=$options" -cp "$CLASSES" Early 20 7 >out 2>err </dev/null
	is "with $options the JVM exits with its own status" $? 7
	is "with $options the JVM writes nothing else" "$(cat err)" ""
done <<-'ROWS'
	start,nonsense
	start,event=nonsense
	start,event
	start,jhot=/nowhere/jhot
	start,jhot=/bin/false
	start,file=/nowhere/x.jhot
ROWS
"$JAVA" "-agentpath:$T/lib.so" -cp "$CLASSES" Early 20 7 >out 2>err </dev/null
is "without options the JVM exits with its own status" $? 7
ok "no recorder is left" wait_for 15 eval 'not pgrep -f "record --loaded" >/dev/null'
done_testing
