#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The agent in musl: as it is built here musl's loader takes it; and all C tests of its parts, compiled and run with musl.
. "$(dirname "$0")/../jvm/lib.sh"
. "$(dirname "$0")/elsewhere.sh"

command -v musl-gcc >/dev/null || skip_all "no musl-gcc (musl-tools)"
libc=/lib/$(uname -m)-linux-musl/libc.so
[ -e "$libc" ] || libc=/usr/lib/$(uname -m)-linux-musl/libc.so

# --- the agent as it is ------------------------------------------------------------------------------

nm -D --undefined-only "$builddir/libjhot.so" | awk '$1 == "U" { sub(/@.*/, "", $2); print $2 }' | sort >"$T/imports"
nm -D --defined-only "$libc" | awk '{ print $3 }' | sort >"$T/musl"
ok "it imports something" test -s "$T/imports"
is "and nothing that musl has not" "$(comm -23 "$T/imports" "$T/musl" | tr '\n' ' ')" ""
cat >"$T/load.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	void *agent = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;

	if (agent && dlsym(agent, "Agent_OnAttach"))
		return 0;
	puts(dlerror());
	return 1;
}
END
musl-gcc -o "$T/load" "$T/load.c"
ok "musl's loader takes it, though it names parts of glibc" "$T/load" "$builddir/libjhot.so"

# --- its parts, compiled with musl -------------------------------------------------------------------

# Kernel headers are the host's.
kernel=$T/kernel
mkdir "$kernel"
for folder in linux asm asm-generic; do
	for from in "/usr/include/$folder" "/usr/include/$(gcc -print-multiarch)/$folder"; do
		[ ! -e "$from" ] || ln -sfn "$from" "$kernel/$folder"
	done
done
ok "configure" elsewhere_configured CC=musl-gcc CPPFLAGS="-idirafter $kernel" || diag_file "$T/log"
ok "the agent compiles" elsewhere_made libjhot.so libjhot_so_CFLAGS='-std=c11 -O1 -fPIC -fvisibility=hidden' ||
	diag_file "$T/log"
ok "and loads" "$T/load" "$T/build/libjhot.so"
# shellcheck disable=SC2086
elsewhere_tests $AGENT_TESTS
done_testing
