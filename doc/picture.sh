#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The picture in README.md: the live view of the demo service, as a terminal of 80x24 shows it.
#
#   make picture     (in the build folder) puts a new one between the picture marks of README.md
set -eu

builddir=$PWD
srcdir=$(cd "$(dirname "$0")/.." && pwd)
JAVA=${JAVA:-java}
work=$(mktemp -d)

mux() {
	tmux -L "jhot-picture-$$" -f /dev/null "$@"
}

# wait_for SECONDS COMMAND...
wait_for() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || { echo "picture.sh: waited in vain for: $*" >&2; exit 1; }
		sleep 0.1
	done
}

shows() {
	mux capture-pane -p | grep -q -- "$1"
}

"$JAVA" -Xmx256m -cp "$builddir/demo/classes" org.example.shop.Main >"$work/out" 2>&1 &
service=$!
trap 'mux kill-server 2>/dev/null || true; kill $service 2>/dev/null || true; rm -rf "$work"' EXIT
wait_for 30 grep -q 'shop: open' "$work/out"
sleep 20 # let the JIT compilers finish, so that the picture shows the service

LC_ALL=C.UTF-8 mux new-session -d -x 80 -y 24 "$builddir/jhot" $service
wait_for 30 shows org.example.shop
sleep 12 # a full window of 10 s
mux capture-pane -p | sed 's/[[:space:]]*$//' >"$work/screen"

awk -v screen="$work/screen" '
	/<!-- end of picture -->/ { inside = 0 }
	!inside
	/<!-- picture: / {
		inside = 1
		print "```text"
		while ((getline line < screen) > 0)
			print line
		print "```"
	}' "$srcdir/README.md" >"$work/README.md"
cat "$work/README.md" >"$srcdir/README.md"
cat "$work/screen"
