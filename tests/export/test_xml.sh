#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Flame-graph files are well-formed XML whatever names they contain, and refer to nothing outside themselves.
. "$(dirname "$0")/../jvm/lib.sh"

command -v xmllint >/dev/null || skip_all "no xmllint (Debian: libxml2-utils)"
tool=$builddir/tests/export/export_tool

for kind in known hostile random; do
	for options in "" "-t --total"; do
		# shellcheck disable=SC2086
		ok "a flame graph of the $kind profile $options is written" "$tool" $options -k $kind "$T/a.svg"
		ok "a flame graph of the $kind profile $options is well-formed XML" xmllint --noout --nonet "$T/a.svg"
	done
done
ok "a flame graph of an empty profile is written" "$tool" -n 0 "$T/a.svg"
ok "a flame graph of an empty profile is well-formed XML" xmllint --noout --nonet "$T/a.svg"
ok "a flame graph of 20,000 stacks is written" "$tool" -n 20000 "$T/a.svg"
ok "a flame graph of 20,000 stacks is within a plain XML parser's limits" xmllint --noout --nonet "$T/a.svg"
ok "a flame graph's picture has at most 3,000 boxes" [ "$(grep -o 'M[0-9.]* [0-9]*h' "$T/a.svg" | wc -l)" -le 3020 ]

"$tool" -k hostile "$T/h.svg"
is "hostile names add no script element" "$(xmllint --xpath 'count(//*[local-name()="script"])' "$T/h.svg")" 1
is "a flame graph has no style, image, link or foreign reference" \
	"$(xmllint --xpath 'count(//*[local-name()="style" or local-name()="image" or local-name()="a"])+count(//@*[local-name()="href" or local-name()="src" or starts-with(local-name(), "on")])' "$T/h.svg")" 0
ok "the script loads nothing and evaluates no text" not grep -nE 'fetch\(|XMLHttpRequest|import\(|eval\(|new Function|innerHTML|outerHTML|insertAdjacent|document\.write' "$builddir/src/export/web/flame.js"
is "the only addresses in a flame graph are the two XML namespaces" \
	"$(grep -oE 'https?://[^"'"'"' ]*' "$T/h.svg" | sort -u | tr '\n' ' ')" "http://www.w3.org/1999/xhtml http://www.w3.org/2000/svg "
done_testing
