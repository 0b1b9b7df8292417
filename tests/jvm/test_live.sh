#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The live view under tmux on a real JVM: it draws, reacts to keys, saves, and restores the terminal.
. "$(dirname "$0")/lib.sh"

command -v tmux >/dev/null || skip_all "no tmux"

terminals=0
mux() {
	tmux -L "jhot-test-$$-$terminals" -f /dev/null "$@"
}

# live COMMAND...: runs the command in a new 80x24 terminal
live() {
	mux kill-server 2>/dev/null
	terminals=$((terminals + 1)) # a new socket name: the old server, which is still exiting, would refuse
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

# On a busy machine this takes more than a minute, after which q would ask whether to save.
mkdir -p "$T/settings/jhot"
echo 'unsaved = never' >"$T/settings/jhot/config"
cd "$T" || exit 1
live sh -c "stty -g >$T/tty1; '$JHOT' $JVM; echo \"status=\$?\"; stty -g >$T/tty2; cat"
ok_shows "the live view shows the hottest method" 'knownSixty'
ok_shows "the header shows the JVM's pid" "$JVM"
ok_shows "the header shows the event cpu" '\[1 cpu\]'
mux send-keys T
ok_shows "key T shows the call tree" 'CALL TREE'
mux send-keys t
ok_shows "key t shows the threads" 'known-1'
mux send-keys m
ok_shows "key m shows the methods" 'METHOD'
mux send-keys '?'
ok_shows "key ? shows the help" 'HELP'
mux send-keys Escape
ok_shows "Escape closes the help" 'METHOD'
mux send-keys Space
ok_shows "Space freezes the view" 'FROZEN'
mux send-keys Space
ok_shows "Space again resumes it" 'LIVE'
mux send-keys / ; mux send-keys -l knownTen; mux send-keys Enter
ok_shows "key / finds a method by name" 'knownTen'
diag "the screen at 80x24:"
screen | sed 's/^/# |/'
mux send-keys Escape
mux send-keys S
ok "key S saves a .jhot file" wait_for 20 eval "ls $T/*.jhot 2>/dev/null | grep -q ." || screen | sed 's/^/# |/'
ok "the saved file has the samples taken so far" eval "'$JHOT' convert -o - $T/*.jhot | grep -q Known.knownSixty"
mux send-keys f
ok_shows "key f shows the flame graph" 'all 100%'
mux send-keys m Enter
ok_shows "Enter in the methods view shows callers" 'CALLERS'
mux send-keys Escape
ok_shows "Escape returns to the methods" 'METHOD'
mux send-keys x
ok_shows "key x opens the export dialog" 'export'
mux send-keys C-u; mux send-keys -l "$T/mine.collapsed"; mux send-keys Enter
ok_shows "the export dialog writes the file that was typed" 'wrote .*mine.collapsed'
ok "the exported file has the hottest method" grep -q 'knownSixty' "$T/mine.collapsed"
mux send-keys l
ok_shows "key l shows the latency of single calls" ' p99 .*max '
mux send-keys Enter
ok_shows "Enter shows what one of them did" ' poll.*'
mux send-keys q q
ok_shows "q goes back to the methods" 'METHOD'
# every format, with cpu and wall sampled; the JVM's CPU usage is known from the second poll on
mux send-keys 4
ok_shows "key 4 switches to wall" '\[4 wall\]'
ok_shows "wall shows waiting methods" ' w .* wait'
mux send-keys 1
ok_shows "key 1 switches back to cpu" '\[1 cpu\]'
ok_shows "the header shows the JVM's CPU usage" 'CPU [0-9]'
while read -r format suffix; do
	mux send-keys x
	ok_shows "key x opens the export dialog for $format" 'export'
	mux send-keys C-u; mux send-keys -l "$T/all$suffix"; mux send-keys Enter
	ok "the export dialog writes $format" wait_for 20 test -s "$T/all$suffix"
	ok_shows "the view confirms the export of $format" "wrote .*all$suffix"
done < <("$builddir/tests/export/export_tool" -l)
ok "exported .jfr and .otlp have cpu and wall, and .jfr the CPU load and the host" python3 -c "
import sys; sys.path.insert(0, '$srcdir/tests/export'); import formats, socket
jfr = formats.Jfr('$T/all.jfr')
assert jfr.events['jdk.ExecutionSample'] and jfr.events['profiler.WallClockSample'] and jfr.events['jdk.CPULoad']
assert jfr.settings()['host'] == socket.gethostname()
assert [p['type'][0] for p in formats.Otlp('$T/all.otlp').profiles] == ['cpu', 'samples', 'wall', 'samples']
"
mux resize-window -x 120 -y 40
ok_shows "a larger window shows the column DELTA" 'DELTA'
mux resize-window -x 40 -y 8
ok_shows "a window of 40x8 shows the methods" 'METHOD'
mux resize-window -x 80 -y 24
ok_shows "a window of 80x24 again shows the column TREND" 'TREND'
mux send-keys W
ok_shows "key W confirms that the settings were saved" 'saved the settings'
ok "the settings file has the window" grep -q '^window = 10s' "$T/settings/jhot/config"
mux send-keys q
ok_shows "key q exits with 0" 'status=0'
same "key q restores the terminal's modes" "$T/tty2" "$T/tty1"
becomes_quiet "sampling ends after q" "$JVM"

# the terminal closes under jhot
live "$JHOT" "$JVM"
ok_shows "a second live view shows the hottest method" 'knownSixty'
mux kill-server
becomes_quiet "closing the terminal ends sampling" "$JVM"

# kill -9 of the front end
live sh -c "echo \$\$ >$T/pid; exec '$JHOT' $JVM"
ok_shows "a live view in a new terminal shows the hottest method" 'knownSixty'
kill -KILL "$(cat "$T/pid")"
becomes_quiet "kill -9 of the live view ends sampling" "$JVM"
litter "$JVM" >"$T/after"
same "three live views leave nothing more in the JVM" "$T/after" "$T/before"

# a stopped JVM does not stop the view
live sh -c "'$JHOT' $JVM; echo \"status=\$?\"; cat"
ok_shows "the live view before the JVM is stopped shows the hottest method" 'knownSixty'
kill -STOP "$JVM"
mux send-keys 3
ok_shows "the live view of a stopped JVM says that it waits for the JVM" 'waiting for the JVM .* Esc cancels'
mux send-keys Escape
ok_shows "Escape cancels the wait for a stopped JVM" 'The event "lock" could not be started: Cancelled'
mux send-keys T
ok_shows "key T works while the JVM is stopped" 'CALL TREE'
mux send-keys m 3
ok_shows "key 3 again waits for the stopped JVM" 'waiting for the JVM'
mux send-keys q
ok_shows "key q exits with 0 while it waits for the stopped JVM" 'status=0'
kill -CONT "$JVM"
becomes_quiet "sampling ends after q on a stopped JVM" "$JVM"

# the JVM ends under the view
live sh -c "'$JHOT' $JVM; echo \"status=\$?\"; cat"
ok_shows "the live view before the JVM exits shows the hottest method" 'knownSixty'
jvm_end
ok "the JVM exits normally during the live view" grep -q '^sum ' "$T/jvm0.out"
ok_shows "the live view reports that the JVM has ended" 'ended\|exited\|gone'
ok_shows "the live view keeps its data after the JVM has ended" 'knownSixty'
mux send-keys q
ok_shows "key q exits after the JVM has ended" 'status='
done_testing
