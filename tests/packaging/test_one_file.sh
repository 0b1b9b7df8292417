#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The single-file build: a static program that contains the agent. Moved and renamed into an otherwise empty root, it samples a
# JVM and draws, and leaves nothing there.
. "$(dirname "$0")/../jvm/lib.sh"

one=$builddir/packaging/jhot
[ -x "$one" ] || skip_all "configure found no archives of the libraries (make tarball names them)"
for tool in readelf strip python3 tar; do
	command -v $tool >/dev/null || skip_all "no $tool"
done

# --- the file ----------------------------------------------------------------------------------------

readelf -hW "$one" >"$T/head"
readelf -lW "$one" >"$T/segments"
readelf -dW "$one" >"$T/dynamic"
ok "the single file is position-independent" grep -q 'Type:.*DYN' "$T/head"
ok "the single file is marked as a program" grep -q 'FLAGS_1.*PIE' "$T/dynamic"
ok "the single file needs no interpreter" not grep -q INTERP "$T/segments"
ok "the single file needs no library" not grep -q NEEDED "$T/dynamic"
ok "the single file has no executable stack" not grep -q 'GNU_STACK.*RWE' "$T/segments"

strip --strip-unneeded -o "$T/agent" "$builddir/libjhot.so"
holds() {
	python3 - "$@" <<'PYTHON'
import sys
sys.exit(open(sys.argv[2], "rb").read() not in open(sys.argv[1], "rb").read())
PYTHON
}
ok "the single file contains libjhot.so" holds "$one" "$T/agent"
ok "the installed program contains libjhot.so" holds "$builddir/jhot" "$T/agent"
# The build's path is private, and would make builds of the same source differ.
strip -o "$T/stripped" "$one"
ok "the single file does not contain the build's path" not grep -qF -e "$builddir" -e "$srcdir" "$T/stripped"

# --- the archive -------------------------------------------------------------------------------------

# tarball NAME: builds the tarball and copies it to $T/NAME
tarball() {
	(cd "$builddir" && env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS SOURCE_DATE_EPOCH=1600000000 make -s tarball) >"$T/log" 2>&1 &&
		cp "$builddir"/jhot-*-linux-*.tar.gz "$T/$1"
}
ok "make tarball succeeds" tarball first.tar.gz || diag_file "$T/log"
ok "make tarball succeeds again" eval "touch '$T/later' && tarball second.tar.gz"
ok "two runs of make tarball give the same bytes" cmp "$T/first.tar.gz" "$T/second.tar.gz"
bytes=$(stat -c %s "$T/first.tar.gz")
diag "packed: $bytes bytes"
ok "the tarball has at most 4 MB" test "$bytes" -le $((4 << 20))
mkdir "$T/unpacked"
tar -C "$T/unpacked" --strip-components=1 -xzf "$T/first.tar.gz"
is "the tarball has the listed files" "$(cd "$T/unpacked" && find . -type f | sort | tr '\n' ' ')" \
	"./COPYING ./NOTICE ./completions/_jhot ./completions/jhot ./completions/jhot.fish ./jhot ./jhot.1 ./jhot.7 "
ok "the only executable in the tarball is jhot" [ "$(find "$T/unpacked" -type f -perm /111)" = "$T/unpacked/jhot" ]
is "all files in the tarball have the date of SOURCE_DATE_EPOCH" "$(find "$T/unpacked" -type f -printf '%Ts\n' | sort -u)" 1600000000

# --- a session ---------------------------------------------------------------------------------------

unshare=(unshare -m)
[ "$(id -u)" = 0 ] || unshare=(unshare -r -m)
if ! "${unshare[@]}" true 2>/dev/null; then
	skip "jhot runs in a root that has nothing else" "namespaces cannot be created here"
	done_testing
fi
# A root with the program under another name, /proc and /dev, and nothing else.
mkdir "$T/root" "$T/root/proc" "$T/root/dev" "$T/root/out"
cp "$T/unpacked/jhot" "$T/root/a name"
cat >"$T/bare" <<'END'
#!/bin/sh
root=$1
shift
mount --rbind /proc "$root/proc" && mount --rbind /dev "$root/dev" && exec env -i TERM="$TERM" LANG=en_US.UTF-8 "$(command -v chroot)" "$root" "/a name" "$@"
END
chmod +x "$T/bare"
bare() {
	"${unshare[@]}" "$T/bare" "$T/root" "$@"
}

jvm_start $CALM_JVM Known shares
jvm_warm_attach "$JVM"
litter "$JVM" >"$T/before"
left() {
	find /tmp /dev/shm "/proc/$JVM/cwd/" -maxdepth 1 -newer "$T/before" -name "*-$JVM.so*" 2>/dev/null # other tests have their own
	find "$T/root" -maxdepth 1 -newer "$T/before" -name "*libjhot*" 2>/dev/null
}
samples() {
	TERM=dumb bare record -d 1 -o /out/a.collapsed "$JVM" >"$T/out" 2>"$T/err" </dev/null
}
ok "the single file, moved and renamed, samples a JVM from an empty root" samples || diag_file "$T/err"
ok "stacks have the program's method" grep -q 'Known.*knownSixty' "$T/root/out/a.collapsed"
becomes_quiet "sampling ends after the session" "$JVM"
litter "$JVM" >"$T/after"
is "only the agent's mapping and signal handlers remain in the JVM" "$(diff "$T/before" "$T/after" | grep '^[<>]' |
	grep -vE '^> map .*(libjhot.*|libdl.so.2|libpthread.so.0)$|^[<>] SigCgt:')" ""
is "no agent file is left" "$(left)" ""
draws() {
	TERM=$1 python3 "$srcdir/tests/packaging/first_screen.py" METHOD,knownSixty \
		"${unshare[@]}" "$T/bare" "$T/root" "$JVM" >"$T/out" 2>&1
}
for term in xterm-256color screen tmux linux vt100 xterm-of-tomorrow; do
	ok "the single file draws on $term without a terminal description" draws $term || diag_file "$T/out"
	diag "ms to the first screen, to the first method: $(head -n 1 "$T/out")"
done
jvm_end
done_testing
