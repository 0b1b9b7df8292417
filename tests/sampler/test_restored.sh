#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What a session leaves behind, as seen by another JVMTI agent: the heap-sampling interval is HotSpot's default again,
# no class has been initialized by the session, and no class loader of the program was called.
. "$(dirname "$0")/../jvm/lib.sh"
. "$(dirname "$0")/lib.sh"

CLASSES=$builddir/tests/sampler/classes
WITNESS=$builddir/tests/sampler/libwitness.so
[ -e "$WITNESS" ] || skip_all "no libwitness.so (make check builds it)"

# witness OPTIONS: loads the other agent into $JVM (jcmd of JDK 8 has no command for that)
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

# interval MAJOR: compares the events that the other agent gets of the same allocations before and after a session
interval() {
	local major=$1 before after
	jvm_start -Xmx256m Sites || return
	jvm_warm_attach "$JVM"
	witness count && sites_do alloc 4 && witness "count=$T/count" || diag "the other agent failed"
	before=$(cat "$T/count")
	agent event=alloc:1024 seconds=1 samples=1
	becomes_quiet "JDK $major: sampling ends after a session with alloc" "$JVM"
	witness count && sites_do alloc 4 && witness "count=$T/count" || diag "the other agent failed"
	after=$(cat "$T/count")
	ok "JDK $major: another agent gets a similar number of events after a session ($after, before $before)" \
		about_as_many "$after" "$before"
	jvm_end
}

# classes MAJOR: compares the initialized classes before and after a session with all events, except for those of the JVM's
# own attach listener, and checks that the program's class loader was not called
classes() {
	local major=$1 alloc=event=alloc:65536
	[ "$major" -ge 11 ] || alloc= # without libjvm's symbols
	jvm_start -Djava.system.class.loader=Untouched Untouched || return
	jvm_warm_attach "$JVM"
	witness "classes=$T/before"
	agent event=cpu event=wall event=lock ${alloc:+$alloc flags=1} seconds=2 samples=1000000
	becomes_quiet "JDK $major: sampling ends after a session with all events" "$JVM"
	witness "classes=$T/after"
	is "JDK $major: a session initializes no classes" \
		"$(sort "$T/before" | comm -13 - <(sort "$T/after") | tr '\n' ' ')" ""
	jvm_end
	is "JDK $major: a session calls no class loader of the program" \
		"$(grep '^asked ' "$JVM_OUT" | tr '\n' ' ')" ""
}

while read -r major java; do
	JAVA=$java
	[ "$major" -lt 11 ] || interval "$major"
	classes "$major"
done < <(jdks_checked)
done_testing
