#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A JVM whose process's first thread has exited: its state is Z, and /proc shows memory and files only under its other threads.
. "$(dirname "$0")/lib.sh"

here=$builddir/tests/neighbours
home=$(dirname "$(dirname "$(readlink -f "$(command -v "$JAVA")")")")
libjvm=$(find "$home" "$home/.." -path '*server/libjvm.so' | head -n 1)
[ -e "$here/neighbours.stamp" ] || skip_all "no neighbours (make check builds it)"

mkdir "$T/roles"
mkfifo "$T/in"
exec {in}<>"$T/in"
setpriv --pdeathsig KILL "$here/neighbours" embed-late "$libjvm" "$T/roles" quit-collector -Xmx64m "-Djava.class.path=$here/classes" \
	Neighbours <"$T/in" >"$T/jvm.out" 2>"$T/jvm.err" &
jvm=$!
wait_for 60 grep -qs . "$T/jvm.out" "$T/jvm.err" # a ready JVM, or why there is none
! grep -q 'GLIBC_.* not found' "$T/jvm.err" || skip_all "this JDK needs a newer libc than programs are compiled for here"
wait_for 60 grep -qs ready "$T/jvm.out" || diag_file "$T/jvm.err"
ok "the process's first thread is a zombie" grep -q '^State:.Z' "/proc/$jvm/status"

"$JHOT" list >"$T/list"
ok "jhot list shows the JVM under its executable's name" grep -qE "^ *$jvm .* neighbours +ok" "$T/list" || diag_file "$T/list"
"$JHOT" status "$jvm" >"$T/out" 2>&1
ok "jhot status names the JVM" grep -q "^$jvm neighbours" "$T/out" || diag_file "$T/out"
"$JHOT" dump "$jvm" >"$T/dump" 2>&1
ok "jhot dump shows its threads with native names" grep -qE 'start_thread|clone' "$T/dump" || diag_file "$T/dump"
"$JHOT" record -d 1 -e cpu -o - --format=collapsed "$jvm" >"$T/stacks" 2>"$T/err" </dev/null
is "jhot record exits with 0" $? 0 || diag_file "$T/err"
ok "stacks have Java frames below native frames with names" grep -qE '^(clone|start_thread|_*clone3).*Neighbours.turn' "$T/stacks" ||
	diag_file "$T/stacks"
is "the embedding program received no signal" "$(od -An -t u8 -j 8 -N 8 "$T/roles/quit-collector" | tr -d ' ')" 0
is "the JVM writes only its own lines" "$(cat "$T/jvm.out")" ready
echo q >&"$in"
wait "$jvm"
is "the JVM exits with 0" $? 0
done_testing
