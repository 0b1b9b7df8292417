#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make musl-check: all of jhot with musl, from the libraries to the single file, warnings as errors. The programs do not need glibc,
# print and write the same as this build's jhot, and sample a JVM of this machine, which is on glibc. Then the C tests and some of
# the tests on JVMs, with the musl jhot.
#
#   usage: [ROOT=DIR] [SCRIPTS="tests/jvm/test_live.sh ..."] make musl-check
#
# ROOT is the folder of the libraries, which are built once. Needs musl-tools, dpkg-dev and, the first time, Debian's sources
# (musl_root.sh). There are two agents: one built with musl, for JVMs on musl only; and this build's, for both, which is in the
# jhot that samples here.
. "$(dirname "$0")/../jvm/lib.sh"
. "$(dirname "$0")/elsewhere.sh"
. "$(dirname "$0")/own_apt.sh"
. "$(dirname "$0")/musl_root.sh"
. "$(dirname "$0")/rows.sh"

ROOT=${ROOT:-${HOME:-/root}/.cache/jhot/musl}
SCRIPTS=${SCRIPTS-tests/symbols/test_elf.sh tests/cli/test_cli.sh tests/jvm/test_list.sh tests/jvm/test_record.sh
	tests/jvm/test_endings.sh tests/jvm/test_live.sh tests/jvm/test_events.sh tests/dump/test_dump.sh tests/import/test_files.sh}
ours=$builddir/jhot theirs=$T/build/jhot one=$T/build/packaging/jhot
needs musl-check musl-tools -- musl-gcc

logged() {
	"$@" || { tail -n 30 "$T/log"; false; }
}

# --- the build ---------------------------------------------------------------------------------------

agent_linked() { # FILE: builds jhot and the single file with this agent
	cp "$1" "$T/build/libjhot.so" && logged elsewhere_made jhot packaging/jhot
}

needs_only() { # FILE LIBRARY...
	local file=$1
	shift
	readelf -dW "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' >"$T/needed"
	cat "$T/needed"
	[ "$(xargs <"$T/needed")" = "$*" ] && ! readelf -VW "$file" | grep GLIBC
}

has_no_loader() {
	readelf -hW "$1" | grep 'Type:.*DYN' && ! readelf -lW "$1" | grep INTERP
}

musl_root "$ROOT" || { tail -n 30 "$T/log" >&2; exit 1; }
musl_flags "$ROOT"
row "configure succeeds" logged elsewhere_configured "${MUSL_FLAGS[@]}" --enable-werror CFLAGS='-O2 -g1' &&
	row "all of jhot compiles with warnings as errors" logged elsewhere_made -j2 all || exit 1
row "jhot needs musl's libc.so and no other library" needs_only "$theirs" libc.so
row "the agent needs musl's libc.so and no other library" needs_only "$T/build/libjhot.so" libc.so
row "the single file needs no library" needs_only "$one"
row "the single file needs no loader" has_no_loader "$one"

# --- output: the same as that of this build --------------------------------------------------------------

same_output() { # ARG...
	local program
	"$ours" "$@" >"$T/ours" 2>&1
	status=$?
	for program in "$theirs" "$one"; do
		"$program" "$@" >"$T/theirs" 2>&1
		[ $? = $status ] && diff "$T/ours" "$T/theirs" || return
	done
}

same_files() { # files that `make all` generates from help texts
	cmp "$builddir/doc/jhot.1" "$T/build/doc/jhot.1" && cmp "$builddir/doc/jhot.7" "$T/build/doc/jhot.7" && diff -r "$builddir/doc/completions" "$T/build/doc/completions"
}

same_converted() { # SUFFIX
	"$ours" convert -o "$T/ours.$1" "$srcdir/tests/tui/h2.jhot" && "$theirs" convert -o "$T/theirs.$1" "$srcdir/tests/tui/h2.jhot" &&
		cmp "$T/ours.$1" "$T/theirs.$1"
}

