#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make soak: 1,000 samples per second on many programs under stress, one after the other; each must survive and compute
# correct results.
#
#   SECONDS_EACH=60   of each program                    INTERVAL=1ms    EVENTS=cpu    separated by commas
#   HOURS=4           repeats all rows for this time; otherwise once
#   REPORT=FILE       the report of all rounds; default: soak.txt in the build folder
#   JAVA=...          the JVM; a row that needs a feature it lacks runs on the newest of $JDKS that has it
#   ONLY=REGEX        only lines whose name matches      PROGRAMS="..."  lines like those below instead of them
#   WORKLOADS=DIR     also DIR/*.sh (see workload.sh); PROGRAMS=" " then means: only those
#
# A row has the memory of the JVM and of jhot in kB, at the start and its growth. Below the row: lost samples by reason, and both
# memories over time, each scaled from 0 to its maximum. At the end, and in the file from the first row on, a table of all rounds
# (soak_report.awk).
#
# Exit 1 if a JVM crashed, hung, wrote unexpected output, computed a wrong result, or jhot failed.
. "$(dirname "$0")/../jvm/lib.sh"
. "$(dirname "$0")/workload.sh"

SECONDS_EACH=${SECONDS_EACH:-60}
INTERVAL=${INTERVAL:-1ms}
EVENTS=${EVENTS:-cpu}
HOURS=${HOURS:-}
REPORT=${REPORT:-$builddir/soak.txt}
TEST_CLASSES=$CLASSES
HAMMER=$builddir/tests/sampler
failed=0

# name | JVM options | program and arguments. Tight heaps are about the minimum for a collector. The minimum of a concurrent
# collector depends on its share of CPU time: Walks keeps 2 MB alive, and where the program filled the rest before Shenandoah had
# finished, it threw OutOfMemoryError (JDK 28, without jhot, six busy loops and four such JVMs on two cores: two of the four within
# 2 minutes at 256 MB, full collections still at 512 MB, no failed allocation at 1 GB with 372 MB in use).
programs() {
	cat <<'END'
javac                 | -Xmx512m | Compile 40 2
javac, G1 tight       | -XX:+UseG1GC -Xmx72m | Compile 40 2
javac, Parallel tight | -XX:+UseParallelGC -Xmx72m | Compile 40 2
javac, Serial tight   | -XX:+UseSerialGC -Xmx72m | Compile 40 2
javac, Shenandoah     | -XX:+UseShenandoahGC -Xmx96m | Compile 40 2
javac, ZGC            | -XX:+UseZGC -Xmx192m | Compile 40 2
javac, small headers  | -XX:+UnlockExperimentalVMOptions -XX:+UseCompactObjectHeaders -Xmx64m | Compile 40 2
walks, small headers  | -XX:+UnlockExperimentalVMOptions -XX:+UseCompactObjectHeaders -XX:+UseShenandoahGC -Xmx1g | Walks
walks, ZGC            | -XX:+UseZGC -Xmx128m | Walks
walks, wide pointers  | -XX:-UseCompressedOops -XX:+UseParallelGC -Xmx64m | Walks
walks, interpreted    | -Xint | Walks
walks, barriers       | -Xint -XX:+UseShenandoahGC -XX:+UnlockDiagnosticVMOptions -XX:ShenandoahGCHeuristics=aggressive -Xmx192m | Walks
javac, barriers       | -XX:+UseShenandoahGC -XX:+UnlockDiagnosticVMOptions -XX:ShenandoahGCHeuristics=aggressive -Xmx192m | Compile 40 2
walks, C1             | -XX:TieredStopAtLevel=1 | Walks
deep, all compiled    | -Xcomp | Known deep 400
walks, frame pointers | -XX:+PreserveFramePointer | Walks
deoptimized: classes  | -Xmx128m | Deopt 4
deoptimized: types    | -XX:TypeProfileLevel=222 -XX:PerBytecodeTrapLimit=100000 -XX:PerMethodTrapLimit=100000 | Deopt 4
deoptimized: no traps | -XX:PerMethodTrapLimit=0 -XX:TypeProfileLevel=0 | Deopt 4
deoptimized: ZGC      | -XX:+UseZGC -Xmx192m | Deopt 4
small code cache      | -XX:ReservedCodeCacheSize=6m | Compile 40 2
safepoints all along  | -XX:+UnlockDiagnosticVMOptions -XX:+SafepointALot -XX:GuaranteedSafepointInterval=1 | Compile 40 2
shares                | | Known shares
threads               | | Known threads 8
deep                  | | Known deep 400
zip                   | | Known zip
churn                 | | Known churn 4
hammer                | -Xmx256m | Hammer HAMMER malloc dlopen pthread faults exec threads classes deep throwing
hammer, ZGC           | -XX:+UseZGC -Xmx512m | Hammer HAMMER malloc dlopen pthread faults classes deep throwing
END
}

