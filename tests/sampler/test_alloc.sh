#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Allocations: bytes by class and site as counted by the program, small and huge objects alike; what a JVM does not
# support is reported; nothing is left behind when the event is off.
. "$(dirname "$0")/../jvm/lib.sh"
. "$(dirname "$0")/lib.sh"

MEGABYTES=160
INTERVAL=65536 # 2,560 samples of each site
BUFFERS=
CLASSES=$builddir/tests/sampler/classes
[ -e "$CLASSES/Sites.class" ] || skip_all "no Sites.class (make check builds it)"

# Humongous objects are G1's; its threads hold still.
STEADY='-Xmx256m -Xms256m -XX:+UseG1GC -XX:G1HeapRegionSize=1m -XX:ParallelGCThreads=1 -XX:ConcGCThreads=1
	-XX:G1ConcRefinementThreads=1 -XX:+IgnoreUnrecognizedVMOptions -XX:-UseDynamicNumberOfCompilerThreads'

# allocations MAJOR: all sites at once
allocations() {
	local major=$1 name class bytes got
	# shellcheck disable=SC2086
	jvm_start $STEADY $BUFFERS Sites || return
	jvm_warm_attach "$JVM"
	sites_do alloc 1
	agent event=alloc seconds=1 samples=1 # what stays after the first session
	wait_for 20 quiet "$JVM"
	litter "$JVM" >"$T/before"
	agent_begin "event=alloc:$INTERVAL" seconds=60 weights="$T/weights"
	is "JDK $major: alloc starts" "$(value start)" 0
	sites_do alloc "$MEGABYTES"
	agent_end
	ok "JDK $major: every sample is accounted for" accounted
	known
	while read -r _ name class bytes; do
		got=$(weight_at alloc "$name" "$class")
		diag "JDK $major: $name $class: $got of $bytes bytes"
		ok "JDK $major: bytes of $class in $name within 10 %" close_to "$got" "$bytes" 10
	done < <(grep '^site ' "$JVM_OUT" | tail -n 5)
	# 4 MB never fit, small ones always do but for the first of a thread that has no buffer yet
	bytes=$(weight_at alloc siteHuge '[J')
	ok "JDK $major: huge ones are outside of buffers" \
		close_to "$(weight_at alloc siteHuge '[J_[k]')" "$bytes" 2
	bytes=$(weight_at alloc siteNodes 'Sites$Node')
	ok "JDK $major: small ones are inside" \
		[ "$(weight_at alloc siteNodes 'Sites$Node_[k]')" -le $((bytes / 50)) ]
	is "JDK $major: all sites were looked at" "$(grep -c '^site ' "$JVM_OUT")" 10
	ok "JDK $major: no stack breaks off" not grep -E '^alloc;.*Sites.*(unknown|break_)' "$T/weights"
	diag "JDK $major: $(value samples) samples, $(value cost_us) us each"
	is "JDK $major: stacks are whole" \
		"$(grep '^alloc;.*Sites.site' "$T/weights" | grep -vc ';java/lang/Thread.run')" 0
	becomes_quiet "JDK $major: the session has ended" "$JVM"
	litter "$JVM" >"$T/after"
	same "JDK $major: descriptors, threads, mappings and handlers are as before" "$T/after" "$T/before"
	jvm_end
	is "JDK $major: its errors are empty" "$(grep -v '^WARNING: ' "$JVM_ERR")" ""
	is "JDK $major: its output is its own" \
		"$(grep -cvE '^(ready|done|site )' "$JVM_OUT")" 0
}

