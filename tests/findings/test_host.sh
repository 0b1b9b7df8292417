#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Problems of the JVM or caused by its host: each is found in a program that has it, and nothing is reported about a
# program that nearly has it.
. "$(dirname "$0")/../jvm/lib.sh"

SECONDS_EACH=10
LABELS=()
declare -A PID_OF

# begins LABEL JAVA [FLAG...] PROBLEM
begins() {
	local label=$1
	JAVA=$2
	shift 2
	jvm_start -Xmx256m "${@:1:$#-1}" Problems "${@: -1}" || return
	LABELS+=("$label")
	PID_OF[$label]=$JVM
}

# ask LABEL: observes the program. Several JVMs at once keep the machine busy, so a session that does not start gets a
# second attempt, and the first one's error is shown.
ask() {
	observe "$1"
	[ ! -s "$T/$1" ] || return
	diag_file "$T/$1.err"
	observe "$1"
}

# observe LABEL: runs jhot why, or for "-cpu" jhot record --why with the event cpu only
observe() {
	case $1 in
	*-cpu)
		"$JHOT" record -e cpu -d $SECONDS_EACH --why -o "$T/$1.collapsed" "${PID_OF[$1]}" >"$T/$1" 2>&1
		;;
	*) "$JHOT" why -d $SECONDS_EACH "${PID_OF[$1]}" >"$T/$1" 2>"$T/$1.err" ;;
	esac
}

# ask_all: observes all programs that were started, concurrently, and ends them
ask_all() {
	local label asking=()
	for label in "${LABELS[@]}"; do
		ask "$label" &
		asking+=($!)
	done
	wait "${asking[@]}"
	for label in "${LABELS[@]}"; do
		{
			kill -KILL "${PID_OF[$label]}"
			wait "${PID_OF[$label]}"
		} 2>/dev/null
	done
	LABELS=()
}

# finds LABEL TITLE: the report has a finding with this title
finds() {
	ok "$1: why reports $2" grep -q "^$2  " "$T/$1" || {
		diag_file "$T/$1"
		diag_file "$T/$1.err"
	}
}

# says LABEL PATTERN
says() {
	ok "$1: the report matches: $2" grep -Eq -- "$2" "$T/$1" || diag_file "$T/$1"
}

# silent LABEL TITLE: the report has no finding with this title
silent() {
	ok "$1: why prints a result" grep -q ' found$' "$T/$1" || diag_file "$T/$1.err"
	ok "$1: why does not report $2" not grep -q "^$2  " "$T/$1" || diag_file "$T/$1"
}

# healthy LABEL: the report has no findings
healthy() {
	ok "$1: why finds nothing" grep -q 'nothing found$' "$T/$1" || diag_file "$T/$1"
}

# --- programs that use little CPU time: all at once --------------------------------------------------