# --- one recording -----------------------------------------------------------------------------------

# sample PID [SECONDS]: records it; each second's memory, "JVM jhot" in kB, goes to $T/memory, lost samples to $T/losses
sample() {
	local recorder
	for _ in 1 2 3 4 5 6 7 8; do
		rm -f "$T"/soak*.collapsed
		"$JHOT" record --budget=off -e "$EVENTS" -i "$INTERVAL" -d "${2:-$SECONDS_EACH}" -o "$T/soak.collapsed" "$1" \
			>"$T/out" 2>"$T/err" </dev/null &
		recorder=$!
		while alive "$recorder"; do
			echo "$(rss_kb "$1") $(rss_kb "$recorder")" >>"$T/memory"
			sleep 1
		done 2>/dev/null
		wait "$recorder"
		record_status=$?
		grep -q 'still starting' <(tr -s ' \n' ' ' <"$T/err") || break
		sleep 1
	done
	cat "$T"/soak*.collapsed >>"$T/stacks" 2>/dev/null
	sed -n 's/^lost: //p' "$T/out" >>"$T/losses"
}

# memory_of COLUMN: prints the first value in $T/memory, the growth, and a plot
memory_of() {
	awk -v column="$1" '
		NF == 2 { v[n++] = $column; if ($column > most) most = $column }
		END {
			split("▁ ▂ ▃ ▄ ▅ ▆ ▇ █", bar, " ")
			printf "%d %+d ", v[0], n ? v[n - 1] - v[0] : 0
			wide = n < 40 ? n : 40
			for (i = 0; i < wide; i++)
				printf "%s", bar[1 + int(7 * v[int(i * n / wide)] / most)]
			print ""
		}' "$T/memory"
}

# report NAME VERDICT: prints a row, for all events together
report() {
	local samples broken lost jvm jvm_more jvm_plot own own_more own_plot
	touch "$T/stacks" "$T/losses" "$T/memory"
	lost=$(tr ',' '\n' <"$T/losses" | awk '{ sum += $2 } END { print sum + 0 }')
	read -r samples _ _ broken < <(awk -f "$srcdir/tests/bench/stacks.awk" "$T/stacks")
	read -r jvm jvm_more jvm_plot < <(memory_of 1)
	read -r own own_more own_plot < <(memory_of 2)
	printf '%-24s %9s %7s %7s %8s %8s %8s %8s  %s\n' "$1" "$samples" "$broken" "$lost" "$jvm" "$jvm_more" \
		"$own" "$own_more" "$2"
	printf '%s\t' "$(date +%H:%M:%S)" "$1" "$samples" "$broken" "$jvm" "$((jvm + jvm_more))" "$own" "$((own + own_more))" >>"$T/rows"
	printf '%s\n' "$2" >>"$T/rows"
	tr ',' '\n' <"$T/losses" | sed 's/^ *//' >>"$T/all-losses"
	in_all >"$REPORT"
	if [ "$lost" != 0 ]; then
		printf '%24s lost: %s\n' '' "$(tr ',' '\n' <"$T/losses" |
			awk '{ n[$1] += $2 } END { for (i in n) printf "%s %d  ", i, n[i] }')"
	fi
	[ -z "$jvm_plot" ] || printf '%24s JVM %s  jhot %s\n' '' "$jvm_plot" "$own_plot"
	[ "$2" = "alive and right" ] || failed=1
}

