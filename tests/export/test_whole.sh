#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Files are replaced atomically in every format: with a full disk, when the writer is killed, and with two writers.
. "$(dirname "$0")/../jvm/lib.sh"

tool=$builddir/tests/export/export_tool
mkdir "$T/here"
file= suffix=

# beside: the names of other files in its folder
beside() {
	find "$T/here" -type f ! -path "$file" -printf '%f '
}

# is_one_of PATH...: the file is equal to one of these
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
	is "$format: a file above the size limit exits with 6" $? 6
	ok "$format: the old file is intact after a failed write" cmp "$file" "$T/old$suffix"
	is "$format: a failed write leaves no other file" "$(beside)" ""

	whole=0
	for delay in 0.001 0.005 0.01 0.02 0.04; do
		timeout -s KILL $delay "$tool" -k random -n 2000 "$file" 2>/dev/null
		is_one_of "$T/old$suffix" "$T/new$suffix" && whole=$((whole + 1))
	done 2>/dev/null
	is "$format: after each of five kills the file is complete, the old or the new one" $whole 5
	ok "$format: a killed writer leaves only temporary files" [ -z "$(beside | sed 's/\.jhot-[^ ]*\.part //g')" ]
	rm -f "$T/here"/.jhot-*.part

	whole=0
	for _ in 1 2 3; do
		"$tool" -k known "$file" & "$tool" -k random -n 2000 "$file" & wait
		is_one_of "$T/old$suffix" "$T/new$suffix" && whole=$((whole + 1))
	done
	is "$format: of two concurrent writers one wins, and the file is complete" $whole 3
	is "$format: two concurrent writers leave no other file" "$(beside)" ""
	rm "$file"
done < <("$tool" -l)
done_testing
