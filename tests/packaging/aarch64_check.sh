#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make aarch64-check: all of jhot, compiled for aarch64, on OpenJDKs for this CPU; both run in qemu's user-mode emulation. A line
# per JDK and event: samples, mean and greatest depth, broken stacks in per cent, and stacks with the expected frame; for CPU
# time also samples with impossible call chains. Then the single file as `make tarball` packs it, and the C tests that take minutes
# in emulation.
#
#   ROOT=DIR   the folder for Debian's packages of arm64, unpacked once; other releases in DIR-SUITE
#   SUITES="bookworm:17 trixie:21 trixie:25"   releases and their JDKs     SECONDS_EACH=10   per row
#
# Needs qemu-user, gcc-aarch64-linux-gnu, libc6-dev-arm64-cross, libstdc++-12-dev-arm64-cross. The emulation has no
# perf_events, no ptrace and no process_vm_readv: threads are sampled by CPU timers, `dump` is not tried.
. "$(dirname "$0")/../jvm/lib.sh"
. "$(dirname "$0")/../walk/chains.sh"
. "$(dirname "$0")/own_apt.sh"
. "$(dirname "$0")/arm64_root.sh"

ROOT=${ROOT:-${HOME:-/root}/.cache/jhot/arm64}
SUITES=${SUITES:-bookworm:17 trixie:21 trixie:25}
SECONDS_EACH=${SECONDS_EACH:-10}
FORMAT='%-3s %-8s %-10s %8s %8s %8s %9s %6s  %s\n'
status=0
for tool in $ARM64_CPU-gcc qemu-aarch64; do
	command -v $tool >/dev/null || { echo "aarch64-check needs $tool" >&2; exit 1; }
done

program_made() {
	arm64_flags "$ROOT"
	# shellcheck disable=SC2086
	mkdir "$T/build" && cd "$T/build" &&
		"$srcdir/configure" "${ARM64_FLAGS[@]}" CFLAGS='-O2 -g1' \
			--with-jdk="$(sed -n 's/^JDK = //p' "$builddir/Makefile")" &&
		env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make all $CROSS_LONG_TESTS
}

emulated() {
	qemu-aarch64 -L "$ROOT" "$@"
}

# java_of_root MAJOR DIR: sets JAVA to a script that runs the JDK unpacked in DIR
java_of_root() {
	JAVA=$T/java$1
	cat >"$JAVA" <<-END
		#!/bin/sh
		exec qemu-aarch64 -L "$2" "$2/usr/lib/jvm/java-$1-openjdk-arm64/bin/java" "\$@"
	END
	chmod +x "$JAVA"
}

# failed SENTENCE: prints a failure of the last row
failed() {
	status=1
	echo "    $1"
	cat "$T/said" >&2
}

# row EVENT PROGRAM PATTERN [MODE...]: PATTERN is the expected frame; the JVM also gets $OPTION
OPTION=
row() {
	local event=$1 program=$2 pattern=$3
	shift 3
	# shellcheck disable=SC2086
	CLASSES=$builddir/tests/jvm/classes:$builddir/tests/sampler/classes jvm_start -Xmx128m \
		-XX:+UnlockDiagnosticVMOptions -XX:+DebugNonSafepoints $OPTION "$program" "$@" || { status=1; return 1; }
	emulated "$T/build/jhot" record -a -e "$event" -d "$SECONDS_EACH" -o "$T/x.collapsed" "$JVM" >"$T/said" 2>&1
	read -r samples mean deepest broken < <(awk -f "$srcdir/tests/bench/stacks.awk" "$T/x.collapsed")
	there=$(grep -c "$pattern" "$T/x.collapsed")
	wrong=-
	[ "$event$program" != cpuWalks ] || wrong=$(wrong "$T/x.collapsed")
	# shellcheck disable=SC2059
	printf "$FORMAT" "$major" "$event" "$program" "$samples" "$mean" "$deepest" "$broken" "$wrong" \
		"${OPTION:+$OPTION: }$pattern in $there of $(wc -l <"$T/x.collapsed") stacks"
	alive "$JVM" || failed "the JVM is dead"
	[ "$there" != 0 ] || failed "$pattern is not there"
	# The emulator has a thread of its own in each process, whose stacks in wall are always broken.
	[ "$event" = wall ] || awk -v broken="$broken" 'BEGIN { exit broken >= 1 }' || failed "too many are broken"
	[ "$wrong" = - ] || [ "$wrong" -le $((2 + samples * 3 / 1000)) ] ||
		failed "$(chains "$T/x.collapsed" | awk -v good="$GOOD" '$2 !~ good')"
	jvm_end
}

