#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The report of a soak, on synthetic rows: sums, maximum growth of memory, failures.
. "$(dirname "$0")/../jvm/lib.sh"

rows() {
	cat <<'END'
10:00:00|javac|1000|0.1|100|150|40|41|alive and right
10:01:00|walks|500|0|100|90|40|40|THE JVM CRASHED: # C  [libjvm.so+0x1]
10:02:00|javac|3000|0.5|110|400|42|48|jhot failed: it did not answer
10:03:00|walks|500|0|120|130|40|35|THE JVM HUNG OR ENDED WITH 137
10:04:00|javac|0|0|90|95|39|40|EXTRA OUTPUT: a word
10:05:00|none|0|0|0|0|0|0|DID NOT START: x
END
}

# row NAME: the figures of this row
row() { sed -n "s/^$1  *//p" "$T/report" | tr -s ' '; }

rows | tr '|' '\t' >"$T/rows"
printf 'walk:busy 3\nring 2\n\nwalk:busy 4\n' >"$T/losses"
awk -f "$srcdir/tests/bench/soak_report.awk" losses="$T/losses" "$T/rows" >"$T/report"
is "a row of three rounds has sums and the greatest growth" "$(row javac)" "3 4000 0.400 100 95 +290 40 40 +6 0 0 1 1"
is "a row of two rounds has sums and the greatest growth" "$(row walks)" "2 1000 0.000 100 130 +10 40 35 +0 1 1 0 0"
is "a row without samples has no share of broken stacks" "$(row none)" "1 0 - 0 0 +0 0 0 +0 0 0 1 0"
is "the last row has the totals" "$(row 'in all')" "6 5000 0.320 +290 +6 1 1 2 1"
is "lost samples are listed by reason" "$(sed -n '/^samples lost/,/^$/p' "$T/report" | tr -s ' ' | tr '\n' ';')" \
	"samples lost, by reason: 9; walk:busy 7; ring 2;;"
is "failures are listed in the order of time" "$(sed -n '/^what went/,$p' "$T/report" | tr -s ' ' | grep -oE '1.:..:.. [a-z]*:' | cut -d : -f 2-3 |
	tr '\n' ';')" "01:00 walks;02:00 javac;03:00 walks;04:00 javac;05:00 none;"
head -n 1 "$T/rows" | awk -f "$srcdir/tests/bench/soak_report.awk" losses=/dev/null - >"$T/report"
is "a soak without failures lists nothing" "$(tail -n 1 "$T/report")" "  nothing"
done_testing
