#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make musl-check: all of jhot with musl, from the libraries to the one file, warnings as errors. What comes of it asks for no glibc,
# says and writes what this build's jhot does, and looks at the JVM of this machine, which is glibc's. Then the C tests and some of
# those on JVMs, with the jhot of musl.
#
#   usage: [ROOT=DIR] [SCRIPTS="tests/jvm/test_live.sh ..."] make musl-check
#
# ROOT is where the libraries are, built once. Needs musl-tools, dpkg-dev and, the first time, Debian's sources (musl_root.sh).
# Two agents are looked at: one built with musl, which fits JVMs on musl and is refused by this one; and this build's, which fits
# both and is in the jhot that samples here.
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

# --- what is built -----------------------------------------------------------------------------------

agent_taken() { # FILE: jhot and the one file have it inside
	cp "$1" "$T/build/libjhot.so" && logged elsewhere_made jhot packaging/jhot
}

asks_for() { # FILE LIBRARY...: and for no other
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
row "configure" logged elsewhere_configured "${MUSL_FLAGS[@]}" --enable-werror CFLAGS='-O2 -g1' &&
	row "all of jhot compiles, warnings as errors, and is linked" logged elsewhere_made -j2 all || exit 1
row "jhot asks for musl's libc.so and nothing else" asks_for "$theirs" libc.so
row "and so does the agent" asks_for "$T/build/libjhot.so" libc.so
row "the one file asks for nothing" asks_for "$one"
row "and needs no loader" has_no_loader "$one"

# --- what it says and writes: as glibc's ---------------------------------------------------------------

same_said() { # ARG...
	local program
	"$ours" "$@" >"$T/ours" 2>&1
	status=$?
	for program in "$theirs" "$one"; do
		"$program" "$@" >"$T/theirs" 2>&1
		[ $? = $status ] && diff "$T/ours" "$T/theirs" || return
	done
}

same_files() { # what `make all` makes of help texts
	cmp "$builddir/doc/jhot.1" "$T/build/doc/jhot.1" && cmp "$builddir/doc/jhot.7" "$T/build/doc/jhot.7" && diff -r "$builddir/doc/completions" "$T/build/doc/completions"
}

same_converted() { # SUFFIX
	"$ours" convert -o "$T/ours.$1" "$srcdir/tests/tui/h2.jhot" && "$theirs" convert -o "$T/theirs.$1" "$srcdir/tests/tui/h2.jhot" &&
		cmp "$T/ours.$1" "$T/theirs.$1"
}

row "jhot --version: $("$theirs" --version)" same_said --version
row "jhot --help" same_said --help
row "a wrong option, after other words, too" same_said record Known --no-such-option -d 1
row "a file that is not there" same_said view "$T/none.jhot"
row "man page and completions are the same" same_files
for suffix in svg html collapsed txt jfr pb.gz otlp speedscope.json jhot; do
	row "a minute of H2 is the same bytes as .$suffix" same_converted $suffix
done
row "and has the same findings" same_said why "$srcdir/tests/tui/h2.jhot"
row "and compared with another the same differences" same_said diff "$srcdir/tests/tui/h2.jhot" "$srcdir/tests/recording/compile.jhot"

# --- a JVM -------------------------------------------------------------------------------------------

refused() { # the agent of musl's by this JVM
	! "$theirs" record -d 1 -o "$T/none.svg" "$JVM" >"$T/out" 2>&1 && alive "$JVM" && cat "$T/out" && grep -q 'was built with musl' "$T/out"
}

recorded() { # PROGRAM
	rm -f "$T"/x.*
	"$1" record -d 3 -o "$T/x.svg" -o "$T/x.collapsed" "$JVM" 2>&1 && alive "$JVM" && grep -q '<title>Known: CPU time' "$T/x.svg"
}

sixty() { # six tenths of what is known
	awk '/known(Sixty|Thirty|Ten)(;| )/ { all += $NF } /knownSixty/ { sixty += $NF }
		END { printf "%d of %d samples\n", sixty, all; exit !(all > 100 && sixty / all > .5 && sixty / all < .7) }' "$T/x.collapsed"
}

demangled() {
	grep -o 'JavaThread::[^; ]*' "$T/x.collapsed" | sort | uniq -c && grep -q 'JavaCalls::call_helper' "$T/x.collapsed" && ! grep _ZN "$T/x.collapsed"
}

screen() { # PROGRAM: the live view in 80 by 24, until a hot method is there
	TERM=xterm-256color python3 "$srcdir/tests/packaging/first_screen.py" METHOD,knownSixty "$1" "$JVM"
}

# shellcheck disable=SC2086
jvm_start $CALM_JVM Known shares || exit 1
row "the agent of musl's is refused by a JVM on glibc, with what to do" refused
row "with this build's agent jhot and the one file are linked" agent_taken "$builddir/libjhot.so"
for program in "$theirs" "$one"; do
	is=jhot
	[ "$program" = "$theirs" ] || is='the one file'
	row "$is: a JVM on glibc is recorded, .svg and .collapsed" recorded "$program"
	row "$is: what is known of the program is found" sixty
	row "$is: libjvm's functions have their names, demangled" demangled
	row "$is: the live view in a terminal of 80 by 24" screen "$program"
done
jvm_end || row "the JVM has ended as if nothing had been" false

# --- tests -------------------------------------------------------------------------------------------

# What goes into the JVM is this build's, as the JVM is.
for name in tests/jvm/classes tests/sampler/classes tests/dump/untraceable.so; do
	mkdir -p "$T/build/${name%/*}" && ln -sfn "$builddir/$name" "$T/build/$name"
done
# shellcheck disable=SC2086
row "all $(echo $CHECK_PROGRAMS | wc -w) C tests are linked" logged elsewhere_made -k -j2 $CHECK_PROGRAMS tests/symbols/split.so
export JHOT=$theirs builddir=$T/build
cd "$T/build" || exit 1
for test in $CHECK_PROGRAMS; do test_ran "$test" "./$test"; done
echo "C tests: $tests_passed passed, $tests_failed failed, $tests_skipped not run"
for test in $SCRIPTS; do test_ran "$test" bash "$srcdir/$test" && printf '%-40s %d checks\n' "$test" "$(grep -c '^ok' "$T/said")"; done
rows_end
