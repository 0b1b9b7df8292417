#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Measured calls in files, beside the program that times its own calls: events of .jfr, the page, and files of the slow calls alone.
. "$(dirname "$0")/../jvm/lib.sh"

# convert FILE OPTION...: writes $T/FILE from the recording
convert() {
	run convert -o "$T/$1" "${@:2}" "$T/a.jhot"
}

# checked KIND FILE: compares a file with the calls that the program printed
checked() {
	python3 "$srcdir/tests/cli/calls.py" "$T/truth" "$1" "$2"
}

# only_threads PATTERN REPORT: all calls of the report are in threads whose names match
only_threads() {
	python3 -c 'import fnmatch, json, sys
threads = {call["thread"] for call in json.load(open(sys.argv[2]))["every"]}
print("#", threads)
sys.exit(not threads or any(not fnmatch.fnmatchcase(thread, sys.argv[1]) for thread in threads))' "$@"
}

# between FROM TO REPORT: all slow calls have durations between FROM and TO ms
between() {
	python3 -c 'import json, sys
low, high, report = float(sys.argv[1]), float(sys.argv[2]), json.load(open(sys.argv[3]))
calls = report["slowest"]
print("#", len(calls), "calls, from", report["slow_from_ms"], "ms")
sys.exit(not calls or any(not low <= call["duration_ms"] < high for call in calls))' "$@"
}

jvm_start $CALM_JVM Called pool || exit 1
run record --latency Called.handle -d 8 -o "$T/a.jhot" "$JVM"
is "record exits with 0" $status 0 || diag_file "$T/err"
jvm_end
is "the JVM exits with 0" $? 0
cp "$JVM_OUT" "$T/truth"

jvm_start $CALM_JVM Called pool || exit 1
run slow -d 4 --longer 100ms -o "$T/live.collapsed" --total Called.handle "$JVM"
is "slow -o exits with 0" $status 0 || diag_file "$T/err"
ok "and prints its report" grep -q 'SLOWEST CALLS' "$T/out"
ok "with the call tree" grep -q 'CALL TREE' "$T/out"
ok "whose difference is marked as significant" grep -q '^\* .*\[lock\]' "$T/out" || diag_file "$T/out"
ok "slow -o writes the stacks of slow calls" grep -q 'Called.handle.*waits for' "$T/live.collapsed"
ok "and only them" not grep -qv 'Called.handle' "$T/live.collapsed"
jvm_end
is "the JVM exits with 0 again" $? 0

if convert a.jfr && [ -x "$(dirname "$JAVA")/jfr" ]; then
	"$(dirname "$JAVA")/jfr" print --json --events jhot.MethodCall "$T/a.jfr" >"$T/events.json"
	ok "the JDK's jfr reads an event per call, with duration and cause" checked jfr "$T/events.json"
else
	skip "the JDK's jfr reads an event per call" "this JDK has no jfr"
fi
convert a.html
ok "the page has percentiles, a histogram, and what slow calls do" checked page "$T/a.html"
if command -v chromium >/dev/null; then
	# The script moves the section from the static page into the list.
	chromium --headless --no-sandbox --disable-gpu --virtual-time-budget=5000 --dump-dom "file://$T/a.html#v=latency" >"$T/dom" 2>/dev/null
	ok "its tab shows them" grep -q 'id="list"[^>]*><div[^>]*><section id="latency">' "$T/dom"
else
	skip "its tab shows them" "there is no chromium"
fi
convert slow.collapsed -e wall --total --longer 100ms
ok "--longer: the stacks and the time of the slow calls alone" checked stacks "$T/slow.collapsed"
for file in slow.svg slow.html slow.jfr slow.pb.gz slow.otlp slow.speedscope.json slow.jhot; do
	convert $file --longer p99
	is "$file of the slow calls" $status 0 || diag_file "$T/err"
done
run slow --json --calls "$T/slow.jhot"
ok "a recording of the slow calls has them" between 100 1000 "$T/out"
run view --longer 100ms --dump-screen 100x30 "$T/a.jhot"
ok "jhot view --longer shows them" grep -q 'handle' "$T/out" || diag_file "$T/out"
run diff --longer 100ms "$T/a.jhot" "$T/a.jhot"
is "jhot diff --longer compares them" $status 0 || diag_file "$T/err"

run slow --json --calls --longer 100ms --shorter 1s "$T/a.jhot"
ok "a range of durations selects the slow calls of the report" between 100 1000 "$T/out"
run slow --json --calls --longer 10ms --shorter 100ms "$T/a.jhot"
ok "and any other range" between 10 100 "$T/out"
run slow --json --calls --only-threads 'caller-[12]' "$T/a.jhot"
is "a pattern that matches no thread: slow exits with 1" $status 1
run slow --json --calls --only-threads 'caller-2' "$T/a.jhot"
ok "--only-threads selects by name" only_threads caller-2 "$T/out"
run slow --json --calls --only-threads 'caller-*' "$T/a.jhot"
ok "also by pattern" only_threads 'caller-*' "$T/out"

run slow --longer 7days "$T/a.jhot"
is "--longer with neither a duration nor a percentile: exits with 2" $status 2
run slow --longer 100ms --shorter 50ms "$T/a.jhot"
is "an empty range: exits with 2" $status 2
run convert --longer 1h -o "$T/none.svg" "$T/a.jhot"
is "no call is so slow: exits with 1" $status 1
ok "and the error says so" grep -q 'no call of .*handle that takes' "$T/err" || diag_file "$T/err"
ok "without a file" not [ -e "$T/none.svg" ]
run convert --longer 1ms -o "$T/none.svg" "$T/slow.svg"
is "a file that jhot does not read: an error" $([ $status -ne 0 ]; echo $?) 0
done_testing
