#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The other installed JDKs (11, 21, 25): shares, stacks, ten sessions; nothing left behind, nothing printed by the JVM.
. "$(dirname "$0")/lib.sh"

# session: one recording of $JVM into $T/row.collapsed
session() {
	"$JHOT" record -i 1ms -d "$1" -o "$T/row.collapsed" "$JVM" >"$T/out" 2>"$T/err" </dev/null
}

own=$(java_major "$JAVA")
tried=0
while read -r major JAVA; do
	[ "$major" != "$own" ] || continue
	tried=$((tried + 1))
	ok "JDK $major: the JVM starts" jvm_start $CALM_JVM Known shares || continue
	ok "JDK $major: jhot record exits with 0" session 2 || diag_file "$T/err"
	sixty=$(weight "$T/row.collapsed" 'Known.drive;.*knownRound;[^;]*knownSixty')
	all=$(weight "$T/row.collapsed" 'known(Sixty|Thirty|Ten)')
	near "JDK $major: knownSixty has 60 % of the samples, with complete stacks" "$sixty" "$all" 60
	wait_for 20 quiet "$JVM"
	litter "$JVM" >"$T/before"
	bad=0
	for _ in 1 2 3 4 5 6 7 8 9; do
		session 0.05 || bad=$((bad + 1))
	done
	is "JDK $major: nine more sessions succeed" $bad 0
	becomes_quiet "JDK $major: sampling ends after the last session" "$JVM"
	litter "$JVM" >"$T/after"
	same "JDK $major: nine more sessions leave nothing more in the JVM" "$T/after" "$T/before"
	jvm_end
	is "JDK $major: the JVM writes only its own lines to stdout" "$(sed 's/^sum .*/sum/' "$JVM_OUT" | tr '\n' ' ')" "ready sum "
	is "JDK $major: the JVM writes nothing but JEP 451's warnings to stderr" "$(grep -v '^WARNING: ' "$JVM_ERR")" ""
	diag "warnings of a dynamic load: $(grep -c 'loaded dynamically' "$JVM_ERR")"
done < <(jdks_checked)
[ $tried -gt 0 ] || skip_all "no other JDK under $JDKS"
done_testing
