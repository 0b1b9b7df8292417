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

# profile NAME WORK MORE: a program whose work has so many samples, and lines of its own
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
is "one a side: exit 0" $status 0
ok "it says what is compared" grep -q '^samples, compared as a share of the total$' out
ok "the method that has more" grep -Eq '^ +30\.0 +46\.1 +\+16\.1\* .* a\.Main\.work$' out || diag_file out
ok "what is gone" grep -Eq '^ +2\.0 +0\.0 +-2\.0\* .* gone a\.Old\.gone$' out
ok "what is new" grep -Eq '^ +0\.0 +1\.6 +\+1\.6\* .* new  a\.New\.came$' out
ok "how threads begin is no row" not grep -Eq 'start_thread|call_stub' out || diag_file out
ok "lambdas are one" [ "$(grep -c 'Lambda' out)" = 1 ]
ok "what is not known of one recording" grep -q '^One recording per side does not show' out
is "without a word on stderr" "$(cat err)" ""
run a1.collapsed a2.collapsed a3.collapsed -- b1.collapsed b2.collapsed b3.collapsed
ok "several a side" grep -Eq '^A  a1.collapsed a2.collapsed a3.collapsed: 3 recordings, 30000 samples$' out || diag_file out
ok "their own noise is told" grep -Eq '^Recordings of the same side vary by [0-9.]+ % in addition to chance\.$' out
ok "the method is found" grep -Eq "\+16\.[12]\* .* a\.Main\.work$" out

awk '{ $NF *= 2; print }' a1.collapsed >double.collapsed
run a1.collapsed double.collapsed
ok "with itself doubled: nothing" grep -q '^No statistically significant difference' out
is "and no row" "$(grep -c 'a\.Main' out)" 0
run --mode raw a1.collapsed double.collapsed
ok "raw: twice of everything" grep -Eq '^samples, compared as raw counts: 10000.0 samples -> 20000.0 samples, \+100\.0 % .* \*$' out || diag_file out
run --rows 1 a1.collapsed a2.collapsed
ok "as few rows as one wants" [ "$(grep -c ' a\.' out)" -le 1 ]
run -I Lambda a1.collapsed b1.collapsed
ok "only stacks with a name" grep -q '^A  a1.collapsed: 800 samples$' out

# --- exit codes ---
run --fail-over 3% a1.collapsed b1.collapsed
is "slower than it may be: exit 10" $status 10
ok "and what is" grep -q '^Slower by more than 3 %: a\.Main\.work, by 16\.1 % of the total\.$' out || diag_file out
is "without an error" "$(cat err)" ""
run --fail-over 20% a1.collapsed b1.collapsed
is "within what it may be: exit 0" $status 0
run --mode raw --fail-over 3% b1.collapsed a1.collapsed
is "faster is no failure: exit 0" $status 0
run --fail-over 0 a1.collapsed a2.collapsed
is "chance is no failure: exit 0" $status 0

# --- JSON ---
run --json --fail-over 3% a1.collapsed b1.collapsed
is "JSON: exit 10" $status 10
ok "by its schema" by_schema
ok "the figures" python3 - out <<'PYTHON'
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
is "two files: exit 0" $status 0
is "the table is the same" "$(cat d.txt)" "$(cat out)"
ok "both numbers behind each stack" grep -Eq '^main;a/Main.run;a/Main.work 39[0-9]{2} 6000$' d.collapsed || diag_file d.collapsed
is "in all as many" "$(awk '{ a += $(NF - 1); b += $NF } END { print a, b }' d.collapsed)" "13010 13010"
ok "what is gone and what is new have a 0" [ "$(grep -Ec ' (0 [0-9]+|[0-9]+ 0)$' d.collapsed)" = 2 ]
run --mode raw -o raw.collapsed a1.collapsed b1.collapsed
ok "raw: as it was counted" grep -q '^main;a/Main.run;a/Main.work 3000 6000$' raw.collapsed
ok "jhot reads it back" "$JHOT" convert -e before -o - raw.collapsed

