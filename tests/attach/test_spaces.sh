#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Attaching across users and namespaces, by the attach module alone. tests/places has whole sessions.
. "$(dirname "$0")/../jvm/lib.sh"

tool=$builddir/tests/attach/attach_tool
agent=$builddir/tests/attach/agent.so

[ "$(id -u)" = 0 ] || skip_all "only root can create users and namespaces"
unshare -m -p -f true 2>/dev/null || skip_all "namespaces cannot be created here"
pid1_alone

# start_in DESCRIPTION COMMAND...: a JVM that the command execs or forks; sets jvm and where (the description)
start_in() {
	where=$1
	shift
	JVM_AS=$* jvm_start $CALM_JVM Known idle || exit 1
	jvm=$(java_of "$JVM")
}

# loaded_as FILE PATTERN: the agent started, created FILE (seen from here), and was loaded from a path that matches PATTERN
loaded_as() {
	"$tool" load "$jvm" "$agent" "0 /tmp/mark.$$" >"$T/out" 2>"$T/err" &&
		[ "$(cat "$1")" = loaded ] && awk '{ print $6 }' "/proc/$jvm/maps" | grep -q "$2" ||
		{ cat "$T/out" "$T/err" | sed 's/^/# /'; grep libjhot "/proc/$jvm/maps" | sed 's/^/# /'; false; }
}

# clean FOLDER: no files of jhot are left there; in the host's /tmp and /dev/shm, none for this JVM
clean() {
	local whose=
	if [ "$1" -ef /tmp ] || [ "$1" -ef /dev/shm ]; then whose=$jvm; fi
	[ -z "$(find "$1" -maxdepth 1 \( -name ".attach_pid$whose*" -o -name "libjhot-*$whose.so*" \) -newer "$T/begin")" ]
}

check_inside() {
	local root=/proc/$jvm/root
	ok "$where: the agent loads" loaded_as "$root/tmp/mark.$$" "${1:-^/tmp/libjhot-}"
	ok "$where: no files are left in the JVM's /tmp" clean "$root/tmp"
	ok "$where: no files are left in the JVM's /dev/shm and working directory" eval "clean $root/dev/shm && clean /proc/$jvm/cwd/."
	ok "$where: the JVM lives and writes only its own lines" eval "alive $jvm && [ \"\$(cat \"$JVM_OUT\")\" = ready ]"
	rm -f "$root/tmp/mark.$$"
	ends
}

# ends: ends the JVM normally, so that it removes its socket and its counters
ends() {
	jvm_end "$JVM" || true
}

verdict() {
	"$tool" check "$jvm" | head -n 1
}

touch "$T/begin"
for_other

for spaces in "-m" "-p -f --kill-child"; do
	# shellcheck disable=SC2086
	start_in "unshare $spaces" unshare $spaces
	is "unshare $spaces: the check says that the JVM can be attached" "$(verdict)" "ok ns"
	check_inside
done
# In a folder that is writable by others and has no sticky bit, others could replace the agent. T is in /tmp, so it is bind-mounted.
cat >"$T/unsafe" <<'END'
#!/bin/bash
set -e
keep=$1
exec {fd}<"$keep"
for folder in ${2//,/ }; do mount -t tmpfs -o mode=0777 tmpfs "$folder"; done
mkdir -p "$keep"
mount -c --rbind "/proc/self/fd/$fd" "$keep"
shift 2
cd /tmp
exec "$@"
END
chmod +x "$T/unsafe"
start_in "/tmp without the sticky bit" unshare -m "$T/unsafe" "$T" /tmp
check_inside '^/dev/shm/libjhot-'
start_in "all folders without the sticky bit" unshare -m "$T/unsafe" "$T" /tmp,/dev/shm
check_inside '^/memfd:libjhot-'
start_in "all folders without the sticky bit, two sessions" unshare -m "$T/unsafe" "$T" /tmp,/dev/shm
for session in 1 2; do
	ok "$where: session $session exits with 0" eval '"$JHOT" record -d 0.2 -o "$T/x.jhot" "$jvm" >"$T/out" 2>&1' || diag_file "$T/out"
done
is "$where: one copy of the agent is mapped" "$(awk '/memfd:libjhot-/ { print $5 }' "/proc/$jvm/maps" | sort -u | wc -l)" 1
ends
start_in "a user without a name" setpriv --reuid 12345 --regid 12346 --clear-groups
check_inside
other=$AS_OTHER
start_in "another user's JVM" $other
is "another user's JVM: the check says that the JVM can be attached" "$(verdict)" ok
check_inside

start_in "another user's JVM with a file of root's at its socket's path" $other
socket=/tmp/.java_pid$jvm
touch "$socket"
is "$where: the check says no" "$(verdict)" no
ok "$where: the check suggests to remove the file" \
	eval "\"$tool\" check $jvm | grep -q 'sudo rm /proc/$jvm/root$socket'"
rm "$socket"
ends

start_in "a JVM of root, seen by another user"
$other "$tool" check "$jvm" >"$T/out"
is "a JVM of root, seen by another user: the check says sudo" "$(head -n 1 "$T/out")" sudo
ok "a JVM of root, seen by another user: the check suggests sudo jhot" grep -q "sudo jhot $jvm" "$T/out"
$other "$tool" load "$jvm" "$agent" 0 >"$T/out" 2>"$T/err"
is "a JVM of root, seen by another user: load is refused" $? 3
ok "a JVM of root, seen by another user: the JVM lives" alive "$jvm"
ends

start_in "another user's own JVM" $other
$other "$tool" check "$jvm" >"$T/out"
is "another user's own JVM: the check says that the JVM can be attached" "$(head -n 1 "$T/out")" ok
cp "$tool" "$agent" "$T/for-other/"
chmod a+rX "$T"/for-other/*
tool=$T/for-other/attach_tool
agent=$T/for-other/agent.so
ok "another user's own JVM: the agent loads" eval "$other \"$tool\" load $jvm \"$agent\" \"0 /tmp/mark.$$\" >\"$T/out\" 2>\"$T/err\""
rm -f "/tmp/mark.$$"
setpriv --reuid nobody --regid 99 --clear-groups "$tool" check "$jvm" >"$T/out"
is "the JVM's user in another group: the check says sudo" "$(head -n 1 "$T/out")" sudo
ends
done_testing
