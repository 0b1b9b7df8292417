#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Native roles (neighbours.c) in the process of a JVM that jhot samples: the JVM lives and writes only its own lines, and
# everything that the role monitors is intact. Each JVM has a concurrent control, with the same role and without jhot.
#
# Without variables: the roles of the short form, on one JDK. `make neighbours` sets FORM=long. Variables:
#
#   ROLES="sigwait prober+flipper"  only these; roles joined by + share a JVM    MAJORS="8 17"   these JDKs
#   EVENTS="record live why slow"   kinds of sessions, in turn                   SESSIONS=200    sessions per JVM
#   EACH=0.5                        seconds per session; the default is 1
#
. "$(dirname "$0")/../jvm/lib.sh"

FORM=${FORM:-short}
MAJORS=${MAJORS:-}
EVENTS=${EVENTS:-record live why slow}
SESSIONS=${SESSIONS:-4}
EACH=${EACH:-1}
HERE=$builddir/tests/neighbours
CLASSES=$HERE/classes
[ -e "$HERE/neighbours.stamp" ] || skip_all "no libneighbours.so (make check builds it)"
command -v script >/dev/null || EVENTS=${EVENTS/live/}
"$HERE/neighbours" list >"$T/roles"

# roles_chosen: one word per JVM
roles_chosen() {
	if [ -n "${ROLES:-}" ]; then
		printf '%s\n' $ROLES
	elif [ "$FORM" = long ]; then
		cut -d ' ' -f 1 "$T/roles"
	else
		awk '$2 == 1 { shared = shared "+" $1 } $2 == 2 { print $1 } END { print substr(shared, 2) }' "$T/roles"
	fi
}

# field ROLE N: the Nth field of the role in the table; for a group, of its first role
field() {
	awk -v role="${1%%+*}" -v n="$2" '$1 == role { print $n }' "$T/roles"
}

# options ROLE: the options of its JVM
options() {
	awk -v role="${1%%+*}" '$1 == role { for (i = 5; i <= NF; i++) printf "%s ", $i }' "$T/roles"
}

# neighbour_start SIDE ROLES: a JVM with these roles and its reports in $T/SIDE. Sets PID_SIDE, OUT_SIDE, ERR_SIDE.
neighbour_start() {
	local side=$1 names=$2 options
	rm -rf "${T:?}/$side"
	mkdir "$T/$side"
	options="-Xmx64m -XX:+UseSerialGC -XX:ErrorFile=$T/hs_err_$side.log $(options "$names")"
	if [ "$(field "$names" 3)" = 1 ]; then
		embedded_launch "$(loader) $HERE/neighbours embed $(libjvm) $T/$side $names $options -Djava.class.path=$CLASSES"
	else
		jvm_launch $options "-agentpath:$HERE/libneighbours.so=$T/$side:$names" Neighbours
	fi
	wait_for 60 jvm_said_ready && alive "$JVM" || { diag_file "$JVM_ERR" && return 1; }
	eval "PID_$side=$JVM OUT_$side=$JVM_OUT ERR_$side=$JVM_ERR"
}

# embedded_launch COMMAND: as jvm_launch, with COMMAND instead of java
embedded_launch() {
	local java=$JAVA
	printf '#!/bin/sh\nexec %s Neighbours\n' "$1" >"$T/launcher"
	chmod +x "$T/launcher"
	JAVA=$T/launcher
	jvm_launch
	JAVA=$java
}