# in_all: prints the report so far
in_all() {
	printf '%s to %s, %s CPUs, load %s: JDK %s and newer, events %s every %s, %s s a row\n\n' "$begun" "$(date '+%F %T')" "$(nproc)" \
		"$(cut -d ' ' -f 1-3 /proc/loadavg)" "$major" "$EVENTS" "$INTERVAL" "$SECONDS_EACH"
	awk -f "$srcdir/tests/bench/soak_report.awk" losses="$T/all-losses" "$T/rows"
}

crashed() {
	compgen -G "$T/hs_err*" >/dev/null
}

# --- the project's own programs ----------------------------------------------------------------------

# knows JAVA OPTION...: this JVM starts with these options
knows() {
	local java=$1
	shift
	"$java" "$@" -version >/dev/null 2>&1
}

# java_for OPTION...: the JVM to use, empty if there is none
java_for() {
	local major java
	if knows "$JAVA" "$@"; then
		echo "$JAVA"
		return
	fi
	while read -r major java; do
		if knows "$java" "$@"; then
			echo "$java"
			return
		fi
	done < <(jdks | sort -rn)
}

# Output other than the JVM's warnings of the dynamic load, of deprecated options, and of a small code cache.
extra_output() {
	grep -vE '^(WARNING: |OpenJDK 64-Bit Server VM warning: (Option|Ignoring option|Options|CodeCache is|Try increasing the code cache size) ?)' "$JVM_ERR" | head -n 2
}

# result_of PROGRAM: a pattern that its final output matches
result_of() {
	case $1 in
	Hammer*) echo '^sum 0$' ;;
	Walks*) echo '^ready$' ;;
	*) echo '^sum ' ;;
	esac
}

# verdict_of_own PROGRAM: the verdict after the program was ended
verdict_of_own() {
	if crashed; then
		echo "THE JVM CRASHED: $(grep -h -m 1 -A 1 '^# Problematic' "$T"/hs_err* | tail -n 1)"
	elif [ -n "$died" ]; then
		echo 'THE JVM DIED'
	elif [ $record_status != 0 ]; then
		echo "jhot failed: $(head -c 200 "$T/err" | tr '\n' ' ')"
	elif [ $end_status != 0 ]; then
		echo "THE JVM HUNG OR ENDED WITH $end_status"
	elif grep -q WRONG "$JVM_OUT"; then
		echo "WRONG OUTPUT: $(grep -m 1 WRONG "$JVM_OUT")"
	elif ! grep -qE "$(result_of "$1")" "$JVM_OUT"; then
		echo "NO OR WRONG RESULT: $(tail -n 1 "$JVM_OUT")"
	elif [ -n "$(extra_output)" ]; then
		echo "EXTRA OUTPUT: $(extra_output)"
	else
		echo 'alive and right'
	fi
}

