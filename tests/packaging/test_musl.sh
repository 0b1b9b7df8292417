#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# musl's loader accepts the agent of this build and the library of Request.java. `make musl-check` builds all of jhot with musl and
# runs its C tests.
. "$(dirname "$0")/../jvm/lib.sh"

command -v musl-gcc >/dev/null || skip_all "no musl-gcc (musl-tools)"
libc=/lib/$(uname -m)-linux-musl/libc.so
[ -e "$libc" ] || libc=/usr/lib/$(uname -m)-linux-musl/libc.so

nm -D --undefined-only "$builddir/libjhot.so" | awk '$1 == "U" { sub(/@.*/, "", $2); print $2 }' | sort >"$T/imports"
nm -D --defined-only "$libc" | awk '{ print $3 }' | sort >"$T/musl"
ok "the agent imports at least one symbol" test -s "$T/imports"
is "the agent imports only symbols that musl has" "$(comm -23 "$T/imports" "$T/musl" | tr '\n' ' ')" ""
# A musl program that loads an agent as a JVM does, without JNI, and prints the result.
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

# loaded FILE: the agent is loaded and returns its result for a JVM without JNI
loaded() {
	[ "$(echo "$1" | "$T/load")" = 'result 205' ]
}
ok "musl's loader loads the agent although it needs libraries of glibc" loaded "$builddir/libjhot.so"

# session: places the agent, loads it, and removes the copy, as jhot does
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
is "the first of six sessions copies the agent, the others load it from the agent's descriptor" \
	"$(uniq -c "$T/said" | xargs)" "1 result 205 by /tmp 5 result 205 by /proc/self/fd" || diag_file "$T/err"
is "musl maps one copy of the agent after six sessions" "$(awk '$6 ~ /libjhot-/ { print $5 }' "/proc/$LOAD_PID/maps" | sort -u | wc -l)" 1
is "one descriptor of the agent stays open" "$(ls -l "/proc/$LOAD_PID/fd" | grep -c 'libjhot-')" 1
is "no copy of the agent is left in /tmp or /dev/shm" "$(find /tmp /dev/shm -maxdepth 1 -name "libjhot-*-$LOAD_PID.so")" ""
exec {to}>&- {from}<&-
wait $LOAD_PID

# A musl program that publishes a request by the library of Request.java, with a JNIEnv whose function 200 is GetByteArrayRegion.
cat >"$T/request.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
static void get_region(void *env, void *array, int start, int bytes, signed char *to) { memset(to, 7, bytes); }
static void *table[201] = {[200] = get_region}, *env = table;
int main(int argc, char **argv)
{
	void (*set)(void *, void *, long, long, long, void *, int), *library = dlopen(argv[1], RTLD_NOW);
	unsigned char **record = library ? dlsym(library, "otel_thread_ctx_v1") : NULL;

	if (!record)
		return puts(dlerror());
	set = (void (*)(void *, void *, long, long, long, void *, int))dlsym(library, "Java_jhot_Request_set");
	set(&env, NULL, 1, 2, 3, NULL, 5);
	for (int i = 0; i < 33; i++)
		printf("%02x", (*record)[i]);
	return 0;
}
END
musl-gcc -o "$T/request" "$T/request.c"
is "a request is published with musl" "$("$T/request" "$builddir/src/cli/libjhotrequest.so")" \
	000000000000000100000000000000020000000000000003010005000707070707
done_testing
