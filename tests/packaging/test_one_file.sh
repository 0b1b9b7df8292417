#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The single-file build: a static program with the agent inside. Moved and renamed into an otherwise empty root, it
# samples a JVM and draws, and leaves nothing there.
. "$(dirname "$0")/../jvm/lib.sh"

one=$builddir/packaging/jhot
[ -x "$one" ] || skip_all "configure found no archives of the libraries (make tarball names them)"
for tool in readelf strip python3 tar; do
	command -v $tool >/dev/null || skip_all "no $tool"
done

# --- what it is --------------------------------------------------------------------------------------

readelf -hW "$one" >"$T/head"
readelf -lW "$one" >"$T/segments"
readelf -dW "$one" >"$T/dynamic"
ok "position-independent" grep -q 'Type:.*DYN' "$T/head"
ok "marked as a program" grep -q 'FLAGS_1.*PIE' "$T/dynamic"
ok "needs no interpreter" not grep -q INTERP "$T/segments"
ok "nor a library" not grep -q NEEDED "$T/dynamic"
ok "asks for no stack that is executable" not grep -q 'GNU_STACK.*RWE' "$T/segments"

strip --strip-unneeded -o "$T/agent" "$builddir/libjhot.so"
holds() {
	python3 - "$@" <<'PYTHON'
import sys
sys.exit(open(sys.argv[2], "rb").read() not in open(sys.argv[1], "rb").read())
PYTHON
}
ok "the agent inside is libjhot.so" holds "$one" "$T/agent"
ok "as in the program that is installed" holds "$builddir/jhot" "$T/agent"
# What the build's folder is called is nobody's business, and would make other bytes of the same source.
strip -o "$T/stripped" "$one"
ok "it does not say where it was built" not grep -qF -e "$builddir" -e "$srcdir" "$T/stripped"

# --- the archive -------------------------------------------------------------------------------------

# tarball NAME: rebuilt, its name on stdout
tarball() {
	(cd "$builddir" && env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS SOURCE_DATE_EPOCH=1600000000 make -s tarball) >"$T/log" 2>&1 &&
		cp "$builddir"/jhot-*-linux-*.tar.gz "$T/$1"
}
ok "make tarball" tarball first.tar.gz || diag_file "$T/log"
ok "once more" eval "touch '$T/later' && tarball second.tar.gz"
ok "gives the same bytes" cmp "$T/first.tar.gz" "$T/second.tar.gz"
bytes=$(stat -c %s "$T/first.tar.gz")
diag "packed: $bytes bytes"
ok "at most 4 MB" test "$bytes" -le $((4 << 20))
mkdir "$T/unpacked"
tar -C "$T/unpacked" --strip-components=1 -xzf "$T/first.tar.gz"
is "its files" "$(cd "$T/unpacked" && find . -type f | sort | tr '\n' ' ')" \
	"./COPYING ./NOTICE ./completions/_jhot ./completions/jhot ./completions/jhot.fish ./jhot ./jhot.1 ./jhot.7 "
ok "of which one runs" [ "$(find "$T/unpacked" -type f -perm /111)" = "$T/unpacked/jhot" ]
is "all of them are of that date" "$(find "$T/unpacked" -type f -printf '%Ts\n' | sort -u)" 1600000000

# --- what it does ------------------------------------------------------------------------------------

unshare=(unshare -m)
[ "$(id -u)" = 0 ] || unshare=(unshare -r -m)
if ! "${unshare[@]}" true 2>/dev/null; then
	skip "in a root that has nothing else" "no namespaces may be made here"
	done_testing
fi
# A root with this one program under another name, /proc and /dev.
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
ok "moved and renamed, it samples a JVM from a bare root" samples || diag_file "$T/err"
ok "and names what it has seen" grep -q 'Known.*knownSixty' "$T/root/out/a.collapsed"
becomes_quiet "its session ends" "$JVM"
litter "$JVM" >"$T/after"
is "only the agent's mapping and its handlers stay" "$(diff "$T/before" "$T/after" | grep '^[<>]' |
	grep -vE '^> map .*(libjhot.*|libdl.so.2|libpthread.so.0)$|^[<>] SigCgt:')" ""
is "no file" "$(left)" ""
draws() {
	TERM=$1 python3 "$srcdir/tests/packaging/first_screen.py" METHOD,knownSixty \
		"${unshare[@]}" "$T/bare" "$T/root" "$JVM" >"$T/out" 2>&1
}
for term in xterm-256color screen tmux linux vt100 xterm-of-tomorrow; do
	ok "it draws on $term without a description of it" draws $term || diag_file "$T/out"
	diag "ms to the first screen, to the first method: $(head -n 1 "$T/out")"
done
jvm_end
done_testing
