#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make bench ROWS=walk: quality and time of stack walks, by JDK, program and depth; beside async-profiler if given.
#
#   WORKLOADS=DIR     the programs of DIR (see workload.sh) instead of the repository's own and the demo
#   ONLY=REGEX        only programs whose name matches
#   MAJORS="17 21"    only these of the JDKs under $JDKS and $JAVA, or "all"
#   SECONDS_EACH=10   of samples by each profiler    ROUNDS=2    interleaved turns: jhot, async-profiler, jhot, ...
#   INTERVAL=1ms      WARM=5    seconds before the first sample
#   ASPROF=PATH       async-profiler's asprof, on the same JVM, interleaved
#
#   VMX=1             a second row for async-profiler, with "--cstack vmx", whose stacks reach the root, as jhot's do
#
# Broken stacks have a frame [unknown...] or [break_...]. Times are measured in the handler, for one walk from the registers
# to a stack that can be stored: jhot's median, 99th percentile and mean; async-profiler reports its mean only (its metric
# "stackwalk"). Both clocks include preemption. async-profiler's time runs from the locked buffer to the frames, kernel
# frames included, with a jmethodID per method; names are read when it dumps. jhot copies new names in the handler; they are a
# row of their own, "names", and not in the others. "--cstack vm" stops at the thread's first Java frame
# (StackWalker::walkVM, isEntryFrame without "mixed"), "vmx" continues through the native frames below.
. "$(dirname "$0")/lib.sh"

SECONDS_EACH=${SECONDS_EACH:-10}
ROUNDS=${ROUNDS:-2}
INTERVAL=${INTERVAL:-1ms}
WARM=${WARM:-5}
TEST_CLASSES=$CLASSES
ROUND_S=$(((SECONDS_EACH + ROUNDS - 1) / ROUNDS))
failed=0

# name | JVM options | program and arguments
programs() {
	cat <<'END'
Compile   | -Xmx512m | Compile 40 2
Walks     | -Xmx256m | Walks
deep 25   | | Known deep 25
deep 100  | | Known deep 100
deep 400  | | Known deep 400
shares    | | Known shares
Deopt     | -Xmx256m | Deopt 2
int       | -Xint | Compile 10 2
demo      | -Xmx256m | org.example.shop.Main
END
}

# --- one profiler's turn on $TARGET: stacks into $T/NAME.collapsed, times into $T/NAME.cost ------------

turn_jhot() {
	local recorder
	rm -f "$T/turn.collapsed"
	"$JHOT" record -i "$INTERVAL" -d "$ROUND_S" -o "$T/turn.collapsed" "$TARGET" >"$T/turn.out" 2>&1 </dev/null &
	recorder=$!
	sleep "$(awk -v s="$ROUND_S" 'BEGIN { print s - 0.4 }')"
	"$JHOT" status "$TARGET" >"$T/status" 2>/dev/null
	walks_of_status <"$T/status" >>"$T/jhot.cost"
	sed -nE 's/^event cpu: .*, ([0-9]+) samples, ([0-9]+) lost.*/\1 \2/p' "$T/status" >>"$T/jhot.lost"
	wait $recorder || { echo "jhot failed: $(tail -n 1 "$T/turn.out")" >&2; return 1; }
	cat "$T/turn.collapsed" >>"$T/jhot.collapsed"
}

# walks_of_status: "CLASS WALKS MEDIAN P99 MEAN", the first line for all
walks_of_status() {
	sed 's/^naming stacks with new names:/names:/' |
		sed -nE 's/^ *(walks|names|up to ([0-9]+) frames|deeper): ([0-9]+), median ([0-9]+) ns, p99 ([0-9]+) ns, mean ([0-9]+) ns$/\1\2 \3 \4 \5 \6/p' |
		sed -E 's/^walks/all/; s/^up to [0-9]+ frames([0-9]+)/\1/; s/^deeper/999999/'
}

# turn_asprof NAME CSTACK
turn_asprof() {
	local metrics
	rm -f "$T/turn.collapsed"
	"$ASPROF" start -e cpu -i "$INTERVAL" --cstack "$2" -j 2048 -F stats "$TARGET" >"$T/turn.out" 2>&1 ||
		{ echo "asprof failed: $(tail -n 1 "$T/turn.out")" >&2; return 1; }
	sleep "$ROUND_S"
	metrics=$("$ASPROF" metrics "$TARGET" 2>/dev/null)
	"$ASPROF" stop -o collapsed -f "$T/turn.collapsed" "$TARGET" >"$T/turn.out" 2>&1 ||
		{ echo "asprof failed: $(tail -n 1 "$T/turn.out")" >&2; return 1; }
	awk '$1 == "samples_total" { n += $2 } $1 == "samples_skipped_total" { l += $2 } END { print n + 0, l + 0 }' <<<"$metrics" >>"$T/$1.lost"
	awk '$1 == "samples_total" { n += $2 } $1 == "samples_skipped_total" { n -= $2 } $1 == "stackwalk_ns_avg" { a = $2 }
		END { print "all", n + 0, "-", "-", a + 0 }' <<<"$metrics" >>"$T/$1.cost"
	cat "$T/turn.collapsed" >>"$T/$1.collapsed"
}

# --- rows --------------------------------------------------------------------------------------------

