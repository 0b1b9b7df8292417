#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The vitals in the header: heap, collections, CPU, threads; with every collector of every installed JDK.
. "$(dirname "$0")/../jvm/lib.sh"

TOOL=$builddir/tests/session/vitals_tool

value() { # value NAME: the value in the last output of the tool
	sed -n "s/^$1 //p" "$T/vitals"
}

between() { # between DESCRIPTION NAME LOW HIGH
	local v
	v=$(value "$2")
	ok "$1 ($2 = $v)" test "$v" -ge "$3" -a "$v" -le "$4"
}

vitals() { # vitals SECONDS
	"$TOOL" "$JVM" "$1" "$builddir/libjhot.so" >"$T/vitals" 2>"$T/err" && return
	diag_file "$T/err"
	return 1
}

collector() { # collector JDK NAME FLAGS...: a JVM with this collector and a heap of 64 MB
	local jdk=$1 name=$2
	shift 2
	if ! "$java" "$@" -Xmx64m -version >"$T/version" 2>&1; then
		skip "JDK $jdk with $name" "this JDK does not have it: $(head -c 60 "$T/version" | tr '\n' ' ')"
		return
	fi
	JAVA=$java jvm_start "$@" -Xmx64m Known churn 2 || return
	"$builddir/tests/attach/attach_tool" command "$JVM" jcmd GC.run >/dev/null # counters are updated by a collection
	ok "JDK $jdk with $name: the tool reads vitals" vitals 2.2
	is "JDK $jdk with $name: gc_name is right" "$(value gc_name)" "$name"
	between "JDK $jdk with $name: heap used is plausible" heap_used 100000 68000000
	between "JDK $jdk with $name: lowest heap used since the last reading is at most heap used" heap_low 100000 "$(value heap_used)"
	between "JDK $jdk with $name: the heap is polled several times a second" heap_looks 8 100
	between "JDK $jdk with $name: heap maximum is 64 MB but for a survivor space" heap_max 58000000 68000000
	between "JDK $jdk with $name: heap committed is at least heap used" heap_committed "$(value heap_used)" 68000000
	between "JDK $jdk with $name: user time is at most the machine's" cpu_user_ms 1 "$(value machine_busy_ms)"
	between "JDK $jdk with $name: system time is at most the machine's" cpu_system_ms 0 "$(value machine_busy_ms)"
	between "JDK $jdk with $name: the number of CPUs is right" machine_cpus "$(nproc)" "$(nproc --all)"
	between "JDK $jdk with $name: collections are counted" gc_count 1 1000000
	between "JDK $jdk with $name: time of collections is plausible" gc_time_ms 0 1000000
	between "JDK $jdk with $name: time of collections in ns matches that in ms" gc_time_ns "$(($(value gc_time_ms) * 1000000))" "$(($(value gc_time_ms) * 1000000 + 999999))"
	between "JDK $jdk with $name: safepoints are counted" safepoint_count 1 10000000
	between "JDK $jdk with $name: share of collections is at most 100 %" gc_pct_x10 0 1000
	between "JDK $jdk with $name: number of live threads is plausible" threads_live 3 200
	between "JDK $jdk with $name: number of loaded classes is plausible" classes_loaded 300 100000
	between "JDK $jdk with $name: number of unloaded classes is plausible" classes_unloaded 0 100000
	between "JDK $jdk with $name: full collections are at most all collections" gc_whole 0 "$(value gc_count)"
	between "JDK $jdk with $name: time of collections is at most that of safepoints" gc_time_ms 0 "$(value safepoint_time_ms)"
	between "JDK $jdk with $name: time to safepoint is plausible" safepoint_sync_ms 0 1000000
	between "JDK $jdk with $name: number of major faults is plausible" major_faults 0 1000000
	between "JDK $jdk with $name: swap is plausible" swap_bytes 0 1000000000
	jvm_end >/dev/null
}

while read -r jdk java; do
	collector "$jdk" Serial -XX:+UseSerialGC
	collector "$jdk" Parallel -XX:+UseParallelGC
	collector "$jdk" G1 -XX:+UseG1GC
	if [ "$jdk" -ge 17 ]; then
		collector "$jdk" ZGC -XX:+UseZGC
	fi
