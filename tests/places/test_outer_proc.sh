#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A JVM in a PID namespace of its own whose /proc is the outer one, so that its threads have other ids there: all of
# them are found, with all of their time, and get kernel frames by borrowed descriptors.
. "$(dirname "$0")/../jvm/lib.sh"

[ "$(id -u)" = 0 ] || skip_all "only root can create namespaces"
unshare -p -f true 2>/dev/null || skip_all "namespaces cannot be created here"
pid1_alone

# start COMMAND: a JVM that writes to /dev/null from now on; sets jvm
start() {
	JVM_AS="unshare -p -f --kill-child $1" jvm_start $CALM_JVM Counts || return
	jvm=$(java_of "$JVM")
	jvm_warm_attach "$jvm"
	echo "write 1000000000" >&"$JVM_IN"
	wait_for 20 grep -qsx counter "/proc/$jvm/task/"*/comm
}

start "" || diag_file "$JVM_ERR"
ok "the JVM's pid in its namespace differs from that in /proc" [ "$(awk '/^NSpid:/ { print $2 != $3 }' "/proc/$jvm/status")" = 1 ]
"$JHOT" record -e wall=20ms -t -d 3 -o "$T/a.collapsed" "$jvm" >"$T/said" 2>&1 </dev/null
is "jhot record -e wall exits with 0" $? 0 || diag_file "$T/said"
ms=$(sed -n 's/^wall.* \([0-9.]*\) s: .*/\1/p' "$T/said" | awk '{ print $1 * 1000 }')
awk '{ split($0, part, ";"); samples[part[1]] += $NF } END { for (t in samples) print samples[t], t }' "$T/a.collapsed" | sort -n >"$T/threads"
is "wall has samples of each of the JVM's threads" "$(wc -l <"$T/threads")" "$(count_of "$jvm" task)" || diag_file "$T/threads"
ok "each thread has 80 to 110 % of the time" awk -v ms="$ms" '$1 * 20 < 0.8 * ms || $1 * 20 > 1.1 * ms { wrong = 1 } END { exit wrong || !NR }' "$T/threads" ||
	diag_file "$T/threads"
jvm_end

"$builddir/tests/places/confine" true 2>/dev/null || { done_testing; exit; }
start "$builddir/tests/places/confine"
"$JHOT" record -e cpu=5ms -a --engine=lent -d 2 -o "$T/a.collapsed" "$jvm" >"$T/said" 2>&1 </dev/null
is "jhot record --engine=lent exits with 0" $? 0 || diag_file "$T/said"
ok "--engine=lent gives kernel frames" [ "$(weight "$T/a.collapsed" 'knownWrite.*_\[k\]')" -gt 20 ] || diag_file "$T/said"
ok "no thread is left without an engine" not grep -q arm_failed "$T/said" || diag_file "$T/said"
jvm_end
done_testing
