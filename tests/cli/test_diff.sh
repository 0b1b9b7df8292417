#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `jhot diff`: its table, JSON against its schema, files, exit codes and errors.
. "$(dirname "$0")/../jvm/lib.sh"

run() {
	"$JHOT" diff "$@" >"$T/out" 2>"$T/err" </dev/null
	status=$?
}

by_schema() {
	python3 "$srcdir/tests/cli/schema.py" "$srcdir/doc/diff.schema.json" "$T/out"
}

# profile NAME WORK MORE: a profile whose method work has WORK samples, with the additional lines MORE
profile() {
	cat >"$T/$1" <<END
main;a/Main.run;a/Main.work_[j] $2
main;a/Main.run;a/Main.rest_[j] 6000
start_thread;call_stub;main;a/Main.run;a/Main\$\$Lambda/0x$RANDOM.apply 800
$3
END
}
profile a1.collapsed 3000 'main;a/Main.run;a/Old.gone 200'
profile a2.collapsed 3030 'main;a/Main.run;a/Old.gone 202'
profile a3.collapsed 2970 'main;a/Main.run;a/Old.gone 198'
profile b1.collapsed 6000 'main;a/Main.run;a/New.came 210'
profile b2.collapsed 6020 'main;a/Main.run;a/New.came 200'
profile b3.collapsed 5980 'main;a/Main.run;a/New.came 190'
cd "$T" || exit 1

# --- the table ---
run a1.collapsed b1.collapsed
is "diff of two recordings exits with 0" $status 0
ok "diff says that it compares shares of the total" grep -q '^samples, compared as a share of the total$' out
ok "a method with a larger share has a significant positive delta" grep -Eq '^ +30\.0 +46\.1 +\+16\.1\* .* a\.Main\.work$' out || diag_file out
ok "a method that is missing in B is marked as gone" grep -Eq '^ +2\.0 +0\.0 +-2\.0\* .* gone a\.Old\.gone$' out
ok "a method that is missing in A is marked as new" grep -Eq '^ +0\.0 +1\.6 +\+1\.6\* .* new  a\.New\.came$' out
ok "frames at the start of threads have no row" not grep -Eq 'start_thread|call_stub' out || diag_file out
ok "lambdas of one method share a row" [ "$(grep -c 'Lambda' out)" = 1 ]
ok "a note says what one recording per side does not show" grep -q '^One recording per side does not show' out
is "diff writes nothing to stderr" "$(cat err)" ""
run a1.collapsed a2.collapsed a3.collapsed -- b1.collapsed b2.collapsed b3.collapsed
ok "diff of three recordings per side shows their number and samples" grep -Eq '^A  a1.collapsed a2.collapsed a3.collapsed: 3 recordings, 30000 samples$' out || diag_file out
ok "diff of three recordings per side reports how much they vary" grep -Eq '^Recordings of the same side vary by [0-9.]+ % in addition to chance\.$' out
ok "diff of three recordings per side finds the method with a larger share" grep -Eq "\+16\.[12]\* .* a\.Main\.work$" out

awk '{ $NF *= 2; print }' a1.collapsed >double.collapsed
run a1.collapsed double.collapsed
ok "diff with the same recording doubled finds no significant difference" grep -q '^No statistically significant difference' out
is "diff with the same recording doubled has no rows" "$(grep -c 'a\.Main' out)" 0
run --mode raw a1.collapsed double.collapsed
ok "--mode raw finds twice the samples" grep -Eq '^samples, compared as raw counts: 10000.0 samples -> 20000.0 samples, \+100\.0 % .* \*$' out || diag_file out
run --rows 1 a1.collapsed a2.collapsed
ok "--rows 1 prints at most one row" [ "$(grep -c ' a\.' out)" -le 1 ]
run -I Lambda a1.collapsed b1.collapsed
ok "-I keeps only stacks that have a matching frame" grep -q '^A  a1.collapsed: 800 samples$' out

