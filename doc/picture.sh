#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The pictures in README.md: views of a live session with the demo service, as a terminal of 100x30 shows them.
#
#   make picture     (in the build folder) rewrites doc/screen-*.svg
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

# picture NAME TEXT KEY...: press the keys, wait for the text and for one more refresh, draw
picture() {
	local name=$1 text=$2 title
	shift 2
	mux send-keys "$@"
	wait_for 20 shows "$text"
	sleep 6 # layouts settle, the mark for a held order goes
	title=$(mux capture-pane -p | sed -n '1s/^ *\(jhot [0-9]* [^ ]*\).*/\1/p')
	mux capture-pane -e -N -p >"$work/$name"
	python3 "$srcdir/doc/picture.py" "$title" <"$work/$name" >"$srcdir/doc/screen-$name.svg.part"
	mv "$srcdir/doc/screen-$name.svg.part" "$srcdir/doc/screen-$name.svg"
	sed 's/\x1b\[[0-9;]*m//g; s/[[:space:]]*$//' "$work/$name"
	echo
}

"$JAVA" -Xmx256m -cp "$builddir/demo/classes" org.example.shop.Main >"$work/out" 2>&1 &
service=$!
trap 'mux kill-server 2>/dev/null || true; kill $service 2>/dev/null || true; rm -rf "$work"' EXIT
wait_for 30 grep -q 'shop: open' "$work/out"
sleep 20 # let the JIT compilers finish, so that the pictures show the service

export LC_ALL=C.UTF-8 XDG_CONFIG_HOME=$work
mux new-session -d -x 100 -y 30 "$builddir/jhot" top $service
mux set -g default-terminal tmux-256color
wait_for 30 shows org.example.shop
sleep 12 # a full window of 10 s
picture methods 'METHOD' j j
picture tree 'CALL TREE' T E
picture flame 'all 100%' f j j
