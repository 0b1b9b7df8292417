#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The test library itself: programs start and end, sums are checked, leftovers are detected.
. "$(dirname "$0")/lib.sh"

ok "a JVM starts" jvm_start $CALM_JVM Known shares
first=$JVM
is "it says so" "$(cat "$JVM_OUT")" ready
jvm_warm_attach "$JVM"
litter "$JVM" >"$T/before"
ok "litter lists threads" grep -q '^task VM Thread' "$T/before"
ok "litter lists files" grep -q '^map .*libjvm.so' "$T/before"
ok "litter lists signal dispositions" grep -q '^SigCgt:' "$T/before"

echo run on >&"$JVM_IN"
sleep 0.2 # nothing to await: this is the wait for nothing to happen
litter "$JVM" >"$T/after"
same "a JVM left alone has no litter" "$T/after" "$T/before"

first_out=$JVM_OUT
ok "a second JVM starts beside it" jvm_start Known deep 50
ok "the first is alive" alive "$first"
ok "the second ends when told" jvm_end
ok "it printed its sum" grep -q '^sum ' "$JVM_OUT"
ok "the first ends when told" jvm_end "$first"
ok "and printed its sum" grep -q '^sum ' "$first_out"
ok "nobody found a wrong sum" not grep -q WRONG "$T"/jvm*.out

ok "a program that will exit by itself starts" jvm_start Known idle
jvm_halt
wait_for 30 gone "$JVM"
wait "$JVM"
is "its exit status is seen" $? 7

for mode in "threads 3" "zip" "churn 2" "idle"; do
	ok "mode $mode starts" jvm_start Known $mode
	ok "mode $mode ends" jvm_end
done

ok "there is a JDK" [ -n "$(jdks)" ]
# bootstrap reports these lines at the end of a check.
jdks | sed 's/ /: /; s/^/# JDK /'
ok "waiting gives up" not wait_for 0 false

# --- tests that are wrong, or are ended ---

# script: a test of the lines on stdin; what it says is in $T/script.out
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
is "a test that is right passes" $? 0
is "with what it says" "$(tail -n 1 "$T/script.out")" 1..1
script <<'END'
ok "fine" true
a_function_that_nobody_wrote
wait_for 0 another_one
done_testing
END
is "one that calls what is not there fails" $? 1
ok "by name" grep -q '^# got: *a_function_that_nobody_wrote another_one' "$T/script.out"

# A folder with one made-up JDK: the others are reported, each once.
mkdir -p "$T/jdks/98765/bin"
ln -s "$(command -v "$JAVA")" "$T/jdks/98765/bin/java"
JDKS=$T/jdks script <<'END'
for turn in 1 2; do
	while read -r major java; do ok "JDK $major" test -x "$java"; done < <(jdks 98765 98766)
done
done_testing
END
is "a JDK that is installed is used" "$(grep -c '^ok .* - JDK 98765$' "$T/script.out")" 2
is "one that is not is a skip, once" "$(grep 98766 "$T/script.out")" \
	"ok 5 - the same on JDK 98766 # SKIP JDK 98766 is not installed"
JDKS=none script <<'END'
while read -r major java; do ok "JDK $major" true; done < <(jdks 98765 98766)
done_testing
END
is "JDKS=none: only the JDK under test, and no skips" "$(grep -c ^ok "$T/script.out") $(grep -c SKIP "$T/script.out")" "1 0"

# left_of: which of the processes that the script noted still run
left_of() {
	local pid
	while read -r pid; do
		gone "$pid" || echo "$pid"
	done <"$T/started"
}

# noted COUNT: so many are noted
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
ok "a test has started some processes" noted 4
is "of which none outlives it" "$(left_of)" ""
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
	is "nor one that is ended by SIG$sig" "$(left_of)" ""
done
done_testing