done < <(jdks_checked)

# CPU time by kind of thread. Load delays the next scan of threads, so the test waits for that.
collects() { # collects: the collector used CPU time, and no share is negative
	vitals 2.2 && [ "$(value gc_cpu_pct)" -gt 0 -a "$(value java_pct)" -ge 0 -a "$(value jit_pct)" -ge 0 -a \
		"$(value kernel_pct)" -ge 0 ]
}

for flag in -XX:+UseSerialGC -XX:+UseParallelGC; do
	jvm_start $flag -Xmx64m Garbage
	ok "the CPU time of collector threads is separate with $flag" wait_for 60 collects
	jvm_end >/dev/null
done

# Before the first collection some JDKs count nothing, which must not be taken for a heap of 0 bytes.
jvm_start $CALM_JVM Known threads 2
ok "the tool reads vitals before the first collection" vitals 2.5
ok "heap used before the first collection is unknown or positive, not 0" [ "$(value heap_used)" = -1 -o "$(value heap_used)" -gt 0 ]
is "pid is that of the JVM" "$(value pid)" "$JVM"
is "name is that of the program" "$(value name)" Known
is "alive is 1" "$(value alive)" 1
between "the JVM's CPU usage is positive" cpu_pct 1 100000
between "the JVM's resident memory is plausible" rss_bytes 10000000 1000000000
between "number of running threads is plausible" threads_running 0 100
# Mapped, not resident: 4,096 virtual threads, 8,192 cached return addresses, names, two parts of the trace table. The third
# part and the space for 8,192 threads count as far as they are used.
between "the agent's mapped memory is at most 15 MB" agent_bytes 1000000 15000000
between "the agent's share of a core is at most 100 %" cost_pct_x10 0 1000
between "the agent's CPU time is positive" cost_ns 1 10000000000
between "there are samples" samples 1 100000
is "the walker is vmstructs" "$(value walker)" vmstructs
ok "the engine is perf or ctimer" grep -Eq '^engine (perf|ctimer)$' "$T/vitals"
# Threads have rows from their second scan on, which comes late on a busy machine.
has_threads() {
	grep -Eq '^thread [0-9]+ [A-Z] [0-9]+ [0-9]+ known-' "$T/vitals" || { vitals 2.5 && false; }
}
ok "the program's threads have rows with their CPU usage" wait_for 30 has_threads
tid=$(sed -n 's/^thread \([0-9]*\) .* known-[0-9]*$/\1/p' "$T/vitals" | head -n 1)
ok "a thread's id is the kernel's" [ -d "/proc/$JVM/task/${tid:-none}" ]
jvm_end >/dev/null

# Graal in place of C2, which of these JDKs only 11 has. The JVM's own name does not show it.
graal='-XX:+UnlockExperimentalVMOptions -XX:+UseJVMCICompiler'
while read -r jdk java; do
	[ "$jdk" = 11 ] || continue
	for options in "" "-XX:+UnlockExperimentalVMOptions -XX:+EnableJVMCI" "$graal" "$graal -XX:-UsePerfData"; do
		# shellcheck disable=SC2086
		JAVA=$java jvm_start -Xmx256m $options Known shares || continue
		ok "JDK 11 ${options:-without options}: the tool reads vitals" vitals 1.2
		own=$("$java" -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java.vm.name = //p')
		case $options in
		*UsePerfData) own=Graal ;;
		*JVMCICompiler) own="$own with Graal" ;;
		esac
		is "JDK 11 ${options:-without options}: the VM's name has Graal only where it is the compiler" "$(value vm)" "$own"
		jvm_end >/dev/null
	done
done < <(jdks 11)

jvm_start $CALM_JVM -XX:-UsePerfData Known shares
ok "the tool reads vitals of a JVM without hsperfdata" vitals 1.2
is "heap used without hsperfdata is unknown, not 0" "$(value heap_used)" -1
ok "the note has the reason why heap used is unknown" [ -n "$(value vitals_note)" ]
between "CPU usage is known without hsperfdata" cpu_pct 0 100000
jvm_end >/dev/null
done_testing
