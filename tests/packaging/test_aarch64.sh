#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The agent, and the C tests of walk, wire, sampler, profile and symbols, compiled for aarch64 and run in qemu's user-mode
# emulation. Libraries are Debian's packages of arm64, downloaded once per build folder; tests that need an unavailable library are
# skipped. `make aarch64-check` runs the long tests.
. "$(dirname "$0")/../jvm/lib.sh"
. "$(dirname "$0")/elsewhere.sh"
. "$(dirname "$0")/own_apt.sh"
. "$(dirname "$0")/arm64_root.sh"

command -v $ARM64_CPU-gcc >/dev/null || skip_all "no $ARM64_CPU-gcc (gcc-aarch64-linux-gnu, libc6-dev-arm64-cross)"
echo 'int main(void) { return 0; }' | $ARM64_CPU-gcc -x c -o "$T/main" - 2>/dev/null ||
	skip_all "$ARM64_CPU-gcc cannot link programs (libc6-dev-arm64-cross)"
command -v qemu-aarch64 >/dev/null || skip_all "no qemu-aarch64 (qemu-user)"
root=$builddir/tests/packaging/arm64
# The JVM of other tests is for this machine's CPU.
ELSEWHERE_RUN=(env -u JAVA qemu-aarch64 -L "/usr/$ARM64_CPU" -E "LD_LIBRARY_PATH=$root/usr/lib/$ARM64_CPU")
tests=$CROSS_TESTS missing=

# shellcheck disable=SC2086
if ! echo 'int main(void) { return 0; }' | $ARM64_CPU-gcc -x c -o "$T/main" - -lstdc++ 2>/dev/null; then
	missing="no libstdc++ of arm64 (libstdc++-12-dev-arm64-cross)"
elif ! arm64_root "$root" $ARM64_LIBRARIES; then
	missing="no packages of arm64: $(tail -n 1 "$T/log")"
fi
if [ -n "$missing" ]; then
	# shellcheck disable=SC2206
	ARM64_FLAGS=("--host=$ARM64_CPU" $elsewhere_untrue)
else
	arm64_flags "$root"
	tests="$tests $CROSS_LIBRARY_TESTS"
fi

ok "configure for aarch64 succeeds" elsewhere_configured "${ARM64_FLAGS[@]}" || diag_file "$T/log"
ok "the agent compiles for aarch64" elsewhere_made libjhot.so || diag_file "$T/log"
for tool in tests/places/fault_tool tests/places/confine; do
	ok "$tool compiles for aarch64" elsewhere_made "$tool" || diag_file "$T/log"
done
ok "the agent is an AArch64 ELF file" sh -c "readelf -h '$T/build/libjhot.so' | grep -q AArch64"
if [ -n "$missing" ]; then
	for test in $CROSS_LIBRARY_TESTS; do skip "$test" "$missing"; done
else
	ok "a library without call frame information compiles" elsewhere_made tests/symbols/split.so || diag_file "$T/log"
fi
# shellcheck disable=SC2086
elsewhere_tests $tests
done_testing
