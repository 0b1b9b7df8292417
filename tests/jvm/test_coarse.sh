#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Code compiled before the session is marked as having no inlining info; the share falls as methods are recompiled.
. "$(dirname "$0")/lib.sh"

# number FIELD: of the last screen that is whole, an empty text before the first
number() {
	grep '}$' "$T/screens" | tail -n 1 | grep -o "\"$1\":[0-9.]*" | head -n 1 | sed 's/.*://'
}

# row METHOD: its letter and its own samples in the last screen
row() {
	grep '}$' "$T/screens" | tail -n 1 | grep -o "{\"name\":\"$1\"[^}]*}" |
		sed 's/.*"type":"\(.\)".*"self_samples":\([0-9]*\).*/\1 \2/'
}

# coarse TEST NUMBER: holds of the last screen, which has samples
coarse() {
	local share
	share=$(number coarse_pct)
	[ "$(number samples)" -ge 50 ] 2>/dev/null && [ "${share%%.*}" "$1" "$2" ] 2>/dev/null
}

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
	ok "JDK $major: what was compiled before is coarse" wait_for 60 coarse -ge 70
	both=$(row Coarse.both)
	is "JDK $major: its row is marked" "${both% *}" "~"
	echo anew >&"$JVM_IN"
	ok "JDK $major: compiled anew it is not, with time" wait_for 120 coarse -le 30
	both=$(row Coarse.both)
	inlined=$(row 'Coarse$Long.apply')
	diag "JDK $major: itself $both, what is inlined $inlined"
	ok "JDK $major: and what is inlined has the time" [ "${inlined#* }" -gt "${both#* }" ]
	end
}

while read -r major java; do
	JAVA=$java
	falls "$major"
# shellcheck disable=SC2086
done < <(jdks ${MAJORS:-8}) # MAJORS="8 11 21 25": on these, too

own() { # METHOD: samples that end in it
	weight "$T/checked.collapsed" "Checked\\.$1(_\\[.\\])? [0-9]+\$"
}

# checked MAJOR: checks that lead to uncommon traps attribute coarse code to the method that is inlined there
checked() {
	local caller lookups
	jvm_start -XX:+UseSerialGC -Xmx64m -Xbatch Checked
	record_start -i 1ms -d 100 -o "$T/checked.collapsed"
	wait_for 60 has_samples "$JVM" 500
	record_end
	caller=$(own caller) lookups=$(own lookups)
	diag "JDK $1: $lookups samples of the inlined method, $caller of its caller"
	ok "JDK $1: coarse code is attributed by its checks" [ "$lookups" -gt $((caller * 2)) ]
	jvm_end
}

while read -r major java; do
	JAVA=$java
	checked "$major"
# shellcheck disable=SC2086
done < <(jdks_checked)

# with the flag from the beginning nothing ever is
start -XX:+UnlockDiagnosticVMOptions -XX:+DebugNonSafepoints
ok "nothing is coarse in a JVM that has the flag" wait_for 60 coarse -le 0
end

# where somebody has set it otherwise all is, and a recording says so and what is against it
jvm_start -XX:+UseSerialGC -Xmx64m -Xbatch -XX:+UnlockDiagnosticVMOptions -XX:-DebugNonSafepoints Coarse
on_screen() {
	"$JHOT" top --dump-screen=120x24 -n 2 "$JVM" 2>"$T/err" </dev/null | grep -Eq ' [0-9]+% no inlining info '
}
ok "the screen says how much is" wait_for 60 on_screen
record_start -i 1ms -d 100 -o "$T/x.collapsed"
echo anew >&"$JVM_IN"
wait_for 60 has_samples "$JVM" 500
record_end
ok "a recording says how much is" grep -Eq '^cpu: [0-9]+ % in code without inlining information' "$T/err"
ok "and which flags are against it" grep -q -- '-XX:+DebugNonSafepoints' "$T/err"
jvm_end

# C1 code has C1's suffix in collapsed stacks, with or without inlining info
jvm_start -XX:+UseSerialGC -Xmx64m -Xbatch -XX:TieredStopAtLevel=1 -XX:+UnlockDiagnosticVMOptions \
	-XX:-DebugNonSafepoints Coarse
record_start -a -i 1ms -d 100 -o "$T/x.collapsed"
wait_for 60 has_samples "$JVM" 200
record_end
jvm_end
ok "C1's code alone: it is coarse, too" grep -Eq '^cpu: [0-9]+ % in code without inlining information' "$T/err" || diag_file "$T/err"
ok "and marked as C1's" grep -Eq 'Coarse\.both_\[1\] [0-9]+$' "$T/x.collapsed"
is "no frame is marked as C2's" "$(grep -c '_\[j\]' "$T/x.collapsed")" 0
done_testing
