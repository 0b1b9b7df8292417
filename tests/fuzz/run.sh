#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Fuzzes the parsers of untrusted bytes, one after the other: run.sh SRCDIR SECONDS [TARGETS], in a build folder.
#
# Builds in ./fuzz with clang, which is installed if it is missing (Debian, as root). New inputs stay in ./fuzz/corpus; inputs that
# break a parser are ./fuzz/found/TARGET-crash-*, and belong, once the fault is fixed, into tests/fuzz/corpus. Prints one line per
# target; exits with 1 if anything was found.
set -euo pipefail

srcdir=$1 seconds=$2 targets=${3:-elf child cfi names proc hsperf reply lines ring recording config collapsed pprof jfr jhot perf}
# longest: the maximum size of inputs in bytes, where files are larger than the seeds
declare -A longest=([jhot]=16384 [elf]=65536 [cfi]=65536 [recording]=65536 [ring]=65536)

has_fuzzer() {
	echo 'int LLVMFuzzerTestOneInput(void); int LLVMFuzzerTestOneInput(void) { return 0; }' |
		clang -x c -fsanitize=fuzzer,address,undefined -o /dev/null - >/dev/null 2>&1
}

if ! has_fuzzer; then
	[ "$(id -u)" = 0 ] && command -v apt-get >/dev/null &&
		DEBIAN_FRONTEND=noninteractive apt-get -q -y install --no-install-recommends clang libclang-rt-14-dev
	has_fuzzer || { echo "fuzz-parsers needs clang with libFuzzer (Debian: clang libclang-rt-14-dev)" >&2; exit 1; }
fi

mkdir -p fuzz/found
cd fuzz
[ -e config.status ] || "$srcdir/configure" CC=clang CFLAGS='-O1 -g' --enable-fuzzing >configure.out
make -s -j"$(nproc)" tests/fuzz/fuzz_parsers >make.out

found=0
for target in $targets; do
	mkdir -p "corpus/$target"
	rc=0
	FUZZ_TARGET=$target nice -n 19 tests/fuzz/fuzz_parsers -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
		-max_len="${longest[$target]:-8192}" -print_final_stats=1 -artifact_prefix="found/$target-" \
		"corpus/$target" "$srcdir/tests/fuzz/corpus/$target" >"$target.log" 2>&1 || rc=$?
	runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$target.log")
	printf '%-10s %10s runs  %s\n' "$target" "${runs:-?}" "$([ $rc = 0 ] && echo ok || echo "FOUND, see fuzz/$target.log")"
	[ $rc = 0 ] || found=1
done
# Mutated files are parsed by the real child process, whose crash must not affect its parent; files that crash it are kept.
make -s -j"$(nproc)" tests/symbols/test_child tests/symbols/split.so >>make.out
rc=0
(cd found && builddir=.. FUZZ_SECONDS=$seconds nice -n 19 ../tests/symbols/test_child) >child-process.log 2>&1 || rc=$?
printf '%-10s %s  %s\n' process "$(sed -n 's/^ok .* - //p' child-process.log | grep -c mutated) files" \
	"$([ $rc = 0 ] && echo ok || echo "FOUND, see fuzz/child-process.log")"
[ $rc = 0 ] || found=1
exit $found
