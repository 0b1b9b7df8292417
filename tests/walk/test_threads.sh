#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The JVM's own threads and code: collector threads are walked to their root, stubs appear under their callers.
. "$(dirname "$0")/../jvm/lib.sh"

SECONDS_EACH=${SECONDS_EACH:-2}
COLLECTORS=${COLLECTORS-G1 Parallel Serial Z Shenandoah}
MAJORS=${MAJORS:-25} # for C1's and C2's slow paths, beside $JAVA
own=$JAVA

# record NAME WORK [JVM-OPTION...]: records the program Stubs with these JVM options into $FILE
record() {
	local name=$1 work=$2
	shift 2
	FILE=$T/$name.collapsed
	# shellcheck disable=SC2086
	if ! jvm_start -XX:+UnlockExperimentalVMOptions -Xmx128m "$@" Stubs $work; then
		ok "$name: the JVM starts" false
		return 1
	fi
	"$JHOT" record -u -i 1ms -d "$SECONDS_EACH" -t -o "$FILE" "$JVM" >"$T/out" 2>"$T/err" </dev/null
	is "$name: jhot record exits with 0" $? 0 || diag_file "$T/err"
	jvm_end
	return 0
}

# all NAME PATTERN THAT: there are samples that match PATTERN, and at least 99 % of them match THAT. The number of others is subject
# to chance: it may be two standard deviations above 1 %.
all() {
	local whole good
	whole=$(weight "$FILE" "$2")
	good=$(grep -E -- "$2" "$FILE" | grep -E -- "$3" | awk '{ sum += $NF } END { print sum + 0 }')
	diag "$good of $whole samples"
	ok "$1" awk -v whole="$whole" -v good="$good" 'BEGIN { exit !(whole > 0 && whole - good <= whole / 100 + 2 * sqrt(whole / 100)) }' ||
		grep -E -- "$2" "$FILE" | grep -vE -- "$3" | head -n 5 | cut -c 1-400 | sed 's/^/# /'
}

# root THREADS: a pattern for the outermost frames of these threads: two of libc and the JVM's thread entry function
# (JDK 8: java_start). If libjvm has no symbols, the latter is an address, the same in nearly all stacks.
root() {
	local entry
	entry=$(grep -E "^\\[($1)" "$FILE" | cut -d ';' -f 4 | sort | uniq -c | sort -rn | awk 'NR == 1 { print $2 }')
	case $entry in
	thread_native_entry* | java_start* | 0x*) echo "\\];[^;]+;[^;]+;${entry%%(*}[;(]" ;;
	*) echo "no entry of a thread: $entry" ;;
	esac
}

for gc in $COLLECTORS; do
	if ! "$JAVA" -XX:+UnlockExperimentalVMOptions -XX:+Use${gc}GC -version >/dev/null 2>&1; then
		skip "$gc: collector threads are walked to their root" "this JVM does not have this collector"
		continue
	fi
	record $gc garbage -XX:+Use${gc}GC || continue
	case $gc in
	G1) threads='GC Thread|G1 |VM Thread' ;;
	Parallel) threads='GC |GC task|ParGC|VM Thread' ;;
	Serial) threads='VM Thread' ;;
	Z) threads='Z[A-Z]|XWorker|XDirector' ;;
	Shenandoah) threads='Shen' ;;
	esac
	all "$gc: collector threads are walked to their root" "^\\[($threads)" "$(root "$threads")"
done
begin=';call_stub;java/lang/Thread\.run(;java/lang/Thread\.runWith)?;Stubs\$\$Lambda[^;]*;Stubs\.lambda\$start\$0;Stubs\$\$Lambda[^;]*;'

