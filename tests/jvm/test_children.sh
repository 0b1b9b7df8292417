#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The child processes that parse ELF files: killing them repeatedly affects neither the session nor the JVM.
. "$(dirname "$0")/lib.sh"

# children PID: those of all of its threads that parse ELF files
children() {
	local child
	for child in $(cat /proc/"$1"/task/*/children 2>/dev/null); do
		[ "$(cat "/proc/$child/comm" 2>/dev/null)" = jhot-elf ] && echo "$child"
	done
}

# kill_children PID: kills its ELF-parsing children with SIGSEGV until PID ends; their number is in $T/killed
kill_children() {
	local killed=0 child
	while [ -d "/proc/$1" ] && ! gone "$1"; do
		for child in $(children "$1"); do
			kill -SEGV "$child" 2>/dev/null && killed=$((killed + 1))
		done
		echo $killed >"$T/killed"
		sleep 0.005
	done
}

record() { # record NAME: in the background, in $JHOT_PID
	"$builddir/jhot" record -d 2 -o "$T/$1.collapsed" "$JVM" >"$T/$1.out" 2>"$T/$1.err" </dev/null &
	JHOT_PID=$!
}

jvm_start $CALM_JVM Known zip

record whole
wait_for 10 eval '[ -n "$(children $JHOT_PID)" ]'
child=$(children $JHOT_PID | head -n 1)
ok "jhot starts a child process that parses ELF files" [ -n "$child" ]
wait $JHOT_PID
is "jhot record exits with 0" $? 0
ok "native functions have names" grep -q 'clone.*;.*knownZip' "$T/whole.collapsed"
ok "the ELF-parsing child has exited after the recording" wait_for 10 gone "$child"

record killed
kill_children $JHOT_PID
wait $JHOT_PID
is "jhot record exits with 0 although its ELF-parsing children are killed" $? 0
diag "killed $(cat "$T/killed") times; $(grep -c 'crashed' "$T/killed.err") lines say so"
ok "at least one ELF-parsing child was killed" [ "$(cat "$T/killed")" -gt 0 ]
ok "Java frames still have their names when ELF-parsing children are killed" grep -q knownZip "$T/killed.collapsed"
ok "jhot reports that the process that parses ELF files crashed" grep -q 'The process that parses ELF files crashed' "$T/killed.err" "$T/killed.out"
becomes_quiet "sampling ends after the recording whose children were killed" "$JVM"
jvm_end
done_testing
