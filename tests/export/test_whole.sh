#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Files are replaced atomically in every format: with a full disk, when the writer is killed, and with two writers.
. "$(dirname "$0")/../jvm/lib.sh"

tool=$builddir/tests/export/export_tool
mkdir "$T/here"
file= suffix=

# beside: what is beside the file, by name
beside() {
	find "$T/here" -type f ! -path "$file" -printf '%f '
}

# is_one_of PATH...: the file is the same as one of these
is_one_of() {
	local other
	for other; do
		cmp -s "$file" "$other" && return
	done
	return 1
}

while read -r format suffix; do
	file=$T/here/a$suffix
	"$tool" -k known "$T/old$suffix" && "$tool" -k random -n 2000 "$T/new$suffix" || diag "$format is not written"

	cp "$T/old$suffix" "$file"
	(ulimit -f 1; "$tool" -k random -n 2000 "$file" 2>"$T/err")
	is "$format: more than a file may have: exit 6" $? 6
	ok "the old one is whole" cmp "$file" "$T/old$suffix"
	is "and alone" "$(beside)" ""

	whole=0
	for delay in 0.001 0.005 0.01 0.02 0.04; do
		timeout -s KILL $delay "$tool" -k random -n 2000 "$file" 2>/dev/null
		is_one_of "$T/old$suffix" "$T/new$suffix" && whole=$((whole + 1))
	done 2>/dev/null
	is "$format: five times killed: whole, the old one or the new" $whole 5
	ok "what it was writing has the name of a part" [ -z "$(beside | sed 's/\.jhot-[^ ]*\.part //g')" ]
	rm -f "$T/here"/.jhot-*.part

	whole=0
	for _ in 1 2 3; do
		"$tool" -k known "$file" & "$tool" -k random -n 2000 "$file" & wait
		is_one_of "$T/old$suffix" "$T/new$suffix" && whole=$((whole + 1))
	done
	is "$format: two write it at once: one of theirs, whole" $whole 3
	is "and nothing else" "$(beside)" ""
	rm "$file"
done < <("$tool" -l)
done_testing
