# SPDX-License-Identifier: Apache-2.0
# For the benches: programs under load outside of the repository. Sourced by bash, after tests/jvm/lib.sh.
#
#   WORKLOADS=DIR   a folder of NAME.sh, each of which starts a JVM for DUR seconds with the options of JOPTS,
#                   prints "NAME: pid PID" to stderr and writes its output to $JWORK/run/NAME/{out,err}; JAVA and
#                   JDK (its folder) select the JVM, if the script supports that
#   workload_start javac 60    sets WORKLOAD, WORKLOAD_PID, WORKLOAD_SAID (its stderr) and WORKLOAD_RUN
#   workload_end               ends it with all processes that it started
#
# A workload runs in a process group of its own: some start clients that outlive a signal to the script.

WORKLOAD_GROUP=
trap 'workload_end; test_end' EXIT

workload_start() {
	WORKLOAD=$1
	WORKLOAD_SAID=$T/$1.said
	WORKLOAD_RUN=${JWORK:-$HOME/.cache/jhot/workloads}/run/$1
	[ -x "$WORKLOADS/$1.sh" ] || { echo "$WORKLOADS/$1.sh is not there" >&2; return 1; }
	: >"$WORKLOAD_SAID"
	DUR=$2 setsid "$WORKLOADS/$1.sh" >"$T/$1.out" 2>"$WORKLOAD_SAID" </dev/null &
	WORKLOAD_GROUP=$!
	wait_for 60 workload_said_pid || { workload_end; return 1; }
	workload_pid
}

# Its newest JVM: a program that ends by itself is started again.
workload_pid() {
	WORKLOAD_PID=$(sed -n "s/^$WORKLOAD: pid \([0-9]*\).*/\1/p" "$WORKLOAD_SAID" | tail -n 1)
}

workload_said_pid() {
	grep -q "^$WORKLOAD: pid" "$WORKLOAD_SAID" || gone "$WORKLOAD_GROUP"
	grep -q "^$WORKLOAD: pid" "$WORKLOAD_SAID"
}

workload_end() {
	[ -n "$WORKLOAD_GROUP" ] || return 0
	kill -TERM -- "-$WORKLOAD_GROUP" 2>/dev/null
	wait_for 10 workload_over || kill -KILL -- "-$WORKLOAD_GROUP" 2>/dev/null
	wait "$WORKLOAD_GROUP" 2>/dev/null
	WORKLOAD_GROUP=
}

workload_over() {
	! kill -0 -- "-$WORKLOAD_GROUP" 2>/dev/null
}

# workload_names: the available workloads
workload_names() {
	local script name
	for script in ${WORKLOADS:+"$WORKLOADS"/*.sh}; do
		name=$(basename "$script" .sh)
		[ -x "$script" ] && [ "$name" != setup ] && [ "$name" != lib ] && echo "$name"
	done
}
