#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A table of places: where a JVM and jhot run, what each is denied, what the JVM is doing. A row ends either with samples
# of the hot method or with an error that has advice; in both cases the JVM lives and nothing of jhot is left in it or in
# its root.
#
# ./bootstrap check-long runs the rows that end with an error, and some that end with samples; none of these changes a kernel
# setting, which would affect other tests. PLACES=all (make places-check) runs all rows and prints the table; ONLY=PATTERN runs
# those whose names match.
. "$(dirname "$0")/../jvm/lib.sh"

[ "$(id -u)" = 0 ] || skip_all "only root can make users and namespaces"
unshare -m -p -f true 2>/dev/null || skip_all "no namespaces may be made here"
for_other || skip_all "another user cannot run this JDK"

jdk=$(dirname "$(dirname "$(readlink -f "$(command -v "$JAVA")")")")
export KEEP="$jdk $T/for-other"
cp "$srcdir/tests/places/inside.sh" "$builddir/tests/places/confine" "$builddir/tests/places/undumpable.so" "$T/for-other"
chmod -R a+rX "$T/for-other"
mkdir -m 777 "$T/root" "$T/side" "$T/lost" "$T/bait"
inside=$T/for-other/inside.sh
spaces="unshare -m -p -f --kill-child"
nameless="setpriv --reuid 12345 --regid 12346 --clear-groups"
other=$AS_OTHER
PLACES=${PLACES:-short}
declare -A was # the original values of kernel settings that rows change
for setting in perf_event_paranoid perf_event_mlock_kb; do
	was[$setting]=$(cat /proc/sys/kernel/$setting 2>/dev/null)
done
trap 'resume; rmdir /sys/fs/cgroup/*/jhot-test.$$* /sys/fs/cgroup/jhot-test.$$* 2>/dev/null; kernel_again; test_end' EXIT

# --- rows --------------------------------------------------------------------------------------------

# A row is "name" and fields:
#   as=COMMAND     starts the JVM: execs it, or is its ancestor
#   jvm=OPTIONS    options of the JVM;  mode=MODE  mode of the program Placed
#   before=NAME    a function that changes the JVM, which is $jvm, once it has started
#   by=COMMAND     runs jhot; eval'ed, with $jvm;  pid=inside: jhot gets the pid that the JVM has in its own namespace
#   error="STATUS WORDS"  the exit status and a pattern of jhot's error; without it the row ends with samples
#   says=PATTERN   a pattern of jhot's messages beside the samples
#   from=PATTERN   the path of the agent in the JVM's maps
#   may=PATTERN    resources of the JVM that may differ afterwards
#   long=1         only with PLACES=all
fields=(as jvm mode before by pid error says from may long)
declare -A row
rows=()

place() {
	local n=${#rows[@]} field
	rows+=("$1")
	shift
	for field in "${fields[@]}"; do
		row[$n.$field]=
	done
	for field in "$@"; do
		row[$n.${field%%=*}]=${field#*=}
	done
	case " ${fields[*]} " in *" ${field%%=*} "*) ;; *) diag "no field $field" && tap_failed=1 ;; esac
	{ [ "$PLACES" = short ] && [ -n "${row[$n.long]}" ]; } || { [ "$PLACES" = all ] && ! [[ ${rows[$n]} =~ ${ONLY:-} ]]; } &&
		unset "rows[-1]"
}

# --- one row -----------------------------------------------------------------------------------------

launch() {
	local n=$1
	# shellcheck disable=SC2086
	JVM_AS=${row[$n.as]} jvm_launch $CALM_JVM ${row[$n.jvm]} Placed "${row[$n.mode]:-rest}"
	row[$n.pid_of]=$JVM row[$n.out]=$JVM_OUT row[$n.err]=$JVM_ERR row[$n.in]=$JVM_IN
}

started() {
	JVM=${row[$1.pid_of]} JVM_OUT=${row[$1.out]} JVM_ERR=${row[$1.err]} JVM_IN=${row[$1.in]}
	wait_for 60 jvm_said_ready && jvm=$(java_of "$JVM")
}

works() { grep -qsx worker "/proc/$jvm/task/"*/comm; }