# cost PROFILER CLASS: median, p99 and mean of all turns, weighted by their walks
cost() {
	awk -v class="$2" '$1 == class { n += $2; median += $2 * $3; p99 += $2 * $4; mean += $2 * $5; if ($3 == "-") no = 1 }
		END {
			if (!n) print "- - -"
			else if (no) printf "- - %d\n", mean / n
			else printf "%d %d %d\n", median / n, p99 / n, mean / n
		}' "$T/$1.cost" 2>/dev/null
}

# row PROFILER
row() {
	local samples mean deepest broken median p99 average
	read -r samples mean deepest broken < <(awk -f "$srcdir/tests/bench/stacks.awk" "$T/$1.collapsed")
	read -r median p99 average < <(cost "$1" all)
	printf '%-4s %-13s %-7s %8d %6.1f %5d %8.3f %8s %8s %8s\n' "$major" "$name" "$1" "$samples" "$mean" \
		"$deepest" "$broken" "$median" "$p99" "$average"
	figures "$1" "$broken" >>"$T/figures"
}

# figures PROFILER BROKEN: prints the program's figures. With VMX=1 jhot is also compared with it, as both reach the root.
figures() {
	local what="$name, JDK $major"
	case $1 in
	jhot) print_figures jhot jhot "$what" "$2" ;;
	asprof) print_figures asprof async-profiler "$what" "$2" ;;
	vmx) print_figures jhot jhot "$what, both to the root" && print_figures vmx async-profiler "$what, both to the root" "$2" ;;
	esac
}

# print_figures PROFILER WHO WHAT [BROKEN]
# shellcheck disable=SC2046
print_figures() {
	figure "walk: $3, mean" "$2" ns - $(awk '$1 == "all" && $2 { print $5 }' "$T/$1.cost")
	[ -z "${4:-}" ] || figure "broken stacks: $3" "$2" % - "$4"
	figure "samples lost: $3" "$2" % - $(awk '{ printf "%.3f\n", $1 + $2 ? 100 * $2 / ($1 + $2) : 0 }' "$T/$1.lost")
}

by_depth() {
	awk '$1 != "all" { print $1 }' "$T/jhot.cost" | sort -n | uniq | while read -r class; do
		read -r median p99 average < <(cost jhot "$class")
		printf '%-4s %-13s %7s %9d %8s %8s %8s\n' "$major" "$name" \
			"$(case $class in 999999) echo '> 512' ;; names) echo names ;; *) echo "<= $class" ;; esac)" \
			"$(awk -v class="$class" '$1 == class { n += $2 } END { print n }' "$T/jhot.cost")" "$median" "$p99" "$average"
	done >>"$T/depths"
}

# turn COMMAND...: runs a turn on the program. A turn in which the program ended by itself, and was started again, is repeated.
turn() {
	for _ in 1 2 3; do
		[ -z "$WORKLOAD_GROUP" ] || { wait_for 20 workload_runs; TARGET=$WORKLOAD_PID; }
		"$@" 2>"$T/failure" && return
		alive "$TARGET" && break
	done
	cat "$T/failure" >&2
	failed=1
}

workload_runs() {
	workload_pid
	alive "$WORKLOAD_PID"
}

measure() {
	local round
	rm -f "$T"/{jhot,asprof,vmx}.{collapsed,cost,lost}
	sleep "$WARM"
	for ((round = 0; round < ROUNDS; round++)); do
		turn turn_jhot
		[ -z "$ASPROF" ] || turn turn_asprof asprof vm
		[ -z "$ASPROF" ] || [ -z "${VMX:-}" ] || turn turn_asprof vmx vmx
	done
	[ ! -e "$T/jhot.collapsed" ] || row jhot
	[ ! -e "$T/asprof.collapsed" ] || row asprof
	[ ! -e "$T/vmx.collapsed" ] || row vmx
	[ ! -e "$T/jhot.cost" ] || by_depth
}

measure_own() {
	local name options program
	while IFS='|' read -r name options program <&3; do
		read -r name <<<"$name"
		read -r program <<<"$program"
		[[ $name =~ ${ONLY:-.} ]] || continue
		CLASSES=$TEST_CLASSES:$builddir/demo/classes
		# The demo does not print "ready", and has to be killed.
		# shellcheck disable=SC2086
		jvm_launch $options $program
		TARGET=$JVM
		measure
		jvm_kill
	done 3< <(programs)
}

measure_workloads() {
	local name jdk
	jdk=$(dirname "$(dirname "$(readlink -f "$(command -v "$JAVA")")")")
	for name in $(workload_names); do
		[[ $name =~ ${ONLY:-.} ]] || continue
		# Long enough for repeated turns; it is ended when they are over.
		if ! JAVA=$JAVA JDK=$jdk workload_start "$name" $((WARM + 6 * SECONDS_EACH + 120)); then
			printf '%-4s %-13s does not start on this JDK\n' "$major" "$name"
			continue
		fi
		measure
		workload_end
	done
}

printf '%-4s %-13s %-7s %8s %6s %5s %8s %8s %8s %8s\n' JDK program by samples depth max 'broken%' median 'p99 ns' mean
# shellcheck disable=SC2086
MAJORS=${MAJORS:-$(java_major "$JAVA")}
while read -r major java <&4; do
	[[ $MAJORS == all || " $MAJORS " == *" $major "* ]] || continue
	JAVA=$java
	if [ -n "${WORKLOADS:-}" ]; then
		measure_workloads
	else
		measure_own
	fi
done 4< <(jdks)
echo
printf '%-4s %-13s %7s %9s %8s %8s %8s\n' JDK program frames walks median 'p99 ns' mean
cat "$T/depths" "$T/figures" 2>/dev/null
exit $failed