# --- exit codes ---
run --fail-over 3% a1.collapsed b1.collapsed
is "--fail-over exits with 10 when a method got slower by more" $status 10
ok "--fail-over prints the method that got slower" grep -q '^Slower by more than 3 %: a\.Main\.work, by 16\.1 % of the total\.$' out || diag_file out
is "--fail-over writes nothing to stderr" "$(cat err)" ""
run --fail-over 20% a1.collapsed b1.collapsed
is "--fail-over exits with 0 when no method got slower by more" $status 0
run --mode raw --fail-over 3% b1.collapsed a1.collapsed
is "--fail-over exits with 0 when the method got faster" $status 0
run --fail-over 0 a1.collapsed a2.collapsed
is "--fail-over 0 exits with 0 when differences are due to chance" $status 0

# --- JSON ---
run --json --fail-over 3% a1.collapsed b1.collapsed
is "--json with --fail-over exits with 10" $status 10
ok "the JSON of diff conforms to its schema" by_schema
ok "the JSON of diff has the right figures" python3 - out <<'PYTHON'
import json, sys
d = json.load(open(sys.argv[1]))
rows = {m["name"]: m for m in d["methods"]}
work = rows["a.Main.work"]["self"]
assert d["slower"] and d["mode"] == "share" and d["unit"] == "samples"
assert abs(work["a"] - 0.3) < 1e-6 and work["a_samples"] == 3000 and work["b_samples"] == 6000 and work["sure"]
assert rows["a.Old.gone"]["only"] == "gone" and rows["a.New.came"]["only"] == "new"
assert rows["main"]["only"] is None and not rows["main"]["total"]["sure"]
PYTHON

# --- files ---
run -o d.collapsed -o d.txt a1.collapsed b1.collapsed
is "diff -o with two files exits with 0" $status 0
is "the text file has the table that is printed" "$(cat d.txt)" "$(cat out)"
ok "the collapsed file has the values of A and B for each stack" grep -Eq '^main;a/Main.run;a/Main.work 39[0-9]{2} 6000$' d.collapsed || diag_file d.collapsed
is "the collapsed file has the same total for A and B" "$(awk '{ a += $(NF - 1); b += $NF } END { print a, b }' d.collapsed)" "13010 13010"
ok "stacks that are gone or new have a 0 in the collapsed file" [ "$(grep -Ec ' (0 [0-9]+|[0-9]+ 0)$' d.collapsed)" = 2 ]
run --mode raw -o raw.collapsed a1.collapsed b1.collapsed
ok "--mode raw writes unscaled counts" grep -q '^main;a/Main.run;a/Main.work 3000 6000$' raw.collapsed
ok "jhot convert reads the collapsed file of a diff" "$JHOT" convert -e before -o - raw.collapsed

# --- in the live view ---
run --view --ascii --dump-screen 110x24 a1.collapsed b1.collapsed
is "diff --view exits with 0" $status 0
ok "the view of a diff shows B's share and its change" grep -Eq '^[> ] 46\.1 +[0-9.]+ +\+16\.1 +46\.1 +\+16\.1 .* a\.Main\.work' out || diag_file out
ok "the view of a diff shows a method that is gone" grep -Eq -- '-2\.0 .* a\.Old\.gone' out
ok "the view of a diff is titled B vs A" grep -q ' B vs A ' out
ok "the view of a diff shows no uptime" not grep -q ' up ' out
run --view --ascii --dump-screen 110x24 --keys f a1.collapsed b1.collapsed
ok "the flame graph of a diff shows the change of a frame" grep -q 'work 46% +16.1' out || diag_file out
run --view --ascii --dump-screen 110x24 --keys fD a1.collapsed b1.collapsed
ok "key D in the flame graph hides the change" not grep -q 'work 46% +' out || diag_file out
run --view --ascii --dump-screen 110x24 --keys D a1.collapsed b1.collapsed
ok "key D in the methods shows B's share" grep -Eq '^[> ] 46\.1 .* a\.Main\.work' out
ok "key D in the methods hides the column DELTA" [ "$(grep -c 'DELTA' out)" = 0 ]

