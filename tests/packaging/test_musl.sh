#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# musl's loader accepts the agent as built here. `make musl-check` builds the whole of jhot with musl and runs its C tests.
. "$(dirname "$0")/../jvm/lib.sh"

command -v musl-gcc >/dev/null || skip_all "no musl-gcc (musl-tools)"
libc=/lib/$(uname -m)-linux-musl/libc.so
[ -e "$libc" ] || libc=/usr/lib/$(uname -m)-linux-musl/libc.so

nm -D --undefined-only "$builddir/libjhot.so" | awk '$1 == "U" { sub(/@.*/, "", $2); print $2 }' | sort >"$T/imports"
nm -D --defined-only "$libc" | awk '{ print $3 }' | sort >"$T/musl"
ok "it imports something" test -s "$T/imports"
is "and nothing that musl has not" "$(comm -23 "$T/imports" "$T/musl" | tr '\n' ' ')" ""
# A program of musl's that loads what it is told to as a JVM does, which gives this agent no JNI; the answer is a line.
cat >"$T/load.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
static int get_env(void *vm, void **env, int version) { return -1; }
static void *table[8] = {[6] = get_env}, *vm = table;
int main(void)
{
	char path[4096];

	while (fgets(path, sizeof(path), stdin)) {
		int (*on_attach)(void *, char *, void *);
		void *agent;

		path[strcspn(path, "\n")] = '\0';
		agent = dlopen(path, RTLD_LAZY);
		on_attach = agent ? (int (*)(void *, char *, void *))dlsym(agent, "Agent_OnAttach") : NULL;
		if (on_attach)
			printf("result %d\n", on_attach(&vm, (char[]){"token=a"}, NULL));
		else
			puts(dlerror());
		fflush(stdout);
	}
	return 0;
}
END
musl-gcc -o "$T/load" "$T/load.c"

# loaded: what the agent answers that has no JNI
loaded() {
	[ "$(echo "$1" | "$T/load")" = 'result 205' ]
}
ok "musl's loader takes it, though it names parts of glibc" loaded "$builddir/libjhot.so"

# session: what one would have it load, loaded, and taken away
session() {
	local path='' reply='' from_tool to_tool tool
	coproc PLACE { "$builddir/tests/attach/attach_tool" place "$LOAD_PID" "$builddir/libjhot.so" 2>"$T/err"; }
	from_tool=${PLACE[0]} to_tool=${PLACE[1]} tool=$PLACE_PID
	read -r -t 20 path <&"$from_tool" && echo "$path" >&"$to" && read -r -t 20 reply <&"$from"
	exec {to_tool}>&-
	wait "$tool"
	echo "${reply:-nothing} by ${path%/*}"
}
mkfifo "$T/to" "$T/from"
"$T/load" <"$T/to" >"$T/from" &
LOAD_PID=$!
exec {to}>"$T/to" {from}<"$T/from"
for ((i = 0; i < 6; i++)); do session; done >"$T/said"
is "six sessions: the first brings a copy, the others are loaded by what the agent keeps of it" \
	"$(uniq -c "$T/said" | xargs)" "1 result 205 by /tmp 5 result 205 by /proc/self/fd" || diag_file "$T/err"
is "so musl maps one" "$(awk '$6 ~ /libjhot-/ { print $5 }' "/proc/$LOAD_PID/maps" | sort -u | wc -l)" 1
is "and one descriptor stays" "$(ls -l "/proc/$LOAD_PID/fd" | grep -c 'libjhot-')" 1
is "no file" "$(find /tmp /dev/shm -maxdepth 1 -name "libjhot-*-$LOAD_PID.so")" ""
exec {to}>&- {from}<&-
wait $LOAD_PID
done_testing
