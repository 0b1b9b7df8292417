#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Names from real ELF files: unstripped, stripped, with separate debug files. nm is the oracle.
. "$(dirname "$0")/../jvm/lib.sh"

TOOL=$builddir/tests/symbols/symbols_tool
CXX=${CXX:-g++}
for tool in "$CXX" nm strip objcopy xz; do
	command -v "$tool" >/dev/null || skip_all "$tool is not installed"
done
# Debug files of this machine must not be found instead of those of the test.
export DEBUGINFOD_CACHE_PATH=$T/cache

build() { # build OUT [FLAG...]
	"$CXX" -O2 -g -fPIC -shared -o "$@" "$srcdir/tests/symbols/fixture.cc"
}

# names FILE ADDRESS...: prints the tool's names. The fixture is small: in its code, offset = address.
names() {
	local file=$1
	shift
	printf '%s\n' "$@" | "$TOOL" "$file" 2>/dev/null | sed -n '/^note:/d; s/^[^ ]* [^ ]* [^ ]* \?//p'
}

address() { # address NAME: in the whole library, demangled names
	nm -C "$T/whole.so" | sed -n "s/^0*\([0-9a-f]*\) [tTwW] $1\$/\1/p"
}

ok "the fixture compiles" build "$T/whole.so" -Wl,--build-id
local_at=$(address fixture_local)
global_at=$(address fixture_global)
hidden_at=$(address fixture_hidden)
cart_at=$(address 'shop::Cart<long>::add(long, int) const')
helper_at=$(address 'shop::(anonymous namespace)::hidden_helper(char const\*)')

is "functions of an unstripped file have names" \
	"$(names "$T/whole.so" "$local_at" "$global_at" "$hidden_at" "$cart_at" "$helper_at" | tr '\n' '|')" \
	"fixture_local|fixture_global|fixture_hidden|shop::Cart<long>::add|shop::(anonymous namespace)::hidden_helper|"
is "an address within a function has the function's name" "$(names "$T/whole.so" "$(printf %x $((0x$global_at + 1)))")" fixture_global
ok "PLT stubs have names" grep -qx 'puts@plt' <(
	objdump -d -j .plt -j .plt.sec "$T/whole.so" 2>/dev/null | sed -n 's/^0*\([0-9a-f]*\) <.*/\1/p' |
		while read -r at; do names "$T/whole.so" "$at"; done)

cp "$T/whole.so" "$T/stripped.so"
strip --strip-all "$T/stripped.so"
is "stripped file: exported functions have names" "$(names "$T/stripped.so" "$global_at")" fixture_global
is "stripped file: other functions have their start address" \
	"$(names "$T/stripped.so" "$local_at" "$hidden_at" "$(printf %x $((0x$hidden_at + 2)))" | tr '\n' ' ')" \
	"0x$local_at 0x$hidden_at 0x$hidden_at "

cp "$T/whole.so" "$T/partial.so"
strip --strip-all --keep-symbol=fixture_local "$T/partial.so"
is "one local function in .symtab: it and exported functions have names" \
	"$(names "$T/partial.so" "$local_at" "$global_at" "$hidden_at" | tr '\n' ' ')" "fixture_local fixture_global 0x$hidden_at "
objcopy --only-keep-debug "$T/whole.so" "$T/partial.so.debug"
(cd "$T" && objcopy --add-gnu-debuglink=partial.so.debug partial.so)
is "partial .symtab with a debug file: local functions have names" "$(names "$T/partial.so" "$local_at" "$hidden_at" | tr '\n' ' ')" \
	"fixture_local fixture_hidden "

objcopy --only-keep-debug "$T/whole.so" "$T/linked.so.debug"
cp "$T/stripped.so" "$T/linked.so"
(cd "$T" && objcopy --add-gnu-debuglink=linked.so.debug linked.so)
is "debuglink: a file in the same folder is found" "$(names "$T/linked.so" "$local_at")" fixture_local
mkdir "$T/.debug" && mv "$T/linked.so.debug" "$T/.debug/"
is "debuglink: a file in .debug is found" "$(names "$T/linked.so" "$local_at")" fixture_local