# --- files of different formats ---
sed 's/main;a/main;malloc;a/' a1.collapsed >n.collapsed
"$JHOT" convert -o n.jfr n.collapsed 2>err
run n.collapsed n.jfr
ok "diff of one profile in two formats finds no significant difference" grep -q '^No statistically significant difference' out || diag_file out

# --- a file without the name of the event, and one with it ---
python3 - <<'END'
import struct
def v(n):
    b = b""
    while n > 127: b += bytes([n & 127 | 128]); n >>= 7
    return b + bytes([n])
f = lambda n, b: v(n << 3 | 2) + v(len(b)) + b
n = lambda k, x: v(k << 3) + v(x)
strings = b"".join(f(6, s) for s in (b"", b"samples", b"count", b"cpu", b"nanoseconds", b"main", b"x"))
body = b"".join(f(5, n(1, i) + n(2, 4 + i)) + f(4, n(1, i) + f(4, n(1, i))) for i in (1, 2))
open("cpu.pb", "wb").write(f(1, n(1, 1) + n(2, 2)) + f(1, n(1, 3) + n(2, 4)) + body +
    f(2, f(1, v(2) + v(1)) + f(2, v(300) + v(3000000000))) + strings)
END
for sides in "a1.collapsed cpu.pb" "cpu.pb a1.collapsed" "-e cpu a1.collapsed cpu.pb"; do
	run $sides
	is "diff $sides compares files with and without an event name" $status 0
done

# --- usage and input errors ---
refused() {
	local what=$1 code=$2 says=$3
	shift 3
	run "$@"
	is "$what exits with $code" $status "$code"
	ok "$what: the error has the reason" grep -q "$says" err || diag_file err
	is "$what: nothing is written to stdout" "$(cat out)" ""
}
: >empty.collapsed
sed 's/ [0-9]*$/ 0/' a1.collapsed >none.collapsed
refused "one file" 2 'missing an argument\|needs two files' a1.collapsed
refused "three files without --" 2 'needs two files' a1.collapsed a2.collapsed a3.collapsed
refused "a side without files" 2 'no file on one side of' -- a1.collapsed a2.collapsed
refused "an option after the files" 2 'comes after "--"' a1.collapsed -- a2.collapsed --json
refused "a missing file" 7 'nowhere.collapsed' a1.collapsed nowhere.collapsed
refused "an empty file" 7 'empty' a1.collapsed empty.collapsed
refused "a file without samples" 7 'samples' a1.collapsed none.collapsed
refused "an event that the files lack" 7 'has no samples of the event "alloc"' -e alloc a1.collapsed b1.collapsed
refused "--mode rate without known durations" 7 'does not state its duration' --mode rate a1.collapsed b1.collapsed
refused "an unknown mode" 2 'rate, share or raw' --mode fast a1.collapsed b1.collapsed
refused "--fail-over with a malformed percentage" 2 'percentage of the total' --fail-over 3x a1.collapsed b1.collapsed
refused "--fail-over with an empty percentage" 2 'percentage of the total' --fail-over '' a1.collapsed b1.collapsed
refused "--view without a terminal" 2 'needs a terminal' --view a1.collapsed b1.collapsed
refused "--view with --json" 2 'cannot be used together with --json' --view --json a1.collapsed b1.collapsed
refused "a format that cannot hold two sides" 2 'cannot be written in the format pprof' -o x.pb.gz a1.collapsed b1.collapsed
refused "--from on files without times" 2 'do not record time' --from 5 a1.collapsed b1.collapsed
refused "a filter that matches no stack" 7 'Side A has no samples' -I nothing a1.collapsed b1.collapsed
done_testing
