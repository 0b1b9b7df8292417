#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Walks a program with known call chains from another process: every stack is a part of its chain, none is broken.
. "$(dirname "$0")/../jvm/lib.sh"
. "$srcdir/tests/walk/chains.sh"

WALKSTAT=$builddir/tests/walk/walkstat
SAMPLES=${SAMPLES:-400} # each sample waits until its thread is scheduled: the program has more threads than there are CPUs

# kind FILE LETTER: the number of frames of this kind
kind() {
	grep -o "Walks[^;]*_\[$2\]" "$1" | wc -l
}

# run NAME PERCENT [JVM-OPTION...]: walks all threads of the program Walks
run() {
	local name=$1 percent=$2 file=$T/$1.stacks summary broken whole line
	shift 2
	# Reflection through the VM, so that Java calls Java through native frames. Without DebugNonSafepoints
	# the JVM itself does not know which inlined method an instruction between safepoints belongs to.
	jvm_start -XX:+UnlockDiagnosticVMOptions -XX:+DebugNonSafepoints \
		-Dsun.reflect.inflationThreshold=2147483647 -Djdk.reflect.useNativeAccessorOnly=true \
		-XX:+IgnoreUnrecognizedVMOptions -Xmx256m "$@" Walks || return 1
	summary=$("$WALKSTAT" -u -t -n "$SAMPLES" -o "$file" "$JVM" 2>&1)
	is "$name: the frame cache changes no stack" $? 0
	while read -r line; do diag "$name: $line"; done <<<"$summary"
	jvm_end
	whole=$(wc -l <"$file")
	broken=$(grep -cE '\[(break|unknown)' "$file")
	few "$name: at most $percent % of stacks are broken" "$broken" "$whole" "$percent"
	few "$name: at most $percent % of chains are impossible" "$(wrong "$file")" "$whole" "$percent"
	chains "$file" | awk -v good="$GOOD" '$2 !~ good' | head -n 20 | sed 's/^/# wrong: /'
	few "$name: at most $percent % of stacks have a frame without a name" "$(grep -cE '(^|;)\?|\[unloaded\]' "$file")" "$whole" "$percent"
	ok "$name: recursion is walked to its leaf" grep -q 'deepMiddle.*deepLeaf' "$file"
	ok "$name: native frames are walked from Java and to Java" \
		grep -qE 'call_stub.*Walks\.reflectMiddle.*call_stub.*Walks\.reflectLeaf' "$file"
	STACKS=$file
	FOLLOWED=$(sed -nE 's/.* by tails ([0-9]+).*/\1/p' <<<"$summary")
	REMEMBERED=$(sed -nE 's/.* frames ([0-9]+) remembered.*/\1/p' <<<"$summary")
}

[ -x "$WALKSTAT" ] || skip_all "walkstat is not built"
[ "$(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null || echo 0)" -lt 2 ] || [ "$(id -u)" = 0 ] ||
	skip_all "tracing is not permitted here"

major=$(java_major "$JAVA")
if run tiered 0.2; then
	ok "tiered: there are compiled frames" test "$(kind "$STACKS" 2)" -gt 100
	ok "tiered: the frame cache is used" test "${REMEMBERED:-0}" -gt 1000
	ok "tiered: the outer parts of stacks are reused" test "${FOLLOWED:-0}" -gt 500
	ok "tiered: there are inlined frames" test "$(kind "$STACKS" n)" -gt 50
	if [ "${major%%[!0-9]*}" -ge 21 ]; then
		ok "tiered: stacks of virtual threads have heap frames and the carrier's frames" \
			grep -qE 'call_stub.*Continuation.run.*virtualTop.*virtualMiddle.*virtualMiddle' "$STACKS"
	else
		skip "tiered: stacks of virtual threads have heap frames and the carrier's frames" "JDK $major has none"
	fi
fi
if run interpreted 0.5 -Xint; then
	ok "interpreted: cached Methods and outer parts of stacks are reused" test \
		"${REMEMBERED:-0}" -gt 1000 -a "${FOLLOWED:-0}" -gt 500
	ok "interpreted: there are only interpreted frames" test "$(kind "$STACKS" i)" -gt 1000 -a \
		"$(kind "$STACKS" 1)$(kind "$STACKS" 2)$(kind "$STACKS" n)" = 000
fi
if run c1 0.2 -XX:TieredStopAtLevel=1; then
	ok "C1: there are frames of C1, and none of C2" test "$(kind "$STACKS" 1)" -gt 100 -a "$(kind "$STACKS" 2)" = 0
fi
run c2 0.2 -XX:-TieredCompilation
done_testing