build "$T/other.so" -Wl,--build-id -DOTHER -O0
objcopy --only-keep-debug "$T/other.so" "$T/.debug/linked.so.debug"
is "debuglink: a debug file of another build is rejected" "$(names "$T/linked.so" "$local_at")" "0x$local_at"

id=$(readelf -n "$T/whole.so" | sed -n 's/^ *Build ID: //p')
mkdir -p "$T/cache/$id"
objcopy --only-keep-debug "$T/whole.so" "$T/cache/$id/debuginfo"
is "build-id: a file in debuginfod's cache is found" "$(names "$T/stripped.so" "$local_at")" fixture_local
rm -r "$T/cache"

ok "a fixture without build-id compiles" build "$T/noid.so" -Wl,--build-id=none
noid_at=$(nm "$T/noid.so" | sed -n 's/^0*\([0-9a-f]*\) t fixture_local$/\1/p')
objcopy --only-keep-debug "$T/noid.so" "$T/noid.so.debug"
strip --strip-all "$T/noid.so"
(cd "$T" && objcopy --add-gnu-debuglink=noid.so.debug noid.so)
is "debuglink: a file with the right checksum is used" "$(names "$T/noid.so" "$noid_at")" fixture_local
printf x >>"$T/noid.so.debug"
is "debuglink: a file with a wrong checksum is rejected" "$(names "$T/noid.so" "$noid_at")" "0x$noid_at"

cp "$T/whole.so" "$T/mini.sym"
strip --strip-debug "$T/mini.sym"
xz -k "$T/mini.sym"
cp "$T/stripped.so" "$T/mini.so"
objcopy --add-section .gnu_debugdata="$T/mini.sym.xz" "$T/mini.so"
is "the compressed table in .gnu_debugdata is read" "$(names "$T/mini.so" "$local_at")" fixture_local

cp "$T/mini.so" "$T/badmini.so"
head -c 2000 /dev/urandom >"$T/garbage"
objcopy --update-section .gnu_debugdata="$T/garbage" "$T/badmini.so"
is "a damaged .gnu_debugdata is ignored" "$(names "$T/badmini.so" "$local_at" "$global_at" | tr '\n' ' ')" \
	"0x$local_at fixture_global "

mkfifo "$T/fifo.so"
is "a FIFO does not block the reader" "$(names "$T/fifo.so" 1000)" ""

# --- files mapped by a process: deleted, replaced, in another mount namespace ---
mapped() { # mapped FILE PID ADDRESS: prints the tool's name; the note goes to $T/note
	echo "$3" | ${AS:-} "$TOOL" "$1" "$2" 2>/dev/null >"$T/mapped"
	sed -n 's/^note: //p' "$T/mapped" >"$T/note"
	sed -n '/^note:/d; s/^[^ ]* [^ ]* [^ ]* \?//p' "$T/mapped"
}

has_mapped() { # has_mapped FILE PID: the process runs sleep, not its predecessor before exec, and has the file mapped
	[ "$(cat "/proc/$2/comm")" = sleep ] && grep -q "r-xp .* $1" "/proc/$2/maps"
}

mapper() { # mapper FILE: starts a process that has it mapped; sets MAPPER
	LD_PRELOAD=$1 setpriv --pdeathsig KILL ${AS:-} sleep 1000 &
	MAPPER=$!
	wait_for 20 has_mapped "$1" $MAPPER
}

release() {
	kill $MAPPER
	wait $MAPPER 2>/dev/null
}

