#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make soak: a sample per millisecond on several programs, one after the other; each must live and be right.
#
#   SECONDS_EACH=60   how long each is sampled          INTERVAL=1ms
#   JAVA=...          the JVM                           PROGRAMS="..."  lines of the table below
#   WORKLOADS=DIR     also DIR/{javac,h2,clojure}.sh: scripts that start a JVM for DUR seconds, print
#                     "NAME: pid PID" on stderr and keep its output in $JWORK/run/NAME/{out,err}
. "$(dirname "$0")/../jvm/lib.sh"

SECONDS_EACH=${SECONDS_EACH:-60}
INTERVAL=${INTERVAL:-1ms}
failed=0

programs() {
	cat <<'END'
Compile 40 2
Known shares
Known threads 8
Known deep 400
Known zip
Known churn 4
END
}

# report NAME VERDICT
report() {
	local samples lost
	samples=$(weight "$T/soak.collapsed" .)
	lost=$(sed -n 's/.*[^0-9]\([0-9][0-9]*\) lost.*/\1/p' "$T/err" | tail -n 1)
	printf '%-22s %9s %7s %8s  %s\n' "$1" "$samples" "${lost:-0}" "$before_kb+$(($after_kb - $before_kb))" "$2"
	[ "$2" = "alive and right" ] || failed=1
}

# sample PID: records it; memory before and after
sample() {
	before_kb=$(rss_kb "$1")
	: >"$T/soak.collapsed"
	"$JHOT" record -i "$INTERVAL" -d "$SECONDS_EACH" -o "$T/soak.collapsed" "$1" >"$T/out" 2>"$T/err" </dev/null
	record_status=$?
	after_kb=$(rss_kb "$1" 2>/dev/null || echo 0)
}

soak_own() {
	local verdict='alive and right'
	# shellcheck disable=SC2086
	jvm_start -Xmx512m $1 || { failed=1; return; }
	sample "$JVM"
	alive "$JVM" || verdict='THE JVM DIED'
	[ $record_status = 0 ] || verdict="jhot failed: $(head -c 200 "$T/err")"
	jvm_end || verdict="THE JVM ENDED WITH $?"
	grep -q '^sum ' "$JVM_OUT" && ! grep -q WRONG "$JVM_OUT" || verdict='WRONG OUTPUT'
	grep -v '^WARNING: ' "$JVM_ERR" | grep -q . && verdict="STDERR: $(grep -v '^WARNING: ' "$JVM_ERR" | head -n 2)"
	report "$1" "$verdict"
}

soak_workload() {
	local script=$1 name pid verdict='alive and right' run
	name=$(basename "$script" .sh)
	DUR=$((SECONDS_EACH + 20)) "$script" >"$T/$name.out" 2>"$T/$name.err" &
	local started=$!
	wait_for 60 grep -q "$name: pid" "$T/$name.err" || { kill $started; report "$name" "did not start"; return; }
	pid=$(sed -n "s/^$name: pid \([0-9]*\).*/\1/p" "$T/$name.err" | tail -n 1)
	run=${JWORK:-$HOME/.cache/jhot/workloads}/run/$name
	sample "$pid"
	[ $record_status = 0 ] || [ $record_status = 8 ] || verdict="jhot failed: $(head -c 200 "$T/err")"
	# a program that ends by itself (javac) is started anew: it must have ended well
	grep -qE 'ended by itself|SIGSEGV|SIGBUS|fatal error has been detected' "$T/$name.err" "$run/out" "$run/err" &&
		verdict='THE JVM DIED'
	[ $record_status = 8 ] || alive "$pid" || verdict='THE JVM DIED'
	kill $started 2>/dev/null
	wait $started 2>/dev/null
	report "$name" "$verdict"
}

printf '%-22s %9s %7s %8s  %s\n' program samples lost 'RSS kB' verdict
while read -r program; do
	soak_own "$program"
done < <(if [ -n "${PROGRAMS:-}" ]; then echo "$PROGRAMS"; else programs; fi)
for script in ${WORKLOADS:+"$WORKLOADS"/{javac,h2,clojure}.sh}; do
	[ -x "$script" ] && soak_workload "$script"
done
exit $failed