# loader: the dynamic loader of a JDK with its own C library, which our program must use as well
loader() {
	local interpreter
	interpreter=$(readelf -p .interp "$(readlink -f "$(command -v "$JAVA")")" | grep -o '/.*ld-.*')
	case $interpreter in
	/lib/* | /lib64/* | '') ;;
	*) echo "$interpreter --library-path $(dirname "$interpreter")" ;;
	esac
}

libjvm() {
	local home
	home=$(dirname "$(dirname "$(readlink -f "$(command -v "$JAVA")")")")
	find "$home" "$home/.." -path '*server/libjvm.so' | head -n 1
}

# report SIDE ROLE: "turns harms what" from the role's report
report() {
	local file=$T/$1/$2
	od -An -t u8 -N 16 "$file" | tr -s ' \n' ' '
	tail -c +17 "$file" | tr -d '\0'
}

# session KIND: runs one session and ends it as a user would. Fails if jhot could not sample the JVM; it is not a failure if
# `why` observed too little or found something.
session() {
	case $1 in
	record) "$JHOT" record -e cpu,${ALLOC}lock,wall -d "$EACH" -o "$T/x.jhot" "$PID_with" ;;
	why) "$JHOT" why -d "$EACH" "$PID_with" ;;
	slow) "$JHOT" slow -d "$EACH" Neighbours.turn "$PID_with" ;;
	dump) "$JHOT" dump "$PID_with" ;;
	background) "$JHOT" start -e cpu,wall "$PID_with" && sleep "$EACH" && "$JHOT" stop "$PID_with" ;;
	live) { sleep "$EACH"; printf q; } | TERM=xterm script -qec "stty cols 100 rows 30; '$JHOT' top -e cpu,wall $PID_with" /dev/null ;;
	esac >"$T/session" 2>&1 </dev/null || grep -qE "too little of .* was observed|^$PID_with .* found$|No call of .* was seen" "$T/session"
}

sessions() {
	local events=($EVENTS)
	for ((DONE = 0; DONE < SESSIONS; DONE++)); do
		alive "$PID_with" || return
		session "${events[DONE % ${#events[@]}]}" && continue
		FAILED=$((FAILED + 1))
		cp "$T/session" "$T/failed"
	done
}

# neighbour_end SIDE: ends the JVM; sets STATUS_SIDE and CLEAN_SIDE
neighbour_end() {
	local pid out err
	eval "pid=\$PID_$1 out=\$OUT_$1 err=\$ERR_$1"
	jvm_end "$pid"
	eval "STATUS_$1=$?"
	if [ "$(cat "$out")" = "$(printf 'ready\nsum 0')" ] && ! grep -qv '^WARNING: ' "$err"; then
		eval "CLEAN_$1=clean"
	else
		eval "CLEAN_$1=dirty"
		{ diag_file "$out"; diag_file "$err"; } >"$T/dirty_$1"
	fi
}

# turned ROLES: each role of $PID_with has completed at least one turn, or the JVM has ended
turned() {
	local role turns
	alive "$PID_with" || return 0
	for role in ${1//+/ }; do
		read -r turns _ < <(report with "$role")
		[ "$turns" -gt 0 ] || return 1
	done
}

# lives STATUS: the table's text for an exit status
lives() {
	[ "$1" = 0 ] && echo alive || echo "exit $1"
}

# row MAJOR ROLES: two JVMs and their sessions, one line of the table for each role
row() {
	local role turns harms what control
	neighbour_start without "$2" && neighbour_start with "$2" || { ok "JDK $1: $2: the JVMs start" false; return; }
	touch "$T/with/go" "$T/without/go"
	FAILED=0
	# A limit that is set in the middle of an attach ends the JVM.
	[ "$(field "$2" 4)" != 1 ] || wait_for 30 turned "$2"
	sessions
	wait_for 30 turned "$2"
	neighbour_end with
	neighbour_end without
	for role in ${2//+/ }; do
		read -r turns harms what < <(report with "$role")
		read -r _ control _ < <(report without "$role")
		printf '%-16s %4s %9s   %-9s %-6s %6s harms   without jhot: %-9s %-6s %6s harms  %s\n' "$role" "$1" "$DONE" \
			"$(lives $STATUS_with)" $CLEAN_with "$harms" "$(lives $STATUS_without)" $CLEAN_without "$control" "$what" |
			sed 's/^/# /'
		ok "JDK $1: $role: nothing is harmed after $SESSIONS sessions" \
			[ "$DONE $STATUS_with $CLEAN_with $harms" = "$SESSIONS 0 clean 0" ] || {
			[ ! -e "$T/dirty_with" ] || cat "$T/dirty_with"
			grep -h -m 1 -A 3 '^# Problematic' "$T/hs_err_with.log" 2>/dev/null
		}
		ok "JDK $1: $role: the role is active, and nothing is harmed without jhot" \
			[ "$((turns > 0)) $STATUS_without $CLEAN_without $control" = "1 0 clean 0" ] ||
			{ [ ! -e "$T/dirty_without" ] || cat "$T/dirty_without"; }
	done
	# A session that jhot refuses, or that fails on a busy machine, does no harm, but proves nothing either.
	[ "$(field "$2" 4)" = 1 ] ||
		ok "JDK $1: $2: at least one session sampled ($FAILED failed)" [ $FAILED -lt "$SESSIONS" ]
	[ ! -e "$T/failed" ] || diag_file "$T/failed" # the last one that failed
	rm -f "$T"/dirty_* "$T"/hs_err_* "$T/failed"
}

roles_chosen >"$T/chosen"
jdks_checked >"$T/jdks"
if [ -n "${MAJORS_ONLY:-}" ]; then
	grep -E "^(${MAJORS// /|}) " "$T/jdks" >"$T/only" && mv "$T/only" "$T/jdks"
fi
jvms=$(($(wc -l <"$T/chosen") * $(wc -l <"$T/jdks")))
diag "$jvms JVMs of $SESSIONS sessions each: about $((jvms * (8 + SESSIONS * 2) / 60 + 1)) minutes"
diag "role              JDK  sessions"
while read -r major java <&3; do
	JAVA=$java
	ALLOC=alloc,
	[ "$major" != 8 ] || ALLOC='' # alloc needs symbols of libjvm on JDK 8
	while read -r names <&4; do
		# The short form has roles that need a JVM of their own on $JAVA only.
		[ "$FORM" != short ] || [ -n "${ROLES:-}" ] || [ "$java" = "$(head -n 1 "$T/jdks" | cut -d ' ' -f 2)" ] ||
			[ "$(field "$names" 2)" = 1 ] || continue
		row "$major" "$names"
	done 4<"$T/chosen"
done 3<"$T/jdks"
done_testing
