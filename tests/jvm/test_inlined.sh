#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Inlined methods are distinguished in code compiled during a session: DebugNonSafepoints is set, and restored afterwards.
. "$(dirname "$0")/lib.sh"

DIAGNOSTIC=-XX:+UnlockDiagnosticVMOptions # without it the JVM does not print the flag

# flag: the value of DebugNonSafepoints, according to the JVM
flag() {
	local bin
	bin=$(dirname "$(readlink -f "$(command -v "$JAVA")")")
	[ -x "$bin/jcmd" ] || bin=$bin/../../bin
	"$bin/jcmd" "$JVM" VM.flags -all | awk '$2 == "DebugNonSafepoints" { print $4 }'
}

# said: the text of `jhot status` on inlined methods
said() {
	"$JHOT" status "$JVM" | sed -n 's/^ *inlined methods: //p'
}

own() { # METHOD: samples whose top frame is it
	weight "$T/x.collapsed" "Inlined\\.$1(_\\[.\\])? [0-9]+\$"
}

inlined() {
	local major=$1 both small large
	jvm_start $DIAGNOSTIC -XX:+UseSerialGC -Xmx64m Inlined
	is "JDK $major: DebugNonSafepoints is false before the session" "$(flag)" false
	record_start -i 1ms -d 100 -o "$T/x.collapsed"
	wait_for 20 eval '[ -n "$(said)" ]'
	ok "JDK $major: DebugNonSafepoints is true during the session" wait_for 20 eval '[ "$(flag)" = true ]'
	ok "JDK $major: status says that the flag is set until the session ends" eval 'said | grep -q "set until the session ends"'
	echo go >&"$JVM_IN"
	wait_for 120 has_samples "$JVM" 300
	record_end
	becomes_quiet "JDK $major: sampling ends after the session" "$JVM"
	is "JDK $major: DebugNonSafepoints is false again after the session" "$(flag)" false
	both=$(own both) small=$(own small) large=$(own large)
	diag "JDK $major: $large samples of the larger method, $small of the smaller, $both of their caller"
	# Without the flag all samples are attributed to the caller; those of its first compilation, in a loop, may be.
	ok "JDK $major: inlined methods have more than twice the samples of their caller" [ $((small + large)) -gt $((both * 2)) ]
	ok "JDK $major: the larger inlined method has more samples than the smaller" [ "$large" -gt "$small" ]
	jvm_end
}

while read -r major java; do
	JAVA=$java
	inlined "$major"
done < <(jdks ${MAJORS:-8})

# jhot does not override a command line that disables the flag
jvm_start $DIAGNOSTIC -XX:-DebugNonSafepoints Inlined
record_start -d 100 -o "$T/x.collapsed"
wait_for 20 eval '[ -n "$(said)" ]'
is "DebugNonSafepoints that the command line disables stays false" "$(flag)" false
ok "status says that the flag cannot be set" eval 'said | grep -q "cannot be set"'
record_end
jvm_end
done_testing