calm() { # calm MAJOR JAVA
	local at=$1- name
	begins "${at}deadlock" "$2" deadlock
	begins "${at}deadlock-3" "$2" deadlock-3
	begins "${at}deadlock-not" "$2" deadlock-not
	begins "${at}deadlock-tried" "$2" deadlock-tried
	for name in deadlock deadlock-3 deadlock-not deadlock-tried; do
		begins "$at$name-cpu" "$2" "$name"
	done
	[ "$1" -lt 21 ] || begins "${at}virtual-cpu" "$2" -Dvirtual=true -Djdk.virtualThreadScheduler.parallelism=8 \
		deadlock+deadlock-3+deadlock-tried
	begins "${at}stops-not" "$2" stops-not
	begins "${at}classes-not" "$2" classes-not
	begins "${at}gc-not" "$2" -Xms256m -Xmx256m -Xmn128m -XX:+AlwaysPreTouch gc-not # its memory is touched before it is timed
	ask_all
	finds "${at}deadlock" DEADLOCK
	says "${at}deadlock" '^DEADLOCK  payer-[12] and payer-[12] wait for each other'
	says "${at}deadlock" 'payer-1 waits for Object, held by payer-2'
	finds "${at}deadlock-3" DEADLOCK
	says "${at}deadlock-3" '^DEADLOCK  payer-[012], payer-[012] and payer-[012] wait for each other'
	silent "${at}deadlock-not" DEADLOCK
	silent "${at}deadlock-tried" DEADLOCK
	finds "${at}deadlock-cpu" DEADLOCK
	finds "${at}deadlock-3-cpu" DEADLOCK
	says "${at}deadlock-3-cpu" 'payer-1 waits for .*, held by payer-2'
	silent "${at}deadlock-not-cpu" DEADLOCK
	silent "${at}deadlock-tried-cpu" DEADLOCK
	if [ "$1" -ge 21 ]; then
		says "${at}virtual-cpu" '^DEADLOCK  payer-[12] and payer-[12] wait for each other'
		says "${at}virtual-cpu" 'payer-1 waits for Object, held by payer-2'
		says "${at}virtual-cpu" 'payer-1 waits for ReentrantLock.*, held by payer-2'
		is "${at}virtual-cpu: why reports no other deadlock" "$(grep -c '^DEADLOCK' "$T/${at}virtual-cpu")" 2
	fi
	healthy "${at}stops-not"
	healthy "${at}classes-not"
	healthy "${at}gc-not"
}

# --- programs that use cores -------------------------------------------------------------------------

busy() { # busy MAJOR JAVA
	local at=$1-
	begins "${at}heap" "$2" -XX:+UseSerialGC heap
	begins "${at}classes" "$2" -XX:+UseSerialGC -XX:MetaspaceSize=5m classes
	ask_all
	finds "${at}heap" 'HEAP FULL'
	says "${at}heap" 'at least 2[0-9][0-9] of 2[0-9][0-9] MB'
	silent "${at}heap" STOPPED
	finds "${at}classes" CLASSES
	begins "${at}stops" "$2" stops
	begins "${at}heap-not" "$2" -XX:+UseSerialGC heap-not
	ask_all
	finds "${at}stops" STOPPED
	says "${at}stops" 'watchdog calls Thread\.(getAllStackTraces|dumpThreads), which stops all'
	silent "${at}stops" GC
	silent "${at}heap-not" 'HEAP FULL'
	begins "${at}gc" "$2" -Xmx96m gc
	ask_all
	finds "${at}gc" GC
	silent "${at}gc" STOPPED
	begins "${at}exceptions" "$2" exceptions
	begins "${at}exceptions-not" "$2" exceptions-not
	ask_all
	finds "${at}exceptions" EXCEPTIONS
	says "${at}exceptions" 'for Problems\.parse'
	silent "${at}exceptions-not" EXCEPTIONS
}

# --- compiled code: is judged a minute after the start, so these programs start first -------------------

code_begins() { # code_begins MAJOR JAVA
	local at=$1-
	LABELS=()
	begins "${at}interpreted" "$2" -XX:CompileCommand=quiet -XX:CompileCommand=exclude,Problems::crunch interpreted
	begins "${at}interpreted-not" "$2" interpreted
	begins "${at}deopt" "$2" -XX:-OmitStackTraceInFastThrow deopt
	begins "${at}deopt-not" "$2" -XX:-OmitStackTraceInFastThrow deopt-not
	begins "${at}codecache" "$2" -XX:-UseCodeCacheFlushing -XX:ReservedCodeCacheSize=2600k codecache
	begins "${at}codecache-not" "$2" -XX:ReservedCodeCacheSize=40m codecache
	# they would compete for cores with the other programs: each is stopped until it is observed
	sleep 3
	for name in "${LABELS[@]}"; do kill -STOP "${PID_OF[$name]}"; done
	CODE=("${LABELS[@]}")
	LABELS=()
}

