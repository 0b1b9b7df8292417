#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The single file in minimal roots: copied there under another name, run as a user who is not root, on a JVM of that root. A line
# per root: ms from Enter to the first screen and to the first method, best and worst of five; a recording; files left.
#
#   usage: [ROOTS=DIR] [SUITES="bullseye:11 ..."] make roots-check      as root; needs mmdebstrap and busybox-static
#
# Roots are created once, in $ROOTS. The musl root has the static busybox and musl's libc.so; Debian has no JVM for musl, so the
# JVM is the host's.
. "$(dirname "$0")/../jvm/lib.sh"
. "$(dirname "$0")/debian_root.sh"

SUITES=${SUITES:-bullseye:11 bookworm:17 trixie:21}
TURNS=${TURNS:-5}
one=$T/jhot
status=0
[ "$(id -u)" = 0 ] || { echo "roots-check needs root" >&2; exit 1; }
strip -o "$one" "$builddir/packaging/jhot" || exit 1

# Inside the namespaces: a JVM in the root, with a /tmp in memory.
cat >"$T/inside" <<'END'
#!/bin/sh
# usage: inside ROOT CLASSES PROGRAM
set -e
mount -t proc proc "$1/proc"
mount -t tmpfs -o mode=1777 tmpfs "$1/tmp"
[ -c "$1/dev/null" ] || mount --rbind /dev "$1/dev"
cp -r "$2" "$1/tmp/classes"
install -m 755 "$3" "$1/tmp/renamed"
exec chroot --userspec=65534:65534 "$1" java -Xmx64m -cp /tmp/classes Known shares
END
chmod +x "$T/inside"

# turns COMMAND...: prints best and worst of both times
turns() {
	local i
	for ((i = 0; i < TURNS; i++)); do
		python3 "$srcdir/tests/packaging/first_screen.py" METHOD,knownSixty "$@" 2>>"$T/err" || echo "- -"
	done | awk '$1 == "-" { bad++; next }
		{ a = n && a < $1 ? a : $1; A = A > $1 ? A : $1; b = n++ && b < $2 ? b : $2; B = B > $2 ? B : $2 }
		END { printf "%d-%d %d-%d %d\n", a, A, b, B, bad }'
}

# row ROOT LIBC JVM COMMAND...: COMMAND runs the program in the root; its arguments are appended
row() {
	local root=$1 libc=$2 jvm=$3 screen method bad recorded=no left
	shift 3
	read -r screen method bad < <(turns env TERM=xterm-256color "$@" "$target")
	env TERM=dumb "$@" record -d 1 -o "$out.svg" "$target" >"$T/out" 2>&1 </dev/null && recorded=yes
	left=$(find "/proc/$java/root/tmp" "/proc/$java/root/dev/shm" -maxdepth 1 \( -name 'libjhot*' -o -name '.attach_pid*' \) \
		-newer "$T/begin" | wc -l)
	printf '%-22s %-14s %-8s %13s %13s  %-9s %s\n' "$root" "$libc" "$jvm" "$screen" "$method" "$recorded" "$left"
	if [ "$bad" != 0 ] || [ "${screen#*-}" -gt 2000 ] || [ $recorded = no ] || [ "$left" != 0 ]; then
		status=1
		cat "$T/err" "$T/out" >&2
	fi
}

# A container beside the JVM's, as the image is used: the same PID namespace, a root with nothing but the program.
mkdir -p "$T/image/proc" "$T/image/dev"
cp "$one" "$T/image/jhot"
cat >"$T/side" <<'END'
#!/bin/sh
mount -t proc proc "$1/proc"
mount --rbind /dev "$1/dev"
root=$1
shift
exec chroot "$root" /jhot "$@"
END
chmod +x "$T/side"

touch "$T/begin"
mkfifo "$T/in"
exec {hold}<>"$T/in"
printf '%-22s %-14s %-8s %13s %13s  %-9s %s\n' ROOT LIBC JVM "SCREEN MS" "METHOD MS" RECORDED LEFT
for entry in $SUITES; do
	suite=${entry%:*}
	root=$ROOTS/$suite
	debian_root "$suite" "$suite" "openjdk-${entry#*:}-jre-headless" || { status=1; continue; }
	unshare -m -p -f --kill-child "$T/inside" "$root" "$CLASSES" "$one" >"$T/jvm" 2>&1 <"$T/in" {hold}>&- &
	wait_for 60 grep -qs '^ready' "$T/jvm" && java=$(java_of $!) || { cat "$T/jvm"; exit 1; }
	libc=$(chroot "$root" ldd --version | sed -n '1s/.* //p')
	target=Known out=/tmp/recorded
	row "Debian $suite" "glibc $libc" "JDK ${entry#*:}" \
		nsenter -t "$java" -m -p -r -w --setuid 65534 --setgid 65534 /tmp/renamed
	out=/recorded
	row "beside $suite, root" "none" "JDK ${entry#*:}" nsenter -t "$java" -p unshare -m "$T/side" "$T/image"
	{ kill -KILL "$java"; wait; } 2>/dev/null
done

# Nothing but busybox and musl, as on Alpine.
root=$T/musl
mkdir -p "$root/bin" "$root/lib" "$root/proc" "$root/dev" "$root/tmp"
chmod 1777 "$root/tmp"
cp "$(command -v busybox)" "$root/bin/sh"
cp /lib/*-linux-musl/libc.so "$root/lib/ld-musl-$(uname -m).so.1" 2>/dev/null ||
	cp /usr/lib/*-linux-musl/libc.so "$root/lib/ld-musl-$(uname -m).so.1"
cp "$one" "$root/renamed"
cat >"$T/musl-inside" <<'END'
#!/bin/sh
root=$1
shift
mount --rbind /proc "$root/proc"
mount --rbind /dev "$root/dev"
exec chroot --userspec=65534:65534 "$root" /bin/sh -c 'exec /renamed "$@"' sh "$@"
END
chmod +x "$T/musl-inside"
for_other
JVM_AS='setpriv --reuid 65534 --regid 65534 --clear-groups' jvm_start -Xmx64m Known shares
java=$JVM target=$JVM out=/tmp/recorded
row "busybox, musl" "musl" "JDK $(java_major "$JAVA")" unshare -m "$T/musl-inside" "$root"
exit $status
