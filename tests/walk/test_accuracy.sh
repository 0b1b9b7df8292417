#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Known profiles, sampled by the agent: shares, complete chains from each thread's root, broken stacks.
. "$(dirname "$0")/../jvm/lib.sh"
. "$srcdir/tests/walk/chains.sh"

SECONDS_EACH=${SECONDS_EACH:-4}

# shares FILE: a line "MODE SIXTY THIRTY TEN WRONG" per mode; WRONG: samples under none of the three, or whose frames from
# the thread's root on are wrong
shares() {
	awk '
	/;\[compiling\];/ { next }
	{
		n = $NF
		sub(/ [0-9]+$/, "")
		gsub(/_\[.\]/, "")
		if (!match($0, /;Walks(\$[A-Z][a-z]*)?\.[a-z]+(Top|Middle|Leaf)/))
			next
		mode = substr($0, RSTART, RLENGTH)
		sub(/.*\./, "", mode)
		sub(/(Top|Middle|Leaf)$/, "", mode)
		modes[mode] = 1
		if (mode == "abyss") { # deeper than the depth limit, so without its root
			if (!(/;\[truncated\];Walks\.abyssMiddle;/ && gsub(/Walks\.abyssMiddle/, "") > 2000) &&
				!/;Walks\.forever;/)
				wrong[mode] += n
			next
		}
		begin = ";call_stub;java/lang/Thread\\.run(;java/lang/Thread\\.runWith)?;"
		if (mode == "virtual")
			begin = ";call_stub;java/util/concurrent/ForkJoinWorkerThread\\.run;.*;jdk/internal/vm/Continuation\\.run;.*;java/lang/VirtualThread\\.run;(java/lang/Thread\\.runWith;)?"
		if (!match($0, begin "Walks\\$\\$Lambda[^;]*;Walks\\.lambda\\$[^;]*;(Walks\\.forever;)?Walks\\.run;Walks\\.(sixty|thirty|ten);"))
			wrong[mode] += n
		else if (/;Walks\.sixty;/)
			sixty[mode] += n
		else if (/;Walks\.thirty;/)
			thirty[mode] += n
		else
			ten[mode] += n
	}
	END { for (mode in modes) print mode, sixty[mode] + 0, thirty[mode] + 0, ten[mode] + 0, wrong[mode] + 0 }' "$1" | sort
}

# split WHAT SIXTY THIRTY TEN: the shares are 60, 30 and 10 %, within the sampling error. Samples come in bursts, one per
# time slice, so BURST of them count as one independent sample.
BURST=4
split() {
	local all=$((($2 + $3 + $4) / BURST))
	ok "$1: samples have shares of 60, 30 and 10 % ($2 $3 $4)" awk -v all=$all -v six="$2" -v three="$3" -v one="$4" '
		function off(part, p) {
			part = part / (six + three + one) - p
			return (part < 0 ? -part : part) > 4 * sqrt(p * (1 - p) / all) + 0.02
		}
		BEGIN { exit off(six, 0.6) || off(three, 0.3) || off(one, 0.1) }'
}