# soak_own NAME OPTIONS PROGRAM
soak_own() {
	local first=$JAVA options=$2 program=$3 name=$1
	rm -f "$T"/hs_err* "$T/stacks" "$T/losses" "$T/memory" "$T/err"
	# shellcheck disable=SC2086
	JAVA=$(java_for $options)
	if [ -z "$JAVA" ]; then
		JAVA=$first
		printf '%-24s %s\n' "$name" "skipped: no JVM here has these options"
		return
	fi
	[ "$JAVA" = "$first" ] || name="$name ($(java_major "$JAVA"))"
	CLASSES=$TEST_CLASSES
	if [ "${program%% *}" = Hammer ]; then
		CLASSES=$HAMMER/classes
		program=${program/HAMMER/$HAMMER/libhammer.so}
	fi
	# shellcheck disable=SC2086
	if jvm_start -XX:ErrorFile="$T/hs_err%p" $options $program >"$T/start"; then
		sample "$JVM"
		died=
		alive "$JVM" || died=yes
		jvm_end 2>/dev/null
		end_status=$?
		report "$name" "$(verdict_of_own "$program")"
	else
		report "$name" "DID NOT START: $(tr '\n' ' ' <"$T/start" | head -c 200)"
	fi
	jvm_kill
	JAVA=$first
	# close descriptors, which a soak of days would exhaust
	exec {JVM_IN}>&-
	rm -f "${JVMS[-1]##*:}" "$JVM_OUT" "$JVM_ERR" "/tmp/.java_pid$JVM"
	unset 'JVMS[-1]'
}

# --- other workloads ---------------------------------------------------------------------------------

verdict_of_workload() {
	# a program that ends by itself (javac) is started again: it must have exited normally
	if grep -qsE 'ended by itself|SIGSEGV|SIGBUS|fatal error has been detected' "$WORKLOAD_SAID" \
		"$WORKLOAD_RUN/out" "$WORKLOAD_RUN/err"; then
		echo 'THE JVM CRASHED'
	elif [ $record_status != 0 ] && [ $record_status != 8 ]; then
		echo "jhot failed: $(head -c 200 "$T/err" | tr '\n' ' ')"
	elif [ $record_status = 0 ] && ! alive "$WORKLOAD_PID"; then
		echo 'THE JVM DIED'
	else
		echo 'alive and right'
	fi
}

# A program that ends by itself is started and sampled again until the time is over.
soak_workload() {
	local end verdict
	rm -f "$T/stacks" "$T/losses" "$T/memory" "$T/err"
	if workload_start "$1" $((SECONDS_EACH + 20)); then
		end=$((SECONDS + SECONDS_EACH))
		while
			workload_pid
			sample "$WORKLOAD_PID" $((end > SECONDS ? end - SECONDS : 1))
			verdict=$(verdict_of_workload)
			[ "$verdict" = 'alive and right' ] && [ $SECONDS -lt $end ]
		do
			wait_for 5 workload_again "$WORKLOAD_PID" || break
		done
		report "$1" "$verdict"
		workload_end
	else
		report "$1" "DID NOT START: $(head -c 200 "$WORKLOAD_SAID" | tr '\n' ' ')"
	fi
}

# workload_again PID: true if another JVM than this one has been started
workload_again() {
	workload_pid
	[ "$WORKLOAD_PID" != "$1" ]
}

# wanted NAME
wanted() {
	[[ $1 =~ ${ONLY:-.} ]]
}

# on: true if there is time for another row
on() {
	[ -z "$HOURS" ] || [ "$(date +%s)" -lt "$end_s" ]
}

once_round() {
	while IFS='|' read -r name options program && on; do
		read -r name <<<"$name"
		read -r program <<<"$program"
		[ -n "$program" ] && wanted "$name" && soak_own "$name" "$options" "$program"
	done < <(if [ -n "${PROGRAMS:-}" ]; then echo "$PROGRAMS"; else programs; fi)
	for name in $(workload_names); do
		wanted "$name" && on && soak_workload "$name"
	done
}

begun=$(date '+%F %T')
major=$(java_major "$JAVA")
end_s=$(awk -v now="$(date +%s)" -v hours="${HOURS:-0}" 'BEGIN { printf "%.0f", now + hours * 3600 }')
printf '%-24s %9s %7s %7s %8s %8s %8s %8s  %s\n' program samples 'broken%' lost 'JVM kB' more 'jhot kB' more verdict
once_round
# if no row matches, there is no next round
while [ -n "$HOURS" ] && [ -s "$T/rows" ] && on; do
	once_round
done
[ -s "$T/rows" ] || { echo "no row of that name" >&2; exit 1; }
echo
in_all | tee "$REPORT"
exit $failed
