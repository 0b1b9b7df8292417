#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Many sessions with one JVM: memory, descriptors, threads and signal handlers stay as they were.
. "$(dirname "$0")/lib.sh"

CYCLES=${CYCLES:-60}
WARM=10

cycle() {
	"$JHOT" record -d 0.05 -o "$T/cycle.collapsed" "$JVM" >"$T/out" 2>"$T/err" </dev/null && return
	bad=$((bad + 1))
	[ $bad -gt 1 ] || diag_file "$T/err"
}

jvm_start $CALM_JVM Known threads 2
jvm_warm_attach "$JVM"
bad=0
for ((i = 0; i < WARM; i++)); do cycle; done
wait_for 20 quiet "$JVM"
litter "$JVM" >"$T/before"
rss=$(rss_kb "$JVM")
for ((i = WARM; i < CYCLES; i++)); do cycle; done
is "all $CYCLES sessions worked" $bad 0
becomes_quiet "the last one ended" "$JVM"
litter "$JVM" >"$T/after"
same "descriptors, threads, mappings, handlers are as before" "$T/after" "$T/before"
grown=$(($(rss_kb "$JVM") - rss))
diag "resident memory: $rss kB after $WARM sessions, $grown kB more after $CYCLES"
ok "memory did not grow by the session" [ $grown -lt $(((CYCLES - WARM) * 40)) ]
ok "no files of jhot's are left in the target's folders" \
	[ -z "$(find /proc/$JVM/root/tmp /proc/$JVM/root/dev/shm /proc/$JVM/cwd/ -maxdepth 1 -name "*libjhot*-$JVM.so*" -newer "$T/jvm0.in" 2>/dev/null)" ]
jvm_end
is "the JVM's output is its own" "$(sed 's/^sum .*/sum/' "$T/jvm0.out" | tr '\n' ' ')" "ready sum "
is "and its errors are empty" "$(grep -v '^WARNING: ' "$T/jvm0.err")" ""
done_testing
