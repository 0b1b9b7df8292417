#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# alloc --live: bytes of objects that survive a collection match the program's own count. Runs alone: if the agent's thread gets no
# core between two collections, the table of survivors is full, objects have large weights, and sums vary by 10 %.
. "$(dirname "$0")/../jvm/lib.sh"
. "$(dirname "$0")/lib.sh"

CLASSES=$builddir/tests/sampler/classes
[ -e "$CLASSES/Sites.class" ] || skip_all "no Sites.class (make check builds it)"

# survivors MAJOR [OPTION...]: of equally many kept and dropped objects only the kept ones are reported. The first sampling
# point of an existing thread was set with the JVM's own interval: 512 kB, which are negligible beside 24 MB.
survivors() {
	local major=$1 kept dropped bytes
	shift
	jvm_start -Xmx256m "$@" Sites || return
	[ $# = 0 ] || major="$major $*"
	agent_begin event=alloc:16384 flags=1 seconds=60 weights="$T/weights"
	sites_do keep 300000
	agent_end
	ok "JDK $major: every sample arrives or is counted as lost" accounted
	known
	bytes=$(grep '^kept ' "$JVM_OUT" | cut -d ' ' -f 2)
	kept=$(weight_at alloc keep 'Sites$Kept')
	dropped=$(weight_at alloc keep 'Sites$Dropped')
	diag "JDK $major: kept $kept of $bytes bytes, dropped $dropped"
	ok "JDK $major: --live finds the bytes of kept objects within 20 %" close_to "$kept" "$bytes" 20
	is "JDK $major: --live finds no dropped objects" "$dropped" 0
	jvm_end
}

# retained MAJOR BYTES INTERVAL ROUNDS [OPTION...]: survivors of two sites and their shares, beside garbage arrays of BYTES
# bytes. At 64 kB more objects are sampled between two collections than the table of survivors has entries.
retained() {
	local major=$1 bytes=$2 interval=$3 rounds=$4 large small got_large got_small
	shift 4
	jvm_start -Xmx1g -Xms1g "$@" Sites || return
	major="$major, every $interval bytes, beside arrays of $bytes bytes"
	agent_begin "event=alloc:$interval" flags=1 seconds=120 weights="$T/weights"
	sites_do retain "$bytes" "$rounds"
	agent_end
	ok "JDK $major: every sample arrives or is counted as lost" accounted
	is "JDK $major: no survivor is lost to a full table" "$(value live_full)" 0
	large=$(sed -n 's/^site retainLarge .* //p' "$JVM_OUT")
	small=$(sed -n 's/^site retainSmall .* //p' "$JVM_OUT")
	got_large=$(weight_at alloc retainLarge '[B')
	got_small=$(weight_at alloc retainSmall '[B')
	diag "JDK $major: retained $got_large of $large and $got_small of $small bytes, $(value samples) samples"
	ok "JDK $major: bytes of retained objects are within 10 % of the program's" \
		close_to $((got_large + got_small)) $((large + small)) 10
	ok "JDK $major: larger objects have three quarters of the retained bytes" \
		close_to $((got_large * 1000 / (got_large + got_small + 1))) 750 5
	# a register or stack slot may still refer to the last array of a round at its collection
	ok "JDK $major: at most 1 % of the retained bytes are garbage" [ "$(weight_at alloc wasteArray '[B')" -le $((large / 100)) ]
	jvm_end
}

while read -r major java; do
	JAVA=$java
	[ "$major" -ge 11 ] || continue
	survivors "$major"
	# A concurrent collection: its pauses are before it knows which objects are alive.
	survivors "$major" -XX:+UseG1GC -XX:+ExplicitGCInvokesConcurrent
	retained "$major" 10000 65536 20
	# Arrays large enough to be allocated outside of buffers often; the rest of the buffer then has no sampling points
	[ "$major" -ne 11 ] || retained "$major" 60000 262144 20
done < <(jdks_checked) # MAJORS="8 11 21": on these, too
done_testing
