# SPDX-License-Identifier: Apache-2.0
# For tests of the agent on real JVMs through agent_tool. Sourced by bash after tests/jvm/lib.sh.

AGENT=$builddir/libjhot.so
TOOL=$builddir/tests/sampler/agent_tool

# agent KEY=VALUE...: runs a session with $JVM; its output is in $T/tool; returns its exit status
agent() {
	"$TOOL" "$JVM" "$AGENT" "$@" >"$T/tool" 2>"$T/tool.err"
}

# agent_start NAME KEY=VALUE...: the same in the background, with its output in $T/NAME. Sets TOOL_PID.
agent_start() {
	local name=$1
	shift
	"$TOOL" "$JVM" "$AGENT" "$@" >"$T/$name" 2>"$T/$name.err" &
	TOOL_PID=$!
}

# agent_begin KEY=VALUE...: the same with its output in $T/tool; returns when it has started; agent_end ends it
agent_begin() {
	rm -f "$T/tool"
	agent_start tool "$@"
	wait_for 20 grep -qs '^start' "$T/tool"
}

agent_end() {
	kill -INT $TOOL_PID
	wait $TOOL_PID
}

# value KEY [FILE]: its value in the output of agent_tool; "0" for a counter that is not printed
value() {
	awk -v key="$1" '
		$1 == key { $1 = ""; sub(/^ /, ""); print; found = 1; exit }
		$1 == "counter" && $2 == key { print $3; found = 1; exit }
		END { if (!found) print 0 }' "${2:-$T/tool}"
}

# of_event NAME KEY: a figure of the line "event NAME samples N weight N ..."
of_event() {
	awk -v name="$1" -v key="$2" '$1 == "event" && $2 == name {
		for (i = 3; i < NF; i++) if ($i == key) print $(i + 1) }' "$T/tool"
}

# accounted [FILE]: every sample that was taken has either arrived or is counted as lost
accounted() {
	local taken lost samples
	taken=$(value taken "${1:-$T/tool}")
	lost=$(value lost "${1:-$T/tool}")
	samples=$(value samples "${1:-$T/tool}")
	[ "$taken" -eq $((samples + lost)) ] ||
		{ diag "taken $taken, arrived $samples, lost $lost" && false; }
}

# known [FILE]: no record refers to an id that was never published
known() {
	is "every id in a record was published before" "$(value unknown_ids "${1:-$T/tool}")" 0 ||
		diag "first $(value unknown "${1:-$T/tool}")"
}

# cpu_ms: the CPU time that $JVM has used so far, including that of attaching and of compilers
cpu_ms() {
	awk -v hz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); print int(($12 + $13) * 1000 / hz) }' "/proc/$JVM/stat"
}

# sites_do LINE...: sends the program Sites a command; returns when it has printed "done"
sites_do() {
	local before
	before=$(grep -c '^done' "$JVM_OUT")
	echo "$*" >&"$JVM_IN"
	wait_for 300 sites_done $((before + 1))
}

sites_done() {
	[ "$(grep -c '^done' "$JVM_OUT")" -ge "$1" ] || gone "$JVM"
}

# weight_at EVENT METHOD CLASS: the weight in $T/weights of this class's stacks with this method of Sites;
# CLASS_[k]: only of objects allocated outside of the thread's buffer
weight_at() {
	awk -v event="$1;" -v method="Sites.$2_" -v class=";$3" '
		index($0, event) == 1 && index($0, method) {
			weight = $NF
			sub(/ [0-9]+$/, "")
			if (class !~ /_\[k\]$/) sub(/_\[k\]$/, "")
			if (substr($0, length($0) - length(class) + 1) == class) sum += weight
		}
		END { printf "%.0f\n", sum }' "$T/weights"
}

# close_to GOT WANTED PERCENT [MORE]
close_to() {
	awk -v got="$1" -v wanted="$2" -v percent="$3" -v more="${4:-0}" 'BEGIN {
		off = got - wanted
		exit (off < 0 ? -off : off) > wanted * percent / 100 + more
	}'
}

# between GOT LOW HIGH PERCENT: GOT is within LOW and HIGH, give or take PERCENT
between() {
	awk -v got="$1" -v low="$2" -v high="$3" -v percent="$4" 'BEGIN {
		exit got < low * (1 - percent / 100) || got > high * (1 + percent / 100)
	}'
}

# parked_compile: compiles the program Parked, which needs a newer javac; sets FLOCK, the JVM options that it needs.
# Returns 1 if there is no such javac.
parked_compile() {
	local javac= major
	for major in 21 25 26 27 28; do
		javac=$(jdk_find $major)
		javac=${javac%java}javac
		[ ! -x "$javac" ] || break
	done
	[ -x "$javac" ] || return 1
	FLOCK="--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED"
	CLASSES=$CLASSES:$T
	"$javac" -nowarn $FLOCK -d "$T" "$srcdir/tests/sampler/programs/Parked.java" >"$T/javac" 2>&1 || diag_file "$T/javac"
}