# Each stack of a virtual thread continues with its carrier's, whether its frames are on the stack or still in the heap.
virtual_row() {
	local carrier='thread_native_entry;.*VirtualThread\.run[^;]*;.*Walks\.virtualTop' lost
	row cpu Walks virtualLeaf virtual || return
	# Stacks of compiler threads, which have the compiled method as a frame, do not match.
	lost=$(grep ';Walks\.virtual' "$T/x.collapsed" | grep -vc "$carrier")
	[ "$lost" = 0 ] || failed "$lost stacks of virtual threads do not reach their carrier"
}

# jdk MAJOR DIR
jdk() {
	major=$1
	java_of_root "$1" "$2"
	row cpu Known knownSixty shares
	row cpu Walks Walks
	row alloc Walks Walks
	row wall Known knownSixty shares
	row lock States States
	[ "$major" -ge 21 ] || return 0
	virtual_row
	# Collectors with barriers, and code that signs its return addresses.
	for OPTION in -XX:+UseZGC -XX:+UseShenandoahGC -XX:UseBranchProtection=standard; do
		row cpu Walks Walks
	done
	OPTION=
}

# packages_of SUITE: the packages of its JDKs
packages_of() {
	local entry
	for entry in $SUITES; do
		[ "${entry%%:*}" != "$1" ] || echo "openjdk-${entry##*:}-jre-headless"
	done
}

suite=$(own_suite)
# shellcheck disable=SC2046,SC2086
arm64_root "$ROOT" $(packages_of "$suite") libc6 libgcc-s1 libstdc++6 $ARM64_LIBRARIES || { cat "$T/log" >&2; exit 1; }
program_made >"$T/log" 2>&1 || { tail -n 30 "$T/log" >&2; exit 1; }
# shellcheck disable=SC2059
printf "$FORMAT" JDK event program samples mean deepest 'broken %' wrong ''
for entry in $SUITES; do
	root=$ROOT
	if [ "${entry%%:*}" != "$suite" ]; then
		root=$ROOT-${entry%%:*}
		# shellcheck disable=SC2046
		ARM64_SUITE=${entry%%:*} arm64_root "$root" $(packages_of "${entry%%:*}") libc6 libgcc-s1 libstdc++6 zlib1g || {
			status=1
			echo "${entry##*:}  cannot be downloaded"
			cat "$T/log" >&2
			continue
		}
	fi
	jdk "${entry##*:}" "$root"
done
# The single file, which needs nothing from that root, and the files generated from its help texts.
tarball() {
	env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make tarball >"$T/said" 2>&1 && mkdir "$T/one" &&
		tar -C "$T/one" --strip-components=1 -xzf jhot-*-linux-aarch64.tar.gz &&
		says=$(qemu-aarch64 -L / "$T/one/jhot" --version) && cmp doc/jhot.1 "$builddir/doc/jhot.1" && cmp doc/jhot.7 "$builddir/doc/jhot.7" &&
		diff -r doc/completions "$builddir/doc/completions" >>"$T/said"
}
if tarball; then
	echo "jhot-*-linux-aarch64.tar.gz: $(stat -c %s jhot-*-linux-aarch64.tar.gz) bytes, says $says; man page and completions as here"
else
	status=1
	cat "$T/said" >&2
fi
for test in $CROSS_LONG_TESTS; do
	if emulated "./$test" >"$T/said" 2>&1; then
		echo "$test: $(grep -c '^ok' "$T/said") checks pass"
	else
		status=1
		echo "$test: fails"
		grep -A 5 '^not ok' "$T/said" >&2
	fi
done
exit $status
