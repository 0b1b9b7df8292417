#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Attaching to real JVMs of every installed JDK: what works, what is refused, and that no JVM is affected.
. "$(dirname "$0")/../jvm/lib.sh"

tool=$builddir/tests/attach/attach_tool
agent=$builddir/tests/attach/agent.so
CALM_JVM="-XX:+IgnoreUnrecognizedVMOptions $CALM_JVM" # JDK 8 does not know them all

# attach ARG...: the tool; status, output and errors into $status, $T/out, $T/err
attach() {
	"$tool" "$@" >"$T/out" 2>"$T/err" </dev/null
	status=$?
}

# loads PID RESULT: the agent comes up in the JVM and its result comes back
loads() {
	rm -f "$T/mark"
	attach load "$1" "$agent" "$2 $T/mark"
	[ "$status" = 0 ] && [ "$(cat "$T/out")" = "result $2" ] && [ "$(cat "$T/mark")" = loaded ] ||
		{ cat "$T/out" "$T/err" | sed 's/^/# /'; false; }
}

# refused PID WORDS: no load, the reason has these words, and the JVM lives on
refused() {
	rm -f "$T/mark"
	attach load "$1" "$agent" "0 $T/mark"
	[ "$status" = 3 ] && grep -q -- "$2" "$T/err" && [ ! -e "$T/mark" ] && alive "$1" ||
		{ echo "# exit $status"; cat "$T/out" "$T/err" | sed 's/^/# /'; false; }
}

# refused_name NAME PID
refused_name() {
	attach load "$1" "$agent" "0 $T/mark"
	[ "$status" = 3 ] && grep -q "^what: Process $2 .*not a Java process" "$T/err" && alive "$2"
}

# verdict PID: first line of the check
verdict() {
	"$tool" check "$1" | head -n 1
}

# litter_of PID: trigger files and copies that are left in /tmp
litter_of() {
	find /tmp -maxdepth 1 \( -name ".attach_pid$1" -o -name "libjhot-*-$1.so*" \)
}

# undisturbed: the program ended well, printed its own lines, and nothing but the JVM's notice of a load
undisturbed() {
	local pid=$1 n=$2
	jvm_end "$pid"
	is "JDK $major: it ends as it should" $? 0
	is "JDK $major: with its own output only" "$(sed 's/^sum .*/sum/' "$T/jvm$n.out" | tr '\n' ' ')" "ready sum "
	is "JDK $major: and no errors" "$(grep -v '^WARNING: ' "$T/jvm$n.err")" ""
}

only_trigger() {
	[ "$(litter_of "$1")" = "/tmp/.attach_pid$1" ]
}

no_litter() {
	[ -z "$(litter_of "$1")" ]
}

# ends: a JVM that ends by itself takes its socket and its counters along
ends() {
	jvm_end "$JVM" || true
}

