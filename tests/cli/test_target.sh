#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# How the PID|NAME argument is resolved: to a process, never to one of its threads; to a JVM only if the name is unambiguous.
. "$(dirname "$0")/../jvm/lib.sh"

# exits CODE WORDS ARG...: jhot ARG... exits with CODE, and its error has WORDS
exits() {
	local want=$1 words=$2
	shift 2
	run "$@"
	is "jhot $* exits with $want" "$status" "$want" && ok "the error of jhot $* says: $words" grep -q -- "$words" "$T/err" ||
		diag_file "$T/err"
}

# Unique names, because tests run in parallel.
name=known$$
python3 - "$T/$name.jar" "$CLASSES" <<'END'
import os, sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as jar:
    jar.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\nMain-Class: Known\n\n")
    for name in os.listdir(sys.argv[2]):
        if name.startswith("Known") and name.endswith(".class"):
            jar.write(os.path.join(sys.argv[2], name), name)
END
mkdir "$T/other"
cp "$T/$name.jar" "$T/other/"
jvm_start $CALM_JVM "-Dls$$=recrod$$" -jar "$T/$name.jar" idle
jvm=$JVM

# --- thread ids --------------------------------------------------------------------------------------

for tid in $(ls "/proc/$jvm/task" | sort -n | sed -n '2p;$p'); do
	exits 4 "$tid is a thread of process $jvm" record -d 1 "$tid"
	ok "the error of thread id $tid suggests the process" grep -q "jhot $jvm" "$T/err"
	exits 4 "$tid is a thread of process $jvm" dump "$tid"
done

# --- names -------------------------------------------------------------------------------------------

for word in ls recrod lsit rec; do
	exits 2 "has no verb \"$word\"" "$word" -b -n 1
	ok "the error of the unknown verb $word suggests list or record" grep -Eq '^  1  jhot (list|record)$' "$T/err"
done
for word in "ls$$" "recrod$$" "nown$$" "${name%?}" "$name.ja"; do
	exits 4 "No JVM matches \"$word\"" record -d 1 "$word"
	ok "the error of the unknown name $word suggests the JVM" grep -q "jhot $jvm  *$name.jar" "$T/err"
	exits 4 "No JVM matches \"$word\"" top -b -n 1 "$word"
done
jvm_start $CALM_JVM -jar "$T/other/$name.jar" idle
other=$JVM
exits 4 "2 JVMs match \"$name\"" record -d 1 "$name"
ok "the error of an ambiguous name lists both JVMs" eval "grep -q 'jhot $jvm ' '$T/err' && grep -q 'jhot $other ' '$T/err'"
ok "wrong and ambiguous names attach to no JVM" not grep -q libjhot "/proc/$jvm/maps" "/proc/$other/maps"
jvm_end "$other"
for word in "$name" "$name.jar" "${name^^}"; do
	run status "$word"
	ok "the name $word selects the JVM" grep -q "^$jvm $name.jar" "$T/out"
done

# --- hostile names -----------------------------------------------------------------------------------

# pretend FILE LIBJVM: a process that has LIBJVM mapped and catches SIGQUIT, whose main class is FILE's name
{ read -r python && read -r PYTHONHOME; } < <(python3 -c 'import sys; print(sys.executable, sys.prefix, sep="\n")') # no wrapper's
pretend() {
	ln -s "$srcdir/tests/attach/pretend.py" "$1"
	rm -f "$T/pretend.in" "$T/pretended"
	mkfifo "$T/pretend.in"
	exec {hold}<>"$T/pretend.in"
	(export PYTHONHOME && exec -a $'\e]0;\a/java' "$python" "$1" "$2") <"$T/pretend.in" >"$T/pretended" 2>&1 &
	pretender=$!
	wait_for 20 grep -qs ready "$T/pretended" || diag_file "$T/pretended"
}

