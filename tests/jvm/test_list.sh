#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# jhot list: a JVM of the same user, of another user, and one with attaching disabled; no other processes.
. "$(dirname "$0")/lib.sh"

# row FILE PID: the line of this process, blanks squeezed
row() {
	awk -v pid="$2" '$1 == pid { $1 = $1; print }' "$1"
}

jvm_start $CALM_JVM Known shares
ours=$JVM
jvm_start $CALM_JVM -XX:+DisableAttachMechanism Known idle
closed=$JVM
mkfifo "$T/never"
exec {never}<>"$T/never"
cat <"$T/never" &
other_program=$!

ok "jhot list exits with 0" eval "\"$JHOT\" list >/dev/null"
"$JHOT" list >"$T/list"
ok "jhot list shows our JVM as ok" grep -q "^$ours $(id -un) .* Known ok$" <(row "$T/list" "$ours")
ok "jhot list shows a JVM with DisableAttachMechanism as no" grep -q ' no$' <(row "$T/list" "$closed")
ok "jhot list prints the reason below the table" grep -q DisableAttach "$T/list"
is "jhot list does not show other programs" "$(row "$T/list" "$other_program")" ""

"$JHOT" list --json >"$T/json"
ok "jhot list --json has our JVM as ok" grep -q "\"pid\":$ours,.*\"name\":\"Known\".*\"attach\":\"ok\"" "$T/json"

if for_other; then
	JVM_AS=$AS_OTHER jvm_start $CALM_JVM Known idle
	theirs=$JVM
	"$JHOT" list >"$T/list"
	ok "root can attach to another user's JVM" grep -q '^[0-9]* nobody .* Known ok' <(row "$T/list" "$theirs")
	$AS_OTHER "$JHOT" list >"$T/list"
	ok "another user sees sudo for our JVM" grep -q ' sudo$' <(row "$T/list" "$ours")
	ok "another user sees as which user the JVM runs" grep -q 'The JVM runs as user root' "$T/list"
	ok "another user can attach to their own JVM" grep -q ' Known ok$' <(row "$T/list" "$theirs")
else
	skip "JVMs of two users" "needs root, and a JDK that all can read"
fi

ok "our JVM still runs after jhot list" alive "$ours"
ok "the JVM with DisableAttachMechanism still runs after jhot list" alive "$closed"
kill "$other_program"
wait "$other_program" 2>/dev/null
jvm_end "$ours"
is "our JVM writes only its own lines to stdout" "$(sed 's/sum .*/sum/' "$T/jvm0.out" | tr '\n' ' ')" "ready sum "
is "our JVM writes nothing to stderr" "$(cat "$T/jvm0.err")" ""
done_testing