# run NAME PERCENT MODES [JVM-OPTION...]: records the program, and checks what applies to every JVM
run() {
	local name=$1 percent=$2 modes=$3 file=$T/$1.collapsed whole broken mode sixty thirty ten bad
	local rest=0 six=0 three=0 one=0
	shift 3
	# shellcheck disable=SC2086
	jvm_start -XX:+UnlockDiagnosticVMOptions -XX:+DebugNonSafepoints -Dsun.reflect.inflationThreshold=2147483647 \
		-Djdk.reflect.useNativeAccessorOnly=true -XX:+IgnoreUnrecognizedVMOptions -Xmx256m \
		-XX:MaxMetaspaceSize=64m "$@" Walks $modes || return 1
	"$JHOT" record -i 1ms -d "$SECONDS_EACH" -a -t -o "$file" "$JVM" >"$T/out" 2>"$T/err" </dev/null
	is "$name: jhot record exits with 0" $? 0 || diag_file "$T/err"
	jvm_end
	sed -i '/;\[context switches\]/d' "$file" # time without a stack
	whole=$(weight "$file" .)
	broken=$(weight "$file" '\[(break|unknown[^_]|unknown_[^m])')
	few "$name: at most $percent % of stacks are broken" "$broken" "$whole" "$percent"
	grep -E '\[(break|unknown)' "$file" | head -n 10 | cut -c 1-500 | sed 's/^/# broken: /'
	few "$name: at most 0.3 % of chains are impossible" "$(wrong "$file")" "$whole" 0.3
	chains "$file" | awk -v good="$GOOD" '$2 !~ good' | head -n 20 | sed 's/^/# wrong: /'
	# One stack of the whole recording had a method that could not be read: 10 samples, seen once in 18 recordings.
	few "$name: at most 0.2 % of samples have a frame without a name" "$(weight "$file" '(^|;)\?|\[(unloaded|unknown_method)\]|names_full')" "$whole" 0.2
	while read -r mode sixty thirty ten bad; do
		rest=$((rest + bad))
		[ "$mode" != abyss ] || continue
		[ $((sixty + thirty + ten)) -ge 50 ] || continue
		split "$name: $mode" "$sixty" "$thirty" "$ten"
		six=$((six + sixty)) three=$((three + thirty)) one=$((one + ten))
	done < <(shares "$file")
	split "$name: all modes" $six $three $one
	few "$name: at most 0.3 % of chains do not reach their thread's root" "$rest" "$whole" 0.3
	STACKS=$file
}

major=$(java_major "$JAVA")
major=${major%%[!0-9]*}
native="copy zip text math digest"
java="inline call throw alloc lock"
calls="deep reflect abyss unload"
if run tiered 0.1 "$native $java $calls"; then
	ok "stacks of more than 2,048 frames are marked as truncated" grep -q '\[truncated\].*abyssLeaf' "$STACKS"
	ok "stacks of compiler threads have the compiled method" grep -qE ';\[compiling\];compiling [a-zA-Z.$]+\.[^;]*;' "$STACKS"
	ok "the compiled method is not shown as executed" [ "$(grep -cE ';\[compiling\];[a-zA-Z/$]+\.' "$STACKS")" = 0 ]
	ok "code of unloading classes has samples" [ "$(weight "$STACKS" 'Walks.Copy.unload')" -gt 0 ]
	ok "recursion of 400 frames is complete" [ "$(chains "$STACKS" | grep -c 'deepTop;deepMiddle\*400;deepLeaf')" -gt 0 ]
fi
run interpreted 0.5 "$native $java $calls" -Xint
run c1 0.1 "$native $java $calls" -XX:TieredStopAtLevel=1
# Barriers that call the JVM from all code, as often as possible.
shenandoah="-XX:+UnlockDiagnosticVMOptions -XX:+UseShenandoahGC -XX:ShenandoahGCHeuristics=aggressive"
# shellcheck disable=SC2086
if "$JAVA" $shenandoah -version >"$T/out" 2>&1; then
	# shellcheck disable=SC2086
	run barriers 0.1 "$native $java $calls" -Xint $shenandoah
	# shellcheck disable=SC2086
	run compiled-barriers 0.1 "$native $java $calls" $shenandoah
else
	skip "a collector with barriers" "this JDK does not have Shenandoah"
fi
if run births 0.1 "births births"; then
	ok "threads with very short lives have samples" [ "$(weight "$STACKS" birthsLeaf)" -gt 100 ]
fi
if [ "$major" -ge 21 ]; then
	# Both the leaf and its caller have inlined loops: if the leaf is inlined as well, HotSpot attributes some instructions of
	# one loop to the other.
	run virtual 0.1 "virtual copy" -XX:CompileCommand=quiet -XX:CompileCommand=dontinline,Walks.virtualLeaf
else
	skip "virtual threads" "JDK $major has none"
fi
done_testing
