#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A table of places: where a JVM and jhot run, what each is denied, what the JVM is doing. A row ends in samples of
# the hot method or in an error with what to do; either way the JVM lives and nothing of jhot is left in it or in its
# root.
#
# Part of ./bootstrap check-long are the rows that end in a sentence, and some that end in samples; none of these changes a setting of the kernel's, which
# tests beside this one would meet. PLACES=all (make places-check) has all of them, and prints the table; ONLY=PATTERN those whose names match.
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
declare -A was # of the kernel's settings, what is changed for a row and goes back
for setting in perf_event_paranoid perf_event_mlock_kb; do
	was[$setting]=$(cat /proc/sys/kernel/$setting 2>/dev/null)
done
trap 'goes_on; rmdir /sys/fs/cgroup/*/jhot-test.$$* /sys/fs/cgroup/jhot-test.$$* 2>/dev/null; kernel_again; test_end' EXIT

# --- rows --------------------------------------------------------------------------------------------

# A row is "name" and fields:
#   as=COMMAND     what starts the JVM: execs it, or is above it
#   jvm=OPTIONS    of the JVM;  mode=MODE  of the program Placed
#   before=NAME    a function that does something to the JVM, which is $jvm, once it is up
#   by=COMMAND     runs jhot; eval'ed, with $jvm;  pid=inside: jhot gets the pid that the JVM has in its own namespace
#   told="STATUS WORDS"  jhot ends so, with these words (a pattern); without it the row ends in samples
#   says=PATTERN   what jhot says beside the samples
#   from=PATTERN   where the JVM had the agent from, as in its maps
#   may=PATTERN    what of the JVM's own may differ afterwards
#   long=1         only with PLACES=all
fields=(as jvm mode before by pid told says from may long)
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

came_up() {
	JVM=${row[$1.pid_of]} JVM_OUT=${row[$1.out]} JVM_ERR=${row[$1.err]} JVM_IN=${row[$1.in]}
	wait_for 60 jvm_said_ready && jvm=$(java_of "$JVM")
}

works() { grep -qsx worker "/proc/$jvm/task/"*/comm; }

# files_left: files of jhot's in the folders where they may have been; where all processes meet, only this JVM's
files_left() {
	local dir whose
	for dir in "/proc/$jvm/root/tmp" "/proc/$jvm/root/dev/shm" "/proc/$jvm/cwd"; do
		whose=
		if [ "$dir" -ef /tmp ] || [ "$dir" -ef /dev/shm ]; then whose=$jvm; fi
		find "$dir/." -maxdepth 1 \( -name ".attach_pid$whose*" -o -name "libjhot-*$whose.so*" \) -newer "$T/begin" 2>/dev/null
	done
}

# What an attach leaves by itself, the agent's mapping and handlers, and what the row allows.
documented() {
	grep -vE "^> (fd socket|task Attach Listener|map .*(libjhot.*|libdl.so.2|libpthread.so.0)|map .*libzip.so)\$|^[<>] SigCgt:${1:+|$1}"
}

