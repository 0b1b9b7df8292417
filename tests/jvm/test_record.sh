#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# jhot record on programs with a known profile: shares, stacks, formats, errors; the JVM prints nothing new.
. "$(dirname "$0")/lib.sh"

# record ARG...: sets status; output in $T/out and $T/err
record() { run record "$@"; }

# sampled N ARG...: the same for $JVM, until it has N samples, however busy the machine is
sampled() {
	record_start -d 200 "${@:2}"
	wait_for 150 has_samples "$JVM" "$1"
	record_end
	status=$?
}

# ends DESCRIPTION STATUS: the exit status of the last recording
ends() {
	is "$1" $status "$2" || diag_file "$T/err"
}

tag=jhot-test-$$
jvm_start $CALM_JVM Known shares 1 $tag
shares=$JVM
sampled 1000 -i 1ms -o "$T/a.collapsed" -o "$T/a.svg"
ends "jhot record with two output files exits with 0" 0
sixty=$(weight "$T/a.collapsed" 'knownRound;[^;]*knownSixty')
thirty=$(weight "$T/a.collapsed" 'knownRound;[^;]*knownThirty')
ten=$(weight "$T/a.collapsed" 'knownRound;[^;]*knownTen')
all=$((sixty + thirty + ten))
near "knownSixty has 60 % of the samples" "$sixty" $all 60
near "knownThirty has 30 % of the samples" "$thirty" $all 30
near "knownTen has 10 % of the samples" "$ten" $all 10
whole=$(weight "$T/a.collapsed" 'known(Sixty|Thirty|Ten)')
near "their stacks reach the thread's root" "$(weight "$T/a.collapsed" 'Thread.run;.*Known.drive;.*known(Sixty|Thirty|Ten)')" "$whole" 100
ok "the three methods have at least 70 % of all samples" [ $((all * 10)) -ge "$(($(weight "$T/a.collapsed" .) * 7))" ]
if command -v xmllint >/dev/null; then
	ok "the flame graph is well-formed XML" xmllint --noout --nonet "$T/a.svg"
else
	skip "the flame graph is well-formed XML" "no xmllint"
fi
ok "the flame graph has the hottest method" grep -q knownSixty "$T/a.svg"

record -i 1ms -d 1 "$shares"
ends "jhot record without an output file exits with 0" 0
first=$(grep -nm 1 knownSixty "$T/out" | cut -d : -f 1)
second=$(grep -nm 1 knownThirty "$T/out" | cut -d : -f 1)
ok "jhot record without an output file prints the hottest method first" [ "${first:-99}" -lt "${second:-0}" ]

record -d 1 -o "$T/none.collapsed" $tag
ends "an argument of the JVM's command line is not accepted as its name" 4
ok "the error lists the JVM whose command line has that argument" grep -q "jhot $shares " "$T/err"
record -i 1ms -d 1 -t -o "$T/t.collapsed" "$shares"
ends "jhot record -t exits with 0" 0
ok "-t begins stacks with the thread's name" grep -q '^\[\{0,1\}known-1.*;.*knownSixty' "$T/t.collapsed"

record -d 1 -o "$T/nowhere/a.svg" "$shares"
ends "an output file in a missing folder is an output error" 6
record -d 1 -o "$T/a.nonsense" "$shares"
ends "an unknown suffix of the output file is a usage error" 2
jvm_end "$shares"
ok "the program prints its sum" grep -q '^sum ' "$T/jvm0.out"
ok "the program found no wrong sum" not grep -q WRONG "$T/jvm0.out"
is "the program's stdout has only its own lines" "$(grep -vc '^ready$\|^sum ' "$T/jvm0.out")" 0
# JDK 21 and later say themselves that an agent was loaded (JEP 451); nothing else may be there.
is "the program's stderr has nothing but JEP 451's warnings" "$(grep -v '^WARNING: ' "$T/jvm0.err")" ""

jvm_start $CALM_JVM Known deep 200
sampled 200 -i 1ms -o "$T/deep.collapsed"
leaf=$(weight "$T/deep.collapsed" knownLeaf)
near "recursion of 200 frames is recorded completely" "$(weight "$T/deep.collapsed" 'Thread.run;.*(Known.knownDeep[^;]*;){201}[^;]*knownLeaf')" "$leaf" 100
jvm_end

# A stack deeper than --depth.
for tiers in "" -Xint; do
	jvm_start $CALM_JVM $tiers Known deep 3000
	sampled 200 -u -i 1ms --depth 100 --keep-root 20 -o "$T/cut.collapsed"
	ends "jhot record --depth 100 --keep-root 20 exits with 0${tiers:+, interpreted}" 0
	leaf=$(weight "$T/cut.collapsed" knownLeaf)
	near "truncated stacks have the top, the root and the number of frames left out" "$(weight "$T/cut.collapsed" \
		'java/lang/Thread.run;.*Known.drive;.*Known.knownDeep;\[2900\+ frames left out\];.*knownLeaf')" "$leaf" 100
	near "truncated stacks have 100 frames" "$(grep knownLeaf "$T/cut.collapsed" |
		awk -F';' 'NF == 100 { n = split($0, w, " "); sum += w[n] } END { print sum + 0 }')" "$leaf" 100
	near "all truncated stacks have the thread's root" "$(weight "$T/cut.collapsed" 'java/lang/Thread.run;.*Known.drive;.*Known')" \
		"$(weight "$T/cut.collapsed" 'Known')" 100
	sampled 200 -u -i 1ms --depth 200 --keep-top 40 -o "$T/top.collapsed"
	near "--keep-top 40 keeps the top after [truncated]" "$(weight "$T/top.collapsed" '^\[truncated\];(Known.knownDeep[^;]*;)+Known.knownLeaf')" \
		"$(weight "$T/top.collapsed" knownLeaf)" 100
	is "--keep-top 40 keeps no more than 40 frames" "$(grep knownLeaf "$T/top.collapsed" | awk -F';' 'NF > 41' | wc -l)" 0
	jvm_end
done
record --depth 100 --keep-root 99 "$T"
ends "--keep-root that leaves no frame for the top is a usage error" 2
record --depth 3000 "$T"
ends "--depth above the maximum is a usage error" 2

jvm_start $CALM_JVM Known zip
sampled 200 -i 1ms -o "$T/zip.collapsed"
zip=$(weight "$T/zip.collapsed" 'Known.knownZip')
ok "the time of a native method has its Java caller in the stack" [ $((zip * 10)) -ge "$(($(weight "$T/zip.collapsed" .) * 7))" ]
jvm_end

# A JVM that has just been started: jhot waits until it answers.
is_java() {
	case $(readlink "/proc/$1/exe") in */java) ;; *) false ;; esac
}
jvm_launch $CALM_JVM Known shares
wait_for 20 is_java "$JVM"
record -d 1 -o "$T/new.collapsed" "$JVM"
ends "jhot record waits for a JVM that is still starting" 0
jvm_end

# jhot refuses a process that is not a HotSpot JVM, and sends it no signal.
sleep 1000 &
sleeper=$!
wait_for 20 grep -q sleep "/proc/$sleeper/comm" # before that it is still a shell
record -d 1 "$sleeper"
ends "jhot record refuses a process that is not a JVM" 3
ok "the error has the process's pid and name" grep -q "$sleeper.*sleep" "$T/err"
ok "the process that is not a JVM is not killed" alive $sleeper
kill $sleeper
wait $sleeper 2>/dev/null
record -d 1 $sleeper
ends "a pid without a process exits with 4" 4
record -d 1 NoSuchProgramAnywhere
ends "a name that matches no JVM exits with 4" 4
done_testing
