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

# kill_children PID: by the signal of a crash, until that process ends; how many is in $T/killed
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
ok "a child of jhot's parses files" [ -n "$child" ]
wait $JHOT_PID
is "recording succeeds" $? 0
ok "native functions have names" grep -q 'clone.*;.*knownZip' "$T/whole.collapsed"
ok "no child is left" wait_for 10 gone "$child"

record killed
kill_children $JHOT_PID
wait $JHOT_PID
is "with its children killed it succeeds, too" $? 0
diag "killed $(cat "$T/killed") times; $(grep -c 'crashed' "$T/killed.err") lines say so"
ok "they were killed" [ "$(cat "$T/killed")" -gt 0 ]
ok "Java has its names" grep -q knownZip "$T/killed.collapsed"
ok "what was lost is said" grep -q 'The process that parses ELF files crashed' "$T/killed.err" "$T/killed.out"
becomes_quiet "the session ends" "$JVM"
jvm_end
done_testing
