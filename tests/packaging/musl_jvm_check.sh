#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make musl-jvm-check: this build's jhot samples a HotSpot JVM on musl: all threads, stacks and names, inside a root that has musl
# only, and tests on JVMs. The JVM is built once, in about 15 minutes (musl_jvm.sh).
#
#   usage: [ROOT=DIR] [SCRIPTS="tests/jvm/test_live.sh ..."] make musl-jvm-check
#
# ROOT is the folder of the JVM. Needs musl-tools, dpkg-dev, autoconf, g++, zip, unzip, file; the musl-only root also needs root
# privileges and busybox-static.
. "$(dirname "$0")/../jvm/lib.sh"
. "$(dirname "$0")/own_apt.sh"
. "$(dirname "$0")/musl_jvm.sh"
. "$(dirname "$0")/rows.sh"

ROOT=${ROOT:-${HOME:-/root}/.cache/jhot/musl-jvm}
SCRIPTS=${SCRIPTS-tests/walk/test_accuracy.sh tests/walk/test_selftest.sh tests/jvm/test_counts.sh tests/jvm/test_record.sh
	tests/jvm/test_events.sh tests/jvm/test_live.sh tests/jvm/test_cycles.sh tests/jvm/test_explained.sh tests/sampler/test_alloc.sh
	tests/sampler/test_locks.sh tests/sampler/test_io.sh tests/sampler/test_waits.sh tests/sampler/test_sessions.sh
	tests/sampler/test_engines.sh tests/sampler/test_short.sh tests/sampler/test_stuck.sh}
musl_jvm "$ROOT" || { tail -n 30 "$T/log" >&2; exit 1; }
JAVA=$ROOT/jdk/bin/java JDKS=$T/none
export JAVA JDKS

on_musl() {
	awk '{ print $6 }' "/proc/$JVM/maps" | grep '^/' | sort -u
	grep -q 'musl' "/proc/$JVM/maps" && ! grep -E 'libc\.so\.6|ld-linux' "/proc/$JVM/maps"
}

# recorded EVENT: records $T/x.collapsed, with threads
recorded() {
	"$JHOT" record -e "$1" -t -d 3 -o "$T/x.collapsed" "$JVM" 2>&1 && alive "$JVM" && [ -s "$T/x.collapsed" ]
}

unbroken() {
	awk -f "$srcdir/tests/bench/stacks.awk" "$T/x.collapsed" | tee /dev/stderr | awk '{ exit !($1 > 50 && $4 == 0) }'
}

# Frames below a waiting function of musl: its caller, which has a frame pointer.
callers() {
	grep -c 'Monitor::wait.*;os::PlatformMonitor::wait;pthread_cond_timedwait' "$T/x.collapsed"
}

all_threads() {
	[ "$(sed 's/;.*//' "$T/x.collapsed" | sort -u | wc -l)" = "$(count_of "$JVM" task)" ]
}

sixty() {
	awk '/known(Sixty|Thirty|Ten)(;| )/ { all += $NF } /knownSixty/ { sixty += $NF }
		END { printf "%d of %d samples\n", sixty, all; exit !(all > 100 && sixty / all > .5 && sixty / all < .7) }' "$T/x.collapsed"
}

mapped_once() {
	for _ in 1 2 3; do "$JHOT" record -d 0.2 -o - --format=collapsed "$JVM" >/dev/null || return; done
	[ "$(grep 'r-xp.*libjhot' "/proc/$JVM/maps" | tee /dev/stderr | wc -l)" = 1 ]
}

# inside: a root with busybox, musl, the JVM and the single file, in which jhot samples the JVM
inside() {
	local root=$T/root
	mkdir -p "$root/bin" "$root/lib" "$root/proc" "$root/tmp" "$root/dev" "$root/jdk" "$root/classes" &&
		cp "$(command -v busybox)" "$root/bin/sh" && cp "$builddir/packaging/jhot" "$root/bin/jhot" &&
		cp -aL "$ROOT/jdk/." "$root/jdk" && cp "$builddir"/tests/jvm/classes/Known* "$root/classes" &&
		cp "$(ls /lib/*-linux-musl/libc.so /usr/lib/*-linux-musl/libc.so 2>/dev/null | head -n 1)" "$root/lib/ld-musl-$(uname -m).so.1" || return
	cat >"$root/look" <<-'END'
		sleep 30 | jdk/bin/java -cp classes Known shares >out 2>err &
		sleep 3
		jhot record -d 2 -o x.collapsed Known
		status=$?
		cat out err
		exit $status
	END
	# shellcheck disable=SC2016
	unshare -m -p -f --kill-child sh -c 'mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" &&
		exec chroot "$1" /bin/sh -c "PATH=/bin sh /look"' sh "$root" &&
		grep -q 'knownSixty' "$root/x.collapsed" && awk -f "$srcdir/tests/bench/stacks.awk" "$root/x.collapsed"
}

# shellcheck disable=SC2086
jvm_start $CALM_JVM Known shares || exit 1
row "$("$JAVA" -version 2>&1 | sed -n 's/.*(build \(.*\))/\1/p' | head -n 1) has no library of glibc mapped" on_musl
row "cpu is recorded" recorded cpu
row "the program's methods have their shares" sixty
row "no stack of cpu is broken" unbroken
row "wall is recorded" recorded wall
row "wall has all threads" all_threads
row "no stack of wall is broken" unbroken
row "stacks in musl's libc have their callers" callers
row "the agent is mapped once after three sessions" mapped_once
jvm_end || row "the JVM exits with 0" false
if [ "$(id -u)" = 0 ] && command -v busybox >/dev/null; then
	row "jhot samples the JVM inside a root that has musl only" inside
else
	echo "not tried: a root that has musl only: needs root and busybox-static"
fi
for test in $SCRIPTS; do test_ran "$test" bash "$srcdir/$test" && printf '%-40s %d checks\n' "$test" "$(grep -c '^ok' "$T/said")"; done
rows_end
