# SPDX-License-Identifier: Apache-2.0
# For tests of recorders, which write files to $D. Sourced by bash after tests/jvm/lib.sh.

totals_alone
D=$T/files
mkdir "$D"

# recorder ARG...: jhot record in the background. Sets RECORDER.
recorder() {
	"$JHOT" record "$@" >"$T/recorder.out" 2>"$T/recorder.err" </dev/null &
	RECORDER=$!
}

recorder_end() {
	kill -TERM "$RECORDER"
	wait "$RECORDER"
}

# files N: there are at least N
files() {
	[ "$(find "$D" -type f -name '*.jhot' | wc -l)" -ge "$1" ]
}