row "jhot --version prints the same as this build: $("$theirs" --version)" same_output --version
row "jhot --help prints the same as this build" same_output --help
row "a usage error after other arguments is the same as in this build" same_output record Known --no-such-option -d 1
row "the error of a missing file is the same as in this build" same_output view "$T/none.jhot"
row "man pages and completions are the same as in this build" same_files
for suffix in svg html collapsed txt jfr pb.gz otlp speedscope.json jhot; do
	row "a recording of H2 converts to the same bytes as .$suffix" same_converted $suffix
done
row "jhot why finds the same in a recording of H2" same_output why "$srcdir/tests/tui/h2.jhot"
row "jhot diff finds the same in two recordings" same_output diff "$srcdir/tests/tui/h2.jhot" "$srcdir/tests/recording/compile.jhot"

# --- a JVM -------------------------------------------------------------------------------------------

refused() { # this JVM refuses the musl agent
	! "$theirs" record -d 1 -o "$T/none.svg" "$JVM" >"$T/out" 2>&1 && alive "$JVM" && cat "$T/out" && grep -q 'was built with musl' "$T/out"
}

recorded() { # PROGRAM
	rm -f "$T"/x.*
	"$1" record -d 3 -o "$T/x.svg" -o "$T/x.collapsed" "$JVM" 2>&1 && alive "$JVM" && grep -q '<title>Known: CPU time' "$T/x.svg"
}

sixty() { # knownSixty has 60 % of the known methods' samples
	awk '/known(Sixty|Thirty|Ten)(;| )/ { all += $NF } /knownSixty/ { sixty += $NF }
		END { printf "%d of %d samples\n", sixty, all; exit !(all > 100 && sixty / all > .5 && sixty / all < .7) }' "$T/x.collapsed"
}

demangled() {
	grep -o 'JavaThread::[^; ]*' "$T/x.collapsed" | sort | uniq -c && grep -q 'JavaCalls::call_helper' "$T/x.collapsed" && ! grep _ZN "$T/x.collapsed"
}

screen() { # PROGRAM: runs the live view in 80x24 until it shows a hot method
	TERM=xterm-256color python3 "$srcdir/tests/packaging/first_screen.py" METHOD,knownSixty "$1" "$JVM"
}

# shellcheck disable=SC2086
jvm_start $CALM_JVM Known shares || exit 1
row "a JVM on glibc refuses the musl agent, and the error says so" refused
row "jhot and the single file link with this build's agent" agent_linked "$builddir/libjhot.so"
for program in "$theirs" "$one"; do
	is=jhot
	[ "$program" = "$theirs" ] || is='the single file'
	row "$is: a JVM on glibc is recorded as .svg and .collapsed" recorded "$program"
	row "$is: the program's methods have their shares" sixty
	row "$is: libjvm's functions have demangled names" demangled
	row "$is: the live view draws in a terminal of 80x24" screen "$program"
done
jvm_end || row "the JVM exits with 0" false

# --- tests -------------------------------------------------------------------------------------------

# Classes and libraries for the JVM are those of this build, because the JVM is on glibc.
for name in tests/jvm/classes tests/sampler/classes tests/dump/untraceable.so; do
	mkdir -p "$T/build/${name%/*}" && ln -sfn "$builddir/$name" "$T/build/$name"
done
# shellcheck disable=SC2086
row "all $(echo $CHECK_PROGRAMS | wc -w) C tests link" logged elsewhere_made -k -j2 $CHECK_PROGRAMS tests/symbols/split.so
export JHOT=$theirs builddir=$T/build
cd "$T/build" || exit 1
for test in $CHECK_PROGRAMS; do test_ran "$test" "./$test"; done
echo "C tests: $tests_passed passed, $tests_failed failed, $tests_skipped not run"
for test in $SCRIPTS; do test_ran "$test" bash "$srcdir/$test" && printf '%-40s %d checks\n' "$test" "$(grep -c '^ok' "$T/said")"; done
rows_end
