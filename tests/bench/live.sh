#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make bench ROWS=live: cost of the live view: on a real JVM that runs javac, then by number of stacks and threads of a synthetic
# one.
#
#   SECONDS_EACH=60   of steady load      TARGET=PID   this JVM instead of javac
#   HOURS=0           hours of a simulated day      STACKS=1000000   the most stacks
. "$(dirname "$0")/lib.sh"

target=${TARGET:-}
if [ -z "$target" ]; then
	jvm_start -Xmx512m Compile 40 || exit 1
	target=$JVM
fi
read -r _ bytes _ cpu rss < <(python3 "$srcdir/tests/bench/live.py" "${SECONDS_EACH:-60}" METHOD "$JHOT" "$target")
figure "live view at 80x24: bytes of a refresh" jhot B 1024 "$bytes"
figure "live view: CPU of the front end" jhot "% of a core" 2 "$cpu"
figure "live view: memory of the front end" jhot kB - "$rss"
[ -n "${TARGET:-}" ] || jvm_end
"$builddir/tests/bench/bench_scale" "${HOURS:-0}" "${STACKS:-1000000}"
