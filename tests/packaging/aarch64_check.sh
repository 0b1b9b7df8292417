#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make aarch64-check: all of jhot, compiled for aarch64, on an OpenJDK of that CPU; both run by qemu's emulation of a user's
# process. A line per event: samples, mean and greatest depth, broken stacks in per cent, and what should be on top. Then the
# one file as `make tarball` packs it, and the C tests that take minutes by emulation.
#
#   ROOT=DIR   where Debian's packages of arm64 are unpacked, once     SECONDS_EACH=10   of each event
#
# Needs qemu-user, gcc-aarch64-linux-gnu, libc6-dev-arm64-cross, libstdc++-12-dev-arm64-cross. The emulation has no
# perf_events, no ptrace and no process_vm_readv: threads are sampled by CPU timers, `dump` is not tried.
. "$(dirname "$0")/../jvm/lib.sh"
. "$(dirname "$0")/own_apt.sh"
. "$(dirname "$0")/arm64_root.sh"

ROOT=${ROOT:-${HOME:-/root}/.cache/jhot/arm64}
SECONDS_EACH=${SECONDS_EACH:-10}
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

# row EVENT PROGRAM PATTERN [MODE...]: the frame that is to be there
row() {
	local event=$1 program=$2 pattern=$3
	shift 3
	CLASSES=$builddir/tests/jvm/classes:$builddir/tests/sampler/classes jvm_start -Xmx128m "$program" "$@" || return
	emulated "$T/build/jhot" record -e "$event" -d "$SECONDS_EACH" -o "$T/x.collapsed" "$JVM" >"$T/said" 2>&1
	read -r samples mean deepest broken < <(awk -f "$srcdir/tests/bench/stacks.awk" "$T/x.collapsed")
	there=$(grep -c "$pattern" "$T/x.collapsed")
	printf '%-8s %-10s %8s %8s %8s %9s  %s\n' "$event" "$program" "$samples" "$mean" "$deepest" "$broken" \
		"$pattern in $there of $(wc -l <"$T/x.collapsed") stacks"
	if [ "$there" = 0 ] || ! alive "$JVM"; then
		status=1
		cat "$T/said" >&2
	fi
	jvm_end
}

# shellcheck disable=SC2086
arm64_root "$ROOT" openjdk-17-jre-headless libc6 libgcc-s1 libstdc++6 $ARM64_LIBRARIES || { cat "$T/log" >&2; exit 1; }
program_made >"$T/log" 2>&1 || { tail -n 30 "$T/log" >&2; exit 1; }
cat >"$T/java" <<END
#!/bin/sh
exec qemu-aarch64 -L "$ROOT" "$ROOT/usr/lib/jvm/java-17-openjdk-arm64/bin/java" "\$@"
END
chmod +x "$T/java"
JAVA=$T/java
printf '%-8s %-10s %8s %8s %8s %9s\n' event program samples mean deepest 'broken %'
row cpu Known knownSixty shares
row cpu Walks Walks
row alloc Walks Walks
row wall Known knownSixty shares
row lock States States
# The one file, which needs nothing of that root, and what is made from what it says of itself.
tarball() {
	env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make tarball >"$T/said" 2>&1 && mkdir "$T/one" &&
		tar -C "$T/one" --strip-components=1 -xzf jhot-*-linux-aarch64.tar.gz &&
		says=$(qemu-aarch64 -L / "$T/one/jhot" --version) && cmp doc/jhot.1 "$builddir/doc/jhot.1" &&
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
