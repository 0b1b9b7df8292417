#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The man pages document every verb, option, exit status and event, and groff reports no warnings.
. "$(dirname "$0")/../jvm/lib.sh"

page=$builddir/doc/jhot.1
[ -e "$page" ] || page=$srcdir/doc/jhot.1
ok "the man page jhot(1) exists" [ -s "$page" ]

verbs=$("$JHOT" --help | sed -n '/^Verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p')
ok "jhot --help lists verbs" [ -n "$verbs" ]
for verb in $verbs; do
	ok "jhot(1) has the verb $verb" grep -q "^\.SS jhot $verb " "$page"
	sed -n "/^\.SS jhot $verb /,/^\.S[SH] [^j]/p" "$page" | sed 's/\\-/-/g' >"$T/section"
	for option in $("$JHOT" "$verb" --help | sed -n '/^Options:/,$s/^ .* *\(--[a-z-]*\).*/\1/p'); do
		ok "jhot(1) has the option $option of $verb" grep -q "^\.B .*$option" "$T/section"
	done
done

# the examples: with --help jhot parses all options and does nothing else
sed -n '/^\.SH EXAMPLES/,/^\.SH VERBS/s/^\.B jhot //p' "$page" | sed "s/\\\\-/-/g; s/\\\\(aq/'/g" >"$T/examples"
ok "jhot(1) has at least 8 examples" [ "$(wc -l <"$T/examples")" -ge 8 ]
while read -r example; do
	eval "set -- $example"
	ok "jhot parses the example of jhot(1): jhot $example" "$JHOT" "$1" --help "${@:2}" </dev/null
done <"$T/examples"

# the exit statuses are enum err_kind
sed -n 's/^\tERR_[A-Z_]* = \([0-9]*\),.*/\1/p' "$srcdir/src/base/err.h" >"$T/codes"
sed -n '/^\.SH EXIT STATUS/,/^\.SH JSON/s/^\.B \([0-9]*\)$/\1/p' "$page" >"$T/documented"
ok "err.h has exit statuses" [ -s "$T/codes" ]
same "jhot(1) has exactly the exit statuses of err.h" "$T/documented" "$T/codes"

# jhot(7): the events with their units and default intervals are those of the program
concepts=$builddir/doc/jhot.7
[ -e "$concepts" ] || concepts=$srcdir/doc/jhot.7
ok "jhot(7) has the version" grep -q "^\.TH JHOT 7 .*jhot [0-9]" "$concepts"
"$JHOT" events | awk '$1 ~ /^(cpu|alloc|lock|wall)$/ { sub(/512K/, "512kB", $3); print $1, $2, $3 }' >"$T/events"
sed -n '/^\.TS/,/^\.TE/p' "$concepts" | awk -F'\t' '$1 ~ /^(cpu|alloc|lock|wall)$/ { gsub(/ /, "", $3); print $1, $2, $3 }' >"$T/intervals"
same "jhot(7) has the intervals of jhot events" "$T/intervals" "$T/events"

for file in "$page" "$concepts"; do
	if command -v man >/dev/null && [ "$(man -l "$file" 2>/dev/null | wc -l)" -gt 10 ]; then
		LC_ALL=C.UTF-8 MANWIDTH=100 man --warnings -E UTF-8 -l -Tutf8 -Z "$file" >/dev/null 2>"$T/warnings"
		is "groff has no warnings about ${file##*/}" "$(cat "$T/warnings")" ""
	else
		skip "groff has no warnings about ${file##*/}" "no man that formats local files"
	fi
done
done_testing
