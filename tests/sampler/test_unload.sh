#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Libraries without frame pointers come and go while rows are sent and stacks are walked.
. "$(dirname "$0")/../jvm/lib.sh"
. "$(dirname "$0")/lib.sh"

# Copies, so that each is a file and a module of its own.
libraries=()
for i in 1 2 3 4; do
	cp "$builddir/tests/sampler/spin.so" "$T/spin$i.so"
	libraries+=("$T/spin$i.so")
done

# spins FILE: samples in the libraries; those with all four of their frames and Loader.main
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
	is "a session with rows=$rows ends well" $? 0 || diag_file "$T/out$rows"
	read -r all whole <<<"$(spins "$T/stacks$rows")"
	diag "rows=$rows: $whole of $all samples in the libraries are whole;" \
		"$(grep -c . "$T/stacks$rows") stacks, $(value rows_modules "$T/out$rows") modules with rows"
	[ $rows = 1 ] || without=$whole
done
# A library's first samples come before its rows, so some are not whole; those of its later life are.
ok "there are such samples" [ "$all" -ge 200 ]
ok "most are whole by rows" [ $((whole * 10)) -ge $((all * 7)) ]
ok "more than by frame pointers" [ "$whole" -gt "$without" ]
ok "libraries came while sampling" [ "$(value rows_modules "$T/out1")" -ge 20 ]
ok "the JVM ends by itself" jvm_end
ok "after many turns" [ "$(sed -n 's/^turns //p' "$JVM_OUT")" -ge 10 ] || diag_file "$JVM_OUT"
done_testing
