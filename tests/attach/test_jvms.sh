#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Attaching to real JVMs of every installed JDK: what works, what is refused, and that no JVM is affected.
. "$(dirname "$0")/../jvm/lib.sh"

tool=$builddir/tests/attach/attach_tool
agent=$builddir/tests/attach/agent.so
CALM_JVM="-XX:+IgnoreUnrecognizedVMOptions $CALM_JVM" # JDK 8 does not know them all

# attach ARG...: runs the tool; its exit status, output and errors are in $status, $T/out, $T/err
attach() {
	"$tool" "$@" >"$T/out" 2>"$T/err" </dev/null
	status=$?
}

# loads PID RESULT: the agent starts in the JVM and its result is returned
loads() {
	rm -f "$T/mark"
	attach load "$1" "$agent" "$2 $T/mark"
	[ "$status" = 0 ] && [ "$(cat "$T/out")" = "result $2" ] && [ "$(cat "$T/mark")" = loaded ] ||
		{ cat "$T/out" "$T/err" | sed 's/^/# /'; false; }
}

# refused PID WORDS: the agent is not loaded, the error has these words, and the JVM lives
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

# verdict PID: the first line of the tool's check
verdict() {
	"$tool" check "$1" | head -n 1
}

# litter_of PID: trigger files and copies that are left in /tmp
litter_of() {
	find /tmp -maxdepth 1 \( -name ".attach_pid$1" -o -name "libjhot-*-$1.so*" \)
}

# undisturbed PID N: JVM number N exits with 0, and wrote its own lines and the JVM's warning of a load only
undisturbed() {
	local pid=$1 n=$2
	jvm_end "$pid"
	is "JDK $major: the JVM exits with 0" $? 0
	is "JDK $major: the JVM writes only its own lines to stdout" "$(sed 's/^sum .*/sum/' "$T/jvm$n.out" | tr '\n' ' ')" "ready sum "
	is "JDK $major: the JVM writes nothing but JEP 451's warnings to stderr" "$(grep -v '^WARNING: ' "$T/jvm$n.err")" ""
}

only_trigger() {
	[ "$(litter_of "$1")" = "/tmp/.attach_pid$1" ]
}

no_litter() {
	[ -z "$(litter_of "$1")" ]
}

# ends: ends the JVM normally, so that it removes its socket and its counters
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
	is "JDK $major: the check says that the JVM can be attached" "$(verdict "$jvm")" ok
	ok "JDK $major: an agent loads without an attach listener" loads "$jvm" 0
	ok "JDK $major: an agent loads with an attach listener" loads "$jvm" 0
	ok "JDK $major: an agent's result other than 0 is returned" loads "$jvm" 201
	is "JDK $major: loading leaves no trigger file and no copy" "$(litter_of "$jvm")" ""
	ok "JDK $major: a file that is not a shared object is refused before it is copied" refused_file "$jvm" 7 "$srcdir/tests/attach/agent.c" "not a shared"
	ok "JDK $major: an error reports that the JVM did not load the agent" refused_file "$jvm" 3 /bin/ls "did not load the agent"
	attach command "$jvm" jcmd VM.version
	ok "JDK $major: an attach command returns its reply" grep -q '64-Bit Server VM' "$T/out"
	attach command "$jvm" nosuchcommand
	is "JDK $major: an unknown attach command is an error" "$status" 3
	is "JDK $major: failed loads leave no trigger file and no copy" "$(litter_of "$jvm")" ""
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
	ok "JDK $major -Xrs: an agent loads, as the listener runs from the start" loads "$JVM" 0
	rm "/tmp/.java_pid$JVM"
	ok "JDK $major -Xrs, socket removed: an agent is refused" refused "$JVM" Xrs
	ends
}

test_disabled() {
	jvm_start $CALM_JVM -XX:+DisableAttachMechanism Known idle
	ok "JDK $major attach disabled: an agent is refused" refused "$JVM" DisableAttachMechanism
	ends
	jvm_start $CALM_JVM -XX:+DisableAttachMechanism -XX:-UsePerfData Known idle
	ok "JDK $major attach disabled, no hsperfdata: an agent is refused" refused "$JVM" DisableAttachMechanism
	is "JDK $major attach disabled, no hsperfdata: the JVM prints no thread dump" "$(cat "$JVM_OUT")" ready
	ends
	JVM_AS="env JAVA_TOOL_OPTIONS=-XX:+DisableAttachMechanism" jvm_start $CALM_JVM Known idle
	ok "JDK $major attach disabled by JAVA_TOOL_OPTIONS: an agent is refused" refused "$JVM" DisableAttachMechanism
	ends
}

test_no_counters() {
	jvm_start $CALM_JVM -XX:-UsePerfData Known idle
	is "JDK $major without hsperfdata: the check is not certain" "$(verdict "$JVM")" "ok ?"
	ok "JDK $major without hsperfdata: an agent loads" loads "$JVM" 0
	ends
	jvm_start $CALM_JVM -XX:+PerfDisableSharedMem Known idle
	ok "JDK $major with -XX:+PerfDisableSharedMem: an agent loads" loads "$JVM" 0
	ends
}

test_no_dynamic_agents() {
	[ "$major" -ge 9 ] || return 0
	jvm_start $CALM_JVM -XX:-EnableDynamicAgentLoading Known idle
	ok "JDK $major without dynamic loading: an agent is refused, and the error names the flag" refused "$JVM" EnableDynamicAgentLoading
	is "JDK $major without dynamic loading: no trigger file and no copy is left" "$(litter_of "$JVM")" ""
	ends
}

