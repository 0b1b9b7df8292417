#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Code compiled before the session is marked as having no inlining info; the share falls as methods are recompiled.
. "$(dirname "$0")/lib.sh"

# number FIELD: its value in the last complete screen; empty before the first
number() {
	grep '}$' "$T/screens" | tail -n 1 | grep -o "\"$1\":[0-9.]*" | head -n 1 | sed 's/.*://'
}

# row METHOD: its letter and its self samples in the last complete screen
row() {
	grep '}$' "$T/screens" | tail -n 1 | grep -o "{\"name\":\"$1\"[^}]*}" |
		sed 's/.*"type":"\(.\)".*"self_samples":\([0-9]*\).*/\1 \2/'
}

# no_inlining TEST NUMBER: the last complete screen has samples, and the test is true of its share without inlining info
no_inlining() {
	local share
	share=$(number coarse_pct)
	[ "$(number samples)" -ge 50 ] 2>/dev/null && [ "${share%%.*}" "$1" "$2" ] 2>/dev/null
}

mkdir -p "$T/settings/jhot"
echo 'window = 5s' >"$T/settings/jhot/config" # so that samples from before a recompilation leave it soon
start() {
	jvm_start -XX:+UseSerialGC -Xmx64m -Xbatch -XX:CompileCommand=quiet \
		-XX:CompileCommand=dontinline,Coarse.both "$@" Coarse
	"$JHOT" top -b --json -d 1 "$JVM" >"$T/screens" 2>"$T/err" </dev/null &
	TOP=$!
}

end() {
	kill -TERM $TOP
	wait $TOP
	jvm_end
}

falls() {
	local major=$1 both inlined
	start
	ok "JDK $major: at least 70 % of the samples are in code without inlining info" wait_for 60 no_inlining -ge 70
	both=$(row Coarse.both)
	is "JDK $major: the row of a method without inlining info has the letter ~" "${both% *}" "~"
	echo anew >&"$JVM_IN"
	ok "JDK $major: at most 30 % are after the methods are compiled again" wait_for 120 no_inlining -le 30
	both=$(row Coarse.both)
	inlined=$(row 'Coarse$Long.apply')
	diag "JDK $major: the caller has $both, the inlined method $inlined"
	ok "JDK $major: the inlined method then has more samples than its caller" [ "${inlined#* }" -gt "${both#* }" ]
	end
}

while read -r major java; do
	JAVA=$java
	falls "$major"
# shellcheck disable=SC2086
done < <(jdks ${MAJORS:-8}) # MAJORS="8 11 21 25": on these, too

own() { # METHOD: samples whose top frame is it
	weight "$T/checked.collapsed" "Checked\\.$1(_\\[.\\])? [0-9]+\$"
}

# checked MAJOR: checks that lead to uncommon traps attribute code without inlining info to the method inlined there
checked() {
	local caller lookups
	jvm_start -XX:+UseSerialGC -Xmx64m -Xbatch Checked
	record_start -i 1ms -d 100 -o "$T/checked.collapsed"
	wait_for 60 has_samples "$JVM" 500
	record_end
	caller=$(own caller) lookups=$(own lookups)
	diag "JDK $1: $lookups samples of the inlined method, $caller of its caller"
	ok "JDK $1: uncommon traps attribute code without inlining info to the inlined method" [ "$lookups" -gt $((caller * 2)) ]
	jvm_end
}

while read -r major java; do
	JAVA=$java
	checked "$major"
# shellcheck disable=SC2086
done < <(jdks_checked)

# the JVM starts with the flag
start -XX:+UnlockDiagnosticVMOptions -XX:+DebugNonSafepoints
ok "a JVM with -XX:+DebugNonSafepoints has no code without inlining info" wait_for 60 no_inlining -le 0
end

# the command line disables the flag: no code has inlining info, and a recording says so and names the flags
jvm_start -XX:+UseSerialGC -Xmx64m -Xbatch -XX:+UnlockDiagnosticVMOptions -XX:-DebugNonSafepoints Coarse
on_screen() {
	"$JHOT" top --dump-screen=120x24 -n 2 "$JVM" 2>"$T/err" </dev/null | grep -Eq ' [0-9]+% no inlining info '
}
ok "the header of the view shows the share of code without inlining info" wait_for 60 on_screen
record_start -i 1ms -d 100 -o "$T/x.collapsed"
echo anew >&"$JVM_IN"
wait_for 60 has_samples "$JVM" 500
record_end
ok "jhot record prints the share of code without inlining info" grep -Eq '^cpu: [0-9]+ % in code without inlining information' "$T/err"
ok "jhot record suggests -XX:+DebugNonSafepoints" grep -q -- '-XX:+DebugNonSafepoints' "$T/err"
jvm_end

# C1 code has C1's suffix in collapsed stacks, with or without inlining info
jvm_start -XX:+UseSerialGC -Xmx64m -Xbatch -XX:TieredStopAtLevel=1 -XX:+UnlockDiagnosticVMOptions \
	-XX:-DebugNonSafepoints Coarse
record_start -a -i 1ms -d 100 -o "$T/x.collapsed"
wait_for 60 has_samples "$JVM" 200
record_end
jvm_end
ok "C1 code has no inlining info either" grep -Eq '^cpu: [0-9]+ % in code without inlining information' "$T/err" || diag_file "$T/err"
ok "collapsed stacks mark the frame with C1's suffix" grep -Eq 'Coarse\.both_\[1\] [0-9]+$' "$T/x.collapsed"
is "no frame has the suffix of C2 code" "$(grep -c '_\[j\]' "$T/x.collapsed")" 0
done_testing