# slow_paths MAJOR: C1 calls these stubs at places without debug info, one of them with pushed arguments; from JDK 24 on, C2
# places G1's barriers after the method's code
slow_paths() {
	local options="-XX:+UseG1GC -XX:+UnlockDiagnosticVMOptions -XX:+DebugNonSafepoints"
	# shellcheck disable=SC2086
	record "JDK $1, C1" "links casts" -XX:TieredStopAtLevel=1 $options || return
	if [ "$1" -ge 26 ]; then
		skip "JDK $1: C1's slow barrier appears under the method that stores" "this JVM has no stub of this name"
	else
		all "JDK $1: C1's slow barrier appears under the method that stores" '^\[links .*;g1_post_barrier_slow' \
			"$begin"'Stubs\.links;Stubs\$Box\.set;[^;]*g1_post_barrier_slow[^;]* [0-9]+$'
	fi
	all "JDK $1: C1's slow type check appears under the method that casts" '^\[casts .*slow_subtype_check' \
		"$begin"'Stubs\.casts;[^;]*slow_subtype_check[^;]* [0-9]+$'
	# shellcheck disable=SC2086
	record "JDK $1, C2" links -XX:-TieredCompilation $options || return
	all "JDK $1: C2's barriers appear under the method that stores" '^\[links .*;Stubs\.lambda\$start' 'Stubs\.links[; ]'
}

# barriers COLLECTOR STUBS [SLOW]: barriers of other collectors. C1 calls STUBS at places without debug info, with arguments below its
# frame (Z), or they have two frames (Shenandoah, JDK 28); C2 calls SLOW itself, after the method's code, and returns through a second
# jump. In the stub there may be stale return addresses among registers that it has not yet saved.
barriers() {
	local options="-XX:+Use${1}GC -XX:+UnlockDiagnosticVMOptions -XX:+DebugNonSafepoints"
	# shellcheck disable=SC2086
	record "JDK $major, $1, C1" links -XX:TieredStopAtLevel=1 $options || return
	all "JDK $major: $1's barriers of C1 code appear under the method that loads or stores" "^\\[links .*;($2)[; ]" "$begin"'Stubs\.links;'
	[ $# -eq 3 ] || return
	# shellcheck disable=SC2086
	record "JDK $major, $1, C2" links -XX:-TieredCompilation $options || return
	all "JDK $major: $1's barriers of C2 code appear under the method that loads or stores" "^\\[links .*;Stubs[^;]*;$3" 'Stubs\.links;'
}

while read -r major JAVA; do
	slow_paths "$major"
	[ "$major" -lt 28 ] || barriers Shenandoah 'shenandoah_[a-z_]*'
	[ "$major" -lt 17 ] || barriers Z '(load|store)_barrier_on_[a-z_]*' 'ZBarrier'
done < <(jdks $MAJORS)
JAVA=$own
if record c1 "copy crc aes virtual iface" -XX:TieredStopAtLevel=1; then
	stubs='StubRoutines[^;]*|'
	[ "$(java_major "$JAVA")" -gt 18 ] || stubs= # these report the names of stubs by JVMTI even without alloc
	all "interface calls: the stub appears under its caller" '^\[iface .*;[iv]table stub [0-9]+$' "$begin"'Stubs\.iface;[iv]table stub '
	all "virtual calls: the stub appears under its caller" '^\[virtual .*;vtable stub [0-9]+$' "$begin"'Stubs\.virtual;vtable stub '
	all "arraycopy: the stub appears under its caller" '^\[copy .*;(StubRoutines|[a-z_]*arraycopy)[^;]* [0-9]+$' \
		"$begin"'Stubs\.copy;(java/lang/System\.arraycopy;)?('"$stubs"'[a-z_]*arraycopy[a-z0-9_]*) [0-9]+$'
	all "CRC32: the stub appears under its caller" '^\[crc .*;(StubRoutines|updateBytesCRC32)[^;]* [0-9]+$' "$begin"'Stubs\.crc;java/util/zip/CRC32\.update;(.*;)?('"$stubs"'updateBytesCRC32) [0-9]+$'
	all "AES: the stub appears under its caller" '^\[aes .*;com/sun/crypto/provider/AES' "$begin"'Stubs\.aes;javax/crypto/Cipher\.update;'
fi
done_testing
