#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# HOST:NAME: a JVM that is watched from another host. In place of ssh, a script that runs the command here.
. "$(dirname "$0")/../jvm/lib.sh"

# ssh, as jhot calls it: OPTION... -- HOST COMMAND
cat >"$T/ssh" <<-'END'
	#!/bin/sh
	while [ "$1" != -- ]; do shift; done
	[ "$2" != unreachable ] || { echo "ssh: connect to host unreachable: timed out" >&2; exit 255; }
	export TMPDIR=$FAR
	exec sh -c "$3"
END
chmod +x "$T/ssh"
mkdir "$T/far" "$T/bin"
export FAR=$T/far
cd "$T" || exit
ln -s "$JHOT" "$T/bin/jhot"
# The far end has a jhot only if this is in the path.
NEAR_PATH=$PATH
FAR_PATH=$T/bin:$PATH

# watch ARGUMENT...: a few plain screens
watch() {
	timeout 90 "$JHOT" top --ssh "$T/ssh -p 22" -b -n 4 "$@" >"$T/out" 2>"$T/err" </dev/null
	status=$?
}

jvm_start $CALM_JVM Known shares
for how in have need; do
	[ $how = need ] || PATH=$FAR_PATH
	watch "far:$JVM"
	PATH=$NEAR_PATH
	is "$how: watching a JVM of another host exits with 0" "$status" 0 || diag_file "$T/err"
	ok "$how: the screen shows the hot methods" grep -q 'Known.knownSixty' "$T/out" || diag_file "$T/out"
	ok "$how: the screen shows that the session is another's" grep -q WATCHING "$T/out"
	becomes_quiet "$how: sampling ends with the viewer" "$JVM"
	ok "$how: nothing is left on the other host" wait_for 10 eval '[ -z "$(ls -A "$FAR")" ]'
done
watch -e wall "user@far:$JVM"
ok "-e is passed on, and a user is accepted" grep -q 'wall.*WATCHING' "$T/out" || diag_file "$T/out"
wait_for 20 quiet "$JVM"

# --- a session that is there already is sent ---
"$JHOT" record -e wall -o "$T/x.jhot" "$JVM" >/dev/null 2>&1 </dev/null &
record=$!
wait_for 60 has_samples "$JVM" 1
watch "far:$JVM"
ok "a session that exists is watched" grep -q WATCHING "$T/out" || diag_file "$T/err"
ok "that session is not ended" alive $record
kill $record
wait $record
wait_for 20 quiet "$JVM"

# --- a viewer that is killed ---
"$JHOT" top --ssh "$T/ssh" -b "far:$JVM" >"$T/out" 2>&1 </dev/null &
viewer=$!
wait_for 60 has_samples "$JVM" 1
kill -KILL $viewer
wait $viewer 2>/dev/null
becomes_quiet "sampling ends when the viewer is killed" "$JVM"
ok "nothing is left on the other host when the viewer is killed" wait_for 10 eval '[ -z "$(ls -A "$FAR")" ]'

# --- errors ---
while IFS='|' read -r host words; do
	watch "$host"
	is "$host exits with 3" "$status" 3
	ok "$host prints: $words" grep -q -- "$words" "$T/err" || diag_file "$T/err"
done <<-ROWS
	far:nosuch|No JVM matches "nosuch"
	far:1|cannot be watched
	unreachable:1|timed out
	far:'; touch hacked; '|cannot be watched
ROWS
ok "names are not run as commands" [ ! -e "$T/hacked" ]
jvm_end
done_testing
