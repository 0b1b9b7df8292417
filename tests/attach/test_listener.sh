#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Waking HotSpot's attach listener: no JVM prints a thread dump, with any temporary folder, and however late it handles SIGQUIT.
. "$(dirname "$0")/../jvm/lib.sh"

tool=$builddir/tests/attach/attach_tool
agent=$builddir/tests/attach/agent.so

# load N PID: loads the agent into this JVM
load() {
	"$tool" load "$2" "$agent" "0 $T/mark$1" >"$T/load$1" 2>&1
}

loads() {
	load "$@" && grep -qx 'result 0' "$T/load$1" || { diag_file "$T/load$1"; false; }
}

# dispatcher PID: the tid of its Signal Dispatcher
dispatcher() {
	grep -lsE '^Signal (Dispatch|\.\.atcher)' /proc/"$1"/task/*/comm | head -n 1 | cut -d / -f 5
}

# --- a JVM that handles SIGQUIT after jhot has given up: all JDKs at once, because that takes 6 s ---------------------

own_java=$JAVA
majors=() pids=() outs=() held=()
while read -r major JAVA; do
	jvm_start $CALM_JVM Known idle || exit 1
	majors+=("$major") pids+=("$JVM") outs+=("$JVM_OUT")
	held+=("$(dispatcher "$JVM")")
done < <(jdks)
JAVA=$own_java
mkfifo "$T/hold"
exec {hold}<>"$T/hold"
{ read -r _; } <"$T/hold" | python3 "$srcdir/tests/attach/hold_threads.py" "${held[@]}" >"$T/held" 2>&1 &
if wait_for 10 grep -qs . "$T/held" && grep -qx held "$T/held"; then
	loading=()
	for i in "${!pids[@]}"; do
		load "$i" "${pids[i]}" &
		loading+=($!)
	done
	wait "${loading[@]}"
	for i in "${!pids[@]}"; do
		ok "JDK ${majors[i]}: jhot gives up when the JVM does not handle SIGQUIT" grep -q 'did not open its attach socket' "$T/load$i" ||
			diag_file "$T/load$i"
		ok "JDK ${majors[i]}: the trigger file stays when jhot gives up" [ -e "/tmp/.attach_pid${pids[i]}" ]
	done
	echo >&"$hold"
	for i in "${!pids[@]}"; do
		ok "JDK ${majors[i]}: the JVM opens its attach socket once it continues" wait_for 10 [ -S "/tmp/.java_pid${pids[i]}" ]
		ok "JDK ${majors[i]}: the trigger file is removed once the socket exists" wait_for 10 [ ! -e "/tmp/.attach_pid${pids[i]}" ]
		ok "JDK ${majors[i]}: an agent loads once the socket exists" loads "$i" "${pids[i]}"
		is "JDK ${majors[i]}: the JVM prints no thread dump" "$(cat "${outs[i]}")" ready
	done
else
	skip "a JVM that handles SIGQUIT late" "no thread may be traced here: $(cat "$T/held")"
fi
for i in "${!pids[@]}"; do jvm_end "${pids[i]}" || true; done

# --- a temporary folder that is not /tmp (JDK 28) ---------------------------------------------------------------------

alternate_temp() {
	local litter
	mkdir "$T/temp"
	chmod 777 "$T/temp"
	jvm_start $CALM_JVM "-XX:AltTempDir=$T/temp" Known idle || return
	ok "-XX:AltTempDir: the agent loads" loads alternate "$JVM"
	ok "-XX:AltTempDir: the attach socket is in that folder" [ -S "$T/temp/.java_pid$JVM" ]
	litter=$(find /tmp "$T/temp" -maxdepth 1 -name ".attach_pid$JVM" -o -maxdepth 1 -name "libjhot-*-$JVM.so*" 2>/dev/null)
	is "-XX:AltTempDir: no trigger file and no copy is left" "$litter" ""
	is "-XX:AltTempDir: the JVM prints no thread dump" "$(cat "$JVM_OUT")" ready
	jvm_end
	jvm_start $CALM_JVM "-XX:AltTempDir=$T/temp" -XX:-UsePerfData Known idle || return
	load hidden "$JVM"
	ok "-XX:AltTempDir without hsperfdata: an agent is refused" grep -q 'temporary folder' "$T/loadhidden" || diag_file "$T/loadhidden"
	is "-XX:AltTempDir without hsperfdata: the JVM prints no thread dump" "$(cat "$JVM_OUT")" ready
	jvm_end
}

# --- a program that embeds the JVM with -Xrs and has a SIGQUIT handler of its own -------------------------------------

# libjvm: the path of $JAVA's
libjvm() {
	local home
	home=$(dirname "$(dirname "$(readlink -f "$(command -v "$JAVA")")")")
	find "$home" "$home/.." -path '*server/libjvm.so' | head -n 1
}

# The native role removes the JVM's attach socket, so that jhot would need SIGQUIT.
embedded() {
	local here=$builddir/tests/neighbours java=$JAVA
	mkdir "$T/roles"
	printf '#!/bin/sh\nexec %s embed %s %s sigquit-unlinked -Xmx64m -Xrs -Djava.class.path=%s Neighbours\n' "$here/neighbours" \
		"$(libjvm)" "$T/roles" "$here/classes" >"$T/launcher"
	chmod +x "$T/launcher"
	JAVA=$T/launcher
	jvm_launch
	JAVA=$java
	wait_for 60 jvm_said_ready
	if grep -q 'GLIBC_.* not found' "$JVM_ERR"; then
		skip "JVM embedded with -Xrs" "this JDK needs a newer libc than programs are compiled for here"
		return
	fi
	wait_for 10 [ ! -e "/tmp/.java_pid$JVM" ]
	load embedded "$JVM"
	ok "JVM embedded with -Xrs: an agent is refused" grep -q 'does not handle SIGQUIT' "$T/loadembedded" || diag_file "$T/loadembedded"
	is "JVM embedded with -Xrs: the program's SIGQUIT handler was not called" "$(od -An -t u8 -j 8 -N 8 "$T/roles/sigquit-unlinked" | tr -d ' ')" 0
	ok "JVM embedded with -Xrs: the program lives" alive "$JVM"
	jvm_end || true
}

embedded

JAVA=$(jdk_find 28)
if [ "$JDKS" = none ] || [ -z "$JAVA" ]; then
	skip "-XX:AltTempDir" "JDK 28 is not installed"
else
	alternate_temp
fi
done_testing
