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

ok "list succeeds" eval "\"$JHOT\" list >/dev/null"
"$JHOT" list >"$T/list"
ok "our JVM can be attached" grep -q "^$ours $(id -un) .* Known ok$" <(row "$T/list" "$ours")
ok "the one that forbids it cannot" grep -q ' no$' <(row "$T/list" "$closed")
ok "and the reason stands below" grep -q DisableAttach "$T/list"
is "another program is not listed" "$(row "$T/list" "$other_program")" ""

"$JHOT" list --json >"$T/json"
ok "the same as JSON" grep -q "\"pid\":$ours,.*\"name\":\"Known\".*\"attach\":\"ok\"" "$T/json"

if for_other; then
	JVM_AS=$AS_OTHER jvm_start $CALM_JVM Known idle
	theirs=$JVM
	"$JHOT" list >"$T/list"
	ok "root may attach another user's JVM" grep -q '^[0-9]* nobody .* Known ok' <(row "$T/list" "$theirs")
	$AS_OTHER "$JHOT" list >"$T/list"
	ok "another user sees that ours needs sudo" grep -q ' sudo$' <(row "$T/list" "$ours")
	ok "and why" grep -q 'The JVM runs as user root' "$T/list"
	ok "their own can be attached" grep -q ' Known ok$' <(row "$T/list" "$theirs")
else
	skip "JVMs of two users" "needs root, and a JDK that all can read"
fi

ok "nobody was disturbed: ours" alive "$ours"
ok "nobody was disturbed: the closed one" alive "$closed"
kill "$other_program"
wait "$other_program" 2>/dev/null
jvm_end "$ours"
is "our JVM printed only what is its own" "$(sed 's/sum .*/sum/' "$T/jvm0.out" | tr '\n' ' ')" "ready sum "
is "and nothing as an error" "$(cat "$T/jvm0.err")" ""
done_testing
