#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# JFR recordings by JDKs: every stack, number, thread and second equals what the JDK's own jfr tool prints; and a
# round trip through JFR, pprof and collapsed stacks.
. "$(dirname "$0")/../jvm/lib.sh"

command -v python3 >/dev/null || skip_all "no python3"
jfr=$(dirname "$(readlink -f "$(command -v "$JAVA")")")/jfr
[ -x "$jfr" ] || skip_all "the JDK under test has no jfr"

# The ways in which hidden classes are numbered are one; lines in one order.
plain() {
	sed 's,[+/]0x,.0x,g' | sort
}

# says EVENT TYPES [VALUE [CLASS [FROM TO]]]: jhot's event is what jfr says of these types of the recording $file
says() {
	local event=$1 span=()
	[ -z "${5:-}" ] || span=(--from "$5" --to "$6")
	python3 "$srcdir/tests/import/oracle.py" "$T/printed" "$file" "${@:2}" | plain >"$T/want"
	"$JHOT" convert -t --dot -o - -e "$event" ${3:+--total} "${span[@]}" "$file" 2>"$T/err" | plain >"$T/got"
	same "JDK $major: $event is $2${5:+ from $5 to $6 s}, $(wc -l <"$T/want") stacks" "$T/got" "$T/want"
}

# lives PRINTED FILE: what jhot makes of the file, which jfr has printed, tells the same of the JVM, second by second
lives() {
	"$JHOT" convert -o "$T/lives.jfr" "$2" >/dev/null 2>&1
	"$jfr" print --json --events "$vitals" "$T/lives.jfr" >"$T/lives.printed"
	python3 "$srcdir/tests/import/vitals.py" "$1" "$2" "$T/lives.printed" "$T/lives.jfr" >"$T/lives" 2>&1
	is "${2##*/}: heap, collections and CPU load of each second" "$?" 0
	diag "$(tail -5 "$T/lives")"
}

types=jdk.ExecutionSample,jdk.CPUTimeSample,jdk.NativeMethodSample,jdk.JavaMonitorEnter,jdk.ThreadPark
types+=,jdk.ObjectAllocationSample,jdk.ObjectAllocationInNewTLAB,jdk.ObjectAllocationOutsideTLAB
vitals=jdk.CPULoad,jdk.GarbageCollection,jdk.GCHeapSummary

# --- recordings, of several JDKs at once ---
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
		skip "JDK $major" "it records nothing"
		continue
	fi
	"$jfr" print --json --stack-depth 2000 --events "$types,$vitals" "$file" >"$T/printed"
	if [ "$major" = 25 ]; then
		says cpu jdk.CPUTimeSample samplingPeriod
		says execution jdk.ExecutionSample
	else
		says cpu jdk.ExecutionSample
		says cpu jdk.ExecutionSample "" "" 1 3
		"$JHOT" convert -e cpu -o "$T/page.html" "$file" >"$T/out" 2>&1
		python3 "$srcdir/tests/import/pulse.py" "$T/printed" "$file" "$T/page.html" jdk.ExecutionSample >"$T/out" 2>&1
		is "JDK $major: its samples are in the 50 ms in which they were taken" "$?" 0
		diag "$(tail -3 "$T/out")"
	fi
	says native jdk.NativeMethodSample
	says lock jdk.JavaMonitorEnter duration monitorClass
	says park jdk.ThreadPark duration parkedClass
	if [ "$major" -ge 17 ]; then
		says alloc jdk.ObjectAllocationSample weight objectClass
	else
		says alloc jdk.ObjectAllocationInNewTLAB,jdk.ObjectAllocationOutsideTLAB "" objectClass
	fi
	"$JHOT" convert -e $([ "$major" = 25 ] && echo execution || echo cpu) "$file" >"$T/out" 2>&1
	ok "its interval is that of the settings" grep -Eq '^(cpu|execution) every 10 ms, ' "$T/out"
	"$JHOT" view --ascii --dump-screen 150x30 "$file" >"$T/out" 2>&1
	ok "the view says whose it is" grep -Eq "jhot $major.jfr +Totals +pid $JVM +JDK (1\.)?$major" "$T/out"
	ok "and how the JVM was" grep -Eq "^ CPU +[0-9]+%.* heap [0-9.]+[KMG]?/[0-9.]+[MG] .* pauses [0-9.]+% [A-Z].* thr [0-9]+" "$T/out"
	lives "$T/printed" "$file"
	ok "and when" grep -Eq "FILE $(date +%Y)-[0-9-]+ [0-9:]+" "$T/out"
done

# --- there and back ---
for event in cpu alloc lock wall; do
	number=$(case $event in cpu) echo 0 ;; alloc) echo 1 ;; lock) echo 2 ;; wall) echo 3 ;; esac)
	total=--total # without an interval a recording has no weights of samples of time
	[ $number = 0 ] || [ $number = 3 ] && total=
	tool=("$builddir/tests/export/export_tool" -k events -e "$number" $total -t)
	"${tool[@]}" "$T/made.collapsed"
	"${tool[@]}" "$T/made.pb.gz"
	sort "$T/made.collapsed" >"$T/want"
	for suffix in pb.gz jfr; do
		[ $suffix = pb.gz ] || "${tool[@]}" "$T/made.jfr"
		"$JHOT" convert -t $total -e "$event" -o - "$T/made.$suffix" 2>"$T/err" | sort >"$T/got"
		same "$event comes back from $suffix" "$T/got" "$T/want"
		"$JHOT" convert -e "$event" -o "$T/again.pb.gz" -o "$T/again.jfr" "$T/made.$suffix" 2>"$T/err"
		for again in pb.gz jfr; do
			"$JHOT" convert -t $total -e "$event" -o - "$T/again.$again" 2>"$T/err" | sort >"$T/got"
			same "$event comes back from $suffix by $again" "$T/got" "$T/want"
		done
	done
done
"$jfr" print --json --events "$vitals" "$T/made.jfr" >"$T/printed"
lives "$T/printed" "$T/made.jfr"

done_testing