test_stopped() {
	jvm_start $CALM_JVM Known idle
	kill -STOP "$JVM"
	wait_for 10 grep -qs '^State:.T' "/proc/$JVM/status"
	ok "JDK $major stopped: an agent is refused" refused "$JVM" "is stopped"
	kill -CONT "$JVM"
	wait_for 10 grep -qs '^State:.[SR]' "/proc/$JVM/status"
	ok "JDK $major continued: an agent loads" loads "$JVM" 0
	ends
}

# Attaching repeatedly from the JVM's start on: refused with an error until it is ready, and the JVM is never killed.
test_booting() {
	local tries=0 jvm n
	jvm_launch $CALM_JVM Known shares
	jvm=$JVM n=$(started)
	until attach load "$jvm" "$agent" "0 $T/mark" && [ "$status" = 0 ]; do
		tries=$((tries + 1))
		[ "$status" = 3 ] && alive "$jvm" || break
	done
	is "JDK $major booting: an agent loads after $tries refusals" "$status" 0
	[ "$status" = 0 ] || diag_file "$T/err"
	wait_for 60 jvm_said_ready
	undisturbed "$jvm" "$n"
}

# The attach listener runs before the JVM accepts agents.
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
	is "JDK $major with -XX:+StartAttachListener: an agent loads in 4 of 4 starting JVMs" "$good" 4
}

test_two_at_once() {
	local one
	jvm_start $CALM_JVM Known idle
	"$tool" load "$JVM" "$agent" "0 $T/mark1" >"$T/out1" 2>&1 &
	one=$!
	ok "JDK $major: the first of two concurrent loads succeeds" loads "$JVM" 0
	wait $one
	is "JDK $major: the second of two concurrent loads succeeds" "$(cat "$T/out1")" "result 0"
	is "JDK $major: concurrent loads leave no trigger file and no copy" "$(litter_of "$JVM")" ""
	ends
}

own_java=$JAVA
while read -r major JAVA; do
	for t in good reduced_signals disabled no_counters no_dynamic_agents stopped booting starting two_at_once; do
		test_$t
	done
done < <(jdks ${MAJORS:-8}) # MAJORS="11 21": on these, too
JAVA=$own_java

# --- processes that are not JVMs ---------------------------------------------------------------------

sleep 1000 &
sleeper=$!
ok "sleep is refused by pid, and lives" refused "$sleeper" "not a Java process"
cp "$(command -v sleep)" "$T/slumber$$"
"$T/slumber$$" 1000 &
slumber=$!
wait_for 10 grep -qsx "slumber$$" "/proc/$slumber/comm"
ok "a program that is not a JVM is refused by name, and lives" refused_name "slumber$$" "$slumber"
kill "$slumber"
wait "$slumber" 2>/dev/null
kill "$sleeper"
wait "$sleeper" 2>/dev/null
attach load 999999999 "$agent" 0
is "a pid without a process exits with 4" "$status" 4

# --- copies ------------------------------------------------------------------------------------------

jvm_start $CALM_JVM Known idle
install -m 500 "$agent" "/tmp/libjhot-0-stale-$$.so"
touch -d '1 hour ago' "/tmp/libjhot-0-stale-$$.so"
install -m 500 "$agent" "/tmp/libjhot-0-fresh-$$.so"
ok "an agent loads when there is a stale copy" loads "$JVM" 0
ok "a stale copy is removed" [ ! -e "/tmp/libjhot-0-stale-$$.so" ]
ok "a fresh copy is kept" [ -e "/tmp/libjhot-0-fresh-$$.so" ]
rm -f "/tmp/libjhot-0-fresh-$$.so"
ln -s /proc/self/fd/0 "/tmp/libjhot-0-stale-$$.so"
touch -h -d '1 hour ago' "/tmp/libjhot-0-stale-$$.so"
ok "an agent loads when there is a stale link" loads "$JVM" 0
ok "a stale link is removed" [ ! -L "/tmp/libjhot-0-stale-$$.so" ]

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
	ok "$signal: the process gets SIGQUIT" wait_for 10 grep -qs quit "$T/quit.$signal"
	ok "$signal: there is a trigger file, and no copy of the agent yet" only_trigger "$pretender"
	kill -"$signal" -- "-$asking"
	wait "$asking" 2>/dev/null
	is "$signal: jhot is killed by the signal" $? $((128 + $(kill -l "$signal")))
	ok "$signal: when jhot is killed, the trigger file stays and no copy is made" only_trigger "$pretender"
	kill "$pretender"
	ok "$signal: the trigger file is removed once the process has ended" wait_for 5 no_litter "$pretender"
	wait "$pretender" 2>/dev/null
	exec {hold}>&-
done

# A limit of file size that is too low is named; it applies to shared memory as well.
JVM_AS="prlimit --fsize=1000000:unlimited" jvm_start Known shares
"$JHOT" record -d 1 -o "$T/none.collapsed" "$JVM" >"$T/out" 2>&1
is "a JVM whose limit of file size is too low is refused" $? 3
ok "the error names ulimit -f" grep -q 'ulimit -f' "$T/out" || diag_file "$T/out"
ok "the error has the command that raises the JVM's limit" grep -q "prlimit --pid $JVM --fsize=unlimited" "$T/out"
prlimit --pid "$JVM" --fsize=unlimited
"$JHOT" record -d 0.2 -o "$T/some.collapsed" "$JVM" >"$T/out" 2>&1
is "jhot record exits with 0 after the limit is raised" $? 0 || diag_file "$T/out"
prlimit --fsize=100000 "$JHOT" record -d 1 "$JVM" >"$T/out" 2>&1
ok "the error names the file that exceeds jhot's own limit" grep -q 'the agent.s file of .* kB' "$T/out" ||
	diag_file "$T/out"
jvm_end
done_testing
