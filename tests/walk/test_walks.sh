#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Walks a program with known call chains from another process: every stack is a part of its chain, none is broken.
. "$(dirname "$0")/../jvm/lib.sh"
. "$srcdir/tests/walk/chains.sh"

WALKSTAT=$builddir/tests/walk/walkstat
SAMPLES=${SAMPLES:-400} # each waits for its thread to be run: the program has more of them than there are CPUs

# kind FILE LETTER: frames of that kind
kind() {
	grep -o "Walks[^;]*_\[$2\]" "$1" | wc -l
}

# run NAME PERCENT [JVM-OPTION...]: walk all of Walks' threads
run() {
	local name=$1 percent=$2 file=$T/$1.stacks summary broken whole line
	shift 2
	# Reflection through the VM, so that Java calls Java through native frames. Without DebugNonSafepoints
	# the JVM itself does not know which inlined method an instruction between safepoints belongs to.
	jvm_start -XX:+UnlockDiagnosticVMOptions -XX:+DebugNonSafepoints \
		-Dsun.reflect.inflationThreshold=2147483647 -Djdk.reflect.useNativeAccessorOnly=true \
		-XX:+IgnoreUnrecognizedVMOptions -Xmx256m "$@" Walks || return 1
	summary=$("$WALKSTAT" -u -t -n "$SAMPLES" -o "$file" "$JVM" 2>&1)
	is "$name: what is remembered of earlier walks changes no stack" $? 0
	while read -r line; do diag "$name: $line"; done <<<"$summary"
	jvm_end
	whole=$(wc -l <"$file")
	broken=$(grep -cE '\[(break|unknown)' "$file")
	few "$name: no stack breaks" "$broken" "$whole" "$percent"
	few "$name: every chain is what the program does" "$(wrong "$file")" "$whole" "$percent"
	chains "$file" | awk -v good="$GOOD" '$2 !~ good' | head -n 20 | sed 's/^/# wrong: /'
	few "$name: no frame without a name" "$(grep -cE '(^|;)\?|\[unloaded\]' "$file")" "$whole" "$percent"
	ok "$name: recursion is seen to its end" grep -q 'deepMiddle.*deepLeaf' "$file"
	ok "$name: native frames lead into Java and out of it" \
		grep -qE 'call_stub.*Walks\.reflectMiddle.*call_stub.*Walks\.reflectLeaf' "$file"
	STACKS=$file
	FOLLOWED=$(sed -nE 's/.* by tails ([0-9]+).*/\1/p' <<<"$summary")
	REMEMBERED=$(sed -nE 's/.* frames ([0-9]+) remembered.*/\1/p' <<<"$summary")
}

[ -x "$WALKSTAT" ] || skip_all "walkstat is not built"
[ "$(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null || echo 0)" -lt 2 ] || [ "$(id -u)" = 0 ] ||
	skip_all "this system does not let us trace"

major=$(java_major "$JAVA")
if run tiered 0.2; then
	ok "tiered: compiled frames" test "$(kind "$STACKS" 2)" -gt 100
	ok "tiered: what compiled frames are is remembered" test "${REMEMBERED:-0}" -gt 1000
	ok "tiered: the outer ends of stacks are known again" test "${FOLLOWED:-0}" -gt 500
	ok "tiered: inlined frames" test "$(kind "$STACKS" n)" -gt 50
	if [ "${major%%[!0-9]*}" -ge 21 ]; then
		ok "virtual threads: frames in the heap are seen, and the carrier's" \
			grep -qE 'call_stub.*Continuation.run.*virtualTop.*virtualMiddle.*virtualMiddle' "$STACKS"
	else
		skip "virtual threads" "JDK $major has none"
	fi
fi
if run interpreted 0.5 -Xint; then
	ok "interpreted: Methods are known again, and the outer ends of stacks" test \
		"${REMEMBERED:-0}" -gt 1000 -a "${FOLLOWED:-0}" -gt 500
	ok "interpreted: only interpreted frames" test "$(kind "$STACKS" i)" -gt 1000 -a \
		"$(kind "$STACKS" 1)$(kind "$STACKS" 2)$(kind "$STACKS" n)" = 000
fi
if run c1 0.2 -XX:TieredStopAtLevel=1; then
	ok "C1: frames of C1, none of C2" test "$(kind "$STACKS" 1)" -gt 100 -a "$(kind "$STACKS" 2)" = 0
fi
run c2 0.2 -XX:-TieredCompilation
done_testing
