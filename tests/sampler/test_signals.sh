#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Native code that changes signal handlers: restores saved ones, sets its own for a moment, cancels threads anywhere or
# leaves handlers by siglongjmp. The JVM survives and computes correct results; sessions start and end.
#
#   SESSIONS=2  of each storm, instead of 1   MAJORS="8 25"  on these JDKs and $JAVA   STORMS="segv,probe jump"  modes of each storm
. "$(dirname "$0")/../jvm/lib.sh"
. "$(dirname "$0")/lib.sh"

SESSIONS=${SESSIONS:-1}
STORMS=${STORMS:-segv,probe,trap ours cancel,jump painted}
BESIDE="faults threads throwing" # uses of HotSpot's own handlers, and stacks that end in unmapped memory
[ -e "$builddir/tests/sampler/libhammer.so" ] || skip_all "no libhammer.so (make check builds it)"
CLASSES=$CLASSES:$builddir/tests/sampler/classes

# untouched MAJOR: no handler has run on the threads' alternate stacks, whose size is unknown
untouched() {
	is "JDK $1: no handler uses the threads' alternate stacks" "$(grep -o '^painted [0-9]*' "$JVM_OUT")" "painted 0"
}

# storm MAJOR MODES: one JVM and its sessions
storm() {
	local major=$1 modes=${2//,/ } bad=0 i status enough
	# shellcheck disable=SC2086
	jvm_start -Xmx256m -XX:ErrorFile="$T/hs_err_%p.log" Hammer "$builddir/tests/sampler/libhammer.so" \
		$modes $BESIDE || return
	# Where the program replaces the handler of the signal itself, samples may not arrive.
	[ "$2" = ours ] && enough='seconds=1' || enough='samples=300 seconds=30'
	for ((i = 0; i < SESSIONS && bad == 0; i++)); do
		# shellcheck disable=SC2086
		agent $enough event=cpu:500000 event=wall:5000000 event=lock event=alloc:262144 || bad=1
		[ "$(value taken)" -eq $(($(value samples) + $(value lost))) ] || bad=1
	done
	is "JDK $major: $2: $SESSIONS sessions account for all of their samples" "$bad after $i" "0 after $SESSIONS" ||
		diag_file "$T/tool.err"
	diag "$(grep -E '^(samples|lost|broken_pct|counter)' "$T/tool" | tr '\n' ' ')"
	ok "JDK $major: $2: sampling ends after the last session" wait_for 30 quiet "$JVM"
	jvm_end
	status=$?
	is "JDK $major: $2: the program exits with 0" $status 0 || grep -h -m 1 -A 3 '^# Problematic' "$T"/hs_err* | sed 's/^/# /'
	ok "JDK $major: $2: the program computes the right sum" grep -qx 'sum 0' "$JVM_OUT" || diag_file "$JVM_OUT"
	is "JDK $major: $2: the JVM writes nothing but JEP 451's warnings to stderr" "$(grep -v '^WARNING: ' "$JVM_ERR")" ""
	[ "$2" != painted ] || untouched "$major"
}

# taken MAJOR MODES [FREE]: a library replaces the handler of the engines' signal for good. Sampling continues with SIGWINCH
# (FREE), or ends where that is replaced or collected as well, and reports so. The program does this after 0.3 s or more;
# 30,000 samples are more than arrive within 2 s of it.
taken() {
	local major=$1 modes=$2 free=${3:-} caught
	# shellcheck disable=SC2086
	jvm_start -Xmx256m -XX:ErrorFile="$T/hs_err_%p.log" Hammer "$builddir/tests/sampler/libhammer.so" $modes deep throwing || return
	ok "JDK $major: $modes: a session runs" agent samples=30000 seconds=120 event=cpu:250000 event=wall:5000000 ||
		diag_file "$T/tool.err"
	caught=$(sed -n 's/^SigCgt:\t//p' "/proc/$JVM/status")
	if [ "$free" ]; then
		ok "JDK $major: $modes: sampling continues" [ "$(value samples)" -ge 30000 ] || diag_file "$T/tool"
		ok "JDK $major: $modes: a note says that another signal is used" grep -q '^note .*continues with another signal' "$T/tool"
		is "JDK $major: $modes: SIGWINCH has a handler" $((0x$caught >> 27 & 1)) 1
	else
		ok "JDK $major: $modes: sampling ends" [ "$(value samples)" -lt 30000 ]
		ok "JDK $major: $modes: the event reports that another handler took the signal" grep -q '^event cpu .*own handler for the signal' "$T/tool" ||
			diag_file "$T/tool"
	fi
	jvm_end
	is "JDK $major: $modes: the program exits with 0" $? 0
	ok "JDK $major: $modes: the program's own signal handlers are intact" grep -qx 'sum 0' "$JVM_OUT" || diag_file "$JVM_OUT"
}

# checked MAJOR: a JVM that checks its own handlers about once a second and prints changes
checked() {
	jvm_start -Xcheck:jni Known shares || return
	ok "JDK $1: a session with a JVM that checks signal handlers runs" agent seconds=3 event=cpu:1000000 || diag_file "$T/tool.err"
	ok "JDK $1: samples arrive from a JVM that checks signal handlers" [ "$(value samples)" -gt 0 ]
	jvm_end
	is "JDK $1: -Xcheck:jni reports none of the agent's handlers" "$(cat "$JVM_OUT" "$JVM_ERR" | grep -v "^WARNING: " | grep -E "jhot|SIG(SEGV|BUS|URG) handler")" ""
}

while read -r major java; do
	JAVA=$java
	for storm in $STORMS; do
		storm "$major" "$storm"
	done
	taken "$major" takeurg free
	taken "$major" "takeurg takewinch"
	taken "$major" "takeurg collectwinch"
	checked "$major"
done < <(jdks_checked)
done_testing
