#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Many sessions with one JVM: memory, descriptors, threads and signal handlers stay as they were.
. "$(dirname "$0")/lib.sh"

CYCLES=${CYCLES:-60}
WARM=30 # resident memory of the JVM itself grows by some 30 kB per session at first, and by 10 kB later

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
is "all $CYCLES sessions succeed" $bad 0
becomes_quiet "sampling ends after the last session" "$JVM"
litter "$JVM" >"$T/after"
same "descriptors, threads, mappings and signal handlers are the same after $CYCLES sessions" "$T/after" "$T/before"
grown=$(($(rss_kb "$JVM") - rss))
diag "resident memory: $rss kB after $WARM sessions, $grown kB more after $CYCLES"
ok "resident memory grows by less than 40 kB per session" [ $grown -lt $(((CYCLES - WARM) * 40)) ]
ok "no agent file is left in the target's /tmp, /dev/shm or working directory" \
	[ -z "$(find /proc/$JVM/root/tmp /proc/$JVM/root/dev/shm /proc/$JVM/cwd/ -maxdepth 1 -name "*libjhot*-$JVM.so*" -newer "$T/jvm0.in" 2>/dev/null)" ]
jvm_end
is "the JVM writes only its own lines to stdout" "$(sed 's/^sum .*/sum/' "$T/jvm0.out" | tr '\n' ' ')" "ready sum "
is "the JVM writes nothing but JEP 451's warnings to stderr" "$(grep -v '^WARNING: ' "$T/jvm0.err")" ""
done_testing
