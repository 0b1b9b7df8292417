#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What a session leaves behind, as seen by another JVMTI agent: the heap-sampling interval is HotSpot's default again,
# no class has been initialised by the session, and no class loader of the program was called.
. "$(dirname "$0")/../jvm/lib.sh"
. "$(dirname "$0")/lib.sh"

CLASSES=$builddir/tests/sampler/classes
WITNESS=$builddir/tests/sampler/libwitness.so
[ -e "$WITNESS" ] || skip_all "no libwitness.so (make check builds it)"

# witness OPTIONS: the other agent is attached to $JVM (jcmd of JDK 8 has no command for that)
witness() {
	python3 - "/tmp/.java_pid$JVM" "$WITNESS" "$1" <<-'PYTHON'
		import socket, sys
		jvm = socket.socket(socket.AF_UNIX)
		jvm.connect(sys.argv[1])
		jvm.sendall(b"\0".join([b"1", b"load", sys.argv[2].encode(), b"true", sys.argv[3].encode(), b""]))
		said = b"".join(iter(lambda: jvm.recv(4096), b"")).decode()
		ended = said.split()
		sys.exit(ended[:1] != ["0"] or ended[-1] != "0")
	PYTHON
}

about_as_many() {
	[ "$2" -gt 20 ] && [ "$1" -gt $(($2 / 4)) ] && [ "$1" -lt $(($2 * 4)) ]
}

# interval MAJOR: events that the other agent gets of the same allocations, before a session and after one
interval() {
	local major=$1 before after
	jvm_start -Xmx256m Sites || return
	jvm_warm_attach "$JVM"
	witness count && sites_do alloc 4 && witness "count=$T/count" || diag "the other agent failed"
	before=$(cat "$T/count")
	agent event=alloc:1024 seconds=1 samples=1
	becomes_quiet "JDK $major: the session has ended" "$JVM"
	witness count && sites_do alloc 4 && witness "count=$T/count" || diag "the other agent failed"
	after=$(cat "$T/count")
	ok "JDK $major: another agent's allocation events after a session: $after, before it: $before" \
		about_as_many "$after" "$before"
	jvm_end
}

# classes MAJOR: which are initialised before and after sessions with all events, but for those of the JVM's own
# attach listener, and who has asked the program's class loader
classes() {
	local major=$1 alloc=event=alloc:65536
	[ "$major" -ge 11 ] || alloc= # without libjvm's symbols
	jvm_start -Djava.system.class.loader=Untouched Untouched || return
	jvm_warm_attach "$JVM"
	witness "classes=$T/before"
	agent event=cpu event=wall event=lock ${alloc:+$alloc flags=1} seconds=2 samples=1000000
	becomes_quiet "JDK $major: the session has ended" "$JVM"
	witness "classes=$T/after"
	is "JDK $major: classes that a session has initialised" \
		"$(sort "$T/before" | comm -13 - <(sort "$T/after") | tr '\n' ' ')" ""
	jvm_end
	is "JDK $major: class loading that a session has caused" \
		"$(grep '^asked ' "$JVM_OUT" | tr '\n' ' ')" ""
}

while read -r major java; do
	JAVA=$java
	[ "$major" -lt 11 ] || interval "$major"
	classes "$major"
done < <(jdks_checked)
done_testing
