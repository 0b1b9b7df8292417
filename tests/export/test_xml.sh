#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Flame-graph files are well-formed XML whatever names they contain, and refer to nothing outside themselves.
. "$(dirname "$0")/../jvm/lib.sh"

command -v xmllint >/dev/null || skip_all "no xmllint (Debian: libxml2-utils)"
tool=$builddir/tests/export/export_tool

for kind in known hostile random; do
	for options in "" "-t --total"; do
		# shellcheck disable=SC2086
		ok "$kind profile $options: written" "$tool" $options -k $kind "$T/a.svg"
		ok "and well-formed" xmllint --noout --nonet "$T/a.svg"
	done
done
ok "an empty profile: written" "$tool" -n 0 "$T/a.svg"
ok "and well-formed" xmllint --noout --nonet "$T/a.svg"
ok "20,000 stacks: written" "$tool" -n 20000 "$T/a.svg"
ok "and well-formed within a plain parser's limits" xmllint --noout --nonet "$T/a.svg"
ok "the picture has 3,000 boxes at most" [ "$(grep -o 'M[0-9.]* [0-9]*h' "$T/a.svg" | wc -l)" -le 3020 ]

"$tool" -k hostile "$T/h.svg"
is "hostile names add no element: one script" "$(xmllint --xpath 'count(//*[local-name()="script"])' "$T/h.svg")" 1
is "no style, image, link or foreign reference" \
	"$(xmllint --xpath 'count(//*[local-name()="style" or local-name()="image" or local-name()="a"])+count(//@*[local-name()="href" or local-name()="src" or starts-with(local-name(), "on")])' "$T/h.svg")" 0
ok "the script loads nothing" not grep -nE 'fetch\(|XMLHttpRequest|import\(|eval\(|new Function|innerHTML|outerHTML|insertAdjacent|document\.write' "$builddir/src/export/web/flame.js"
is "the only addresses in a file are the two names of XML languages" \
	"$(grep -oE 'https?://[^"'"'"' ]*' "$T/h.svg" | sort -u | tr '\n' ' ')" "http://www.w3.org/1999/xhtml http://www.w3.org/2000/svg "
done_testing
