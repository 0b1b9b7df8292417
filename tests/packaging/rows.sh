# SPDX-License-Identifier: Apache-2.0
# Prints and counts a line per check, and per test that is run. Sourced by bash, after tests/jvm/lib.sh.
passed=0 failed=0

# needs CHECK PACKAGE... -- TOOL...: ends the script if one of these tools is missing; "root" means root privileges
needs() {
	local check=$1 packages=() tool
	shift
	while [ "$1" != -- ]; do
		packages+=("$1")
		shift
	done
	shift
	for tool; do
		if [ "$tool" = root ]; then
			[ "$(id -u)" = 0 ] || { echo "$check needs root" >&2; exit 1; }
		else
			command -v "$tool" >/dev/null || { echo "$check needs $tool: apt-get install ${packages[*]}" >&2; exit 1; }
		fi
	done
}

# row NAME COMMAND...: passes when the command succeeds; otherwise its output is shown
row() {
	local name=$1
	shift
	if "$@" >"$T/said" 2>&1; then
		printf '%-76s yes\n' "$name"
		passed=$((passed + 1))
	else
		printf '%-76s NO\n' "$name"
		tail -n 30 "$T/said"
		failed=$((failed + 1))
		return 1
	fi
}

# test_ran NAME COMMAND...: runs and counts a test; prints a line if it fails or is skipped, and for each skipped check
tests_passed=0 tests_failed=0 tests_skipped=0
test_ran() {
	local name=$1 rc why
	shift
	timeout 600 "$@" >"$T/said" 2>&1 </dev/null
	rc=$?
	why=$(sed -n 's/^1\.\.0 # SKIP //p' "$T/said")
	if [ $rc = 0 ] && [ -n "$why" ]; then
		tests_skipped=$((tests_skipped + 1))
		printf '%-40s not run: %s\n' "$name" "$why"
		return 1
	fi
	sed -n 's/^ok [0-9]* - \(.*\) # SKIP \(.*\)/\1: \2/p' "$T/said" | while IFS= read -r why; do
		printf '%-40s not checked: %s\n' "$name" "$why"
	done
	if [ $rc = 0 ]; then
		tests_passed=$((tests_passed + 1))
		return
	fi
	tests_failed=$((tests_failed + 1))
	printf '%-40s FAILS (%s)\n' "$name" $rc
	grep -A 5 '^not ok' "$T/said" || tail -n 5 "$T/said"
	return 1
}

# rows_end: prints the totals and ends the script
rows_end() {
	[ $((tests_passed + tests_failed + tests_skipped)) = 0 ] ||
		echo "all tests: $tests_passed passed, $tests_failed failed, $tests_skipped not run"
	echo "checks above: $passed passed, $failed failed"
	exit $((failed + tests_failed > 0))
}
