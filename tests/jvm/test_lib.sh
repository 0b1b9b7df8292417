#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The test library itself: programs start and end, sums are checked, leftovers are detected.
. "$(dirname "$0")/lib.sh"

ok "jvm_start starts a JVM" jvm_start $CALM_JVM Known shares
first=$JVM
is "the JVM has printed ready when jvm_start returns" "$(cat "$JVM_OUT")" ready
jvm_warm_attach "$JVM"
litter "$JVM" >"$T/before"
ok "litter lists threads" grep -q '^task VM Thread' "$T/before"
ok "litter lists files" grep -q '^map .*libjvm.so' "$T/before"
ok "litter lists signal dispositions" grep -q '^SigCgt:' "$T/before"

echo run on >&"$JVM_IN"
sleep 0.2 # nothing must happen in this time, so there is no state to wait for
litter "$JVM" >"$T/after"
same "litter of an idle JVM does not change" "$T/after" "$T/before"

first_out=$JVM_OUT
ok "jvm_start starts a second JVM" jvm_start Known deep 50
ok "the first JVM still runs after a second has started" alive "$first"
ok "jvm_end ends the second JVM with status 0" jvm_end
ok "the second JVM printed its sum" grep -q '^sum ' "$JVM_OUT"
ok "jvm_end ends the first JVM with status 0" jvm_end "$first"
ok "the first JVM printed its sum" grep -q '^sum ' "$first_out"
ok "no JVM printed a wrong sum" not grep -q WRONG "$T"/jvm*.out

ok "jvm_start starts a program that jvm_halt ends" jvm_start Known idle
jvm_halt
wait_for 30 gone "$JVM"
wait "$JVM"
is "the exit status of a halted JVM is 7" $? 7

for mode in "threads 3" "zip" "churn 2" "idle"; do
	ok "Known starts in mode $mode" jvm_start Known $mode
	ok "Known ends in mode $mode with status 0" jvm_end
done

ok "jdks prints at least one JDK" [ -n "$(jdks)" ]
# bootstrap reports these lines at the end of a check.
jdks | sed 's/ /: /; s/^/# JDK /'
ok "wait_for fails when its time is over" not wait_for 0 false

# --- test scripts that are faulty or killed ---

# script: runs the lines on stdin as a test; its output is in $T/script.out
script() {
	{
		echo ". '$srcdir/tests/jvm/lib.sh'"
		cat
	} >"$T/script"
	TMPDIR=$T bash "$T/script" >"$T/script.out" 2>&1
}

script <<'END'
ok "fine" true
done_testing
END
is "a script whose checks pass exits with 0" $? 0
is "a script ends with its plan" "$(tail -n 1 "$T/script.out")" 1..1
script <<'END'
ok "fine" true
a_function_that_nobody_wrote
wait_for 0 another_one
done_testing
END
is "a script that calls undefined commands exits with 1" $? 1
ok "the output names the undefined commands" grep -q '^# got: *a_function_that_nobody_wrote another_one' "$T/script.out"

# A folder with one made-up JDK: each of the others is reported once.
mkdir -p "$T/jdks/98765/bin"
ln -s "$(command -v "$JAVA")" "$T/jdks/98765/bin/java"
JDKS=$T/jdks script <<'END'
for turn in 1 2; do
	while read -r major java; do ok "JDK $major" test -x "$java"; done < <(jdks 98765 98766)
done
done_testing
END
is "jdks prints an installed JDK each time it is called" "$(grep -c '^ok .* - JDK 98765$' "$T/script.out")" 2
is "a JDK that is not installed is reported as one skip" "$(grep 98766 "$T/script.out")" \
	"ok 5 - the same on JDK 98766 # SKIP JDK 98766 is not installed"
JDKS=none script <<'END'
while read -r major java; do ok "JDK $major" true; done < <(jdks 98765 98766)
done_testing
END
is "JDKS=none prints only the JDK under test and reports no skips" "$(grep -c ^ok "$T/script.out") $(grep -c SKIP "$T/script.out")" "1 0"

# left_of: the processes recorded by the script that still run
left_of() {
	local pid
	while read -r pid; do
		gone "$pid" || echo "$pid"
	done <"$T/started"
}

# noted COUNT: the script has recorded at least COUNT processes
noted() {
	[ "$(wc -l <"$T/started")" -ge "$1" ]
}

# In the background, in a session of their own, from a restarted loop, and from another shell.
cat >"$T/starts" <<END
sleep 1000 & echo \$! >>$T/started
setsid sh -c 'echo \$\$ >>$T/started; exec sleep 1000' &
(while :; do sleep 1000; done) & echo \$! >>$T/started
sh -c 'sleep 1000 >/dev/null & echo \$!' >>$T/started
until [ "\$(wc -l <$T/started)" = 4 ]; do sleep 0.02; done
END
: >"$T/started"
script <<END
. $T/starts
done_testing
END
ok "a script has started four processes" noted 4
is "no process that a script started outlives it" "$(left_of)" ""
for sig in TERM HUP; do
	: >"$T/started"
	script <<-END &
		. $T/starts
		echo x >>$T/started
		wait
	END
	test=$!
	wait_for 30 noted 5
	kill -$sig "$(pgrep -P $test -f "$T/script")"
	wait $test
	sed -i '/x/d' "$T/started"
	is "no process outlives a script that is ended by SIG$sig" "$(left_of)" ""
done
done_testing
