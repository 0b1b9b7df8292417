#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The target comes first: programs that do all that is dangerous for a profiler, sampled as fast as it
# goes, on every JDK there is; they go on and compute the right thing.
. "$(dirname "$0")/../jvm/lib.sh"
. "$(dirname "$0")/lib.sh"

SECONDS_EACH=${SECONDS_EACH:-4}
MODES=${MODES:-malloc dlopen pthread faults exec threads classes deep throwing}
HAMMER=$builddir/tests/sampler
CLASSES=$HAMMER/classes
[ -e "$HAMMER/libhammer.so" ] || skip_all "no libhammer.so (make check builds it)"

# hammer MAJOR KEY=VALUE...: one JVM, one session
hammer() {
	local major=$1 status
	shift
	# shellcheck disable=SC2086
	jvm_start -Xmx256m Hammer "$HAMMER/libhammer.so" $MODES || return
	ok "JDK $major: a session lasts to its end" agent seconds="$SECONDS_EACH" "$@" ||
		diag_file "$T/tool.err"
	diag "$(grep -E '^(engine|samples|lost|broken_pct|cost_us|counter)' "$T/tool" | tr '\n' ' ')"
	ok "JDK $major: every sample is accounted for" accounted
	known
	jvm_end
	status=$?
	is "JDK $major: the program ends as it should" $status 0
	ok "JDK $major: it computed the right thing" grep -qx 'sum 0' "$JVM_OUT" || diag_file "$JVM_OUT"
	is "JDK $major: its errors are empty" "$(grep -v '^WARNING: ' "$JVM_ERR")" ""
}

while read -r major java; do
	JAVA=$java
	hammer "$major" interval=1000000
done < <(jdks)
done_testing
