# SPDX-License-Identifier: Apache-2.0
# For tests that need real JVMs: TAP, JDKs, starting programs, waiting on states, litter. Sourced by bash.
#
#   . "${srcdir:-.}/tests/jvm/lib.sh"
#   jvm_start Known shares                 # sets JVM (pid), JVM_OUT, JVM_ERR; returns when it says "ready"
#   wait_for 5 grep -q knownSixty "$T/x"   # polls a state, fails after 5 s
#   ok "the method is there" grep -q knownSixty "$T/x"
#   done_testing
#
# From make's environment, or found beside this file when a test is run by hand:
#   JHOT  the program       JAVA  the java under test
#   JDKS  a folder of more JDKs, each under its major version; "none": only the JDK under test
#   srcdir, builddir        tops of the source and build trees
# Every process that a test starts ends with it, however the test ends: JVMs by their parent-death signal, all others
# by the exit trap. T is the test's own folder and is removed too. Calling a command that does not exist, such as an
# undefined function, fails the test.

set -u
srcdir=$(cd "${srcdir:-$(dirname "${BASH_SOURCE[0]}")/../..}" && pwd)
builddir=$(cd "${builddir:-.}" && pwd)
JHOT=${JHOT:-$builddir/jhot}
JAVA=${JAVA:-java}
JDKS=${JDKS:-${HOME:-/root}/.cache/jhot/jdks}
CLASSES=$builddir/tests/jvm/classes
LC_ALL=C.UTF-8
export LC_ALL
unset JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS

T=$(mktemp -d "${TMPDIR:-/tmp}/jhot-test.XXXXXX")
chmod 755 "$T"
export JHOT_TEST=$T # identifies the processes that this test starts
export XDG_CONFIG_HOME=$T/settings # not the user's own settings of the live view
tap_count=0
tap_failed=0
JVMS=()
trap test_end EXIT
trap 'exit 143' TERM INT HUP

# --- TAP ---------------------------------------------------------------------------------------------

# ok DESCRIPTION COMMAND...: passes when the command succeeds
ok() {
	local description=$1
	shift
	tap_count=$((tap_count + 1))
	if "$@"; then
		echo "ok $tap_count - $description"
	else
		echo "not ok $tap_count - $description"
		diag "failed: $*"
		tap_failed=1
		return 1
	fi
}

# not COMMAND...: succeeds when the command fails; for `ok`
not() {
	! "$@"
}

# is DESCRIPTION GOT WANTED
is() {
	if ! ok "$1" [ "$2" = "$3" ]; then
		diag "got:    $2"
		diag "wanted: $3"
		return 1
	fi
}

# same DESCRIPTION FILE FILE: equal contents; the difference is shown
same() {
	if ! ok "$1" cmp -s "$2" "$3"; then
		diff -u "$3" "$2" | head -n 40 | sed 's/^/# /'
		return 1
	fi
}

skip() {
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1 # SKIP $2"
}

skip_all() {
	echo "1..0 # SKIP $1"
	exit 0
}

diag() {
	printf '%s\n' "$*" | sed 's/^/# /'
}

# diag_file FILE: prints the last lines of the file as comments, for a check that failed
diag_file() {
	diag "--- $1"
	tail -n 30 "$1" | tr -cd '\t\n -~' | sed 's/^/# /'
	echo "#" # the file may lack a final newline
}

command_not_found_handle() {
	echo "$1" >>"$T/not-found"
	echo "$0: $1: command not found" >&2
	return 127
}

done_testing() {
	local major
	if [ -s "$T/missing-jdks" ]; then
		for major in $(sort -un "$T/missing-jdks"); do
			skip "the same on JDK $major" "JDK $major is not installed"
		done
	fi
	[ ! -s "$T/not-found" ] ||
		is "every command that the test calls exists" "$(sort -u "$T/not-found" | tr '\n' ' ')" ""
	echo "1..$tap_count"
	exit $tap_failed
}

# --- the end -----------------------------------------------------------------------------------------

