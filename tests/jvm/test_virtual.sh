#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Virtual threads are shown as threads: samples are attributed to them, not to their carriers, in the shares that the
# program measured; under their names, also beyond Latin-1, or their ids if unnamed; 12,000 short-lived threads as well as
# five long-lived ones.
. "$(dirname "$0")/lib.sh"

# These patterns do not match stacks of compiler threads, which have the compiled method as a frame.
STAY="VirtualThread\.run.*Names\.units;Names\.unit"
PASS="VirtualThread\.run.*run;Names\.unit"

did() {
	[ "$(grep -c '^done' "$JVM_OUT")" -ge "$1" ]
}

# recorded COMMAND...: one recording while the program executes all of them
recorded() {
	local command n=0
	record_start -t -e cpu=1ms,lock -d 200 -o "$T/x.collapsed"
	wait_for 30 has_samples "$JVM" 1
	for command in "$@"; do
		echo "$command" >&"$JVM_IN"
		n=$((n + 1))
		wait_for 60 did $n
	done
	record_end
}

check_shares() {
	local name units all k part sum=0 total
	total=$(awk '$1 == "units" && $2 != "many" { sum += $3 } END { print sum }' "$JVM_OUT")
	all=$(weight "$T/x-cpu.collapsed" "$STAY")
	while read -r _ name units; do
		# virtual threads only: their names are not followed by a tid
		k=$(weight "$T/x-cpu.collapsed" "^\\[$name( #[0-9]+)?\\].*$STAY")
		sum=$((sum + k))
		part=$((100 * units / total))
		diag "JDK $major, $name: $k of $all samples; $part % expected"
		# tolerance for chance and scheduling: a third of its share plus 20 samples
		ok "JDK $major: the samples of $name match its share of the program's work" \
			[ $((3 * (k * total - units * all))) -le $((units * all + 60 * total)) -a \
			$((3 * (units * all - k * total))) -le $((units * all + 60 * total)) -a "$k" -gt 0 ]
	done < <(grep '^units [^m]' "$JVM_OUT")
	ok "JDK $major: samples of virtual threads are under the threads' names ($sum of $all)" [ $((20 * sum)) -ge $((19 * all)) -a "$all" -gt 100 ]
	is "JDK $major: a virtual thread without a name is shown under its id" \
		"$(grep -E "$STAY" "$T/x-cpu.collapsed" | grep -o '^\[virtual-#[0-9]*\]' | sort -u)" \
		"[$(grep -o 'virtual-#[0-9]*' "$JVM_OUT")]"
}

check_many() {
	local all theirs
	all=$(weight "$T/x-cpu.collapsed" "$PASS")
	theirs=$(weight "$T/x-cpu.collapsed" "^\\[virtual-#[0-9]*\\].*$PASS")
	ok "JDK $major: samples of thousands of short virtual threads are theirs ($theirs of $all)" \
		[ $((20 * theirs)) -ge $((19 * all)) -a "$all" -gt 100 ]
	ok "JDK $major: more than 50 short virtual threads have samples under their own ids" \
		[ "$(grep -E "$PASS" "$T/x-cpu.collapsed" | grep -o '^\[virtual-#[0-9]*\]' | sort -u | wc -l)" -gt 50 ]
}

check_lock() {
	local all theirs
	all=$(weight "$T/x-lock.collapsed" 'Names\.')
	theirs=$(weight "$T/x-lock.collapsed" '^\[vt-lock-[12] #[0-9]*\].*Names\.')
	ok "JDK $major: lock waits are attributed to the virtual threads ($theirs of $all)" \
		[ $((10 * theirs)) -ge $((9 * all)) -a "$all" -gt 0 ]
}

check_jvm() {
	major=$1
	jvm_start Names || return
	recorded "virtual 4000" "many 12000" "lock 800"
	check_lock
	check_shares
	check_many
	jvm_end
}

found=
while read -r major java; do
	[ "$major" -ge 21 ] || continue
	JAVA=$java
	found=1
	check_jvm "$major"
done < <(jdks_checked)
[ "$found" ] || skip_all "no JDK that has virtual threads"
done_testing
