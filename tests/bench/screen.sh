#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make bench ROWS=screen: the stability and cost of the live view, with their limits, on a recording of H2 under load.
#
#   SECONDS_EACH=20   duration of the measurements, live and frozen
. "$(dirname "$0")/lib.sh"

row() {
	printf '%-46s %12s  %s\n' "$1" "$2" "$3"
}

[ -x "$builddir/tests/tui/test_recorded" ] || { echo '! libvterm is not here (Debian: libvterm-dev)'; exit; }
row figure limit measured
# "# methods   80x24   1000 B   median 677, ..."
srcdir=$srcdir builddir=$builddir "$builddir/tests/tui/test_recorded" >"$T/recorded"
sed -n 's/^# \(.*[^ ]\)  *\([0-9]*x[0-9]*\)  *\([0-9]*\)\( B\)*  *\(median.*\)/\1|\2|\3|\4|\5/p' "$T/recorded" |
	while IFS='|' read -r name size limit unit figures; do
		case $name in
		churn*) row "rows of the top 16 that change, ${name#*, }" "<= $limit" "$figures" ;;
		*)
			[ "$limit" = 0 ] && limit= || limit="<= $limit B"
			row "bytes per refresh at $size: $name" "$limit" "$figures"
			figure "bytes of a refresh at $size: $name" jhot B "${limit//[^0-9]/}" "$(sed 's/median \([0-9]*\).*/\1/' <<<"$figures")" ;;
		esac
	done
grep '^not ok' "$T/recorded"

read -r live_cpu live_bytes frozen_cpu frozen_bytes < <(
	python3 "$srcdir/tests/bench/frozen.py" "$(realpath "$builddir/jhot")" "$srcdir/tests/tui/h2.jhot" "${SECONDS_EACH:-20}")
row "CPU of the front end, refresh of 1 s" '<= 2 %' "$live_cpu % of a core, $live_bytes B per 10 s"
figure "live view of H2: CPU of the front end" jhot "% of a core" 2 "$live_cpu"
figure "the same, frozen and untouched" jhot "% of a core" 0.2 "$frozen_cpu"
row "the same, frozen and untouched" '<= 0.2 %' "$frozen_cpu % of a core, $frozen_bytes B per 10 s"

# 100,000 stacks, ten minutes
if "$builddir/tests/bench/bench_ui" >"$T/ui"; then
	row "$(sed -n '1s/, model.*//p' "$T/ui")" '<= 150 MB' \
		"$(sed -n 's/^memory //p' "$T/ui" | sort -n | tail -1), all forms used; $(sed -n '1s/.*model //p' "$T/ui") the model at first"
	sed -n 's/^\([a-z]*\) *\([0-9a-z]*\) *tick *\([0-9.]* ms\) .*key and draw *\([0-9.]* ms\)/\1|\2|\3|\4/p' "$T/ui" |
		while IFS='|' read -r view window tick key; do
			figure "a key over 100,000 stacks: $view, $window" jhot ms 16 "${key% ms}"
			row "  a key in $view, window $window" '<= 16 ms' "$key  (a refresh: $tick)"
		done
	sed -n 's/^keys in \(.*\)/in \1/p; s/^  \(.*[^ ]\)  *first time *\(.*\)/|\1|\2/p' "$T/ui" |
		while IFS='|' read -r where keys figures; do
			[ -n "$keys" ] && row "  $keys" '<= 16 ms' "$figures" || row "keys $where" '' ''
		done
fi