# test_left: prints the processes that this test started and that still run, found by their environment
test_left() {
	local environ pid
	grep -lzsxF -- "JHOT_TEST=$T" /proc/[0-9]*/environ | while IFS= read -r environ; do
		pid=${environ#/proc/}
		pid=${pid%/environ}
		[ "$pid" = $$ ] || ! alive "$pid" || echo "$pid"
	done
}

test_is_alone() {
	[ -z "$(test_left)" ]
}

test_end() {
	local pid
	jvm_stop_all
	{
		for pid in $(jobs -p) $(test_left); do
			kill -KILL "$pid"
		done
		wait_for 10 test_is_alone
	} 2>/dev/null
	rm -rf "$T"
}

# --- waiting -----------------------------------------------------------------------------------------

# wait_for SECONDS COMMAND...: until the command succeeds; fails when SECONDS are over. The limit is
# there to end a broken test, not to measure: be generous with it.
wait_for() {
	local end=$((SECONDS + $1 + 1))
	shift
	until "$@"; do
		if [ $SECONDS -ge $end ]; then
			diag "timed out waiting for: $*" >&2
			return 1
		fi
		sleep 0.02
	done
}

# alive PID: the process exists and is not a zombie
alive() {
	local state
	state=$(sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "/proc/$1/status" 2>/dev/null)
	case $state in '' | Z | X) return 1 ;; esac
}

gone() {
	! alive "$1"
}

# --- JDKs --------------------------------------------------------------------------------------------

# java_major JAVA: 17
java_major() {
	"$1" -XshowSettings:properties -version 2>&1 |
		sed -n 's/^ *java.specification.version = \(1\.\)\{0,1\}//p'
}

# These JDKs cover every layout of HotSpot from 8 to 28. A test of "all" JDKs uses these.
ALL_JDKS='8 11 17 21 25 28'

# jdk_find MAJOR: the java of that version, in $JDKS or among the system's; nothing if there is none
jdk_find() {
	local home
	if [ -x "$JDKS/$1/bin/java" ]; then
		echo "$JDKS/$1/bin/java"
		return
	fi
	for home in /usr/lib/jvm/*/; do
		[ -x "$home/bin/java" ] && [ ! -L "${home%/}" ] || continue
		grep -qsE "^JAVA_VERSION=\"(1\.)?$1[\".+-]" "$home/release" || continue
		echo "${home}bin/java"
		return
	done
}

# jdks [MAJOR...]: one line "MAJOR JAVA" per JDK: the one under test first, then those of the given majors (default:
# $ALL_JDKS). done_testing reports a SKIP for each of them that is not installed. JDKS=none: only the JDK under test.
jdks() {
	local own major java
	own=$(java_major "$JAVA")
	echo "$own $JAVA"
	[ "$JDKS" != none ] || return 0
	for major in ${*:-$ALL_JDKS}; do
		[ "$major" != "$own" ] || continue
		java=$(jdk_find "$major")
		if [ -n "$java" ]; then
			echo "$major $java"
		else
			echo "$major" >>"$T/missing-jdks"
		fi
	done
}

# pid1_alone: waits until no other test has a JVM that is process 1 of its namespace and shares /tmp, because each of
# them has its attach socket at /tmp/.java_pid1
pid1_alone() {
	exec {PID1_LOCK}>"$builddir/tests/places/pid1.lock"
	flock "$PID1_LOCK"
}

# totals_alone: waits until no other test has JVMs of the class Totals, which recorders find by that name
totals_alone() {
	exec {TOTALS_LOCK}>"$builddir/tests/jvm/totals.lock"
	flock "$TOTALS_LOCK"
}

# jdks_checked: as jdks, for tests that take long: $JAVA and those of $MAJORS if that is set, else one: JDK 25 or, without it, $JAVA
jdks_checked() {
	if [ -n "${MAJORS:-}" ] || [ "$JDKS" = none ]; then
		# shellcheck disable=SC2086
		jdks ${MAJORS:-}
	else
		jdks 25 | tail -n 1
	fi
}

# --- JVMs --------------------------------------------------------------------------------------------

# jvm_launch [JVM-OPTION...] CLASS [ARG...]: starts it, does not wait. Sets JVM, JVM_OUT, JVM_ERR, JVM_IN
# (the write end of its standard input). JVM_AS="COMMAND..." runs it through a command that execs it,
# as AS_OTHER does for another user.
AS_OTHER='setpriv --reuid nobody --regid nogroup --clear-groups'
jvm_launch() {
	local n=${#JVMS[@]}
	JVM_OUT=$T/jvm$n.out
	JVM_ERR=$T/jvm$n.err
	mkfifo "$T/jvm$n.in"
	exec {JVM_IN}<>"$T/jvm$n.in"
	# shellcheck disable=SC2086
	${JVM_AS:-} setpriv --pdeathsig KILL "$JAVA" -cp "$CLASSES" "$@" \
		<"$T/jvm$n.in" >"$JVM_OUT" 2>"$JVM_ERR" {JVM_IN}>&- &
	JVM=$!
	# A killed JVM with the same pid may have left its socket; another user's would prevent attaching to this JVM.
	rm -f "/tmp/.java_pid$JVM"
	JVMS+=("$JVM:$JVM_IN:$T/jvm$n.in")
}

# for_other: copies jhot and the classes to where another user can read them (the build tree may be in /root);
# sets JHOT and CLASSES to the copies. Fails when we are not root,
# or when the other user cannot read the JDK.
for_other() {
	[ "$(id -u)" = 0 ] && $AS_OTHER test -x "$(command -v "$JAVA")" || return 1
	mkdir -p "$T/for-other"
	cp -r "$CLASSES" "$JHOT" "$T/for-other/"
	chmod -R a+rX "$T/for-other"
	JHOT=$T/for-other/$(basename "$JHOT")
	CLASSES=$T/for-other/classes
}

# jvm_start ...: the same, and waits for its "ready"; a JVM that does not start fails the test
jvm_start() {
	jvm_launch "$@"
	if ! wait_for 60 jvm_said_ready || ! alive "$JVM"; then
		tap_failed=1
		diag "the JVM did not start: $*"
		diag_file "$JVM_OUT"
		diag_file "$JVM_ERR"
		return 1
	fi
}

jvm_said_ready() {
	grep -qs '^ready' "$JVM_OUT" || gone "$JVM"
}

# java_of PID: the java process among the descendants of this one, such as of an unshare
java_of() {
	local pid=$1 child
	while :; do
		[ "$(cat "/proc/$pid/comm" 2>/dev/null)" = java ] && echo "$pid" && return
		child=$(cat "/proc/$pid/task/$pid/children" 2>/dev/null)
		[ -n "${child%% *}" ] || return 1
		pid=${child%% *}
	done
}

# jvm_halt: has $JVM call halt(7), which ends it at once; does not wait
jvm_halt() {
	echo x >&"$JVM_IN"
}

# jvm_end [PID]: tells it to end, waits for it, and returns its exit status. (Closing the pipe does not
# suffice: processes that the test started later have it open too.)
jvm_end() {
	local pid=${1:-$JVM} entry rest status
	for entry in "${JVMS[@]}"; do
		[ "${entry%%:*}" = "$pid" ] || continue
		rest=${entry#*:}
		echo q >&"${rest%%:*}"
	done
	wait_for 30 gone "$pid" || { diag "$pid did not end on q within 30 s"; kill -KILL "$pid"; }
	wait "$pid" 2>/dev/null
	status=$?
	return $status
}

# jvm_kill: kills $JVM, if it still runs, and suppresses the shell's message about it
jvm_kill() {
	{
		kill -KILL "$JVM"
		wait "$JVM"
	} 2>/dev/null
}

# jvm_stop_all: kills those that still run. Another process may have the pid of one that was waited for.
jvm_stop_all() {
	local entry
	for entry in "${JVMS[@]}"; do
		[ "$(sed 's/.*) . \([0-9]*\) .*/\1/' "/proc/${entry%%:*}/stat" 2>/dev/null)" != $$ ] ||
			kill -KILL "${entry%%:*}" 2>/dev/null
	done
	for entry in "${JVMS[@]}"; do
		wait "${entry%%:*}" 2>/dev/null
		rm -f "/tmp/.java_pid${entry%%:*}"
	done
}

