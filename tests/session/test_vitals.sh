#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The vitals in the header: heap, collections, CPU, threads; with every collector of every installed JDK.
. "$(dirname "$0")/../jvm/lib.sh"

TOOL=$builddir/tests/session/vitals_tool

value() { # value NAME: of the last run
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

collector() { # collector JDK NAME FLAGS...: a JVM of 64 MB under that collector
	local jdk=$1 name=$2
	shift 2
	if ! "$java" "$@" -Xmx64m -version >"$T/version" 2>&1; then
		skip "JDK $jdk has no $name" "$(head -c 60 "$T/version" | tr '\n' ' ')"
		return
	fi
	JAVA=$java jvm_start "$@" -Xmx64m Known churn 2 || return
	"$builddir/tests/attach/attach_tool" command "$JVM" jcmd GC.run >/dev/null # counters are as of then
	ok "JDK $jdk with $name: a session" vitals 2.2
	is "the collector's name" "$(value gc_name)" "$name"
	between "heap used" heap_used 100000 68000000
	between "its lowest since the reading before" heap_low 100000 "$(value heap_used)"
	between "of looks, several a second" heap_looks 8 100
	between "heap maximum, but for a survivor space" heap_max 58000000 68000000
	between "heap committed" heap_committed "$(value heap_used)" 68000000
	between "CPU time of its own" cpu_user_ms 1 "$(value machine_busy_ms)"
	between "and the kernel's" cpu_system_ms 0 "$(value machine_busy_ms)"
	between "CPUs" machine_cpus "$(nproc)" "$(nproc --all)"
	between "collections" gc_count 1 1000000
	between "their time" gc_time_ms 0 1000000
	between "in ns" gc_time_ns "$(($(value gc_time_ms) * 1000000))" "$(($(value gc_time_ms) * 1000000 + 999999))"
	between "safepoints" safepoint_count 1 10000000
	between "share of collections" gc_pct_x10 0 1000
	between "live threads" threads_live 3 200
	between "classes" classes_loaded 300 100000
	between "classes that went" classes_unloaded 0 100000
	between "collections of the whole heap" gc_whole 0 "$(value gc_count)"
	between "the time of collections, within that of safepoints" gc_time_ms 0 "$(value safepoint_time_ms)"
	between "until all threads stop" safepoint_sync_ms 0 1000000
	between "major faults" major_faults 0 1000000
	between "swap" swap_bytes 0 1000000000
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

# CPU time by owner. The load of this machine decides when the threads are scanned again, so the test waits for that.
collects() { # collects: the collector used CPU time, and no share is negative
	vitals 2.2 && [ "$(value gc_cpu_pct)" -gt 0 -a "$(value java_pct)" -ge 0 -a "$(value jit_pct)" -ge 0 -a \
		"$(value kernel_pct)" -ge 0 ]
}

for flag in -XX:+UseSerialGC -XX:+UseParallelGC; do
	jvm_start $flag -Xmx64m Garbage
	ok "what the collector uses is told apart with $flag" wait_for 60 collects
	jvm_end >/dev/null
done

# Before the first collection some JDKs count nothing: that is not a heap of 0 bytes.
jvm_start $CALM_JVM Known threads 2
ok "a session" vitals 2.5
ok "the heap is known, or said to be not known" [ "$(value heap_used)" = -1 -o "$(value heap_used)" -gt 0 ]
is "the pid" "$(value pid)" "$JVM"
is "the name" "$(value name)" Known
is "alive" "$(value alive)" 1
between "its CPU" cpu_pct 1 100000
between "its memory" rss_bytes 10000000 1000000000
between "running threads" threads_running 0 100
# mapped, not resident: 4,096 virtual threads, 8,192 remembered return addresses, names, two parts of the trace table. The third
# part and the space for 8,192 threads count as far as they are used.
between "the memory that the agent has mapped" agent_bytes 1000000 15000000
between "the agent's share of a core" cost_pct_x10 0 1000
between "its CPU time" cost_ns 1 10000000000
between "samples" samples 1 100000
is "a walker" "$(value walker)" vmstructs
ok "an engine" grep -Eq '^engine (perf|ctimer)$' "$T/vitals"
# Threads have rows from their second scan on, which comes late on a busy machine.
has_threads() {
	grep -Eq '^thread [0-9]+ [A-Z] [0-9]+ [0-9]+ known-' "$T/vitals" || { vitals 2.5 && false; }
}
ok "threads of the program, with their CPU" wait_for 30 has_threads
tid=$(sed -n 's/^thread \([0-9]*\) .* known-[0-9]*$/\1/p' "$T/vitals" | head -n 1)
ok "a thread's id is the kernel's" [ -d "/proc/$JVM/task/${tid:-none}" ]
jvm_end >/dev/null

# Graal in C2's place: of the JDKs here 11 has it. What a JVM calls itself does not say so.
graal='-XX:+UnlockExperimentalVMOptions -XX:+UseJVMCICompiler'
while read -r jdk java; do
	[ "$jdk" = 11 ] || continue
	for options in "" "-XX:+UnlockExperimentalVMOptions -XX:+EnableJVMCI" "$graal" "$graal -XX:-UsePerfData"; do
		# shellcheck disable=SC2086
		JAVA=$java jvm_start -Xmx256m $options Known shares || continue
		ok "JDK 11 ${options:-as it is}: a session" vitals 1.2
		own=$("$java" -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java.vm.name = //p')
		case $options in
		*UsePerfData) own=Graal ;;
		*JVMCICompiler) own="$own with Graal" ;;
		esac
		is "its VM, and Graal only where that compiles" "$(value vm)" "$own"
		jvm_end >/dev/null
	done
done < <(jdks 11)

jvm_start $CALM_JVM -XX:-UsePerfData Known shares
ok "a session with a JVM that has no counters" vitals 1.2
is "the heap is not known, which is not 0" "$(value heap_used)" -1
ok "and the note says why" [ -n "$(value vitals_note)" ]
between "CPU is known still" cpu_pct 0 100000
jvm_end >/dev/null
done_testing