# files_left: jhot's files in the folders where it may create them; in the host's /tmp and /dev/shm, only those for this JVM
files_left() {
	local dir whose
	for dir in "/proc/$jvm/root/tmp" "/proc/$jvm/root/dev/shm" "/proc/$jvm/cwd"; do
		whose=
		if [ "$dir" -ef /tmp ] || [ "$dir" -ef /dev/shm ]; then whose=$jvm; fi
		find "$dir/." -maxdepth 1 \( -name ".attach_pid$whose*" -o -name "libjhot-*$whose.so*" \) -newer "$T/begin" 2>/dev/null
	done
}

# documented PATTERN: filters out what every attach leaves, the agent's mapping and handlers, and what the row allows
documented() {
	grep -vE "^> (fd socket|task Attach Listener|map .*(libjhot.*|libdl.so.2|libpthread.so.0)|map .*libzip.so)\$|^[<>] SigCgt:${1:+|$1}"
}

# session N: runs jhot on this row's JVM; its stacks are in $T/stacks. On a busy machine the JVM may get no CPU time for half a second.
session() {
	local n=$1 target=$jvm seconds
	[ "${row[$n.pid]}" != inside ] || target=$(awk '/^NSpid:/ { print $NF }' "/proc/$jvm/status")
	for seconds in 0.5 2 10; do
		eval "${row[$n.by]}" '"$JHOT" record -d $seconds -o - --format=collapsed "$target"' >"$T/stacks" 2>"$T/said" </dev/null
		status=$?
		[ $status = 0 ] && [ ! -s "$T/stacks" ] || break
	done
	tr -s ' \n' ' ' <"$T/said" >"$T/sentence"
}

has_worked() {
	[ "$status" = 0 ] && [ "$(weight "$T/stacks" 'Known.known')" -gt 0 ] && grep -qE -- "${row[$1.says]:-.}" "$T/sentence" &&
		awk '{ print $6 }' "/proc/$jvm/maps" | grep -q -- "${row[$1.from]:-libjhot-}"
}

has_error() {
	[ "$status" = "${row[$1.error]%% *}" ] && grep -q -- "${row[$1.error]#* }" "$T/sentence" &&
		grep -q 'Try one of' "$T/sentence"
}

unharmed() {
	alive "$jvm" && [ "$(cat "$JVM_OUT")" = ready ] && [ -z "$(grep -v '^WARNING: ' "$JVM_ERR")" ]
}

nothing_left() {
	wait_for 20 quiet "$jvm"
	litter "$jvm" >"$T/after"
	[ -z "$(files_left)$(diff "$T/before" "$T/after" | grep '^[<>]' | documented "${row[$1.may]}")" ]
}

sentence() {
	if [ "$status" = 0 ]; then
		echo "samples${row[$1.says]:+, and "$(grep -oE -- "${row[$1.says]}" "$T/sentence" | head -n 1)"}"
	else
		sed -n 's/.*What happened \(.*\) Try one of \(.*\)/\1 \2/p' "$T/sentence" | sed 's/ Details.*//; s/ \([0-9]\)  */ (\1) /g'
	fi
}

# unavailable N: the JVM could not be put into the row's place. If the kernel refuses the setting, the row is skipped; any other
# failure fails the row, which would otherwise test another place than the one it names.
unavailable() {
	local name=${rows[$1]}
	if [ -z "$refused" ]; then
		ok "$name: ${row[$1.before]} succeeds" false
	else
		skip "$name" "$refused"
		printf '%s\tskipped: %s\n' "$name" "$refused" >>"$T/table"
	fi
}

# run_row N: runs jhot on the row's JVM, checks the result, and ends the JVM
run_row() {
	local n=$1 name=${rows[$1]}
	started "$n" || { ok "$name: the JVM starts" false; diag_file "$JVM_OUT"; diag_file "$JVM_ERR"; return; }
	echo -n w >&"$JVM_IN"
	wait_for 20 works
	litter "$jvm" >"$T/before"
	refused=
	if ! ${row[$n.before]:-true}; then
		kernel_again
		unavailable "$n"
		jvm_end "$JVM"
		return
	fi
	session "$n"
	kernel_again
	if [ -n "${row[$n.error]}" ]; then
		ok "$name: jhot exits with an error that has advice" has_error "$n"
	else
		ok "$name: jhot samples the hot method" has_worked "$n"
	fi || { diag "exit $status"; diag_file "$T/said"; grep libjhot "/proc/$jvm/maps" | sed 's/^/# /'; }
	resume
	ok "$name: the JVM lives and wrote nothing of its own" unharmed || { diag_file "$JVM_OUT"; diag_file "$JVM_ERR"; }
	ok "$name: no files or resources of jhot are left" nothing_left "$n" || { diag "$(files_left)"; diff "$T/before" "$T/after" | sed 's/^/# /'; }
	printf '%s\t%s\n' "$name" "$(sentence "$n")" >>"$T/table"
	jvm_end "$JVM"
}