# --- in the live view ---
run --view --ascii --dump-screen 110x24 a1.collapsed b1.collapsed
is "the live view: exit 0" $status 0
ok "B, beside what it has gained" grep -Eq '^[> ] 46\.1 +[0-9.]+ +\+16\.1 +46\.1 +\+16\.1 .* a\.Main\.work' out || diag_file out
ok "what is gone" grep -Eq -- '-2\.0 .* a\.Old\.gone' out
ok "and says so" grep -q ' B vs A ' out
ok "nothing is made up of a JVM" not grep -q ' up ' out
run --view --ascii --dump-screen 110x24 --keys f a1.collapsed b1.collapsed
ok "the flame graph: what boxes have gained" grep -q 'work 46% +16.1' out || diag_file out
run --view --ascii --dump-screen 110x24 --keys fD a1.collapsed b1.collapsed
ok "... and D: B alone, at once" not grep -q 'work 46% +' out || diag_file out
run --view --ascii --dump-screen 110x24 --keys D a1.collapsed b1.collapsed
ok "D: B alone" grep -Eq '^[> ] 46\.1 .* a\.Main\.work' out
ok "... without what it has gained" [ "$(grep -c 'DELTA' out)" = 0 ]

# --- files of different formats ---
sed 's/main;a/main;malloc;a/' a1.collapsed >n.collapsed
"$JHOT" convert -o n.jfr n.collapsed 2>err
run n.collapsed n.jfr
ok "the same in two formats: nothing" grep -q '^No statistically significant difference' out || diag_file out

# --- a file that does not tell what was sampled, and one that does ---
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
	is "diff $sides compares them" $status 0
done

# --- what is refused, with a sentence ---
refused() {
	local what=$1 code=$2 says=$3
	shift 3
	run "$@"
	is "$what: exit $code" $status "$code"
	ok "... and why" grep -q "$says" err || diag_file err
	is "... and nothing else" "$(cat out)" ""
}
: >empty.collapsed
sed 's/ [0-9]*$/ 0/' a1.collapsed >none.collapsed
refused "one file" 2 'missing an argument\|needs two files' a1.collapsed
refused "three files" 2 'needs two files' a1.collapsed a2.collapsed a3.collapsed
refused "a side without a file" 2 'no file on one side of' -- a1.collapsed a2.collapsed
refused "an option behind the files" 2 'comes after "--"' a1.collapsed -- a2.collapsed --json
refused "a file that is not there" 7 'nowhere.collapsed' a1.collapsed nowhere.collapsed
refused "an empty file" 7 'empty' a1.collapsed empty.collapsed
refused "a file without samples" 7 'samples' a1.collapsed none.collapsed
refused "an event that it has not" 7 'has no samples of the event "alloc"' -e alloc a1.collapsed b1.collapsed
refused "rates of unknown time" 7 'does not state its duration' --mode rate a1.collapsed b1.collapsed
refused "an unknown mode" 2 'rate, share or raw' --mode fast a1.collapsed b1.collapsed
refused "a bad part" 2 'percentage of the total' --fail-over 3x a1.collapsed b1.collapsed
refused "no part at all" 2 'percentage of the total' --fail-over '' a1.collapsed b1.collapsed
refused "a view without a terminal" 2 'needs a terminal' --view a1.collapsed b1.collapsed
refused "a view and JSON" 2 'cannot be used together with --json' --view --json a1.collapsed b1.collapsed
refused "a format that has one side" 2 'cannot be written in the format pprof' -o x.pb.gz a1.collapsed b1.collapsed
refused "a span of what has no time" 2 'do not record time' --from 5 a1.collapsed b1.collapsed
refused "nothing that a filter leaves" 7 'Side A has no samples' -I nothing a1.collapsed b1.collapsed
done_testing
