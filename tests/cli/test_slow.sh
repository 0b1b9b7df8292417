#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `jhot slow` beside a program that times its own calls: counts, percentiles, causes; errors; what remains in the target; threads that
# end and processes that are started meanwhile; seccomp filters.
. "$(dirname "$0")/../jvm/lib.sh"

# slow ARGUMENT...: runs jhot slow of $JVM; sets status; output and errors are in $T/out and $T/err
slow() {
	run slow "$@" "$JVM"
}

# compare CHECK: compares the report $T/out with the calls that the program printed
compare() {
	python3 "$srcdir/tests/cli/slow.py" "$T/out" "$JVM_OUT" "$@"
}

# silent: the JVM has written nothing but its own warning about agents, and the program no error
silent() {
	! grep -qv '^WARNING: ' "$JVM_ERR" && ! grep -q WRONG "$JVM_OUT"
}

# whole: the program's output is complete, and nothing else is in it
whole() {
	[ "$(grep -c '^call [0-9]* [0-9]*$' "$JVM_OUT")" = "$(sed -n 's/^sum //p' "$JVM_OUT")" ] &&
		[ "$(grep -vc '^call [0-9]* [0-9]*$' "$JVM_OUT")" = 2 ]
}

# unharmed NAME: ends the JVM and checks its output
unharmed() {
	jvm_end
	is "$1: the JVM exits with 0" $? 0
	ok "$1: the program's output is unchanged" whole
	ok "$1: the JVM has written no errors" silent || diag_file "$JVM_ERR"
}

# mapped PID: the number of its mappings
mapped() {
	wc -l <"/proc/$1/maps"
}

no_perf() {
	! grep -q perf_event "/proc/$1/maps"
}

# --- beside the truth --------------------------------------------------------------------------------

# measured KIND: measures a program of this kind, and compares
measured() {
	local name="JDK $major, $1"
	jvm_start $CALM_JVM Called "$1" || return
	slow -d 0.5 Called.handle # what a first session leaves
	wait_for 20 quiet "$JVM"
	litter "$JVM" >"$T/before"
	slow --json --calls -d "${SECONDS_EACH:-6}" Called.handle
	is "$name: slow exits with 0" $status 0 || diag_file "$T/err"
	becomes_quiet "$name: sampling ends" "$JVM"
	litter "$JVM" >"$T/after"
	[ "$1" != pool ] || same "$name: nothing more remains in the JVM" "$T/after" "$T/before"
	ok "$name: no memory of perf events remains" no_perf "$JVM"
	unharmed "$name"
	[ "$1" = brief ] || # the first calls of a thread are not seen
		ok "$name: the number of calls is within 10 %" compare calls
	ok "$name: the 99th percentile is within an interval or 10 %" compare p99
	ok "$name: slow calls wait for the lock" compare lock
	ok "$name: at most the last call of each thread is in progress" compare lasting
}

# Calls that no poll finds are counted, because breakpoints follow the method's compiled code.
tiny() {
	local name="JDK $major, calls of 20 us"
	jvm_start $CALM_JVM Called tiny || return
	slow --json --calls -d 4 Called.touch
	unharmed "$name"
	ok "$name: the number of calls is within 20 %" compare calls
}

# Threads that live as long as one call are rarely seen; the JVM must not notice, and calls must not be said to last.
storm() {
	local name="JDK $major, a thread per call"
	jvm_start Called storm || return
	slow --json --calls -d 4 Called.handle
	ok "$name: slow reports calls, or that it has seen none" [ $status -le 1 ]
	ok "$name: calls of threads that have ended are not in progress" compare lasting
	becomes_quiet "$name: sampling ends" "$JVM"
	ok "$name: no memory of perf events remains" no_perf "$JVM"
	unharmed "$name"
}

# --- many sessions -----------------------------------------------------------------------------------

sessions() {
	local name="JDK $major, ${SESSIONS:=20} sessions" i failed=0 none=0 rss maps
	jvm_start $CALM_JVM Called pool || return
	for i in 1 2 3 4 5; do
		slow -d 0.5 Called.handle
	done
	wait_for 20 quiet "$JVM"
	rss=$(rss_kb "$JVM") maps=$(mapped "$JVM")
	litter "$JVM" >"$T/before"
	for ((i = 0; i < SESSIONS; i++)); do
		slow -d 0.5 Called.handle
		case $status in
		0) ;;
		1) none=$((none + 1)) ;; # half a second of a busy machine may be too short for a call
		*) failed=$((failed + 1)) ;;
		esac
	done
	is "$name: each ends well" $failed 0 || diag_file "$T/err"
	ok "$name: most report calls ($none do not)" [ $none -le $((SESSIONS / 4)) ]
	becomes_quiet "$name: sampling ends" "$JVM"
	litter "$JVM" >"$T/after"
	same "$name: nothing more remains in the JVM" "$T/after" "$T/before"
	diag "$name: RSS $rss kB before, $(rss_kb "$JVM") kB after; mappings $maps, $(mapped "$JVM")"
	ok "$name: the JVM's memory has not grown" [ "$(rss_kb "$JVM")" -le $((rss + 3000)) ]
	ok "$name: its mappings are not more" [ "$(mapped "$JVM")" -le $((maps + 3)) ]
	unharmed "$name"
}

