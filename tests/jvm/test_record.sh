#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# jhot record on programs with a known profile: shares, stacks, formats, errors; the JVM prints nothing new.
. "$(dirname "$0")/lib.sh"

# record ARG...: sets status; output in $T/out and $T/err
record() { run record "$@"; }

# ends DESCRIPTION STATUS: how the last recording ended
ends() {
	is "$1" $status "$2" || diag_file "$T/err"
}

tag=jhot-test-$$
jvm_start $CALM_JVM Known shares 1 $tag
shares=$JVM
record -i 1ms -d 4 -o "$T/a.collapsed" -o "$T/a.svg" "$shares"
ends "recording succeeds" 0
sixty=$(weight "$T/a.collapsed" 'knownRound;[^;]*knownSixty')
thirty=$(weight "$T/a.collapsed" 'knownRound;[^;]*knownThirty')
ten=$(weight "$T/a.collapsed" 'knownRound;[^;]*knownTen')
all=$((sixty + thirty + ten))
near "six parts in ten" "$sixty" $all 60
near "three parts in ten" "$thirty" $all 30
near "one part in ten" "$ten" $all 10
whole=$(weight "$T/a.collapsed" 'known(Sixty|Thirty|Ten)')
near "their stacks are whole" "$(weight "$T/a.collapsed" 'Thread.run;.*Known.drive;.*known(Sixty|Thirty|Ten)')" "$whole" 100
ok "nearly all of the time is found" [ $((all * 10)) -ge "$(($(weight "$T/a.collapsed" .) * 7))" ]
if command -v xmllint >/dev/null; then
	ok "the flame graph is well-formed" xmllint --noout --nonet "$T/a.svg"
else
	skip "the flame graph is well-formed" "no xmllint"
fi
ok "and has the method" grep -q knownSixty "$T/a.svg"

record -i 1ms -d 1 "$shares"
ends "a recording without a file succeeds" 0
first=$(grep -nm 1 knownSixty "$T/out" | cut -d : -f 1)
second=$(grep -nm 1 knownThirty "$T/out" | cut -d : -f 1)
ok "it prints the hot methods, the hottest first" [ "${first:-99}" -lt "${second:-0}" ]

record -d 1 -o "$T/none.collapsed" $tag
ends "a word of its command line names no JVM" 4
ok "but shows it" grep -q "jhot $shares " "$T/err"
record -i 1ms -d 1 -t -o "$T/t.collapsed" "$shares"
ends "threads can be told apart" 0
ok "-t begins stacks with the thread" grep -q '^\[\{0,1\}known-1.*;.*knownSixty' "$T/t.collapsed"

record -d 1 -o "$T/nowhere/a.svg" "$shares"
ends "a folder that is not there is an output error" 6
record -d 1 -o "$T/a.nonsense" "$shares"
ends "an unknown suffix is a usage error" 2
jvm_end "$shares"
ok "the program's sum is right" grep -q '^sum ' "$T/jvm0.out"
ok "and was all the time" not grep -q WRONG "$T/jvm0.out"
is "its output has nothing else" "$(grep -vc '^ready$\|^sum ' "$T/jvm0.out")" 0
# JDK 21 and later say themselves that an agent was loaded (JEP 451); nothing else may be there.
is "nor have its errors" "$(grep -v '^WARNING: ' "$T/jvm0.err")" ""

jvm_start $CALM_JVM Known deep 200
record -i 1ms -d 2 -o "$T/deep.collapsed" "$JVM"
leaf=$(weight "$T/deep.collapsed" knownLeaf)
near "200 frames deep" "$(weight "$T/deep.collapsed" 'Thread.run;.*(Known.knownDeep[^;]*;){201}[^;]*knownLeaf')" "$leaf" 100
jvm_end

# Deeper than is kept.
for tiers in "" -Xint; do
	jvm_start $CALM_JVM $tiers Known deep 3000
	record -u -i 1ms -d 2 --depth 100 --keep-root 20 -o "$T/cut.collapsed" "$JVM"
	ends "of 3,000 frames a hundred are kept${tiers:+, interpreted}" 0
	leaf=$(weight "$T/cut.collapsed" knownLeaf)
	near "the top, the root, and how much is left out" "$(weight "$T/cut.collapsed" \
		'java/lang/Thread.run;.*Known.drive;.*Known.knownDeep;\[2900\+ frames left out\];.*knownLeaf')" "$leaf" 100
	near "a hundred frames" "$(grep knownLeaf "$T/cut.collapsed" |
		awk -F';' 'NF == 100 { n = split($0, w, " "); sum += w[n] } END { print sum + 0 }')" "$leaf" 100
	near "the root of all of them" "$(weight "$T/cut.collapsed" 'java/lang/Thread.run;.*Known.drive;.*Known')" \
		"$(weight "$T/cut.collapsed" 'Known')" 100
	record -u -i 1ms -d 3 --depth 200 --keep-top 40 -o "$T/top.collapsed" "$JVM"
	near "only the top" "$(weight "$T/top.collapsed" '^\[truncated\];(Known.knownDeep[^;]*;)+Known.knownLeaf')" \
		"$(weight "$T/top.collapsed" knownLeaf)" 100
	is "no more of it" "$(grep knownLeaf "$T/top.collapsed" | awk -F';' 'NF > 41' | wc -l)" 0
	jvm_end
done
record --depth 100 --keep-root 99 "$T"
ends "a root that leaves no frame for the top is refused" 2
record --depth 3000 "$T"
ends "and more than can be kept" 2

jvm_start $CALM_JVM Known zip
record -i 1ms -d 2 -o "$T/zip.collapsed" "$JVM"
zip=$(weight "$T/zip.collapsed" 'Known.knownZip')
ok "a native method's time is its Java caller's" [ $((zip * 10)) -ge "$(($(weight "$T/zip.collapsed" .) * 7))" ]
jvm_end

# One that has just been started: jhot waits until it can be asked.
is_java() {
	case $(readlink "/proc/$1/exe") in */java) ;; *) false ;; esac
}
jvm_launch $CALM_JVM Known shares
wait_for 20 is_java "$JVM"
record -d 1 -o "$T/new.collapsed" "$JVM"
ends "a JVM that is still starting is waited for" 0
jvm_end

# What is no HotSpot JVM is refused by name and feels nothing.
sleep 1000 &
sleeper=$!
wait_for 20 grep -q sleep "/proc/$sleeper/comm" # before that it is still a shell
record -d 1 "$sleeper"
ends "a sleep is refused" 3
ok "by name" grep -q "$sleeper.*sleep" "$T/err"
ok "and sleeps on" alive $sleeper
kill $sleeper
wait $sleeper 2>/dev/null
record -d 1 $sleeper
ends "a process that is not there" 4
record -d 1 NoSuchProgramAnywhere
ends "a name that nobody has" 4
done_testing
