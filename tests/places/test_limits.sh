#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# JVMs near a limit: attaching does not end them. Below what limits.c demands, jhot refuses and names the limit; above
# it, sampling works, and leaves the program a part of the rest. Each JVM has a control, a second JVM at the same limit
# without jhot.
#
# check runs the rows that ended the JVM before jhot checked these limits. LIMITS=all (make limits-check) runs all of them,
# on all JDKs. The limits of threads, descriptors and containers are rows of test_places.sh.
. "$(dirname "$0")/../jvm/lib.sh"

crowd=$builddir/tests/places/libcrowd.so
[ -e "$crowd" ] || skip_all "no libcrowd.so (make check builds it)"
setpriv --bounding-set -ipc_lock true 2>/dev/null || skip_all "only root can drop CAP_IPC_LOCK"

# start FILE: a JVM without CAP_IPC_LOCK, whose native code waits for FILE
start() {
	JVM_AS="setpriv --bounding-set -ipc_lock --inh-caps -ipc_lock" \
		jvm_start "-agentpath:$crowd=$1" -Xmx64m -XX:+UseSerialGC Known shares
}

# status_kb NAME: this field of $JVM's /proc/PID/status
status_kb() {
	awk -v name="$1:" '$1 == name { print $2 }' "/proc/$JVM/status"
}

# limit KIND LEFT: sets a limit of $JVM that leaves it LEFT kB or mappings
limit() {
	case $1 in
	data) prlimit --pid "$JVM" --data=$((($(status_kb VmData) + $2) * 1024)) ;;
	as) prlimit --pid "$JVM" --as=$((($(status_kb VmSize) + $2) * 1024)) ;;
	memlock) crowd lock && prlimit --pid "$JVM" --memlock=$((($(status_kb VmLck) + $2) * 1024)) ;;
	maps) crowd "maps $2" ;;
	esac
}

# crowd COMMAND: has $JVM's native code execute it
crowd() {
	echo "$1" >"$T/new"
	mv "$T/new" "$FILE"
	wait_for 60 not [ -e "$FILE" ]
}

# row KIND LEFT refused|works: on a JVM that has no attach listener yet
row() {
	local name="JDK $major: $1, $2 left" control
	FILE=$T/crowd.control
	start "$FILE" && limit "$1" "$2"
	control=$JVM
	FILE=$T/crowd.jhot
	start "$FILE" && limit "$1" "$2"
	run record -e "${EVENTS:-cpu}" -d 0.5 -o "$T/x.collapsed" "$JVM"
	ok "$name: the JVM lives" alive "$JVM" || diag_file "$JVM_ERR"
	is "$name: the JVM writes nothing but JEP 451's warnings to stderr" "$(grep -v '^WARNING: ' "$JVM_ERR")" ""
	if [ "$3" = refused ]; then
		is "$name: jhot refuses to attach" $status 3
		ok "$name: the error names the limit" grep -q "near its limit of" "$T/err" || diag_file "$T/err"
	else
		is "$name: jhot record exits with 0" $status 0 || diag_file "$T/err"
	fi
	ok "$name: a second JVM at this limit, without jhot, lives" alive "$control"
	printf '%-8s %8s   %-8s %s\n' "$1" "$2" "$([ $status = 0 ] && echo works || echo refused)" \
		"$(sed -n '/What happened/,/^$/p' "$T/err" | tail -n +2 | tr -s ' \n' ' ')" | sed 's/^/# /'
	jvm_kill
	JVM=$control
	jvm_kill
}

major=$(java_major "$JAVA")
if [ "${LIMITS:-}" != all ]; then
	row data 600 refused
	row maps 40 refused
	row memlock 600 refused
	done_testing
	exit
fi
while read -r major JAVA <&3; do
	for left in 100 600 1000 4000 50000 90000; do
		row data $left refused
	done
	row data 130000 works # twice what a session and the listener may need
	for left in 4 10 20 40 60 100; do
		row maps $left refused
	done
	row maps 150 works
	for left in 600 4000 50000 90000; do
		row as $left refused
	done
	row as 210000 works # 64 MB of it an arena of glibc's for the listener
	for left in 100 600 4000 7000; do
		row memlock $left refused
	done
	EVENTS=cpu,lock,wall row data 700000 works
done 3< <(jdks)
done_testing
