#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make docker-check: the image, built and run by Docker beside typical containers with a JVM, and jhot on the host: right samples, or
# an error with advice; nothing is left in the JVM, which lives and writes nothing of its own.
#
#   usage: [ROOTS=DIR] [DOCKER_HOST=ADDRESS] make docker-check      as root; Debian's docker.io and mmdebstrap are used
#
# Without DOCKER_HOST the script starts its own daemon, without a network, in a temporary folder.
. "$(dirname "$0")/../jvm/lib.sh"
. "$(dirname "$0")/debian_root.sh"
. "$(dirname "$0")/rows.sh"

needs docker-check docker.io mmdebstrap -- root docker dockerd mmdebstrap

# --- containers --------------------------------------------------------------------------------------

CONTAINERS=()
containers_end() {
	[ ${#CONTAINERS[@]} = 0 ] || docker rm -f "${CONTAINERS[@]}" >/dev/null 2>&1
	CONTAINERS=()
}
daemon_ends() {
	containers_end
	[ -z "${DAEMON:-}" ] || { kill "$DAEMON" && wait_for 30 gone "$DAEMON"; }
}
trap 'daemon_ends; test_end' EXIT
answers() { docker info >/dev/null 2>&1; }
if [ -z "${DOCKER_HOST:-}" ]; then
	export DOCKER_HOST=unix://$T/docker.sock
	dockerd --iptables=false --ip6tables=false --bridge=none --data-root "$T/docker" --exec-root "$T/docker.run" \
		--pidfile "$T/docker.pid" -H "$DOCKER_HOST" >"$T/docker.log" 2>&1 &
	DAEMON=$!
fi
wait_for 30 answers || { tail -n 20 "$T/docker.log" >&2; exit 1; }
debian_root bookworm bookworm openjdk-17-jre-headless || exit 1
tar -C "$ROOTS/bookworm" -c . | docker import - jre >"$T/log" || { cat "$T/log" >&2; exit 1; }
cp -r "$CLASSES" "$T/classes"
mkdir -m 777 "$T/out"
chmod 755 "$T"
chmod -R a+rX "$T/classes"

# service NAME OPTION... -- JAVA-OPTION...: starts a JVM in a container, after removing others; sets container, and jvm (its pid here)
service() {
	local options=()
	containers_end
	container=$1
	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	CONTAINERS+=("$container")
	docker run -d -i --name "$container" --network none -v "$T/classes:/classes:ro" "${options[@]}" jre \
		java -XX:CompileCommand=quiet -XX:CompileCommand=dontinline,Known.known* -cp /classes "$@" >/dev/null &&
		wait_for 30 is_ready && jvm=$(docker inspect -f '{{.State.Pid}}' "$container")
}
is_ready() { docker logs "$container" 2>&1 | grep -q '^ready'; }

# beside [OPTION...] -- ARG...: jhot in a container that shares the PID namespace of $container
beside() {
	local options=()
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	docker run --rm --network none --pid="container:$container" -v "$T/out:/out" "${options[@]}" jhot "$@"
}

# --- claims ------------------------------------------------------------------------------------------

# right: $T/out/x.collapsed has the program's shares and no broken stack
right() {
	awk '/known(Sixty|Thirty|Ten)(;| )/ { all += $NF } /knownSixty/ { sixty += $NF } /break_/ { broken += $NF }
		END { printf "%d of %d samples, %d broken\n", sixty, all, broken
			exit !(all > 100 && sixty / all > .5 && sixty / all < .7 && !broken) }' "$T/out/x.collapsed"
}
sampled() { # [OPTION...]: right samples by jhot in a container beside it
	rm -f "$T/out/x.collapsed"
	beside "$@" -- record -e cpu=5ms -d 3 -o /out/x.collapsed 1 && right
}
sampled_from_host() { # [SECONDS]
	rm -f "$T/out/x.collapsed"
	"$JHOT" record -e cpu=5ms -d "${1:-3}" -o "$T/out/x.collapsed" "$jvm" && right
}
# fails_with PATTERN COMMAND...: the command fails, and its output matches
fails_with() {
	local words=$1
	shift
	"$@" >"$T/error" 2>&1 && return 1
	cat "$T/error"
	tr -s ' \n' '  ' <"$T/error" | grep -qE -- "$words"
}
inside() { # right samples by jhot in the JVM's container
	local status
	docker cp "$builddir/image/jhot" "$container:/jhot" >/dev/null || return
	docker exec "$container" /jhot record -e cpu=5ms -d 3 -o /x.collapsed 1
	status=$?
	[ $status != 0 ] || docker cp "$container:/x.collapsed" "$T/out/" >/dev/null
	docker exec "$container" rm -f /jhot /x.collapsed
	[ $status = 0 ] && right
}
listed() { beside -- list | tee /dev/stderr | grep -qE '^ +1 .* Known +ok'; }
is_small() { # the image has the single file and nothing else
	[ "$(docker inspect -f '{{.Size}}' jhot)" -lt $((4 << 20)) ]
}
first_screen() {
	python3 "$srcdir/tests/packaging/first_screen.py" METHOD,knownSixty docker run --rm -it --network none \
		--pid="container:$container" jhot 1 | tee "$T/first" && awk '{ exit !($2 <= 2000) }' "$T/first"
}
with_kernel() { # the program writes all the time, so most of its samples have kernel frames
	echo 'write 1000000000' >"/proc/$jvm/fd/0"
	wait_for 20 grep -qsx writer "/proc/$jvm/task/"*/comm
	"$JHOT" record -a -d 3 --engine=lent -o "$T/out/x.collapsed" "$jvm"
	[ "$(weight "$T/out/x.collapsed" 'knownWrite.*_\[k\]')" -gt 20 ]
}
throttled() { "$@" | tee /dev/stderr | grep -q "^THROTTLED"; } # COMMAND...
limited() { # MB: sets a memory limit that leaves MB
	local used limit
	used=$(cat "/proc/$jvm/root/sys/fs/cgroup/memory/memory.stat" "/proc/$jvm/root/sys/fs/cgroup/memory.stat" 2>/dev/null |
		awk '$1 == "total_rss" || $1 == "anon" || $1 == "kernel" { sum += $2 } END { print sum }')
	limit=$((used + ($1 << 20)))
	docker update --memory $limit --memory-swap $limit "$container" >/dev/null
}
nearly_full() { limited 12 && fails_with 'limit of memory.*docker update' "$@"; } # COMMAND...
enough() { limited 40 && "$@"; } # COMMAND...
unharmed() {
	alive "$jvm" && docker logs "$container" 2>&1 | grep -vE '^(ready|done)$' | tee /dev/stderr | wc -l | grep -qx 0
}
nothing_left() {
	wait_for 20 quiet "$jvm" && ! docker diff "$container" | grep -E 'jhot|attach_pid'
}
detaches() { # jhot detaches when hardly any memory is left
	{ wait_for 10 has_samples "$jvm" 200 && limited 4; } &
	rm -f "$T/out/x.collapsed"
	fails_with 'jhot detached' "$JHOT" record -e cpu=5ms -d 60 -o "$T/out/x.collapsed" "$jvm" && right
}
all_well() {
	row "$container: the JVM lives and wrote only its own lines" unharmed
	row "$container: nothing of jhot is left" nothing_left
}
killed() { # kills jhot's container during a session
	docker run -d --name "$container-jhot" --network none --pid="container:$container" jhot record -d 60 -o /x.collapsed 1 >/dev/null
	CONTAINERS+=("$container-jhot")
	wait_for 10 has_samples "$jvm" 20 && docker kill "$container-jhot" >/dev/null && wait_for 20 quiet "$jvm"
}
paused() { # pauses the JVM's container for two seconds of six
	{ wait_for 10 has_samples "$jvm" 20 && docker pause "$container" && sleep 2 && docker unpause "$container"; } >/dev/null &
	sampled_from_host 6 && wait $!
}
stopped() { # kills the JVM's container during a recording, which is written
	{ wait_for 10 has_samples "$jvm" 200; docker kill "$container"; } >/dev/null &
	rm -f "$T/out/x.collapsed"
	"$JHOT" record -e cpu=5ms -d 60 -o "$T/out/x.collapsed" "$jvm" 2>&1 | tee /dev/stderr | grep -q 'has ended' && right
}

# --- the image, and a JVM as root --------------------------------------------------------------------

row "docker build makes the image" docker build -q -t jhot "$builddir/image" && row "the image has less than 4 MB" is_small || rows_end
service plain -- -Xmx128m Known shares || { docker logs plain; exit 1; }
row "jhot list in a container beside shows the JVM" listed
row "jhot 1 in a container beside shows the hot method within 2 s" first_screen &&
	printf '    screen and method after %s ms\n' "$(tr ' ' ,  <"$T/first")"
row "jhot record in a container beside has right samples" sampled
row "--read-only and no-new-privileges: samples" sampled --read-only --security-opt no-new-privileges
row "fewer capabilities than the JVM: error with advice" \
	fails_with 'CAP_SYS_PTRACE .docker run --cap-add' beside --cap-drop ALL -- record -d 1 -o /out/y.collapsed 1
row "docker cp and exec: jhot in the JVM's container has right samples" inside
row "jhot on the host has right samples" sampled_from_host
row "sampling ends when jhot's container is killed" killed
row "a recording survives docker pause and unpause of the JVM" paused
docker pause plain >/dev/null
row "paused JVM: error with advice in a container beside" fails_with 'docker unpause' beside -- record -d 1 -o /out/y.collapsed 1
row "paused JVM: error with advice on the host" fails_with 'docker unpause' "$JHOT" record -d 1 -o "$T/out/y.collapsed" "$jvm"
docker unpause plain >/dev/null
row "an unpaused JVM is sampled" sampled
all_well
row "a recording is written when the JVM's container is killed" stopped

# --- users -------------------------------------------------------------------------------------------

service other --user 1234:1235 -- -Xmx128m Known shares
row "JVM of uid 1234: samples with --user 1234:1235" sampled --user 1234:1235
row "JVM of uid 1234, root without CAP_SYS_PTRACE: error with advice" fails_with 'as user 1234:1235 .*CAP_SYS_PTRACE .docker run --cap-add' \
	beside -- record -d 1 -o /out/y.collapsed 1
row "JVM of uid 1234, root with CAP_SYS_PTRACE: samples" sampled --cap-add SYS_PTRACE
row "JVM of uid 1234, another user: error with advice" fails_with 'runs as user 1234' beside --user 99:99 -- record -d 1 -o /out/y.collapsed 1
row "JVM of uid 1234, jhot on the host: samples" sampled_from_host
all_well

# --- what containers are denied ----------------------------------------------------------------------

service tight --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges --memory 256m --cpus 0.8 \
	--pids-limit 64 --user 1234 -- Known shares
row "read-only, no capabilities, 256 MB, 0.8 cores, 64 threads: samples" sampled --user 1234
row "read-only, no capabilities, limits, jhot on the host: samples" sampled_from_host
all_well
service closed --read-only -- Known shares
row "read-only without a /tmp: error with advice" fails_with 'make its /tmp writable' beside -- record -d 1 -o /out/y.collapsed 1
all_well
service noexec --read-only --tmpfs /tmp:noexec -- Known shares
row "read-only, /tmp noexec: samples" sampled
row "read-only, /tmp noexec, jhot on the host: samples" sampled_from_host
all_well
service crowded --pids-limit 24 -- -XX:+UseSerialGC Known shares
docker update --pids-limit "$(count_of "$jvm" task)" crowded >/dev/null
row "limit of threads reached: error with advice" fails_with 'pids.max' beside -- record -d 1 -o /out/y.collapsed 1
all_well
service slow --cpus 0.2 -- -Xmx128m Known shares
row "0.2 cores: jhot why in a container beside reports THROTTLED" throttled beside -- why -d 12 1
row "0.2 cores: jhot why on the host reports THROTTLED" throttled "$JHOT" why -d 12 "$jvm"
all_well
service cached --memory 200m --memory-swap 200m -- -Xmx40m Known shares
docker exec cached sh -c 'dd if=/dev/zero of=/large bs=1M count=300 2>/dev/null; cat /large >/dev/null'
row "memory limit filled by the page cache: samples" sampled_from_host
docker exec cached rm /large
all_well
service full --memory 200m --memory-swap 200m -- -Xmx40m -Xms40m -XX:+AlwaysPreTouch Known shares
row "12 MB of memory left: error with advice on the host" nearly_full "$JHOT" record -d 1 -o "$T/out/y.collapsed" "$jvm"
row "12 MB of memory left: error with advice in a container beside" fails_with 'limit of memory' beside -- record -d 1 -o /out/y.collapsed 1
row "40 MB of memory left: samples from the host" enough sampled_from_host
row "40 MB of memory left, jhot in the JVM's container: error with advice" fails_with 'jhot and its agent.*on the host' inside
row "memory limit reached during a recording: jhot detaches and writes it" detaches
all_well
service writes -- -Xmx128m Counts
row "perf_event_open denied: --engine=lent on the host has kernel frames" with_kernel
row "writes: nothing of jhot is left" nothing_left
rows_end