# survivors MAJOR [OPTION...]: of equal numbers of objects those that are kept. The first point of a thread that is there
# already was laid at the JVM's own interval: 512 kB are nothing beside 24 MB.
survivors() {
	local major=$1 kept dropped bytes
	shift
	jvm_start -Xmx256m "$@" Sites || return
	[ $# = 0 ] || major="$major $*"
	agent_begin event=alloc:16384 flags=1 seconds=60 weights="$T/weights"
	sites_do keep 300000
	agent_end
	ok "JDK $major: every sample is accounted for" accounted
	known
	bytes=$(grep '^kept ' "$JVM_OUT" | cut -d ' ' -f 2)
	kept=$(weight_at alloc keep 'Sites$Kept')
	dropped=$(weight_at alloc keep 'Sites$Dropped')
	diag "JDK $major: kept $kept of $bytes bytes, dropped $dropped"
	ok "JDK $major: what survives within 20 %" close_to "$kept" "$bytes" 20
	is "JDK $major: and nothing that does not" "$dropped" 0
	jvm_end
}

# retained MAJOR BYTES INTERVAL ROUNDS [OPTION...]: survivors of two sites and their shares, beside garbage in arrays of
# so many bytes. At 64 kB more objects are sampled between two collections than the table of survivors has entries.
retained() {
	local major=$1 bytes=$2 interval=$3 rounds=$4 large small got_large got_small
	shift 4
	jvm_start -Xmx1g -Xms1g "$@" Sites || return
	major="$major, every $interval bytes, beside arrays of $bytes bytes"
	agent_begin "event=alloc:$interval" flags=1 seconds=120 weights="$T/weights"
	sites_do retain "$bytes" "$rounds"
	agent_end
	ok "JDK $major: every sample is accounted for" accounted
	is "JDK $major: no survivor is lost for want of space" "$(value live_full)" 0
	large=$(sed -n 's/^site retainLarge .* //p' "$JVM_OUT")
	small=$(sed -n 's/^site retainSmall .* //p' "$JVM_OUT")
	got_large=$(weight_at alloc retainLarge '[B')
	got_small=$(weight_at alloc retainSmall '[B')
	diag "JDK $major: retained $got_large of $large and $got_small of $small bytes, $(value samples) samples"
	ok "JDK $major: what is retained within 10 %" \
		close_to $((got_large + got_small)) $((large + small)) 10
	ok "JDK $major: three quarters of it in the larger ones" \
		close_to $((got_large * 1000 / (got_large + got_small + 1))) 750 5
	# the last array of a round may still be in a register or a stack slot at its collection
	ok "JDK $major: and no garbage" [ "$(weight_at alloc wasteArray '[B')" -le $((large / 100)) ]
	jvm_end
}

# unexact MAJOR: what cannot be mended is said
unexact() {
	local major=$1
	jvm_start Sites || return
	"$builddir/jhot" record -e alloc -d 1 -o "$T/none.collapsed" "$JVM" >"$T/said" 2>&1
	ok "JDK $major: that small objects beside large ones are not exact is said" \
		grep -q '^note: .*small objects' "$T/said" || diag_file "$T/said"
	jvm_end
}

# missed MAJOR TIMES LINE...: that the JVM does not tell of all large objects is said, so often
missed() {
	local major=$1 times=$2 recorder
	shift 2
	jvm_start -Xmx256m -XX:G1HeapRegionSize=1m -XX:+UseG1GC Sites || return
	"$builddir/jhot" record -e alloc -i 256k -d 60 -o "$T/none.collapsed" "$JVM" >"$T/said" 2>&1 &
	recorder=$!
	wait_for 20 sh -c "'$builddir/jhot' status $JVM | grep -q 'event alloc.*every'"
	sites_do "$@"
	sleep 1 # for the publisher
	"$builddir/jhot" stop "$JVM" >/dev/null 2>&1
	wait $recorder
	is "JDK $major: $*: whether large objects are missed is said" \
		"$(grep -c '^note: large objects allocated among small' "$T/said")" "$times" || diag_file "$T/said"
	jvm_end
}

# mixed MAJOR BYTES MB INTERVAL [OPTION...]: small objects between arrays that have no space in buffers
mixed() {
	local major=$1 bytes=$2 mb=$3 interval=$4 name class got all=0 small=0 small_got=0
	shift 4
	jvm_start "$@" Sites || return
	major="$major ${*: -1}, arrays of $bytes bytes"
	agent_begin "event=alloc:$interval" seconds=60 weights="$T/weights"
	sites_do mix "$bytes" "$mb"
	agent_end
	ok "JDK $major: every sample is accounted for" accounted
	while read -r _ name class bytes; do
		got=$(weight_at alloc "$name" "$class")
		diag "JDK $major: $class: $got of $bytes bytes"
		all=$((all + got))
		case $class in
		'[J') ok "JDK $major: arrays within 10 %" close_to "$got" "$bytes" 10 ;;
		*) small=$((small + bytes)) small_got=$((small_got + got)) ;;
		esac
	done < <(grep '^site ' "$JVM_OUT")
	ok "JDK $major: small objects within 20 %" close_to "$small_got" "$small" 20
	ok "JDK $major: what comes first in a buffer is none that counts for more" \
		[ "$(weight_at alloc siteMix 'Sites$First')" -le $((small / 10)) ]
	ok "JDK $major: four fifths of them are of the larger class" \
		close_to "$(weight_at alloc siteMix 'Sites$Large')" $((small * 4 / 5)) 25
	ok "JDK $major: in all what the thread has allocated within 8 %" \
		close_to $all "$(sed -n 's/^total //p' "$JVM_OUT")" 8
	jvm_end
}

conflict() {
	local major=$1
	jvm_start -agentpath:"$builddir/tests/sampler/libclaimer.so" Sites || return
	agent event=alloc seconds=1 samples=1
	ok "JDK $major: another agent that samples allocations is told of" \
		grep -q '^start -[0-9]* another agent samples' "$T/tool" || diag_file "$T/tool"
	jvm_end
}

