#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `jhot why` and `jhot record --why`: text, JSON against its schema, exit codes.
. "$(dirname "$0")/../jvm/lib.sh"

# why ARGUMENT...: runs jhot why; sets code; output and errors are in $T/out and $T/err
why() {
	"$JHOT" why "$@" >"$T/out" 2>"$T/err" </dev/null
	code=$?
}

# by_schema: the output conforms to doc/why.schema.json
by_schema() {
	python3 "$srcdir/tests/cli/schema.py" "$srcdir/doc/why.schema.json" "$T/out"
}

why
is "why without a JVM exits with 2" $code 2
why 999999999
is "why with a pid without a process exits with 4" $code 4

jvm_start Known threads 1
# says CODE ARGUMENT...: why exits with CODE; to be repeated, because on a busy machine observation may fail
says() {
	local wanted=$1
	shift
	why "$@"
	[ $code = "$wanted" ]
}
# begun: true once the JVM is being sampled
begun() {
	grep -q 'jhot lock' /proc/"$JVM"/task/*/comm
}
ok "why exits with 0 when nothing is wrong" wait_for 60 says 0 -d 5 "$JVM" || diag_file "$T/out"
ok "why prints that nothing was found" grep -q ' s: nothing found$' "$T/out"
ok "why --json exits with 0 when nothing is wrong" wait_for 60 says 0 -d 5 --json "$JVM"
ok "the JSON of why conforms to its schema" by_schema
ok "the JSON of why has no findings when nothing is wrong" python3 -c "import json, sys; sys.exit(json.load(open('$T/out'))['findings'] != [])"

# stopped_meanwhile ARGUMENT...: the JVM is stopped soon after the observation begins
stopped_meanwhile() {
	"$JHOT" why -d 4 "$@" "$JVM" >"$T/out" 2>"$T/err" </dev/null &
	local asking=$!
	wait_for 20 begun
	kill -STOP "$JVM"
	code=0
	wait "$asking" || code=$?
	kill -CONT "$JVM"
}
stopped_meanwhile
is "why exits with 11 if the JVM is stopped for most of the time" $code 11 || diag_file "$T/out"
ok "why says that too little was observed" grep -Eq ' [01] s: too little of [4-9] s was observed for a diagnosis$' "$T/out" || diag_file "$T/out"
ok "the error says for how long the JVM could be observed" grep -Eq '^ *JVM [0-9]+ could be observed for only [01]\.[0-9] of [4-9] s: it got' "$T/err" || diag_file "$T/err"
jvm_end

jvm_start Problems deadlock
deadlock_found() {
	why -d 4 "$JVM"
	[ $code = 9 ] && grep -q '^DEADLOCK  .* and .* wait for each other' "$T/out"
}
ok "why finds a deadlock and exits with 9" wait_for 60 deadlock_found || diag_file "$T/out"
ok "why shows who waits for whom" grep -q '^    payer-1 waits for Object, held by payer-2$' "$T/out"
ok "why shows where a thread waits" grep -q '^      Problems.transfer, line ' "$T/out"
ok "why shows advice" grep -q '^  -> ' "$T/out"
is "why writes nothing to stderr" "$(cat "$T/err")" ""
why -d 5 --json "$JVM"
is "why --json exits with 9 on a deadlock" $code 9
ok "the JSON of a deadlock conforms to its schema" by_schema
ok "the JSON has the rule deadlock once" python3 -c "
import json, sys
sys.exit([f['rule'] for f in json.load(open('$T/out'))['findings']].count('deadlock') != 1)"

"$JHOT" top --json -n 30 -e lock "$JVM" </dev/null 2>/dev/null | grep -m 1 '"deadlock"' >"$T/top"
ok "top --json has the same keys, rule and grade as why" python3 - "$T/out" "$T/top" <<'PYTHON'
import json, sys
found = [next(f for f in json.load(open(path))["findings"] if f["rule"] == "deadlock") for path in sys.argv[1:]]
for key in "rule", "grade", "look":
    if found[0][key] != found[1][key]:
        sys.exit("%s: %r, %r" % (key, found[0][key], found[1][key]))
if found[0].keys() != found[1].keys():
    sys.exit("%r: %r" % tuple(found))
PYTHON

ok "record --why exits with 0" "$JHOT" record --why -e lock -d 6 -o "$T/x.collapsed" "$JVM" 2>"$T/err" </dev/null
ok "record --why reports the deadlock" grep -q '^DEADLOCK  payer-[12] and payer-[12] wait' "$T/err" || diag_file "$T/err"
ok "record --why lists rules that it did not check" grep -q '^not checked: exceptions' "$T/err"

# ends_meanwhile: the JVM ends after it has been observed for some seconds
ends_meanwhile() {
	"$JHOT" why -d 60 "$JVM" >"$T/out" 2>"$T/err" </dev/null &
	local asking=$!
	wait_for 20 begun
	sleep 4 # a deadlock is reported after two
	jvm_end
	code=0
	wait "$asking" || code=$?
}
ends_meanwhile
is "why exits with 9 if the JVM ends after a deadlock was found" $code 9
ok "why reports the deadlock although the JVM has ended" grep -q '^DEADLOCK  payer-[12] and payer-[12] wait' "$T/out" || diag_file "$T/out"
ok "why reports that the JVM ended, and after which time" grep -Eq '^JVM [0-9]+ ended after [0-9.]+ of 60 s\.$' "$T/err" || diag_file "$T/err"
jvm_start -Xmx64m Problems throttled-not
ends_meanwhile
is "why exits with 8 if the JVM ends before anything was found" $code 8
ok "the error says that nothing had been found by then" grep -q 'of 60 s; nothing had been found by then' "$T/err" || diag_file "$T/err"
ok "events that were sampled until the JVM ended are not listed as unchecked" not grep -q '^not checked.*is not sampled' "$T/out" || diag_file "$T/out"
done_testing