# harmless FILE: UTF-8 text without control characters, which a terminal could interpret
harmless() {
	python3 -c '
import sys, unicodedata
text = open(sys.argv[1], "rb").read().decode("utf-8")
bad = {c for c in text if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp")}
sys.exit(ascii(bad) if bad else 0)' "$1"
}

libjvm=$(sed -n 's|^[^/]*\(/.*/libjvm\.so\)$|\1|p' "/proc/$jvm/maps" | head -n 1)
pretend "$T"/$'evil\e[2J$(touch pwned)\n424242\xc2\x9b31m\xe2\x80\xae`id`\xff' "$libjvm"
for what in list "list --json" "status $pretender" "record -d 1 $pretender" "dump $pretender" "status evil" "status java" \
	"status nosuch$$"; do
	# shellcheck disable=SC2086
	run $what
	ok "jhot $what: stdout has no control characters" harmless "$T/out"
	ok "jhot $what: stderr has no control characters" harmless "$T/err"
done
run list --json
ok "list --json shows the hostile process with its name sanitized" grep -q "\"pid\":$pretender,.*\"name\":\"evil?\[2J" "$T/out"
run list
ok "list shows the hostile process in a row" grep -q "^ *$pretender " "$T/out"
is "a newline in a process's name does not create a row of its own" "$(grep -c "^ *424242" "$T/out")" 0
run status nosuch$$
is "commands in the error have no characters that a shell expands" "$(grep -c '[$`(]' "$T/err")" 0
kill "$pretender"
wait "$pretender" 2>/dev/null

# --- an attach that takes long -----------------------------------------------------------------------

# The pretender catches the signal and never opens its socket: jhot waits until it is interrupted. The trigger file persists until
# the process ends, because a JVM may still look for it; and no second signal is sent.
trigger_gone() {
	[ ! -e "/tmp/.attach_pid$1" ]
}
for signal in INT TERM; do
	pretend "$T/slow$signal$$" "$libjvm"
	env --default-signal=INT,TERM "$JHOT" record -d 1 "$pretender" >"$T/out" 2>"$T/err" </dev/null &
	asking=$!
	ok "$signal: jhot asks the JVM to open its attach socket" wait_for 20 grep -qs quit "$T/pretended"
	kill -"$signal" "$asking"
	wait "$asking" 2>/dev/null
	is "$signal ends jhot while it waits for the JVM" $? $((128 + $(kill -l "$signal")))
	kill "$pretender"
	wait "$pretender" 2>/dev/null
	ok "$signal: the trigger file is removed once the JVM has ended" wait_for 5 trigger_gone "$pretender"
done
pretend "$T/slow$$" "$libjvm"
if command -v script >/dev/null; then
	script -qec "'$JHOT' record -d 1 $pretender" /dev/null >"$T/out" 2>&1 </dev/null &
	asking=$!
	ok "jhot shows the time that it waits on a terminal" wait_for 60 grep -qs "attaching to $pretender slow$$ \.\.\. [0-9]* s" "$T/out"
	kill "$asking"
	wait "$asking" 2>/dev/null
else
	skip "jhot shows the time that it waits on a terminal" "script(1) is not installed"
fi
kill "$pretender"
wait "$pretender" 2>/dev/null

# --- files that would block their reader ----------------------------------------------------

mkdir -p "$T/jdk/lib/server"
head -c 100000 "$libjvm" >"$T/jdk/lib/server/libjvm.so"
mkfifo "$T/jdk/release"
pretend "$T/fifo$$" "$T/jdk/lib/server/libjvm.so"
for what in list "list --json" "status $jvm" "status $name" "status $pretender"; do
	# shellcheck disable=SC2086
	timeout 120 "$JHOT" $what >"$T/out" 2>"$T/err" </dev/null
	is "a FIFO among a JDK's files: jhot $what exits with 0" $? 0
done
kill "$pretender"
wait "$pretender" 2>/dev/null

# --- no process was disturbed -------------------------------------------------------------------------

jvm_end "$jvm"
is "the JVM writes only its own lines to stdout" "$(sed 's/sum .*/sum/' "$T/jvm0.out" | tr '\n' ' ')" "ready sum "
is "the JVM writes nothing to stderr" "$(cat "$T/jvm0.err")" ""
done_testing