# beside MAJOR: other profilers of the same JVM. Flight recordings take nothing from us; async-profiler (ASPROF=PATH)
# holds what only one may have, or is refused it and goes other ways.
beside() {
	local major=$1
	jvm_start -XX:StartFlightRecording=settings=profile,filename="$T/beside.jfr" Sites || return
	rm -f "$T/tool"
	agent_start tool event=alloc:65536 event=cpu seconds=60 weights="$T/weights"
	wait_for 20 grep -qs '^start.*' "$T/tool"
	sites_do alloc 20
	agent_end
	ok "JDK $major: beside a flight recording" \
		[ "$(weight_at alloc siteNodes 'Sites$Node')" -gt 10000000 ] || diag_file "$T/tool"
	jvm_end
	ok "JDK $major: which is written" [ -s "$T/beside.jfr" ]
	[ -x "${ASPROF:-}" ] || return
	jvm_start Sites || return
	"$ASPROF" start -e alloc "$JVM" >"$T/asprof" 2>&1 || diag_file "$T/asprof"
	"$builddir/jhot" record -e alloc -d 1 -o "$T/none.collapsed" "$JVM" >"$T/refused" 2>&1
	is "JDK $major: while async-profiler samples allocations they are refused" $? 1
	ok "JDK $major: and who has them is said" grep -q "asprof stop $JVM" "$T/refused" ||
		diag_file "$T/refused"
	"$ASPROF" stop -o collapsed -f "$T/asprof.collapsed" "$JVM" >"$T/asprof" 2>&1
	rm -f "$T/tool"
	agent_start tool event=alloc:65536 seconds=60 weights="$T/weights"
	wait_for 20 grep -qs '^start 0' "$T/tool"
	is "JDK $major: afterwards they are had" "$(value start)" 0
	"$ASPROF" start -e alloc "$JVM" >"$T/asprof" 2>&1
	diag "JDK $major: async-profiler beside it: $(tail -n 1 "$T/asprof")"
	sites_do alloc 20
	"$ASPROF" stop -o collapsed -f "$T/asprof.collapsed" "$JVM" >"$T/asprof" 2>&1
	agent_end
	ok "JDK $major: and go on while async-profiler starts and stops" \
		[ "$(weight_at alloc siteNodes 'Sites$Node')" -gt 10000000 ]
	jvm_end
}

# breakpoints: JDK 8 is asked by way of libjvm's symbols: those that are installed, or beside the JDKs (folder dbg)
breakpoints() {
	local major=$1 file id
	jvm_start Sites
	DEBUGINFOD_CACHE_PATH=$T/nothing "$builddir/jhot" events "$JVM" >"$T/events"
	if grep -q '^alloc .* no: .*openjdk-8-dbg' "$T/events"; then
		"$builddir/jhot" record -e alloc -d 1 -o "$T/none.collapsed" "$JVM" >"$T/refused" 2>&1
		is "JDK $major: without symbols it is refused" $? 1
		ok "JDK $major: with the names of packages" \
			grep -q 'openjdk-8-dbg' "$T/refused" || diag_file "$T/refused"
		DEBUGINFOD_CACHE_PATH=$T/nothing agent event=alloc seconds=1 samples=1
		ok "JDK $major: the agent says that it cannot" grep -q '^start -38 .*JDK 11' "$T/tool"
	else
		skip "JDK $major: without symbols it is refused" "the symbols of this one are installed"
	fi
	for file in "$JDKS"/dbg/usr/lib/debug/.build-id/*/*.debug; do
		[ -e "$file" ] || continue
		id=${file#*/.build-id/}
		id=${id%.debug}
		mkdir -p "$T/debug/${id/\//}"
		ln -s "$file" "$T/debug/${id/\//}/debuginfo"
	done
	export DEBUGINFOD_CACHE_PATH=$T/debug
	"$builddir/jhot" events "$JVM" >"$T/events"
	if ! grep -q '^alloc .* yes' "$T/events"; then
		skip "JDK $major: bytes by class and site" \
			"$(sed -n 's/^alloc .* no: //p' "$T/events")"
		jvm_end
		return
	fi
	agent event=alloc flags=1 seconds=1 samples=1
	ok "JDK $major: which objects survive it cannot tell" grep -q '^start -38 .*survive' "$T/tool"
	jvm_end
	BUFFERS='-XX:TLABSize=65536 -XX:-ResizeTLAB'
	allocations "$major"
	BUFFERS=
	unset DEBUGINFOD_CACHE_PATH
}

while read -r major java; do
	JAVA=$java
	if [ "$major" -lt 11 ]; then
		breakpoints "$major"
		continue
	fi
	allocations "$major"
	survivors "$major"
	# A collection whose pauses come before it knows what is alive.
	survivors "$major" -XX:+UseG1GC -XX:+ExplicitGCInvokesConcurrent
	retained "$major" 10000 65536 20
	if [ "$major" -eq 11 ]; then
		unexact "$major"
		# Large enough to go outside of buffers often, whose rest then has no sampling points
		retained "$major" 60000 262144 20
	else
		# All of the large arrays are told of, and nearly half of the others
		mixed "$major" 1000000 8 16384 -Xmx64m -XX:+UseSerialGC
		mixed "$major" 1000000 8 16384 -Xmx64m -XX:G1HeapRegionSize=1m -XX:+UseG1GC
		mixed "$major" 300000 512 524288 -Xmx256m -XX:G1HeapRegionSize=1m -XX:+UseG1GC
		missed "$major" $((major < 25)) mix 100000 512
		missed "$major" 0 keep 300000
	fi
	conflict "$major"
	beside "$major"
done < <(jdks_checked) # MAJORS="8 11 21": on these, too
done_testing
