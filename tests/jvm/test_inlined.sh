#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Inlined methods are distinguished in code compiled during a session: DebugNonSafepoints is set, and restored afterwards.
. "$(dirname "$0")/lib.sh"

DIAGNOSTIC=-XX:+UnlockDiagnosticVMOptions # without it the JVM does not tell of the flag

# flag: how DebugNonSafepoints is, as the JVM itself says
flag() {
	local bin
	bin=$(dirname "$(readlink -f "$(command -v "$JAVA")")")
	[ -x "$bin/jcmd" ] || bin=$bin/../../bin
	"$bin/jcmd" "$JVM" VM.flags -all | awk '$2 == "DebugNonSafepoints" { print $4 }'
}

# said: what `jhot status` says of it
said() {
	"$JHOT" status "$JVM" | sed -n 's/^ *inlined methods: //p'
}

own() { # METHOD: samples that end in it
	weight "$T/x.collapsed" "Inlined\\.$1(_\\[.\\])? [0-9]+\$"
}

inlined() {
	local major=$1 both small large
	jvm_start $DIAGNOSTIC -XX:+UseSerialGC -Xmx64m Inlined
	is "JDK $major: the flag is as it is built" "$(flag)" false
	record_start -i 1ms -d 100 -o "$T/x.collapsed"
	wait_for 20 eval '[ -n "$(said)" ]'
	ok "JDK $major: it is set while jhot is there" wait_for 20 eval '[ "$(flag)" = true ]'
	ok "JDK $major: and status says so" eval 'said | grep -q "set until the session ends"'
	echo go >&"$JVM_IN"
	wait_for 120 has_samples "$JVM" 300
	record_end
	becomes_quiet "JDK $major: the session ends" "$JVM"
	is "JDK $major: the flag is as it was" "$(flag)" false
	both=$(own both) small=$(own small) large=$(own large)
	diag "JDK $major: $large of the larger, $small of the smaller, $both of their caller"
	# without the flag all of it is the caller's; what is compiled first, and loops, may be his
	ok "JDK $major: most is of what is inlined" [ $((small + large)) -gt $((both * 2)) ]
	ok "JDK $major: and most of that of the larger" [ "$large" -gt "$small" ]
	jvm_end
}

while read -r major java; do
	JAVA=$java
	inlined "$major"
done < <(jdks ${MAJORS:-8})

# who has set it otherwise is left alone
jvm_start $DIAGNOSTIC -XX:-DebugNonSafepoints Inlined
record_start -d 100 -o "$T/x.collapsed"
wait_for 20 eval '[ -n "$(said)" ]'
is "what the command line says stays" "$(flag)" false
ok "and status says what follows" eval 'said | grep -q "cannot be set"'
record_end
jvm_end
done_testing
