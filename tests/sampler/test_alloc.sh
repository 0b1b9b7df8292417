#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Allocations: bytes by class and site match the program's own count, for small and huge objects alike; features that a
# JVM does not support are reported; nothing is left behind when the event is off.
. "$(dirname "$0")/../jvm/lib.sh"
. "$(dirname "$0")/lib.sh"

MEGABYTES=160
INTERVAL=65536 # 2,560 samples of each site
BUFFERS=
CLASSES=$builddir/tests/sampler/classes
[ -e "$CLASSES/Sites.class" ] || skip_all "no Sites.class (make check builds it)"

# G1, which has humongous objects, with a fixed number of threads.
STEADY='-Xmx256m -Xms256m -XX:+UseG1GC -XX:G1HeapRegionSize=1m -XX:ParallelGCThreads=1 -XX:ConcGCThreads=1
	-XX:G1ConcRefinementThreads=1 -XX:+IgnoreUnrecognizedVMOptions -XX:-UseDynamicNumberOfCompilerThreads'

# allocations MAJOR: all sites in one session
allocations() {
	local major=$1 name class bytes got
	# shellcheck disable=SC2086
	jvm_start $STEADY $BUFFERS Sites || return
	jvm_warm_attach "$JVM"
	sites_do alloc 1
	agent event=alloc seconds=1 samples=1 # the first session leaves the mapped agent and its handlers
	wait_for 20 quiet "$JVM"
	litter "$JVM" >"$T/before"
	agent_begin "event=alloc:$INTERVAL" seconds=60 weights="$T/weights"
	is "JDK $major: a session with the event alloc starts" "$(value start)" 0
	sites_do alloc "$MEGABYTES"
	agent_end
	ok "JDK $major: every sample arrives or is counted as lost" accounted
	known
	while read -r _ name class bytes; do
		got=$(weight_at alloc "$name" "$class")
		diag "JDK $major: $name $class: $got of $bytes bytes"
		ok "JDK $major: bytes of $class in $name are within 10 % of the program's" close_to "$got" "$bytes" 10
	done < <(grep '^site ' "$JVM_OUT" | tail -n 5)
	# 4 MB never fit into a buffer; small objects always do, except for the first of a thread that has no buffer yet
	bytes=$(weight_at alloc siteHuge '[J')
	ok "JDK $major: huge arrays are sampled as allocated outside of buffers" \
		close_to "$(weight_at alloc siteHuge '[J_[k]')" "$bytes" 2
	bytes=$(weight_at alloc siteNodes 'Sites$Node')
	ok "JDK $major: small objects are sampled as allocated inside of buffers" \
		[ "$(weight_at alloc siteNodes 'Sites$Node_[k]')" -le $((bytes / 50)) ]
	is "JDK $major: the program has ten sites" "$(grep -c '^site ' "$JVM_OUT")" 10
	ok "JDK $major: no stack of a site breaks off" not grep -E '^alloc;.*Sites.*(unknown|break_)' "$T/weights"
	diag "JDK $major: $(value samples) samples, $(value cost_us) us each"
	is "JDK $major: all stacks of sites reach the thread's root" \
		"$(grep '^alloc;.*Sites.site' "$T/weights" | grep -vc ';java/lang/Thread.run')" 0
	becomes_quiet "JDK $major: sampling ends after the session" "$JVM"
	litter "$JVM" >"$T/after"
	same "JDK $major: descriptors, threads, mappings and handlers are the same after the session" "$T/after" "$T/before"
	jvm_end
	is "JDK $major: the JVM writes nothing but JEP 451's warnings to stderr" "$(grep -v '^WARNING: ' "$JVM_ERR")" ""
	is "JDK $major: the JVM writes only its own lines to stdout" \
		"$(grep -cvE '^(ready|done|site )' "$JVM_OUT")" 0
}

# inexact MAJOR: a JVM that cannot sample small objects beside large ones exactly is reported as such
inexact() {
	local major=$1
	jvm_start Sites || return
	"$builddir/jhot" record -e alloc -d 1 -o "$T/none.collapsed" "$JVM" >"$T/said" 2>&1
	ok "JDK $major: a note says that small objects beside large ones are inexact" \
		grep -q '^note: .*small objects' "$T/said" || diag_file "$T/said"
	jvm_end
}

# mixed MAJOR BYTES MB INTERVAL [OPTION...]: small objects between arrays that do not fit into buffers
mixed() {
	local major=$1 bytes=$2 mb=$3 interval=$4 name class got all=0 small=0 small_got=0
	shift 4
	jvm_start "$@" Sites || return
	major="$major ${*: -1}, arrays of $bytes bytes"
	agent_begin "event=alloc:$interval" seconds=60 weights="$T/weights"
	sites_do mix "$bytes" "$mb"
	agent_end
	ok "JDK $major: every sample arrives or is counted as lost" accounted
	while read -r _ name class bytes; do
		got=$(weight_at alloc "$name" "$class")
		diag "JDK $major: $class: $got of $bytes bytes"
		all=$((all + got))
		case $class in
		'[J') ok "JDK $major: bytes of arrays are within 10 % of the program's" close_to "$got" "$bytes" 10 ;;
		*) small=$((small + bytes)) small_got=$((small_got + got)) ;;
		esac
	done < <(grep '^site ' "$JVM_OUT")
	ok "JDK $major: bytes of small objects are within 20 % of the program's" close_to "$small_got" "$small" 20
	ok "JDK $major: the first object in a new buffer is not overweighted" \
		[ "$(weight_at alloc siteMix 'Sites$First')" -le $((small / 10)) ]
	ok "JDK $major: the larger class has four fifths of the bytes of small objects" \
		close_to "$(weight_at alloc siteMix 'Sites$Large')" $((small * 4 / 5)) 25
	ok "JDK $major: the sum is within 8 % of all bytes that the thread allocated" \
		close_to $all "$(sed -n 's/^total //p' "$JVM_OUT")" 8
	jvm_end
}