cp "$T/whole.so" "$T/live.so"
ok "a process maps the library" mapper "$T/live.so"
is "functions of a mapped file have names" "$(mapped "$T/live.so" $MAPPER "$local_at")" fixture_local
rm "$T/live.so"
if [ "$(id -u)" = 0 ]; then
	is "functions of a deleted file have names" "$(mapped "$T/live.so" $MAPPER "$local_at")" fixture_local
	cp "$T/other.so" "$T/live.so"
	is "functions of a replaced file have the old file's names" "$(mapped "$T/live.so" $MAPPER "$local_at")" fixture_local
	release

	AS="setpriv --reuid 54321 --regid 54321 --clear-groups"
	cp "$T/whole.so" "$T/user.so"
	chmod 755 "$T/user.so"
	mapper "$T/user.so"
	is "functions in another user's own process have names" "$(mapped "$T/user.so" $MAPPER "$local_at")" fixture_local
	cp "$T/other.so" "$T/new.so"
	mv "$T/new.so" "$T/user.so"
	is "without privileges functions of a replaced file have no names" "$(mapped "$T/user.so" $MAPPER "$local_at")" ""
	ok "a note says that the file was replaced" grep -q 'replaced' "$T/note"
	AS=
	release

	mkdir "$T/root"
	if unshare -m true 2>/dev/null; then
		cp "$T/whole.so" "$T/inside.so"
		unshare -m sh -c "mount -t tmpfs none '$T/root' && cp '$T/inside.so' '$T/root/' &&
			LD_PRELOAD='$T/root/inside.so' exec setpriv --pdeathsig KILL sleep 1000" &
		MAPPER=$!
		wait_for 20 has_mapped "$T/root/inside.so" $MAPPER
		ok "the file in another mount namespace is not visible from here" [ ! -e "$T/root/inside.so" ]
		is "functions of a file in another mount namespace have names" "$(mapped "$T/root/inside.so" $MAPPER "$local_at")" fixture_local
		release
	else
		skip "a file in another mount namespace" "unshare is not permitted"
	fi

	# Writing to a library in an overlay creates a new file; the process keeps the old one, and maps does not show it.
	cat >"$T/overlaid" <<-'END'
		mount -t tmpfs none "$1/root" && cd "$1/root" && mkdir low up work all && cp "$1/whole.so" low/over.so &&
		mount -t overlay -o lowerdir=low,upperdir=up,workdir=work none all || exit 77
		LD_PRELOAD=$1/root/all/over.so exec setpriv --pdeathsig KILL sleep 1000
	END
	if unshare -m sh -c 'mount -t tmpfs none "$1" && cd "$1" && mkdir a b c d && mount -t overlay -o lowerdir=a,upperdir=b,workdir=c none d' \
		- "$T/root" 2>/dev/null; then
		unshare -m sh "$T/overlaid" "$T" &
		MAPPER=$!
		wait_for 20 has_mapped "$T/root/all/over.so" $MAPPER
		is "functions of a library in an overlay have names" "$(mapped "$T/root/all/over.so" $MAPPER "$local_at")" fixture_local
		nsenter -t $MAPPER -m cp "$T/other.so" "$T/root/all/over.so"
		is "functions of a library overwritten in an overlay have no names from the new file" "$(mapped "$T/root/all/over.so" $MAPPER "$local_at")" ""
		ok "a note says that the library in an overlay was overwritten: $(cat "$T/note")" grep -q 'over.so has been overwritten' "$T/note"
		release
	else
		skip "a library overwritten in an overlay" "overlay file systems cannot be mounted here"
	fi
else
	release
	skip "deleted and replaced files, other users, other mount namespaces" "needs root"
fi

# A real libjvm compared with nm: C functions must have their own name; for aliases either name is right.
jvm=$(readlink -f "$(dirname "$(readlink -f "$(command -v "$JAVA")")")/../lib/server/libjvm.so")
if [ -f "$jvm" ]; then
	# text of libjvm: file offset = address - delta, from its executable segment
	read -r offset vaddr < <(readelf -lW "$jvm" | awk '$1 == "LOAD" && / R E / { print $2, $3; exit }')
	nm -D --defined-only "$jvm" | sed -n 's/^0*\([0-9a-f]*\) T \(J[A-Za-z_]*\).*/\1 \2/p' | head -n 300 |
		while read -r at name; do
			printf '%x %s\n' $((0x$at - vaddr + offset)) "$name"
		done >"$T/jvm.nm"
	cut -d' ' -f1 "$T/jvm.nm" | "$TOOL" "$jvm" 2>"$T/jvm.time" | sed '/^note:/d' | cut -d' ' -f1,4 >"$T/jvm.got"
	ok "libjvm exports more than 100 functions" [ "$(wc -l <"$T/jvm.nm")" -gt 100 ]
	is "libjvm: exported functions have the names that nm prints, except for aliases" \
		"$(($(comm -13 <(sort "$T/jvm.nm") <(sort "$T/jvm.got") | wc -l) < 20))" 1
	diag "libjvm: $(cat "$T/jvm.time")"
else
	skip "exported functions of libjvm" "no libjvm.so beside $JAVA"
fi
done_testing
