#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Libraries without frame pointers are loaded and unloaded while rows are sent and stacks are walked.
. "$(dirname "$0")/../jvm/lib.sh"
. "$(dirname "$0")/lib.sh"

# Copies, so that each is a file and a module of its own.
libraries=()
for i in 1 2 3 4; do
	cp "$builddir/tests/sampler/spin.so" "$T/spin$i.so"
	libraries+=("$T/spin$i.so")
done

# spins FILE: samples in the libraries; those of them with all four of their frames and Loader.main
spins() {
	awk '{ n = $NF; sub(/ [0-9]+$/, "") } /spin[0-9]\.so/ {
		all += n
		if (/Loader\.main/ && gsub(/spin[0-9]\.so/, "") == 4 && !/\[(break|unknown)/) whole += n
	} END { print all + 0, whole + 0 }' "$1"
}

jvm_start $CALM_JVM Loader "${libraries[@]}"
for rows in 0 1; do
	"$TOOL" "$JVM" "$AGENT" token=unload$rows seconds=6 interval=1000000 rows=$rows \
		stacks="$T/stacks$rows" >"$T/out$rows" 2>&1
	is "a session with rows=$rows exits with 0" $? 0 || diag_file "$T/out$rows"
	read -r all whole <<<"$(spins "$T/stacks$rows")"
	diag "rows=$rows: $whole of $all samples in the libraries are whole;" \
		"$(grep -c . "$T/stacks$rows") stacks, $(value rows_modules "$T/out$rows") modules with rows"
	[ $rows = 1 ] || without=$whole
done
# A library's first samples precede its rows, so some of them are incomplete; later ones are complete.
ok "at least 200 samples have frames in the libraries" [ "$all" -ge 200 ]
ok "with unwind rows 70 % of these stacks are complete" [ $((whole * 10)) -ge $((all * 7)) ]
ok "more stacks are complete than with frame pointers alone" [ "$whole" -gt "$without" ]
ok "libraries were loaded during the session" [ "$(value rows_modules "$T/out1")" -ge 20 ]
ok "the JVM ends on request" jvm_end
ok "the program has loaded and unloaded the libraries at least ten times" [ "$(sed -n 's/^turns //p' "$JVM_OUT")" -ge 10 ] || diag_file "$JVM_OUT"
done_testing
