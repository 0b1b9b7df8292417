#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The agent and its C tests, compiled for aarch64 and run by qemu's emulation of a user's process.
. "$(dirname "$0")/../jvm/lib.sh"
. "$(dirname "$0")/elsewhere.sh"

cross=aarch64-linux-gnu
command -v $cross-gcc >/dev/null || skip_all "no $cross-gcc (gcc-aarch64-linux-gnu, libc6-dev-arm64-cross)"
echo 'int main(void) { return 0; }' | $cross-gcc -x c -o "$T/main" - 2>/dev/null ||
	skip_all "$cross-gcc makes no programs (libc6-dev-arm64-cross)"
command -v qemu-aarch64 >/dev/null || skip_all "no qemu-aarch64 (qemu-user)"
ELSEWHERE_RUN=(qemu-aarch64 -L "/usr/$cross")

# What is in /proc of a system call is the host's: numbers of another CPU.
tests=
for test in $AGENT_TESTS; do
	case $test in
	*/test_states | */test_descriptor) ;;
	*) tests="$tests $test" ;;
	esac
done

ok "configure" elsewhere_configured --host=$cross || diag_file "$T/log"
ok "the agent compiles" elsewhere_made libjhot.so || diag_file "$T/log"
for tool in tests/places/fault_tool tests/places/confine; do
	ok "$tool: compiles" elsewhere_made "$tool" || diag_file "$T/log"
done
ok "it is of that CPU" sh -c "readelf -h '$T/build/libjhot.so' | grep -q AArch64"
# shellcheck disable=SC2086
elsewhere_tests $tests
done_testing
