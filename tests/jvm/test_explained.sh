#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# CPU samples compared with the CPU time that the JVM used: they explain all of it, for one thread or many, also for
# threads that block the signal; jhot prints no share if only a part was sampled.
. "$(dirname "$0")/lib.sh"

HAMMER=$builddir/tests/sampler/libhammer.so
[ -e "$HAMMER" ] || skip_all "no libhammer.so (make check builds it)"

# explains ARG...: the percentage, and "all" or "less" (jhot reports an unexplained rest); "" if jhot prints no share
explains() {
	"$JHOT" record -d 3 "$@" "$JVM" >"$T/out" 2>"$T/err" </dev/null
	sed -nE 's/^cpu: explains ([0-9]+) % \([^)]*\) of the CPU time that the JVM used(: the rest.*)?$/\1 \2/p' "$T/err" |
		sed -E 's/ :.*/ less/; s/ $/ all/'
}

# explained WHAT "PERCENT all|less"
explained() {
	read -r share missing <<<"$2"
	diag "$2"
	ok "$1: the samples add up to at least 90 % of the JVM's CPU time" [ "${share:-0}" -ge 90 ] || diag_file "$T/err"
	ok "$1: the samples add up to at most 110 % of the JVM's CPU time" [ "${share:-999}" -le 110 ]
	is "$1: jhot reports no unexplained rest" "$missing" all
}

jvm_start Known shares
explained "one thread" "$(explains)"
printed_with() { # LOCALE SIGN
	LC_ALL=$1 "$JHOT" record -d 2 -o "$T/x.collapsed" "$JVM" 2>"$T/err" </dev/null
	grep -Eq "^cpu: explains [0-9]+ % \\($2[0-9]+ points\\) of " "$T/err"
}
ok "jhot prints the error of the explained share with +- in ASCII" wait_for 60 printed_with C '[+]-' || diag_file "$T/err"
ok "jhot prints the error of the explained share with ± in UTF-8" wait_for 60 printed_with C.UTF-8 '±' || diag_file "$T/err"
explained "one thread at 1 ms" "$(explains -e cpu=1ms)"
explained "one thread with --engine ctimer" "$(explains --engine ctimer)"
jvm_end
jvm_start Known threads 60
# Longer, because at both ends of a recording each thread has time that only partly falls into it.
explained "60 threads" "$(explains -d 9)"
# A timer expires with the tick that also preempts the thread, which handles the signal when it is next scheduled.
short=$(explains --engine ctimer)
diag "$short"
ok "a short recording with ctimer reports no unexplained rest" sh -c "case '$short' in *all) ;; *) false ;; esac" || diag_file "$T/err"
is "-u prints no explained share, because kernel time is not sampled" "$(explains -u)" ""
is "--only-threads prints no explained share" "$(explains --only-threads 'main*')" ""
jvm_end

CLASSES=$CLASSES:$builddir/tests/sampler/classes
jvm_start Hammer "$HAMMER" blocked
explained "threads that block the signal" "$(explains -o "$T/blocked.collapsed")"
ok "samples of threads that block the signal have the frame [blocks_signals]" grep -q '\[blocks_signals\]' "$T/blocked.collapsed"
ok "a note explains threads that collect signals" grep -q 'threads that collect signals' "$T/err"
jvm_end
done_testing
