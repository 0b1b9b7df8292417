#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# CPU samples against the CPU time that the JVM used: they cover all of it, in one thread or many, also of threads
# that block the signal; no statement if only a part was sampled.
. "$(dirname "$0")/lib.sh"

HAMMER=$builddir/tests/sampler/libhammer.so
[ -e "$HAMMER" ] || skip_all "no libhammer.so (make check builds it)"

# explains ARG...: the percentage, and whether something is missing ("all", "less"); "" if there is no such statement
explains() {
	"$JHOT" record -d 3 "$@" "$JVM" >"$T/out" 2>"$T/err" </dev/null
	sed -nE 's/^cpu: explains ([0-9]+) % \([^)]*\) of the CPU time that the JVM used(: the rest.*)?$/\1 \2/p' "$T/err" |
		sed -E 's/ :.*/ less/; s/ $/ all/'
}

# explained WHAT PERCENT
explained() {
	read -r share missing <<<"$2"
	diag "$2"
	ok "$1" [ "${share:-0}" -ge 90 ] || diag_file "$T/err"
	ok "and no more than there is" [ "${share:-999}" -le 110 ]
	is "so nothing is said to be missing" "$missing" all
}

jvm_start Known shares
explained "one thread is explained" "$(explains)"
told_with() { # LOCALE SIGN
	LC_ALL=$1 "$JHOT" record -d 2 -o "$T/x.collapsed" "$JVM" 2>"$T/err" </dev/null
	grep -Eq "^cpu: explains [0-9]+ % \\($2[0-9]+ points\\) of " "$T/err"
}
ok "the error has its unit, in ASCII" wait_for 60 told_with C '[+]-' || diag_file "$T/err"
ok "and in UTF-8" wait_for 60 told_with C.UTF-8 '±' || diag_file "$T/err"
explained "at 1 ms" "$(explains -e cpu=1ms)"
explained "with a timer for each thread" "$(explains --engine ctimer)"
jvm_end
jvm_start Known threads 60
# For longer: at its ends a recording has part of what each of them does.
explained "60 threads are explained" "$(explains -d 9)"
# A timer's signal comes with the tick that also takes the thread from the CPU, until its next turn.
short=$(explains --engine ctimer)
diag "$short"
ok "what is due at the end of a short recording is not said to be missing" sh -c "case '$short' in *all) ;; *) false ;; esac" || diag_file "$T/err"
is "nothing is said of a part: without the kernel" "$(explains -u)" ""
is "nor of some threads" "$(explains --only-threads 'main*')" ""
jvm_end

CLASSES=$CLASSES:$builddir/tests/sampler/classes
jvm_start Hammer "$HAMMER" blocked
explained "threads that block the signal are explained" "$(explains -o "$T/blocked.collapsed")"
ok "by a frame that says so" grep -q '\[blocks_signals\]' "$T/blocked.collapsed"
ok "and a note" grep -q 'threads that collect signals' "$T/err"
jvm_end
done_testing
