#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs the given tests on every JDK there is: jdks_check.sh TEST...; one line per JDK, failures in full.
. "$(dirname "$0")/lib.sh"

all_passed=0
while read -r major java; do
	passed=0 failed=0 skipped=0
	: >"$T/failures"
	for test in "$@"; do
		# A test that goes through several JDKs by itself runs on this one only.
		JAVA=$java JDKS=none "$srcdir/$test" >"$T/out" 2>"$T/err"
		status=$?
		passed=$((passed + $(grep -c '^ok' "$T/out") - $(grep -c '^ok.*# SKIP' "$T/out")))
		skipped=$((skipped + $(grep -c '# SKIP' "$T/out")))
		bad=$(grep -c '^not ok' "$T/out")
		[ "$status" = 0 ] || [ "$bad" -gt 0 ] || bad=1
		failed=$((failed + bad))
		[ "$bad" = 0 ] || { echo "=== JDK $major: $test (exit status $status)"; cat "$T/out" "$T/err"; } >>"$T/failures"
	done
	printf 'JDK %-4s %5d passed, %d failed, %d skipped\n' "$major" $passed $failed $skipped
	cat "$T/failures"
	[ $failed = 0 ] || all_passed=1
done < <(jdks)
[ ! -s "$T/missing-jdks" ] || echo "not installed: JDK $(sort -un "$T/missing-jdks" | tr '\n' ' ')"
exit $all_passed
