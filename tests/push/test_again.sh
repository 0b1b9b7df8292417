#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Files that a recorder could not push before it was killed are pushed by the next one, in order, once each.
. "$(dirname "$0")/../jvm/lib.sh"
. "$(dirname "$0")/../cli/recorder.sh"
. "$(dirname "$0")/lib.sh"

python3 -c 'import os, sys; os.setxattr(sys.argv[1], "user.jhot.test", b"1")' "$D" 2>/dev/null ||
	skip_all "this file system has no extended attributes"
# Files that are still to be pushed
marked() {
	python3 -c '
import os, sys
for f in sys.argv[1:]:
	if "user.jhot.push" in os.listxattr(f):
		print(f)' "$D"/*.jhot
}

receiver_start
url=http://127.0.0.1:$PORT/ingest
jvm_start $CALM_JVM Totals || done_testing
echo "work 600000" >&"$JVM_IN"

# A file of another program, and one of a recorder without --push: neither is to be pushed.
recorder -e cpu --rotate 1s -o "$D/%n-%t.jhot" "$JVM"
wait_for 60 files 1
recorder_end
mkdir "$T/before"
mv "$D"/*.jhot "$T/before"
cp "$T/before"/*.jhot "$D"

mode 503
recorder -e cpu --rotate 1s -o "$D/%n-%t.jhot" --push "$url" "$JVM"
wait_for 60 files $(($(ls "$T/before" | wc -l) + 3))
wait_for 30 requests 1
pushers=$(pgrep -P "$RECORDER")
# shellcheck disable=SC2086
kill -KILL "$RECORDER" $pushers
wait "$RECORDER" 2>/dev/null
left=$(marked | wc -l)
ok "$left files are marked when recorder and pusher are killed" [ "$left" -ge 2 ]
wait_for 30 quiet "$JVM"

# Another URL is none of its business.
forget
mode 200
recorder -e cpu --rotate 1s -o "$D/%n-%t.jhot" --push "http://127.0.0.1:$PORT/" "$JVM"
wait_for 60 accepted 1
recorder_end
ok "a recorder with another URL does not push them" not grep -q 'left from an earlier' "$T/recorder.err"
is "and leaves their marks" "$(marked | wc -l)" "$left"

forget
marked >"$T/left"
recorder -e cpu --rotate 1s -o "$D/%n-%t.jhot" --push "$url" "$JVM"
ok "the next recorder pushes them" wait_for 60 accepted $((left + 1)) || diag_file "$T/recorder.err"
recorder_end
is "no mark is left" "$(marked)" ""
grep 'wrote' "$T/recorder.err" | sed 's/.*wrote //' >"$T/wrote"
# shellcheck disable=SC2046
ok "in order, once each, before the new ones" received $(cat "$T/left" "$T/wrote") || diag_file "$T/recorder.err"

go version >/dev/null 2>&1 && body=$(ls "$R"/*.body | head -n 1) && go tool pprof -raw "$body" >"$T/raw" 2>"$T/err"
if [ -s "$T/raw" ]; then
	ok "go tool pprof reads what arrived" grep -q 'Totals\.' "$T/raw" || diag_file "$T/raw"
else
	skip "go tool pprof reads what arrived" "no go"
fi
jvm_kill
done_testing
