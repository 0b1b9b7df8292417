#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Stacks in which C calls Java through the foreign-function API: none is broken, and each is possible in the program
# Upcalls, with the C function and the stub in place.
. "$(dirname "$0")/../jvm/lib.sh"
. "$srcdir/tests/walk/chains.sh"

WALKSTAT=$builddir/tests/walk/walkstat
LIBRARY=$builddir/tests/walk/upcalls.so
SECONDS_EACH=${SECONDS_EACH:-4}

# reduced FILE: a line "COUNT CHAIN" per stack of the program's own threads. A chain has "root" for the frames from the
# thread's root to Upcalls.forever, the methods of Upcalls above that, c for adjacent frames of libc and of the library
# (with or without names), v for a downcall stub, ^ for an upcall stub, and markers of missing frames.
reduced() {
	awk '
	/;\[compiling\];/ || !/Upcalls\.|upcall_stub|UpcallLinker|;c_(call|thread|birth);|\[upcalls\.so\]/ { next }
	{
		n = $NF
		sub(/ [0-9]+$/, "")
		gsub(/_\[.\]/, "")
		root = sub(/^.*;call_stub;(java\/lang\/Thread\.run|java\/util\/concurrent\/ForkJoinWorkerThread\.run;.*;jdk\/internal\/vm\/Continuation\.run;.*;java\/lang\/VirtualThread\.run);(java\/lang\/Thread\.runWith;)?Upcalls\$\$Lambda[^;]*;Upcalls\.lambda\$[^;]*;Upcalls\.forever/, "root")
		chain = ""
		frames = split($0, frame, ";")
		for (i = 1; i <= frames; i++) {
			f = frame[i]
			if (f ~ /^Upcalls\.[a-z]+(Top|Middle|Leaf)$/)
				sub(/^Upcalls\./, "", f)
			else if (f ~ /^(c_[a-z]+|qsort(_r)?|msort_with_tmp.*)$/ || f ~ /^\[(upcalls\.so|libc[.-][^]]*)\]/)
				f = "c"
			else if (f == "upcall_stub")
				f = "^"
			else if (f == "nep_invoker_blob")
				f = "v"
			else if (f !~ /^(root$|\[break|\[unknown|\[[0-9]+ frames? left out)/)
				continue
			if (f != "c" || last != "c")
				chain = chain (chain == "" ? "" : ";") f
			last = f
		}
		last = ""
		if (chain ~ /(Leaf|\^);c$/) # called by the JVM on behalf of Java or of the stub
			sub(/;c$/, "", chain)
		count[chain] += n
	}
	END { for (chain in count) print count[chain], chain }' "$1" | sort -rn
}

# The possible chains from the root on; any of them may end early. The downcall stub may be missing until the agent has
# unwind rows, because the frame pointer skips it. Stacks of threads created by C begin with c.
GOOD='^(root(;(callTop(;v)?(;c(;\^(;callLeaf)?)?)?
largeTop(;v)?(;c(;\^(;largeLeaf)?)?)?
sortTop(;v)?(;c(;\^(;sortLeaf)?)?)?
wideTop(;v)?(;c(;\^(;wideLeaf)?)?)?
virtualTop(;v)?(;c(;\^(;virtualLeaf)?)?)?
criticalTop(;v)?(;c(;\^(;criticalLeaf(;v(;c)?)?)?)?)?
throwTop(;v)?(;c(;\^(;throwMiddle(;throwLeaf)*)?)?)?
nestTop((;v)?;c;\^;nestMiddle)*((;v)?(;c(;\^)?)?|;nestLeaf)
birthTop(;v)?(;c)?))?|c(;\^(;birthLeaf)?)?)$'
GOOD=${GOOD//$'\n'/|}

# check NAME FILE
check() {
	local name=$1 whole kind
	reduced "$2" >"$T/all"
	# At the start of a session there are no unwind rows, so stacks of threads created by C end in C. walkstat has rows from
	# the start.
	grep -v ' \[break_native\];c' "$T/all" >"$T/reduced"
	awk -v good="$GOOD" '
		{
			bad = $2 !~ good
			chain = $2
			nested = gsub(/nestMiddle/, "", chain)
			thrown = gsub(/throwLeaf/, "", chain)
			if (nested > 20 || (/nestLeaf/ && nested != 20) || thrown > 20)
				bad = 1
		}
		bad' "$T/reduced" >"$T/wrong"
	whole=$(awk '{ n += $1 } END { print n + 0 }' "$T/reduced")
	few "$name: at most 0.5 % of stacks are impossible" "$(awk '{ n += $1 } END { print n + 0 }' "$T/wrong")" "$whole" 0.5
	head -n 10 "$T/wrong" | cut -c 1-300 | sed 's/^/# wrong: /'
	for kind in callLeaf largeLeaf sortLeaf wideLeaf nestLeaf throwLeaf criticalLeaf birthLeaf virtualLeaf; do
		ok "$name: $kind appears above its upcall stub and C function" grep -qE "(^| |;)(root.*)?c;\\^;.*$kind" "$T/reduced"
	done
}

# start [JVM-OPTION...]: starts the program with $modes, or all modes
start() {
	# shellcheck disable=SC2086
	jvm_start $preview --enable-native-access=ALL-UNNAMED -Xmx256m -XX:+UnlockDiagnosticVMOptions \
		-XX:+DebugNonSafepoints -XX:CompileCommand=quiet -XX:CompileCommand=dontinline,'Upcalls.*Leaf' "$@" Upcalls "$LIBRARY" ${modes:-}
}

# recorded NAME [JVM-OPTION...]
recorded() {
	local name=$1 file=$T/x.collapsed
	shift
	start "$@" || return
	"$JHOT" record -i 1ms -d "$SECONDS_EACH" -a -t -o "$file" "$JVM" >"$T/out" 2>"$T/err" </dev/null
	is "$name: jhot record exits with 0" $? 0 || diag_file "$T/err"
	jvm_end
	is "$name: the JVM exits with 0" $? 0
	check "$name" "$file"
}

# dumped FUNCTION CALLED CALLER: a dump has the Java method CALLED above the C function FUNCTION above CALLER
dumped() {
	"$JHOT" dump "$JVM" >"$T/dump" 2>"$T/err" </dev/null
	awk -v function_="$1" -v called="$2" -v caller="$3" '
		/^"/ { step = 0 }
		step == 0 && index($0, called) { step = 1 }
		step == 1 && $2 == "upcall_stub" { step = 2 }
		step == 2 && $1 == "n" && $3 ~ function_ { step = 3 }
		step == 3 && (index($0, caller) || $3 ~ "^" caller) { found = 1 }
		END { exit !found }' "$T/dump"
}

# outside NAME: stacks are walked by another process
outside() {
	local summary line modes="sort birth"
	start -Dbirths=60000 || return # threads must live long enough for a dump to reach the last of its list
	ok "$1: a dump has qsort under its name" wait_for 60 dumped '^qsort' Upcalls.sortLeaf Upcalls.sortTop
	ok "$1: a dump has a C thread that calls Java" wait_for 60 dumped '^c_call$' Upcalls.birthLeaf c_thread
	is "$1: no stack of the dump is broken" "$(grep -c '^    ?' "$T/dump")" 0
	summary=$("$WALKSTAT" -u -t -n 800 "$JVM" 2>&1)
	is "$1: the frame cache changes no stack" $? 0
	while read -r line; do diag "$1: $line"; done < <(tail -n 2 <<<"$summary")
	few "$1: at most 0.5 % of stacks are broken" "$(sed -nE 's/.* broken ([0-9]+) .*/\1/p' <<<"$summary")" 800 0.5
	jvm_end
}

traceable() {
	[ "$(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null || echo 0)" -lt 2 ] || [ "$(id -u)" = 0 ]
}

while read -r major java; do
	[ "${major%%[!0-9]*}" -ge 21 ] || continue
	preview=
	[ "$major" != 21 ] || preview="--enable-preview"
	CLASSES=$T/classes$major
	export JAVA=$java
	# shellcheck disable=SC2086
	if ! "$(dirname "$(readlink -f "$(command -v "$java")")")/javac" -nowarn $preview ${preview:+--release 21} -d "$CLASSES" \
		"$srcdir/tests/walk/Upcalls.java" >"$T/javac" 2>&1; then
		skip "JDK $major" "its javac did not compile the program"
		diag_file "$T/javac"
		continue
	fi
	recorded "JDK $major, tiered"
	last=$major
done < <(jdks_checked)
[ -n "${last:-}" ] || skip_all "no JDK with the foreign-function API"
# With the last, which is the newest.
recorded "JDK $last, interpreted" -Xint
recorded "JDK $last, C1" -XX:TieredStopAtLevel=1
recorded "JDK $last, C2" -XX:-TieredCompilation
if [ -x "$WALKSTAT" ] && traceable; then
	outside "JDK $last, from outside"
else
	skip "JDK $last, from outside" "walkstat is not built, or tracing is not permitted here"
fi
done_testing
