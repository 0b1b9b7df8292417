#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The live view under tmux on a real JVM: it draws, reacts to keys, saves, and restores the terminal.
. "$(dirname "$0")/lib.sh"

command -v tmux >/dev/null || skip_all "no tmux"

terminals=0
mux() {
	tmux -L "jhot-test-$$-$terminals" -f /dev/null "$@"
}

# live COMMAND...: a fresh 80x24 terminal with this in it
live() {
	mux kill-server 2>/dev/null
	terminals=$((terminals + 1)) # a server that is about to end would refuse
	mux new-session -d -x 80 -y 24 "$@"
	mux set -g remain-on-exit on 2>/dev/null
}

screen() {
	mux capture-pane -p
}

shows() {
	screen | grep -q -- "$1"
}

# ok_shows DESCRIPTION PATTERN
ok_shows() {
	ok "$1" wait_for 20 shows "$2" || screen | sed 's/^/# |/'
}

trap 'mux kill-server 2>/dev/null; test_end' EXIT
jvm_start $CALM_JVM Known shares
"$JHOT" record -d 0.1 -o "$T/first.collapsed" "$JVM" >/dev/null 2>&1
wait_for 20 quiet "$JVM"
litter "$JVM" >"$T/before"

# on a busy machine this takes more than a minute, and q would ask
mkdir -p "$T/settings/jhot"
echo 'unsaved = never' >"$T/settings/jhot/config"
cd "$T" || exit 1
live sh -c "stty -g >$T/tty1; '$JHOT' $JVM; echo \"status=\$?\"; stty -g >$T/tty2; cat"
ok_shows "the hottest method is shown" 'knownSixty'
ok_shows "the header names the JVM" "$JVM"
ok_shows "and the event" '\[1 cpu\]'
mux send-keys T
ok_shows "T shows the tree" 'CALL TREE'
mux send-keys t
ok_shows "t shows the threads" 'known-1'
mux send-keys m
ok_shows "m shows the methods again" 'METHOD'
mux send-keys '?'
ok_shows "? shows help" 'HELP'
mux send-keys Escape
ok_shows "and Escape closes it" 'METHOD'
mux send-keys Space
ok_shows "space freezes" 'FROZEN'
mux send-keys Space
ok_shows "and thaws" 'LIVE'
mux send-keys / ; mux send-keys -l knownTen; mux send-keys Enter
ok_shows "/ finds" 'knownTen'
diag "the screen at 80x24:"
screen | sed 's/^/# |/'
mux send-keys Escape
mux send-keys S
ok "S saves" wait_for 20 eval "ls $T/*.jhot 2>/dev/null | grep -q ." || screen | sed 's/^/# |/'
ok "what was sampled by then" eval "'$JHOT' convert -o - $T/*.jhot | grep -q Known.knownSixty"
mux send-keys f
ok_shows "f shows the flame graph" 'all 100%'
mux send-keys m Enter
ok_shows "Enter shows callers" 'CALLERS'
mux send-keys Escape
ok_shows "Escape leads back" 'METHOD'
mux send-keys x
ok_shows "x opens the export dialog" 'export'
mux send-keys C-u; mux send-keys -l "$T/mine.collapsed"; mux send-keys Enter
ok_shows "and writes" 'wrote .*mine.collapsed'
ok "what was sampled" grep -q 'knownSixty' "$T/mine.collapsed"
# every format that there is, of cpu, while wall is sampled too; what the JVM uses is known from the second look on
mux send-keys 4
ok_shows "4 shows the wall clock" '\[4 wall\]'
ok_shows "which has samples by now" ' w .* wait'
mux send-keys 1
ok_shows "1 leads back" '\[1 cpu\]'
ok_shows "and what the JVM uses is known by now" 'CPU [0-9]'
while read -r format suffix; do
	mux send-keys x
	ok_shows "x, for $format" 'export'
	mux send-keys C-u; mux send-keys -l "$T/all$suffix"; mux send-keys Enter
	ok "writes $format" wait_for 20 test -s "$T/all$suffix"
	ok_shows "and says so" "wrote .*all$suffix"
done < <("$builddir/tests/export/export_tool" -l)
ok "a file that holds all events has both, and the host" python3 -c "
import sys; sys.path.insert(0, '$srcdir/tests/export'); import formats, socket
jfr = formats.Jfr('$T/all.jfr')
assert jfr.events['jdk.ExecutionSample'] and jfr.events['profiler.WallClockSample'] and jfr.events['jdk.CPULoad']
assert jfr.settings()['host'] == socket.gethostname()
assert [p['type'][0] for p in formats.Otlp('$T/all.otlp').profiles] == ['cpu', 'samples', 'wall', 'samples']
"
mux resize-window -x 120 -y 40
ok_shows "a larger window is used" 'DELTA'
mux resize-window -x 40 -y 8
ok_shows "and a small one" 'METHOD'
mux resize-window -x 80 -y 24
ok_shows "and the first again" 'TREND'
mux send-keys W
ok_shows "W writes the settings" 'saved the settings'
ok "into their file" grep -q '^window = 10s' "$T/settings/jhot/config"
mux send-keys q
ok_shows "q ends it with status 0" 'status=0'
same "the terminal's modes are as before" "$T/tty2" "$T/tty1"
becomes_quiet "sampling has ended" "$JVM"

# the terminal closes under jhot
live "$JHOT" "$JVM"
ok_shows "the view is there again" 'knownSixty'
mux kill-server
becomes_quiet "a closed terminal ends sampling" "$JVM"

# kill -9 of the front end
live sh -c "echo \$\$ >$T/pid; exec '$JHOT' $JVM"
ok_shows "and again" 'knownSixty'
kill -KILL "$(cat "$T/pid")"
becomes_quiet "kill -9 ends sampling" "$JVM"
litter "$JVM" >"$T/after"
same "nothing remains in the JVM" "$T/after" "$T/before"

# a stopped JVM does not stop the view
live sh -c "'$JHOT' $JVM; echo \"status=\$?\"; cat"
ok_shows "the view of a JVM" 'knownSixty'
kill -STOP "$JVM"
mux send-keys 3
ok_shows "that is stopped says what it waits for" 'waiting for the JVM .* Esc cancels'
mux send-keys Escape
ok_shows "Escape gives up waiting" 'The event "lock" could not be started: Cancelled'
mux send-keys T
ok_shows "other keys work" 'CALL TREE'
mux send-keys m 3
ok_shows "it waits once more" 'waiting for the JVM'
mux send-keys q
ok_shows "and q ends it meanwhile" 'status=0'
kill -CONT "$JVM"
becomes_quiet "which ends sampling, too" "$JVM"

# the JVM ends under the view
live sh -c "'$JHOT' $JVM; echo \"status=\$?\"; cat"
ok_shows "a last time" 'knownSixty'
jvm_end
ok "the JVM ends as it would" grep -q '^sum ' "$T/jvm0.out"
ok_shows "its end is told" 'ended\|exited\|gone'
ok_shows "the data stays on the screen" 'knownSixty'
mux send-keys q
ok_shows "q leaves" 'status='
done_testing