conflict() {
	local major=$1
	jvm_start -agentpath:"$builddir/tests/sampler/libclaimer.so" Sites || return
	agent event=alloc seconds=1 samples=1
	ok "JDK $major: alloc is refused while another agent samples allocations" \
		grep -q '^start -[0-9]* another agent samples' "$T/tool" || diag_file "$T/tool"
	jvm_end
}

# beside MAJOR: other profilers of the same JVM. Flight recordings do not conflict; async-profiler (ASPROF=PATH) either
# owns the JVMTI capability, which only one agent can have, or is refused it and uses another method.
beside() {
	local major=$1
	jvm_start -XX:StartFlightRecording=settings=profile,filename="$T/beside.jfr" Sites || return
	rm -f "$T/tool"
	agent_start tool event=alloc:65536 event=cpu seconds=60 weights="$T/weights"
	wait_for 20 grep -qs '^start.*' "$T/tool"
	sites_do alloc 20
	agent_end
	ok "JDK $major: alloc has samples while JFR records allocations" \
		[ "$(weight_at alloc siteNodes 'Sites$Node')" -gt 10000000 ] || diag_file "$T/tool"
	jvm_end
	ok "JDK $major: JFR writes its recording" [ -s "$T/beside.jfr" ]
	[ -x "${ASPROF:-}" ] || return
	jvm_start Sites || return
	"$ASPROF" start -e alloc "$JVM" >"$T/asprof" 2>&1 || diag_file "$T/asprof"
	"$builddir/jhot" record -e alloc -d 1 -o "$T/none.collapsed" "$JVM" >"$T/refused" 2>&1
	is "JDK $major: alloc is refused while async-profiler samples allocations" $? 1
	ok "JDK $major: the error suggests asprof stop" grep -q "asprof stop $JVM" "$T/refused" ||
		diag_file "$T/refused"
	"$ASPROF" stop -o collapsed -f "$T/asprof.collapsed" "$JVM" >"$T/asprof" 2>&1
	rm -f "$T/tool"
	agent_start tool event=alloc:65536 seconds=60 weights="$T/weights"
	wait_for 20 grep -qs '^start 0' "$T/tool"
	is "JDK $major: alloc starts once async-profiler has stopped" "$(value start)" 0
	"$ASPROF" start -e alloc "$JVM" >"$T/asprof" 2>&1
	diag "JDK $major: async-profiler beside it: $(tail -n 1 "$T/asprof")"
	sites_do alloc 20
	"$ASPROF" stop -o collapsed -f "$T/asprof.collapsed" "$JVM" >"$T/asprof" 2>&1
	agent_end
	ok "JDK $major: alloc has samples when async-profiler starts and stops meanwhile" \
		[ "$(weight_at alloc siteNodes 'Sites$Node')" -gt 10000000 ]
	jvm_end
}

# breakpoints: on JDK 8 alloc needs libjvm's symbols: those that are installed, or beside the JDKs (folder dbg)
breakpoints() {
	local major=$1 file id
	jvm_start Sites
	DEBUGINFOD_CACHE_PATH=$T/nothing "$builddir/jhot" events "$JVM" >"$T/events"
	if grep -q '^alloc .* no: .*openjdk-8-dbg' "$T/events"; then
		"$builddir/jhot" record -e alloc -d 1 -o "$T/none.collapsed" "$JVM" >"$T/refused" 2>&1
		is "JDK $major: alloc is refused without libjvm's symbols" $? 1
		ok "JDK $major: the error names the package with the symbols" \
			grep -q 'openjdk-8-dbg' "$T/refused" || diag_file "$T/refused"
		DEBUGINFOD_CACHE_PATH=$T/nothing agent event=alloc seconds=1 samples=1
		ok "JDK $major: the agent refuses alloc without symbols" grep -q '^start -38 .*JDK 11' "$T/tool"
	else
		skip "JDK $major: alloc is refused without libjvm's symbols" "the symbols of this JDK are installed"
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
	ok "JDK $major: alloc with --live is refused" grep -q '^start -38 .*survive' "$T/tool"
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
	if [ "$major" -eq 11 ]; then
		inexact "$major"
	else
		# The JVM reports all of the large arrays, and nearly half of the others
		mixed "$major" 1000000 8 16384 -Xmx64m -XX:+UseSerialGC
		mixed "$major" 1000000 8 16384 -Xmx64m -XX:G1HeapRegionSize=1m -XX:+UseG1GC
		mixed "$major" 300000 512 524288 -Xmx256m -XX:G1HeapRegionSize=1m -XX:+UseG1GC
		mixed "$major" 100000 512 262144 -Xmx256m -XX:G1HeapRegionSize=1m -XX:+UseG1GC
	fi
	conflict "$major"
	beside "$major"
done < <(jdks_checked) # MAJORS="8 11 21": on these, too
done_testing