started() {
	echo $((${#JVMS[@]} - 1))
}

test_good() {
	local jvm n
	jvm_start $CALM_JVM Known shares
	jvm=$JVM n=$(started)
	is "JDK $major: attachable" "$(verdict "$jvm")" ok
	ok "JDK $major: the agent is loaded cold" loads "$jvm" 0
	ok "JDK $major: and again warm" loads "$jvm" 0
	ok "JDK $major: a result that is not 0 comes back" loads "$jvm" 201
	is "JDK $major: no file is left" "$(litter_of "$jvm")" ""
	ok "JDK $major: a text is not even copied" refused_file "$jvm" 7 "$srcdir/tests/attach/agent.c" "not a shared"
	ok "JDK $major: what it cannot load is told" refused_file "$jvm" 3 /bin/ls "did not load the agent"
	attach command "$jvm" jcmd VM.version
	ok "JDK $major: a command's reply" grep -q '64-Bit Server VM' "$T/out"
	attach command "$jvm" nosuchcommand
	is "JDK $major: an unknown command is an error" "$status" 3
	is "JDK $major: no file is left" "$(litter_of "$jvm")" ""
	undisturbed "$jvm" "$n"
}

# refused_file PID CODE FILE WORDS
refused_file() {
	attach load "$1" "$3" "0 $T/mark"
	[ "$status" = "$2" ] && grep -q "$4" "$T/err"
}

# With -Xrs the JVM does not catch SIGQUIT, but listens from the start.
test_reduced_signals() {
	jvm_start $CALM_JVM -Xrs Known idle
	ok "JDK $major -Xrs: listens, so it needs no signal" loads "$JVM" 0
	rm "/tmp/.java_pid$JVM"
	ok "JDK $major -Xrs and its socket removed: refused" refused "$JVM" Xrs
	ends
}

test_disabled() {
	jvm_start $CALM_JVM -XX:+DisableAttachMechanism Known idle
	ok "JDK $major attach disabled: refused" refused "$JVM" DisableAttachMechanism
	ends
	jvm_start $CALM_JVM -XX:+DisableAttachMechanism -XX:-UsePerfData Known idle
	ok "JDK $major the same without hsperfdata" refused "$JVM" DisableAttachMechanism
	is "JDK $major: no thread dump" "$(cat "$JVM_OUT")" ready
	ends
	JVM_AS="env JAVA_TOOL_OPTIONS=-XX:+DisableAttachMechanism" jvm_start $CALM_JVM Known idle
	ok "JDK $major disabled by a variable: refused" refused "$JVM" DisableAttachMechanism
	ends
}

test_no_counters() {
	jvm_start $CALM_JVM -XX:-UsePerfData Known idle
	is "JDK $major without hsperfdata: not certain" "$(verdict "$JVM")" "ok ?"
	ok "JDK $major without hsperfdata: attaches" loads "$JVM" 0
	ends
	jvm_start $CALM_JVM -XX:+PerfDisableSharedMem Known idle
	ok "JDK $major with private counters: attaches" loads "$JVM" 0
	ends
}

test_no_dynamic_agents() {
	[ "$major" -ge 9 ] || return 0
	jvm_start $CALM_JVM -XX:-EnableDynamicAgentLoading Known idle
	ok "JDK $major dynamic loading forbidden: told as such" refused "$JVM" EnableDynamicAgentLoading
	is "JDK $major: no file is left" "$(litter_of "$JVM")" ""
	ends
}

test_stopped() {
	jvm_start $CALM_JVM Known idle
	kill -STOP "$JVM"
	wait_for 10 grep -qs '^State:.T' "/proc/$JVM/status"
	ok "JDK $major stopped: refused" refused "$JVM" "is stopped"
	kill -CONT "$JVM"
	wait_for 10 grep -qs '^State:.[SR]' "/proc/$JVM/status"
	ok "JDK $major going on: attaches" loads "$JVM" 0
	ends
}

# From its birth on, asked again and again: refused with a sentence until it is ready, and never killed.
test_booting() {
	local tries=0 jvm n
	jvm_launch $CALM_JVM Known shares
	jvm=$JVM n=$(started)
	until attach load "$jvm" "$agent" "0 $T/mark" && [ "$status" = 0 ]; do
		tries=$((tries + 1))
		[ "$status" = 3 ] && alive "$jvm" || break
	done
	is "JDK $major booting: attached after $tries refusals" "$status" 0
	[ "$status" = 0 ] || diag_file "$T/err"
	wait_for 60 jvm_said_ready
	undisturbed "$jvm" "$n"
}

# Its listener is there before the JVM takes agents.
test_starting() {
	local try good=0
	for try in 1 2 3 4; do
		# shellcheck disable=SC2086
		jvm_launch $CALM_JVM -XX:+StartAttachListener Known shares
		while [ ! -S "/tmp/.java_pid$JVM" ] && kill -0 "$JVM"; do :; done
		loads "$JVM" 0 && good=$((good + 1))
		jvm_kill
		rm -f "/tmp/.java_pid$JVM"
	done
	is "JDK $major: one that is starting is asked until it takes agents" "$good" 4
}

test_two_at_once() {
	local one
	jvm_start $CALM_JVM Known idle
	"$tool" load "$JVM" "$agent" "0 $T/mark1" >"$T/out1" 2>&1 &
	one=$!
	ok "JDK $major: one of two at the same time" loads "$JVM" 0
	wait $one
	is "JDK $major: and the other" "$(cat "$T/out1")" "result 0"
	is "JDK $major: no file is left" "$(litter_of "$JVM")" ""
	ends
}

own_java=$JAVA
while read -r major JAVA; do
	for t in good reduced_signals disabled no_counters no_dynamic_agents stopped booting starting two_at_once; do
		test_$t
	done
done < <(jdks ${MAJORS:-8}) # MAJORS="11 21": on these, too
JAVA=$own_java

# --- what is no JVM ----------------------------------------------------------------------------------

sleep 1000 &
sleeper=$!
ok "sleep is refused, and lives" refused "$sleeper" "not a Java process"
cp "$(command -v sleep)" "$T/slumber$$"
"$T/slumber$$" 1000 &
slumber=$!
wait_for 10 grep -qsx "slumber$$" "/proc/$slumber/comm"
ok "a program is refused by its name, and lives" refused_name "slumber$$" "$slumber"
kill "$slumber"
wait "$slumber" 2>/dev/null
kill "$sleeper"
wait "$sleeper" 2>/dev/null
attach load 999999999 "$agent" 0
is "no such process: exit 4" "$status" 4

# --- copies ------------------------------------------------------------------------------------------

jvm_start $CALM_JVM Known idle
install -m 500 "$agent" "/tmp/libjhot-0-stale-$$.so"
touch -d '1 hour ago' "/tmp/libjhot-0-stale-$$.so"
install -m 500 "$agent" "/tmp/libjhot-0-fresh-$$.so"
ok "with a stale copy about" loads "$JVM" 0
ok "a stale copy is removed" [ ! -e "/tmp/libjhot-0-stale-$$.so" ]
ok "a fresh one is somebody's" [ -e "/tmp/libjhot-0-fresh-$$.so" ]
rm -f "/tmp/libjhot-0-fresh-$$.so"
ln -s /proc/self/fd/0 "/tmp/libjhot-0-stale-$$.so"
touch -h -d '1 hour ago' "/tmp/libjhot-0-stale-$$.so"
ok "with a stale link about" loads "$JVM" 0
ok "a stale link is removed, too" [ ! -L "/tmp/libjhot-0-stale-$$.so" ]

# --- when jhot is killed -----------------------------------------------------------------------------

# A process that passes for a HotSpot JVM and never opens its socket: jhot waits for it, and is killed.
agent=$builddir/tests/attach/agent.so
libjvm=$(sed -n 's|^[^/]*\(/.*/libjvm\.so\)$|\1|p' "/proc/$JVM/maps" | head -n 1)
for signal in KILL TERM INT; do
	mkfifo "$T/pretend.$signal"
	exec {hold}<>"$T/pretend.$signal"
	python3 "$srcdir/tests/attach/pretend.py" "$libjvm" <"$T/pretend.$signal" >"$T/quit.$signal" 2>&1 &
	pretender=$!
	wait_for 10 grep -qs ready "$T/quit.$signal" || diag_file "$T/quit.$signal"
	setsid env --default-signal=INT,QUIT "$tool" load "$pretender" "$agent" 0 >"$T/out" 2>&1 &
	asking=$!
	ok "$signal: it is asked, by a file and a signal" wait_for 10 grep -qs quit "$T/quit.$signal"
	ok "$signal: the trigger is there, and the agent is not yet" only_trigger "$pretender"
	kill -"$signal" -- "-$asking"
	wait "$asking" 2>/dev/null
	is "$signal: jhot is killed by it" $? $((128 + $(kill -l "$signal")))
	ok "$signal: when jhot is killed, no other file comes" only_trigger "$pretender"
	kill "$pretender"
	ok "$signal: and the trigger, which a JVM may still look for, when that has ended" wait_for 5 no_litter "$pretender"
	wait "$pretender" 2>/dev/null
	exec {hold}>&-
done

# A limit of file size is named where it is in the way; it counts for shared memory, too.
JVM_AS="prlimit --fsize=1000000:unlimited" jvm_start Known shares
"$JHOT" record -d 1 -o "$T/none.collapsed" "$JVM" >"$T/out" 2>&1
is "a JVM that may not create files so large is not sampled" $? 3
ok "its limit is named" grep -q 'ulimit -f' "$T/out" || diag_file "$T/out"
ok "with the command that raises it" grep -q "prlimit --pid $JVM --fsize=unlimited" "$T/out"
prlimit --pid "$JVM" --fsize=unlimited
"$JHOT" record -d 0.2 -o "$T/some.collapsed" "$JVM" >"$T/out" 2>&1
is "which does" $? 0 || diag_file "$T/out"
prlimit --fsize=100000 "$JHOT" record -d 1 "$JVM" >"$T/out" 2>&1
ok "jhot's own limit is named, too" grep -q 'the agent.s file of .* kB' "$T/out" ||
	diag_file "$T/out"
jvm_end
done_testing
