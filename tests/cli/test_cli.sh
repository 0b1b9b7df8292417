#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The command line itself: help, version, errors in three blocks on stderr, exit codes.
. "$(dirname "$0")/../jvm/lib.sh"

# exits CODE ARG...
exits() {
	local want=$1
	shift
	run "$@"
	is "jhot $*: exit $want" "$status" "$want"
}

exits 0 --help
ok "help names the verbs" grep -q '^  list ' "$T/out"
ok "help is for stdout" [ ! -s "$T/err" ]
exits 0 --version
ok "the version is told" grep -Eqx 'jhot [0-9.]+' "$T/out"
exits 0 list -V
exits 0 list --help
ok "a verb's help names its options" grep -q -- '--json' "$T/out"

for verb in $("$JHOT" --help | sed -n 's/^  \([a-z]\{1,\}\) .*/\1/p'); do
	exits 0 "$verb" --help
	ok "jhot $verb --help fits 80 columns" awk 'length > 80 { exit 1 }' "$T/out"
	ok "and says how to use it" grep -q "^Usage: jhot $verb" "$T/out"
done

exits 2 list --jsno
ok "an error has a title" grep -qx 'jhot: bad command line' "$T/err"
ok "says what happened" grep -qx 'What happened' "$T/err"
ok "what to try" grep -qx 'Try one of' "$T/err"
ok "and names the nearest option" grep -Eq '^  1  --json$' "$T/err"
ok "nothing of it on stdout" [ ! -s "$T/out" ]

exits 2 list surplus
run lsit extra
is "a misspelt verb: exit 2" "$status" 2
ok "names the nearest verb" grep -Eq '^  [0-9]  jhot list$' "$T/err"

"$JHOT" list >/dev/full 2>"$T/err"
is "a full disk: exit 6" $? 6
ok "said so" grep -q 'No space left' "$T/err"

ok "list --json is JSON" sh -c "\"$JHOT\" list --json | python3 -m json.tool >/dev/null"
done_testing
