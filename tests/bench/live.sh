#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make bench ROWS=live: cost of the live view: on a real JVM under javac's load, then by stacks and threads of a
# synthetic one.
#
#   SECONDS_EACH=60   of steady load      TARGET=PID   this JVM, not our own load
#   HOURS=0           of a simulated day, too      STACKS=1000000   at most
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