# look: jhot on this row's JVM; its standard output is stacks. On a busy machine the JVM may get no CPU for half a second.
look() {
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

was_told() {
	[ "$status" = "${row[$1.told]%% *}" ] && grep -q -- "${row[$1.told]#* }" "$T/sentence" &&
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

# not_had N: the JVM could not be brought where the row has it. What the kernel lets nobody set is no fault of jhot's; whatever else
# fails would have the row hold for another place than the one it names.
not_had() {
	local name=${rows[$1]}
	if [ -z "$refused" ]; then
		ok "$name: ${row[$1.before]} has been done to it" false
	else
		skip "$name" "$refused"
		printf '%s\tskipped: %s\n' "$name" "$refused" >>"$T/table"
	fi
}

# row N: looked at, judged, ended
run_row() {
	local n=$1 name=${rows[$1]}
	came_up "$n" || { ok "$name: it came up" false; diag_file "$JVM_OUT"; diag_file "$JVM_ERR"; return; }
	echo -n w >&"$JVM_IN"
	wait_for 20 works
	litter "$jvm" >"$T/before"
	refused=
	if ! ${row[$n.before]:-true}; then
		kernel_again
		not_had "$n"
		jvm_end "$JVM"
		return
	fi
	look "$n"
	kernel_again
	if [ -n "${row[$n.told]}" ]; then
		ok "$name: told what to do" was_told "$n"
	else
		ok "$name: sampled" has_worked "$n"
	fi || { diag "exit $status"; diag_file "$T/said"; grep libjhot "/proc/$jvm/maps" | sed 's/^/# /'; }
	goes_on
	ok "$name: it lives and printed nothing" unharmed || { diag_file "$JVM_OUT"; diag_file "$JVM_ERR"; }
	ok "$name: nothing is left" nothing_left "$n" || { diag "$(files_left)"; diff "$T/before" "$T/after" | sed 's/^/# /'; }
	printf '%s\t%s\n' "$name" "$(sentence "$n")" >>"$T/table"
	jvm_end "$JVM"
}

# wave: so many rows' JVMs start side by side
wave() {
	local n from=0
	while [ $from -lt ${#rows[@]} ]; do
		for ((n = from; n < from + $1 && n < ${#rows[@]}; n++)); do launch $n; done
		for ((n = from; n < from + $1 && n < ${#rows[@]}; n++)); do run_row $n; done
		from=$n
	done
}

# --- what is done to a JVM ---------------------------------------------------------------------------

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
freeze() { # CGROUPS FILE WORD: in a cgroup of its own, by this word in this file there
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
# goes_on: whatever holds the JVM lets it go; what is frozen cannot even be killed
goes_on() {
	local dir
	[ -z "${jvm:-}" ] || kill -CONT "$jvm"
	for dir in /sys/fs/cgroup/jhot-test.$$.frozen /sys/fs/cgroup/*/jhot-test.$$.frozen; do
		[ ! -e "$dir/freezer.state" ] || echo THAWED >"$dir/freezer.state"
		[ ! -e "$dir/cgroup.freeze" ] || echo 0 >"$dir/cgroup.freeze"
	done
} 2>/dev/null
descriptors() { # N: so many are left
	local fd=0 left=$1
	while [ -e "/proc/$jvm/fd/$fd" ] || [ $((left--)) -gt 0 ]; do fd=$((fd + 1)); done
	prlimit --pid "$jvm" --nofile="$fd:"
}
few_descriptors() { descriptors 4; }
# Without descriptors of make and of this shell: the agent's threads do not have those, and would have as many numbers more.
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
crowd() { # a cgroup that has space for two more
	local dir=/sys/fs/cgroup/pids
	[ -e $dir/tasks ] || dir=/sys/fs/cgroup
	mkdir "$dir/jhot-test.$$" && echo "$jvm" >"$dir/jhot-test.$$/cgroup.procs" &&
		echo $(($(count_of "$jvm" task) + 2)) >"$dir/jhot-test.$$/pids.max"
}
# memory_left MB: a cgroup of its own lets it have so much more than it has there; what it had before is the old one's
memory_left() {
	local dir=/sys/fs/cgroup/memory/jhot-test.$$.$jvm.memory limit=memory.limit_in_bytes used=memory.usage_in_bytes
	[ -e /sys/fs/cgroup/memory/tasks ] || dir=/sys/fs/cgroup/jhot-test.$$.$jvm.memory limit=memory.max used=memory.current
	{ mkdir -p "$dir" && echo $(($(cat "$dir/$used") + ($1 << 20))) >"$dir/$limit" && echo "$jvm" >"$dir/cgroup.procs"; } 2>/dev/null &&
		return
	refused="no cgroup can limit memory here"
	return 1
}
little_memory() { memory_left 20; }
# kernel SETTING VALUE: some kernels, and a /proc that is read-only, do not take it
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
# Beside its own limit each user may lock what the second setting says, and perf_event_paranoid 2 would deny perf_events already.
no_locked_memory() { kernel perf_event_paranoid 1 && kernel perf_event_mlock_kb 0; }

# --- where the JVM is, seen from the host as root ----------------------------------------------------

new="$inside pivot $T/root"
within='nsenter -t $jvm -m -p -r -w --'
place "mount namespace" as="unshare -m $inside tmp -" long=1
place "PID namespace: the JVM is pid 1" as="unshare -p -f --kill-child" long=1
place "network namespace" as="unshare -n" long=1
place "chroot" as="$spaces $inside chroot $T/root" from=/tmp/libjhot- long=1
place "pivot_root, mount, PID, net, IPC, UTS namespaces" as="$spaces -n -i -u $new" from='^/tmp/libjhot-'
place "the same, a uid without a name" as="$spaces $new $nameless" long=1
place "user namespace of another user's, its root" as="$other $spaces -U -r $new"
place "read-only root, /tmp in memory" as="$spaces $inside readonly $T/root" long=1
place "read-only root and /tmp" as="$spaces $inside frozen $T/root" told="3 make its /tmp writable"
place "noexec /tmp" as="unshare -m $inside noexec -" from='^/dev/shm/libjhot-'
place "noexec /tmp and /dev/shm" as="unshare -m $inside nowhere -" from='^/tmp/exec/libjhot-' long=1
place "noexec everywhere" as="unshare -m $inside nothing -" from='^/memfd:libjhot-'
place "noexec everywhere, another user" as="unshare -m $inside nothing - $other" from='^/dev/libjhot-'
place "noexec everywhere, another user, /dev read-only" as="unshare -m $inside denied - $other" \
	told="3 no folder from which it could load"
place "noexec everywhere, user namespace with a folder of the host's as its /dev" \
	as="unshare -m $inside bait $T/bait $other unshare -U -r -m $inside lured $T/bait" told="3 no folder from which it could load"
place "/tmp is full" as="unshare -m $inside full -" before=fill_tmp from='^/dev/shm/libjhot-' long=1
place "all folders are full" as="unshare -m $inside crammed -" before=fill_all from='^/memfd:libjhot-' long=1
place "its working folder is deleted" as="env -C $T/lost" before=lose_folder long=1

# --- what it is denied -------------------------------------------------------------------------------

perf='no perf_events: E[A-Z]* [(][a-z_ .]*[)]: no kernel frames'
place "seccomp as containers have it" as="$T/for-other/confine" says="$perf"
place "undumpable" as="env LD_PRELOAD=$T/for-other/undumpable.so" long=1
place "undumpable, another user" as="$other env LD_PRELOAD=$T/for-other/undumpable.so"
place "40 descriptors" as="prlimit --nofile=40:40" long=1
place "4 descriptors left" as="$alone_fds" before=few_descriptors says="of [0-9]* threads without perf_events: short of file descriptors"
place "no descriptor left" before=no_descriptors told="3 descriptors.*prlimit"
place "no locked memory" as="prlimit --memlock=0:0 $other" before=no_locked_memory \
	says="no perf_events: EPERM [(]seccomp or mlock limit[)]: no kernel frames" long=1
place "4 MB of address space left" before=no_memory told="3 address space.*prlimit"
place "no thread may be started" as="$other" before=no_threads told="3 limit of threads.*prlimit"
[ ! -w /sys/fs/cgroup/pids ] && [ ! -w /sys/fs/cgroup/cgroup.procs ] ||
	place "two threads may be started, by its cgroup" before=crowd told="3 limit of threads.*pids.max"
place "20 MB of memory left, by its cgroup" jvm="-XX:+UseSerialGC -Xmx16m" before=little_memory told="3 memory limit.*docker update"
place "perf_event_paranoid 0, another user" as="$other" before=paranoid_0 says="cpu/perf" long=1
place "perf_event_paranoid 1, another user" as="$other" before=paranoid_1 says="cpu/perf" long=1
place "perf_event_paranoid 2, another user" as="$other" before=paranoid_2 says="$perf" long=1
place "perf_event_paranoid 3, another user" as="$other" before=paranoid_3 says="$perf" long=1

# --- how it was started, what it does ----------------------------------------------------------------

place "-Xrs" jvm=-Xrs long=1
place "-XX:-UsePerfData" jvm=-XX:-UsePerfData long=1
place "-XX:+DisableAttachMechanism" jvm=-XX:+DisableAttachMechanism told="3 restart it without"
place "-XX:-EnableDynamicAgentLoading" jvm=-XX:-EnableDynamicAgentLoading told="3 EnableDynamicAgentLoading"
place "its attach socket is deleted" before=lose_socket long=1
place "another user's file is where its socket goes" as="$other" before=foreign_socket told="3 sudo rm"
place "stopped" before=stop told="3 kill -CONT"
place "frozen with its cgroup, version 1" before=freeze_first told="3 docker unpause"
place "frozen with its cgroup, version 2" before=freeze_second told="3 docker unpause"
place "its heap is full" mode=full long=1
place "it is ending" mode=leaving long=1

# --- jhot elsewhere ----------------------------------------------------------------------------------

place "jhot inside, as its user" as="$spaces $new $other" pid=inside by="$within $other"
place "jhot inside, as root of its user namespace" as="$other $spaces -U -r $new" pid=inside \
	by='nsenter -t $jvm -U -m -p -r -w --' long=1
place "jhot inside, as another user" as="$spaces $new $other" pid=inside by="$within $nameless" told="3 sudo"
place "jhot in another container, same PID namespace" as="$spaces $new $other" pid=inside \
	by='nsenter -t $jvm -p -- unshare -m $inside pivot $T/side'
place "the same, as the JVM's user" as="$spaces $new $other" pid=inside \
	by='nsenter -t $jvm -p -- unshare -m $inside pivot $T/side $other' long=1
place "jhot beside it, as its user" as="$other" by="$other" long=1
place "jhot beside it, as another user" as="$other" by="$nameless" told="3 sudo"

# --- what is no JVM, or none yet ---------------------------------------------------------------------

# stranger NAME WORDS COMMAND...: refused in these words, and left alone
stranger() {
	local name=$1 words=$2
	shift 2
	"$@" </dev/null >"$T/stranger" 2>&1 &
	jvm=$!
	wait_for 20 grep -qsx 'State:.S.*' "/proc/$jvm/status"
	"$JHOT" record -d 0.5 -o - "$jvm" >"$T/stacks" 2>"$T/said" </dev/null
	status=$?
	tr -s ' \n' ' ' <"$T/said" >"$T/sentence"
	ok "$name: told" grep -q "$words" "$T/sentence" || diag_file "$T/said"
	ok "$name: it lives" eval "alive $jvm && [ ! -s '$T/stranger' ]"
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

# The JVM has begun a moment ago: jhot waits until it takes requests.
starting() {
	# shellcheck disable=SC2086
	jvm_launch $CALM_JVM Known shares
	wait_for 20 grep -qsx java "/proc/$JVM/comm"
	"$JHOT" record -d 2 -o "$T/a.collapsed" "$JVM" >"$T/said" 2>&1 </dev/null
	is "it is starting: sampled" $? 0 || diag_file "$T/said"
	ok "it is starting: it comes up" wait_for 60 grep -qs ready "$JVM_OUT"
	printf '%s\t%s\n' "it is starting" "samples" >>"$T/table"
	jvm_end
}

# Who may not trace the JVM cannot open what it shares with jhot.
private() {
	local link
	# shellcheck disable=SC2086
	JVM_AS=$other jvm_start $CALM_JVM Known shares
	"$JHOT" record -o "$T/a.collapsed" "$JVM" >"$T/said" 2>&1 </dev/null &
	wait_for 20 has_samples "$JVM" 1
	for link in $(agent_fds "$JVM"); do
		[[ $(readlink "$link") == /memfd:jhot-* ]] && break
	done
	ok "its user can open the shared memory" eval "$other head -c 4 '$link' >'$T/memory'"
	ok "another user cannot" not eval "$nameless head -c 4 '$link' >'$T/memory' 2>&1"
	"$JHOT" stop "$JVM" >"$T/said" 2>&1
	jvm_end
}

# The program grows to its container's limit while it is sampled: what the agent takes is given back before the kernel kills it.
grows() {
	local name="4 MB of memory left, while it is sampled" status
	# shellcheck disable=SC2086
	jvm_start $CALM_JVM Known shares
	jvm=$JVM
	memory_left 60 || { skip "$name" "$refused"; jvm_end; return; }
	"$JHOT" record -d 60 -o "$T/a.collapsed" "$JVM" >"$T/said" 2>&1 </dev/null &
	wait_for 20 has_samples "$JVM" 20
	ok "$name: as long as there is enough it goes on" not wait_for 3 gone $!
	memory_left 4
	wait $!
	status=$?
	tr -s ' \n' ' ' <"$T/said" >"$T/sentence"
	is "$name: jhot leaves it" $status 1 || diag_file "$T/said"
	ok "$name: and says why" grep -q 'memory limit: jhot detached.*docker update' "$T/sentence" || diag_file "$T/said"
	ok "$name: what was sampled is written" grep -qs knownSixty "$T/a.collapsed"
	ok "$name: it lives" alive "$JVM"
	becomes_quiet "$name: nothing samples any more" "$JVM"
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
