#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Stacks whose top is in the vDSO reach Java: the vDSO is not a file, so its unwind rows are made from the copy in the
# front end's memory.
. "$(dirname "$0")/../jvm/lib.sh"
. "$(dirname "$0")/lib.sh"

# tops FILE: samples of the thread in the vDSO, those of them with libc's and libjvm's frame between it and Java
tops() {
	awk '/^\[clock\]/ && /\[vdso\]/ {
		n = $NF
		all += n
		if (/;Clock\.clockTop.*;libjvm\.so[^;]*;lib(c|rt)[.-][^;]*;\[vdso\]/ && !/\[(break|unknown)/) whole += n
	} END { print all + 0, whole + 0 }' "$1"
}

jvm_start $CALM_JVM Clock
for rows in 0 1; do
	ok "a session with rows=$rows exits with 0" agent token=vdso$rows seconds=60 samples=1500 interval=1000000 \
		rows=$rows stacks="$T/stacks$rows" || diag_file "$T/tool.err"
	read -r all whole <<<"$(tops "$T/stacks$rows")"
	diag "rows=$rows: $whole of $all samples in the vDSO are whole"
	[ $rows = 1 ] || without=$((all - whole))
done
diag "without rows $without were not"
if [ "$all" -ge 100 ]; then
	ok "with unwind rows 95 % of the stacks in the vDSO are complete" [ $((whole * 100)) -ge $((all * 95)) ]
else
	# a clock source that needs a system call
	skip "with unwind rows 95 % of the stacks in the vDSO are complete" "this machine's clock is read by a system call: $all samples in the vDSO"
fi
ok "the JVM ends on request" jvm_end
done_testing
