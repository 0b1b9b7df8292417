#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `jhot why` and `jhot record --why`: text, JSON against its schema, exit codes.
. "$(dirname "$0")/../jvm/lib.sh"

# why ARGUMENT...: out, err and code
why() {
	"$JHOT" why "$@" >"$T/out" 2>"$T/err" </dev/null
	code=$?
}

# by_schema: is the output what doc/why.schema.json says?
by_schema() {
	python3 "$srcdir/tests/cli/schema.py" "$srcdir/doc/why.schema.json" "$T/out"
}

why
is "without a JVM: the command line is wrong" $code 2
why 999999999
is "a JVM that is not there" $code 4

jvm_start Known threads 1
# says CODE ARGUMENT...: a busy machine may keep the look away
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
ok "nothing is wrong: code 0" wait_for 60 says 0 -d 5 "$JVM" || diag_file "$T/out"
ok "and it says so" grep -q ' s: nothing found$' "$T/out"
ok "JSON: code 0" wait_for 60 says 0 -d 5 --json "$JVM"
ok "by its schema" by_schema
ok "and no finding" python3 -c "import json, sys; sys.exit(json.load(open('$T/out'))['findings'] != [])"

# stands_meanwhile ARGUMENT...: the JVM gets no core from soon after its look begins
stands_meanwhile() {
	"$JHOT" why -d 4 "$@" "$JVM" >"$T/out" 2>"$T/err" </dev/null &
	local asking=$!
	wait_for 20 begun
	kill -STOP "$JVM"
	code=0
	wait "$asking" || code=$?
	kill -CONT "$JVM"
}
stands_meanwhile
is "a JVM that gets no core: code 11" $code 11 || diag_file "$T/out"
ok "nothing is said of it but that" grep -Eq ' [01] s: too little of [4-9] s was observed for a diagnosis$' "$T/out" || diag_file "$T/out"
ok "and what may be the cause" grep -Eq '^ *JVM [0-9]+ could be observed for only [01]\.[0-9] of [4-9] s: it got' "$T/err" || diag_file "$T/err"
jvm_end

jvm_start Problems deadlock
deadlock_found() {
	why -d 4 "$JVM"
	[ $code = 9 ] && grep -q '^DEADLOCK  .* and .* wait for each other' "$T/out"
}
ok "a deadlock: found, code 9" wait_for 60 deadlock_found || diag_file "$T/out"
ok "with who waits for whom" grep -q '^    payer-1 waits for Object, held by payer-2$' "$T/out"
ok "and where" grep -q '^      Problems.transfer, line ' "$T/out"
ok "and what to do" grep -q '^  -> ' "$T/out"
is "without a word on stderr" "$(cat "$T/err")" ""
why -d 5 --json "$JVM"
is "JSON: code 9" $code 9
ok "by its schema, too" by_schema
ok "the rule is named" python3 -c "
import json, sys
sys.exit([f['rule'] for f in json.load(open('$T/out'))['findings']].count('deadlock') != 1)"

"$JHOT" top --json -n 30 -e lock "$JVM" </dev/null 2>/dev/null | grep -m 1 '"deadlock"' >"$T/top"
ok "top --json tells the same of it" python3 - "$T/out" "$T/top" <<'PYTHON'
import json, sys
found = [next(f for f in json.load(open(path))["findings"] if f["rule"] == "deadlock") for path in sys.argv[1:]]
for key in "rule", "grade", "look":
    if found[0][key] != found[1][key]:
        sys.exit("%s: %r, %r" % (key, found[0][key], found[1][key]))
if found[0].keys() != found[1].keys():
    sys.exit("%r: %r" % tuple(found))
PYTHON

ok "record --why" "$JHOT" record --why -e lock -d 6 -o "$T/x.collapsed" "$JVM" 2>"$T/err" </dev/null
ok "tells it, too" grep -q '^DEADLOCK  payer-[12] and payer-[12] wait' "$T/err" || diag_file "$T/err"
ok "and what is not looked for" grep -q '^not checked: exceptions' "$T/err"

# ends_meanwhile: the JVM ends while it is looked at, after it has been seen for some seconds
ends_meanwhile() {
	"$JHOT" why -d 60 "$JVM" >"$T/out" 2>"$T/err" </dev/null &
	local asking=$!
	wait_for 20 begun
	sleep 4 # a deadlock is one after two
	jvm_end
	code=0
	wait "$asking" || code=$?
}
ends_meanwhile
is "what was found before the JVM ended: code 9" $code 9
ok "is told" grep -q '^DEADLOCK  payer-[12] and payer-[12] wait' "$T/out" || diag_file "$T/out"
ok "and that it ended" grep -Eq '^JVM [0-9]+ ended after [0-9.]+ of 60 s\.$' "$T/err" || diag_file "$T/err"
jvm_start -Xmx64m Problems throttled-not
ends_meanwhile
is "nothing found before it ended: code 8" $code 8
ok "says so" grep -q 'of 60 s; nothing had been found by then' "$T/err" || diag_file "$T/err"
ok "events that were on until then were looked at" not grep -q '^not looked for.*is not sampled' "$T/out" || diag_file "$T/out"
done_testing