code() { # code MAJOR
	local at=$1- name
	LABELS=("${CODE[@]}")
	for name in "${LABELS[@]}"; do kill -CONT "${PID_OF[$name]}"; done
	sleep 3
	ask_all
	finds "${at}interpreted" INTERPRETED
	says "${at}interpreted" 'most in Problems\.crunch'
	silent "${at}interpreted-not" INTERPRETED
	finds "${at}deopt" DEOPTIMIZED
	says "${at}deopt" 'most of it from Problems\.length'
	silent "${at}deopt-not" DEOPTIMIZED
	finds "${at}codecache" 'CODE CACHE'
	says "${at}codecache" '2\.[0-9] of 2\.5 MB are in use'
	silent "${at}codecache-not" 'CODE CACHE'
}

# --- collectors, each of which has its own counters --------------------------------------------------------

collectors() { # collectors MAJOR JAVA
	local at=$1- name begun=
	for name in Parallel G1 Z Shenandoah; do
		if ! "$2" "-XX:+Use${name}GC" -version >/dev/null 2>&1; then
			skip "${at}$name: HEAP FULL" "this JDK does not have this collector"
			continue
		fi
		begins "${at}$name-heap" "$2" "-XX:+Use${name}GC" heap &&
			begins "${at}$name-heap-not" "$2" "-XX:+Use${name}GC" heap-not &&
			begun="$begun $name"
	done
	ask_all
	for name in $begun; do
		finds "${at}$name-heap" 'HEAP FULL'
		silent "${at}$name-heap-not" 'HEAP FULL'
		silent "${at}$name-heap-not" STOPPED
	done
}

# --- a cgroup with a limit ---------------------------------------------------------------------------

CGS=()
cgroup_end() {
	local cg
	test_end
	for cg in "${CGS[@]}"; do wait_for 10 rmdir "$cg" 2>/dev/null; done
}

# cgroup_begin: sets CG to a new cgroup limited to half a core; on failure sets CG_WHY
cgroup_begin() {
	local top
	CG_WHY="no cgroup with a CPU limit can be created here"
	[ "$(id -u)" = 0 ] || return 1
	top=$(awk '/ - cgroup / && /[, ]cpu(,|$)/ { print $5; exit }' /proc/self/mountinfo)
	[ -n "$top" ] || top=$(awk '/ - cgroup2 / { print $5; exit }' /proc/self/mountinfo)
	[ -n "$top" ] || return 1
	CG=$top/jhot-test-$$-${#CGS[@]}
	mkdir "$CG" 2>/dev/null || return 1
	CGS+=("$CG")
	if [ -e "$CG/cpu.cfs_quota_us" ]; then
		echo 50000 2>/dev/null >"$CG/cpu.cfs_quota_us"
	else
		[ -e "$CG/cpu.max" ] && echo "50000 100000" 2>/dev/null >"$CG/cpu.max"
	fi
}

limited() { # limited LABEL: starts the program of that name in a cgroup of its own
	cgroup_begin || return
	begins "$1" "$java" "$1"
	sleep 1 # its start is not limited
	echo "$JVM" >"$CG/cgroup.procs"
}

throttled() {
	trap cgroup_end EXIT
	if ! limited throttled || ! limited throttled-not; then
		skip "a program that its cgroup throttles" "$CG_WHY"
		return
	fi
	ask_all
	finds throttled THROTTLED
	says throttled 'limit of 0\.5 cores throttles the program in [0-9]+ % of its periods of 100 ms'
	silent throttled-not THROTTLED
}

newest=$(jdks_checked | cut -d ' ' -f 1 | sort -n | tail -n 1)
while read -r major java; do
	if [ "$major" = "$newest" ] || [ -n "${MAJORS:-}" ]; then
		code_begins "$major" "$java"
		calm "$major" "$java"
		busy "$major" "$java"
		code "$major"
	fi
	[ "$major" != 25 -a "$major" != 8 ] || collectors "$major" "$java"
	last=$java
done < <(jdks_checked) # MAJORS="8 17 21 25": on these, a minute each; else on the newest
java=$last
throttled
done_testing
