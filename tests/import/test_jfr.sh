#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# JFR recordings of JDKs: every stack, number, thread and second equals the output of the JDK's own jfr tool; and a round
# trip through JFR, pprof and collapsed stacks.
. "$(dirname "$0")/../jvm/lib.sh"

command -v python3 >/dev/null || skip_all "no python3"
jfr=$(dirname "$(readlink -f "$(command -v "$JAVA")")")/jfr
[ -x "$jfr" ] || skip_all "the JDK under test has no jfr"
totals_alone

# plain: normalizes the suffixes of hidden classes, and sorts
plain() {
	sed 's,[+/]0x,.0x,g' | sort
}

# same_event EVENT TYPES [VALUE [CLASS [FROM TO]]]: jhot's event has the stacks of jfr print of these types of $file
same_event() {
	local event=$1 span=()
	[ -z "${5:-}" ] || span=(--from "$5" --to "$6")
	python3 "$srcdir/tests/import/oracle.py" "$T/printed" "$file" "${@:2}" | plain >"$T/want"
	"$JHOT" convert -t --dot -o - -e "$event" ${3:+--total} "${span[@]}" "$file" 2>"$T/err" | plain >"$T/got"
	same "JDK $major: $event has the stacks of jfr print of $2${5:+ from $5 to $6 s} ($(wc -l <"$T/want"))" "$T/got" "$T/want"
}

# same_vitals PRINTED FILE: jhot's JFR conversion of FILE has the same vitals in each second as PRINTED, jfr print of FILE
same_vitals() {
	"$JHOT" convert -o "$T/vitals.jfr" "$2" >/dev/null 2>&1
	"$jfr" print --json --events "$vitals" "$T/vitals.jfr" >"$T/vitals.printed"
	python3 "$srcdir/tests/import/vitals.py" "$1" "$2" "$T/vitals.printed" "$T/vitals.jfr" >"$T/vitals" 2>&1
	is "${2##*/}: each second has the heap, collections and CPU load of jfr print" "$?" 0
	diag "$(tail -5 "$T/vitals")"
}

types=jdk.ExecutionSample,jdk.CPUTimeSample,jdk.NativeMethodSample,jdk.JavaMonitorEnter,jdk.ThreadPark
types+=,jdk.ObjectAllocationSample,jdk.ObjectAllocationInNewTLAB,jdk.ObjectAllocationOutsideTLAB
vitals=jdk.CPULoad,jdk.GarbageCollection,jdk.GCHeapSummary

# --- recordings of several JDKs, made concurrently ---
majors=()
while read -r major JAVA; do
	file=$T/$major.jfr
	options=filename=$file,settings=profile,dumponexit=true
	[ "$major" != 25 ] || options+=,jdk.CPUTimeSample#enabled=true
	jvm_launch -XX:StartFlightRecording=$options Totals
	majors+=("$major:$JVM:$JVM_OUT:$JVM_IN")
done < <(jdks_checked)
for row in "${majors[@]}"; do
	IFS=: read -r major JVM JVM_OUT JVM_IN <<<"$row"
	wait_for 60 jvm_said_ready
	echo "work 1500" >&"$JVM_IN"
done
for row in "${majors[@]}"; do
	IFS=: read -r major JVM JVM_OUT JVM_IN <<<"$row"
	wait_for 60 grep -q '^done' "$JVM_OUT"
	"${jfr%jfr}jcmd" "$JVM" GC.run >/dev/null
	jvm_end "$JVM"
done
for row in "${majors[@]}"; do
	IFS=: read -r major JVM JVM_OUT JVM_IN <<<"$row"
	file=$T/$major.jfr
	if [ ! -s "$file" ]; then
		skip "JDK $major: its JFR recording is read" "it records no file"
		continue
	fi
	"$jfr" print --json --stack-depth 2000 --events "$types,$vitals" "$file" >"$T/printed"
	if [ "$major" = 25 ]; then
		same_event cpu jdk.CPUTimeSample samplingPeriod
		same_event execution jdk.ExecutionSample
	else
		same_event cpu jdk.ExecutionSample
		same_event cpu jdk.ExecutionSample "" "" 1 3
		"$JHOT" convert -e cpu -o "$T/page.html" "$file" >"$T/out" 2>&1
		python3 "$srcdir/tests/import/pulse.py" "$T/printed" "$file" "$T/page.html" jdk.ExecutionSample >"$T/out" 2>&1
		is "JDK $major: the heat map has samples in the 50 ms in which they were taken" "$?" 0
		diag "$(tail -3 "$T/out")"
	fi
	same_event native jdk.NativeMethodSample
	same_event lock jdk.JavaMonitorEnter duration monitorClass
	same_event park jdk.ThreadPark duration parkedClass
	if [ "$major" -ge 17 ]; then
		same_event alloc jdk.ObjectAllocationSample weight objectClass
	else
		same_event alloc jdk.ObjectAllocationInNewTLAB,jdk.ObjectAllocationOutsideTLAB "" objectClass
	fi
	"$JHOT" convert -e $([ "$major" = 25 ] && echo execution || echo cpu) "$file" >"$T/out" 2>&1
	ok "JDK $major: the interval is that of the settings" grep -Eq '^(cpu|execution) every 10 ms, ' "$T/out"
	"$JHOT" view --ascii --dump-screen 150x30 "$file" >"$T/out" 2>&1
	ok "JDK $major: the view shows the file, the program, the pid and the JDK" grep -Eq "jhot $major.jfr +Totals +pid $JVM +JDK (1\.)?$major" "$T/out"
	ok "JDK $major: the view shows CPU, heap, pauses and threads" grep -Eq "^ CPU +[0-9]+%.* heap [0-9.]+[KMG]?/[0-9.]+[MG] .* pauses [0-9.]+% [A-Z].* thr [0-9]+" "$T/out"
	same_vitals "$T/printed" "$file"
	ok "JDK $major: the view shows date and time" grep -Eq "FILE $(date +%Y)-[0-9-]+ [0-9:]+" "$T/out"
done

# --- round trips ---
for event in cpu alloc lock wall; do
	number=$(case $event in cpu) echo 0 ;; alloc) echo 1 ;; lock) echo 2 ;; wall) echo 3 ;; esac)
	total=--total # for samples of time, a recording without an interval has no weights
	[ $number = 0 ] || [ $number = 3 ] && total=
	tool=("$builddir/tests/export/export_tool" -k events -e "$number" $total -t)
	"${tool[@]}" "$T/made.collapsed"
	"${tool[@]}" "$T/made.pb.gz"
	sort "$T/made.collapsed" >"$T/want"
	for suffix in pb.gz jfr; do
		[ $suffix = pb.gz ] || "${tool[@]}" "$T/made.jfr"
		"$JHOT" convert -t $total -e "$event" -o - "$T/made.$suffix" 2>"$T/err" | sort >"$T/got"
		same "$event survives conversion from $suffix" "$T/got" "$T/want"
		"$JHOT" convert -e "$event" -o "$T/again.pb.gz" -o "$T/again.jfr" "$T/made.$suffix" 2>"$T/err"
		for again in pb.gz jfr; do
			"$JHOT" convert -t $total -e "$event" -o - "$T/again.$again" 2>"$T/err" | sort >"$T/got"
			same "$event survives conversion from $suffix to $again" "$T/got" "$T/want"
		done
	done
done
"$jfr" print --json --events "$vitals" "$T/made.jfr" >"$T/printed"
same_vitals "$T/printed" "$T/made.jfr"

done_testing