# killed: jhot slow is killed while it measures
killed() {
	local name="JDK $major, slow is killed" measuring
	jvm_start $CALM_JVM Called pool || return
	slow -d 0.5 Called.handle
	wait_for 20 quiet "$JVM"
	litter "$JVM" >"$T/before"
	"$JHOT" slow -d 60 Called.handle "$JVM" >/dev/null 2>&1 </dev/null &
	measuring=$!
	ok "$name: breakpoints are set" wait_for 20 not no_perf "$JVM"
	{
		kill -KILL $measuring
		wait $measuring
	} 2>/dev/null
	becomes_quiet "$name: sampling ends" "$JVM"
	litter "$JVM" >"$T/after"
	same "$name: nothing more remains in the JVM" "$T/after" "$T/before"
	ok "$name: no memory of perf events remains" no_perf "$JVM"
	unharmed "$name"
}

# --- errors ------------------------------------------------------------------------------------------

errors() {
	jvm_start Called pool || return
	slow -d 0.3 Called.nosuch
	is "an unknown method: slow exits with 1" $status 1
	ok "an unknown method: the error names it" grep -q 'No call of Called.nosuch was seen' "$T/err"
	ok "an unknown method: a hint says how methods are named" grep -q 'Gateway.handle' "$T/err"
	is "an unknown method: no report is printed" "$(cat "$T/out")" ""
	slow -d 0.3 Called.never
	is "a method that is not called: slow exits with 1" $status 1
	slow -d 0.3 lled.handle
	is "the end of a class's name is not its name" $status 1
	run slow Called.handle
	is "without a JVM: slow exits with 2" $status 2
	run slow Called.handle 999999999
	is "a pid without a process: slow exits with 4" $status 4
	slow -d 1 -i 0 Called.handle
	is "an interval of 0: slow exits with 2" $status 2

	record_start -d 60 -o "$T/x.collapsed"
	wait_for 30 has_samples "$JVM" 1
	cp "$T/err" "$T/record.err"
	slow -d 1 Called.handle
	ok "another jhot has the session: slow fails" [ $status -ne 0 ]
	ok "another jhot has the session: the error says so" grep -qi 'another\|already' "$T/err" || diag_file "$T/err"
	ok "another jhot has the session: that one goes on" alive $RECORD_PID
	record_end
	is "the other session ends well" $? 0
	unharmed "after errors"

	jvm_start Called pool || return
	"$JHOT" slow --json --calls -d 60 Called.handle "$JVM" >"$T/out" 2>"$T/err" </dev/null &
	local measuring=$!
	sleep 3
	jvm_end
	wait $measuring
	is "the JVM ends meanwhile: slow exits with 0" $? 0 || diag_file "$T/err"
	ok "the JVM ends meanwhile: the calls until then are reported" compare calls
}

# --- filters -----------------------------------------------------------------------------------------

# filtered NAME FILTER: the JVM gets a seccomp filter, then its calls are measured
filtered() {
	local name="$1"
	jvm_start -agentpath:"$builddir/tests/places/libconfine.so=$T/filter" -Xmx64m -XX:+UseSerialGC Called pool || return
	jvm_warm_attach "$JVM"
	echo "$2" >"$T/filter.new"
	mv "$T/filter.new" "$T/filter"
	wait_for 20 not [ -e "$T/filter" ]
	slow --json --calls -d 4 Called.handle
	is "$name: slow exits with 0" $status 0 || diag_file "$T/err"
	unharmed "$name"
	ok "$name: the number of calls is within 20 %" compare calls
	ok "$name: the 99th percentile is within an interval or 10 %" compare p99
}

OWN_JAVA=$JAVA
while read -r major JAVA; do
	measured pool
	measured brief
	measured renamed
	measured spawn
	tiny
	storm
	killed
	sessions
done < <(jdks_checked)
JAVA=$OWN_JAVA
errors
if "$builddir/tests/places/confine" true 2>/dev/null; then
	filtered "perf_event_open, killed" kill=perf_event_open
	filtered "ioctl, killed" kill=ioctl
	filtered "perf_event_open, EPERM" errno=1:perf_event_open
	filtered "perf events and timers, ENOSYS" errno=38:perf_event_open,timer_create
else
	skip "seccomp filters" "seccomp filters cannot be set here"
fi
done_testing
