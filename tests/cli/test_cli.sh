#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The command line itself: help, version, errors in three blocks on stderr, exit codes.
. "$(dirname "$0")/../jvm/lib.sh"

# exits CODE ARG...
exits() {
	local want=$1
	shift
	run "$@"
	is "jhot $* exits with $want" "$status" "$want"
}

exits 0 --help
ok "jhot --help lists the verbs" grep -q '^  list ' "$T/out"
ok "jhot --help prints nothing to stderr" [ ! -s "$T/err" ]
exits 0 --version
ok "jhot --version prints the version" grep -Eqx 'jhot [0-9.]+' "$T/out"
exits 0 list -V
exits 0 list --help
ok "jhot list --help lists --json" grep -q -- '--json' "$T/out"

for verb in $("$JHOT" --help | sed -n 's/^  \([a-z]\{1,\}\) .*/\1/p'); do
	exits 0 "$verb" --help
	ok "jhot $verb --help fits 80 columns" awk 'length > 80 { exit 1 }' "$T/out"
	ok "jhot $verb --help has a usage line" grep -q "^Usage: jhot $verb" "$T/out"
done

exits 2 list --jsno
ok "an error has a title" grep -qx 'jhot: bad command line' "$T/err"
ok "an error has the block What happened" grep -qx 'What happened' "$T/err"
ok "an error has the block Try one of" grep -qx 'Try one of' "$T/err"
ok "the error of a misspelt option suggests the nearest one" grep -Eq '^  1  --json$' "$T/err"
ok "an error prints nothing to stdout" [ ! -s "$T/out" ]

exits 2 list surplus
run lsit extra
is "a misspelt verb exits with 2" "$status" 2
ok "the error of a misspelt verb suggests the nearest one" grep -Eq '^  [0-9]  jhot list$' "$T/err"

"$JHOT" list >/dev/full 2>"$T/err"
is "jhot list to a full disk exits with 6" $? 6
ok "the error of a full disk says so" grep -q 'No space left' "$T/err"

ok "jhot list --json prints JSON" sh -c "\"$JHOT\" list --json | python3 -m json.tool >/dev/null"
done_testing