# Options of a JVM whose own threads, collector and mappings do not change, so that before and after can be compared, and
# which inlines none of Known's methods: without -XX:+DebugNonSafepoints HotSpot attributes inlined code to its caller.
CALM_JVM='-XX:+IgnoreUnrecognizedVMOptions -XX:+UseSerialGC -XX:-UseDynamicNumberOfCompilerThreads
	-Xshare:auto -Xmx64m -XX:CompileCommand=quiet -XX:CompileCommand=dontinline,Known.known*'

# jvm_warm_attach PID: starts the JVM's own attach listener (thread, socket), which any attach does and which
# persists; take the "before" snapshot after it.
jvm_warm_attach() {
	local bin
	bin=$(dirname "$(readlink -f "$(command -v "$JAVA")")")
	[ -x "$bin/jcmd" ] || bin=$bin/../../bin # JDK 8: the command is jre/bin/java, and jcmd in bin
	"$bin/jcmd" "$1" VM.version >/dev/null
}

# --- litter ------------------------------------------------------------------------------------------

# agent_fds PID: descriptors of the agent's threads, which have a table of their own
agent_fds() {
	local task
	for task in /proc/"$1"/task/*; do
		case $(cat "$task/comm" 2>/dev/null) in
		'jhot publisher' | 'jhot wall' | 'jhot lock') printf '%s\n' "$task"/fd/* ;;
		esac
	done
}

# litter PID: one line per resource that an agent could leave behind; compare two snapshots with `same`.
litter() {
	local pid=$1 link target
	# shellcheck disable=SC2046
	for link in /proc/"$pid"/fd/* $(agent_fds "$pid"); do
		target=$(readlink "$link") || continue
		case $target in
		socket:* | pipe:*) target=${target%%:*} ;;
		esac
		echo "fd $target"
	done | sort
	for link in /proc/"$pid"/task/*; do
		echo "task $(cat "$link/comm" 2>/dev/null)"
	done | sort
	awk '$6 ~ /^\/|memfd|perf_event/ { print "map " $6 $7 }' "/proc/$pid/maps" | sort -u
	grep '^SigCgt:' "/proc/$pid/status"
	# without signal 32, which glibc's posix_spawn sets to ignored in a child, and which the agent may handle
	printf 'SigIgn: %x\n' $((0x$(sed -n 's/^SigIgn:[[:space:]]*//p' "/proc/$pid/status") & ~(1 << 31)))
	grep -c '^ID:' "/proc/$pid/timers" | sed 's/^/timers /'
	grep -E '^TracerPid:' "/proc/$pid/status"
}