# wave N: runs all rows; N rows' JVMs start side by side
wave() {
	local n from=0
	while [ $from -lt ${#rows[@]} ]; do
		for ((n = from; n < from + $1 && n < ${#rows[@]}; n++)); do launch $n; done
		for ((n = from; n < from + $1 && n < ${#rows[@]}; n++)); do run_row $n; done
		from=$n
	done
}

# --- changes to a JVM (the field "before") -----------------------------------------------------------

fill() {
	[ "/proc/$jvm/root/$1" -ef "$1" ] || cat /dev/zero >"/proc/$jvm/root/$1/fill" 2>/dev/null
	return 0
}
fill_tmp() { fill /tmp; }
fill_all() { fill /tmp && fill /dev/shm; }
lose_folder() { rmdir "$T/lost"; }
lose_socket() {
	jvm_warm_attach "$jvm" && litter "$jvm" >"$T/before" && rm "/proc/$jvm/root/tmp/.java_pid$jvm"
}
foreign_socket() { touch "/tmp/.java_pid$jvm"; }
stop() {
	kill -STOP "$jvm"
	wait_for 10 grep -qs '^State:.T' "/proc/$jvm/status"
}
freeze() { # CGROUPS FILE WORD: moves it into a cgroup of its own and writes WORD to FILE there
	{ mkdir "$1/jhot-test.$$.frozen" && echo "$jvm" >"$1/jhot-test.$$.frozen/cgroup.procs" &&
		echo "$3" >"$1/jhot-test.$$.frozen/$2"; } 2>/dev/null && return
	refused="no cgroup can be frozen here"
	return 1
}
freeze_first() { freeze /sys/fs/cgroup/freezer freezer.state FROZEN; }
freeze_second() {
	local dir=/sys/fs/cgroup/unified
	[ -e $dir/cgroup.procs ] || dir=/sys/fs/cgroup
	freeze $dir cgroup.freeze 1
}
# resume: continues or thaws the JVM; a frozen process cannot even be killed
resume() {
	local dir
	[ -z "${jvm:-}" ] || kill -CONT "$jvm"
	for dir in /sys/fs/cgroup/jhot-test.$$.frozen /sys/fs/cgroup/*/jhot-test.$$.frozen; do
		[ ! -e "$dir/freezer.state" ] || echo THAWED >"$dir/freezer.state"
		[ ! -e "$dir/cgroup.freeze" ] || echo 0 >"$dir/cgroup.freeze"
	done
} 2>/dev/null
descriptors() { # N: sets a limit that leaves N descriptors
	local fd=0 left=$1
	while [ -e "/proc/$jvm/fd/$fd" ] || [ $((left--)) -gt 0 ]; do fd=$((fd + 1)); done
	prlimit --pid "$jvm" --nofile="$fd:"
}
few_descriptors() { descriptors 4; }
# Closes descriptors inherited from make and this shell: the agent's threads do not have them, so they would have as many more left.
alone_fds=$T/alone_fds
cat >"$alone_fds" <<'END'
#!/bin/bash
for fd in /proc/self/fd/*; do
	fd=${fd##*/}
	[ "$fd" -le 2 ] || eval "exec $fd>&-"
done
exec "$@"
END
chmod +x "$alone_fds"
no_descriptors() { descriptors 0; }
no_memory() { prlimit --pid "$jvm" --as=$(($(awk '/^VmSize:/ { print $2 }' "/proc/$jvm/status") * 1024 + (4 << 20))); }
no_threads() { $other prlimit --pid "$jvm" --nproc=1; }
crowd() { # a cgroup that allows two more threads
	local dir=/sys/fs/cgroup/pids
	[ -e $dir/tasks ] || dir=/sys/fs/cgroup
	mkdir "$dir/jhot-test.$$" && echo "$jvm" >"$dir/jhot-test.$$/cgroup.procs" &&
		echo $(($(count_of "$jvm" task) + 2)) >"$dir/jhot-test.$$/pids.max"
}
# memory_left MB: moves it into a cgroup of its own that allows MB more; memory that it has already stays charged to the old cgroup
memory_left() {
	local dir=/sys/fs/cgroup/memory/jhot-test.$$.$jvm.memory limit=memory.limit_in_bytes used=memory.usage_in_bytes
	[ -e /sys/fs/cgroup/memory/tasks ] || dir=/sys/fs/cgroup/jhot-test.$$.$jvm.memory limit=memory.max used=memory.current
	{ mkdir -p "$dir" && echo $(($(cat "$dir/$used") + ($1 << 20))) >"$dir/$limit" && echo "$jvm" >"$dir/cgroup.procs"; } 2>/dev/null &&
		return
	refused="no cgroup can limit memory here"
	return 1
}
little_memory() { memory_left 20; }
# kernel SETTING VALUE: sets it; fails on some kernels and if /proc is read-only
kernel() {
	{ echo "$2" >"/proc/sys/kernel/$1"; } 2>/dev/null && [ "$(cat "/proc/sys/kernel/$1")" = "$2" ] && return
	refused="kernel.$1 cannot be set to $2 here"
	return 1
}
kernel_again() {
	local setting
	for setting in "${!was[@]}"; do
		[ -z "${was[$setting]}" ] || [ "$(cat /proc/sys/kernel/$setting)" = "${was[$setting]}" ] ||
			kernel $setting "${was[$setting]}"
	done
}
paranoid_0() { kernel perf_event_paranoid 0; }
paranoid_1() { kernel perf_event_paranoid 1; }
paranoid_2() { kernel perf_event_paranoid 2; }
paranoid_3() { kernel perf_event_paranoid 3; }
# Beside its own limit each user may lock as much as the second setting allows; perf_event_paranoid 2 would already deny perf_events.
no_locked_memory() { kernel perf_event_paranoid 1 && kernel perf_event_mlock_kb 0; }

# --- where the JVM is, seen from the host as root ----------------------------------------------------

new="$inside pivot $T/root"
within='nsenter -t $jvm -m -p -r -w --'
place "mount namespace" as="unshare -m $inside tmp -" long=1
place "PID namespace: the JVM is pid 1" as="unshare -p -f --kill-child" long=1
place "network namespace" as="unshare -n" long=1
place "chroot" as="$spaces $inside chroot $T/root" from=/tmp/libjhot- long=1
place "pivot_root, mount, PID, net, IPC, UTS namespaces" as="$spaces -n -i -u $new" from='^/tmp/libjhot-'
place "pivot_root and all namespaces, a uid without a name" as="$spaces $new $nameless" long=1
place "user namespace of another user, as its root" as="$other $spaces -U -r $new"
place "read-only root, /tmp in memory" as="$spaces $inside readonly $T/root" long=1
place "read-only root and /tmp" as="$spaces $inside frozen $T/root" error="3 make its /tmp writable"
place "noexec /tmp" as="unshare -m $inside noexec -" from='^/dev/shm/libjhot-'
place "noexec /tmp and /dev/shm" as="unshare -m $inside nowhere -" from='^/tmp/exec/libjhot-' long=1
place "noexec everywhere" as="unshare -m $inside nothing -" from='^/memfd:libjhot-'
place "noexec everywhere, another user" as="unshare -m $inside nothing - $other" from='^/dev/libjhot-'
place "noexec everywhere, another user, /dev read-only" as="unshare -m $inside denied - $other" \
	error="3 no folder from which it could load"
place "noexec everywhere, user namespace with a folder of the host as its /dev" \
	as="unshare -m $inside bait $T/bait $other unshare -U -r -m $inside lured $T/bait" error="3 no folder from which it could load"
place "/tmp is full" as="unshare -m $inside full -" before=fill_tmp from='^/dev/shm/libjhot-' long=1
place "all folders are full" as="unshare -m $inside crammed -" before=fill_all from='^/memfd:libjhot-' long=1
place "deleted working folder" as="env -C $T/lost" before=lose_folder long=1

# --- what the JVM is denied --------------------------------------------------------------------------

perf='no perf_events: E[A-Z]* [(][a-z_ .]*[)]: no kernel frames'
place "seccomp as containers have it" as="$T/for-other/confine" says="$perf"
place "undumpable" as="env LD_PRELOAD=$T/for-other/undumpable.so" long=1
place "undumpable, another user" as="$other env LD_PRELOAD=$T/for-other/undumpable.so"
place "40 descriptors" as="prlimit --nofile=40:40" long=1
place "4 descriptors left" as="$alone_fds" before=few_descriptors says="of [0-9]* threads without perf_events: short of file descriptors"
place "no descriptor left" before=no_descriptors error="3 descriptors.*prlimit"
place "no locked memory" as="prlimit --memlock=0:0 $other" before=no_locked_memory \
	says="no perf_events: EPERM [(]seccomp or mlock limit[)]: no kernel frames" long=1
place "4 MB of address space left" before=no_memory error="3 address space.*prlimit"
place "limit of threads reached" as="$other" before=no_threads error="3 limit of threads.*prlimit"
[ ! -w /sys/fs/cgroup/pids ] && [ ! -w /sys/fs/cgroup/cgroup.procs ] ||
	place "two threads left in its cgroup" before=crowd error="3 limit of threads.*pids.max"
place "20 MB of memory left in its cgroup" jvm="-XX:+UseSerialGC -Xmx16m" before=little_memory error="3 memory limit.*docker update"
place "perf_event_paranoid 0, another user" as="$other" before=paranoid_0 says="cpu/perf" long=1
place "perf_event_paranoid 1, another user" as="$other" before=paranoid_1 says="cpu/perf" long=1
place "perf_event_paranoid 2, another user" as="$other" before=paranoid_2 says="$perf" long=1
place "perf_event_paranoid 3, another user" as="$other" before=paranoid_3 says="$perf" long=1

# --- how the JVM was started, what it does -----------------------------------------------------------

place "-Xrs" jvm=-Xrs long=1
place "-XX:-UsePerfData" jvm=-XX:-UsePerfData long=1
place "-XX:+DisableAttachMechanism" jvm=-XX:+DisableAttachMechanism error="3 restart it without"
place "-XX:-EnableDynamicAgentLoading" jvm=-XX:-EnableDynamicAgentLoading error="3 EnableDynamicAgentLoading"
place "deleted attach socket" before=lose_socket long=1
place "another user's file at the path of its attach socket" as="$other" before=foreign_socket error="3 sudo rm"
place "stopped JVM" before=stop error="3 kill -CONT"
place "JVM in a frozen cgroup, version 1" before=freeze_first error="3 docker unpause"
place "JVM in a frozen cgroup, version 2" before=freeze_second error="3 docker unpause"
place "full heap" mode=full long=1
# JDK 24 and later leave a survivor space free.
[ "$(java_major "$JAVA")" -ge 24 ] || place "full heap, the JVM exits when an allocation fails" mode=filled jvm="-XX:+UseSerialGC -XX:+ExitOnOutOfMemoryError" \
	error="3 heap.*is full.*raise -Xmx"
place "JVM that is exiting" mode=leaving long=1

# --- jhot elsewhere ----------------------------------------------------------------------------------

place "jhot inside, as its user" as="$spaces $new $other" pid=inside by="$within $other"
place "jhot inside, as root of its user namespace" as="$other $spaces -U -r $new" pid=inside \
	by='nsenter -t $jvm -U -m -p -r -w --' long=1
place "jhot inside, as another user" as="$spaces $new $other" pid=inside by="$within $nameless" error="3 sudo"
place "jhot in another container, same PID namespace" as="$spaces $new $other" pid=inside \
	by='nsenter -t $jvm -p -- unshare -m $inside pivot $T/side'
place "jhot in another container, same PID namespace, as the JVM's user" as="$spaces $new $other" pid=inside \
	by='nsenter -t $jvm -p -- unshare -m $inside pivot $T/side $other' long=1
place "jhot beside the JVM, as its user" as="$other" by="$other" long=1
place "jhot beside the JVM, as another user" as="$other" by="$nameless" error="3 sudo"

# --- processes that are not JVMs, or not yet ---------------------------------------------------------

# stranger NAME WORDS COMMAND...: jhot refuses the process with these words, and does not disturb it
stranger() {
	local name=$1 words=$2
	shift 2
	"$@" </dev/null >"$T/stranger" 2>&1 &
	jvm=$!
	wait_for 20 grep -qsx 'State:.S.*' "/proc/$jvm/status"
	"$JHOT" record -d 0.5 -o - "$jvm" >"$T/stacks" 2>"$T/said" </dev/null
	status=$?
	tr -s ' \n' ' ' <"$T/said" >"$T/sentence"
	ok "$name: jhot's error says: $words" grep -q "$words" "$T/sentence" || diag_file "$T/said"
	ok "$name: the process lives and wrote nothing" eval "alive $jvm && [ ! -s '$T/stranger' ]"
	printf '%s\t%s\n' "$name" "$(sentence none)" >>"$T/table"
	kill "$jvm"
	wait "$jvm" 2>/dev/null
}

strangers() {
	local sleep
	sleep=$(command -v sleep)
	mkdir "$T/vm"
	cp "$sleep" "$T/vm/java"
	cp "$sleep" "$T/vm/service"
	echo .svm_heap >>"$T/vm/service"
	cp "$T/for-other/undumpable.so" "$T/vm/libjvm.so"
	[ "$PLACES" != all ] || stranger "a program called java" "starting" "$T/vm/java" 1000
	stranger "a native image" "native-image" "$T/vm/service" 1000
	stranger "another virtual machine (libjvm.so is not HotSpot's)" "not HotSpot's" \
		env LD_PRELOAD="$T/vm/libjvm.so" "$T/vm/java" 1000
}

# A JVM that was just launched: jhot waits until it accepts requests.
starting() {
	# shellcheck disable=SC2086
	jvm_launch $CALM_JVM Known shares
	wait_for 20 grep -qsx java "/proc/$JVM/comm"
	"$JHOT" record -d 2 -o "$T/a.collapsed" "$JVM" >"$T/said" 2>&1 </dev/null
	is "a JVM that is starting: jhot record exits with 0" $? 0 || diag_file "$T/said"
	ok "a JVM that is starting: it becomes ready" wait_for 60 grep -qs ready "$JVM_OUT"
	printf '%s\t%s\n' "a JVM that is starting" "samples" >>"$T/table"
	jvm_end
}

# A user who may not trace the JVM cannot open the memory that it shares with jhot.
private() {
	local link
	# shellcheck disable=SC2086
	JVM_AS=$other jvm_start $CALM_JVM Known shares
	"$JHOT" record -o "$T/a.collapsed" "$JVM" >"$T/said" 2>&1 </dev/null &
	wait_for 20 has_samples "$JVM" 1
	for link in $(agent_fds "$JVM"); do
		[[ $(readlink "$link") == /memfd:jhot-* ]] && break
	done
	ok "the JVM's user can open the shared memory" eval "$other head -c 4 '$link' >'$T/memory'"
	ok "another user cannot open the shared memory" not eval "$nameless head -c 4 '$link' >'$T/memory' 2>&1"
	"$JHOT" stop "$JVM" >"$T/said" 2>&1
	jvm_end
}

# The program grows to its container's limit while it is sampled: the agent frees its memory before the kernel kills the JVM.
grows() {
	local name="4 MB of memory left, while it is sampled" status
	# shellcheck disable=SC2086
	jvm_start $CALM_JVM Known shares
	jvm=$JVM
	memory_left 60 || { skip "$name" "$refused"; jvm_end; return; }
	"$JHOT" record -d 60 -o "$T/a.collapsed" "$JVM" >"$T/said" 2>&1 </dev/null &
	wait_for 20 has_samples "$JVM" 20
	ok "$name: with 60 MB left the session continues" not wait_for 3 gone $!
	memory_left 4
	wait $!
	status=$?
	tr -s ' \n' ' ' <"$T/said" >"$T/sentence"
	is "$name: jhot record exits with 1" $status 1 || diag_file "$T/said"
	ok "$name: jhot says that it detached because of the memory limit" grep -q 'memory limit: jhot detached.*docker update' "$T/sentence" || diag_file "$T/said"
	ok "$name: the samples are written" grep -qs knownSixty "$T/a.collapsed"
	ok "$name: the JVM lives" alive "$JVM"
	becomes_quiet "$name: sampling ends" "$JVM"
	printf '%s\t%s\n' "$name" "$(sentence none)" >>"$T/table"
	jvm_end
}

touch "$T/begin"
wave 8
grows
private
strangers
[ "$PLACES" != all ] || starting
[ "$PLACES" != all ] || { echo; awk -F '\t' '{ printf "%-50s %s\n", $1, $2 }' "$T/table"; echo; }
done_testing