# listening PID: the TCP ports on which it listens, according to the kernel, sorted
listening() {
	readlink /proc/"$1"/fd/* | sed -n 's/^socket:\[\(.*\)\]$/ \1 /p' >"$T/sockets"
	cat "/proc/$1/net/tcp" "/proc/$1/net/tcp6" 2>/dev/null |
		awk '$4 == "0A" { sub(/.*:/, "", $2); print " " $10 " 0x" $2 }' | grep -F -f "$T/sockets" |
		while read -r _ port; do echo $((port)); done | sort -nu
}

# rss_kb PID
rss_kb() {
	awk '/^VmRSS:/ { print $2 }' "/proc/$1/status"
}

# delay_ns PID: the time that its threads have waited for a core
delay_ns() {
	cat "/proc/$1"/task/*/schedstat 2>/dev/null | awk '{ ns += $2 } END { printf "%.0f\n", ns }'
}

# count_of PID fd|task: how many
count_of() {
	ls "/proc/$1/$2" | wc -l
}

# --- sessions ----------------------------------------------------------------------------------------

# sampling PID: the target has a session's memory, threads, perf events or timers
sampling() {
	# shellcheck disable=SC2046
	ls -l "/proc/$1/fd" $(agent_fds "$1") 2>/dev/null | grep -qE 'memfd:jhot-|\[perf_event\]' ||
		cat "/proc/$1"/task/*/comm 2>/dev/null | grep -q '^jhot' ||
		grep -qs '^ID:' "/proc/$1/timers"
}

quiet() {
	! sampling "$1"
}

# run ARG...: runs jhot; its exit status, output and errors are in $status, $T/out, $T/err
run() {
	"$JHOT" "$@" >"$T/out" 2>"$T/err" </dev/null
	status=$?
}

# record_start ARG...: `jhot record` of $JVM in the background, likewise; record_end ends it as ^C does
record_start() {
	"$JHOT" record "$@" "$JVM" >"$T/out" 2>"$T/err" </dev/null &
	RECORD_PID=$!
}

record_end() {
	kill -TERM $RECORD_PID
	wait $RECORD_PID
}

# becomes_quiet DESCRIPTION PID: sampling ends; the time it took is printed, not checked
becomes_quiet() {
	local from=${EPOCHREALTIME/./}
	ok "$1" wait_for 20 quiet "$2" || litter "$2" | sed 's/^/# /'
	diag "after $(((${EPOCHREALTIME/./} - from) / 1000)) ms"
}

# has_samples PID N: the running session with this JVM has taken at least N samples
has_samples() {
	[ "$("$JHOT" status "$1" 2>/dev/null | grep -oE '[0-9]+ samples' | head -n 1 | cut -d ' ' -f 1)" -ge "$2" ] 2>/dev/null
}

# weight FILE PATTERN: samples in a collapsed file whose stack matches an extended regular expression
weight() {
	grep -E -- "$2" "$1" | awk '{ sum += $NF } END { print sum + 0 }'
}

# near DESCRIPTION PART WHOLE PERCENT: PART is PERCENT of WHOLE samples, within the sampling error (4
# standard deviations) plus 2 points for the inexactness of the program
near() {
	diag "$2 of $3 samples; $4 % expected"
	ok "$1" awk -v k="$2" -v n="$3" -v percent="$4" 'BEGIN {
		p = percent / 100
		if (n < 50) exit 1
		off = k / n - p
		exit (off < 0 ? -off : off) > 4 * sqrt(p * (1 - p) / n) + 0.02
	}'
}
