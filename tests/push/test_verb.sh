#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# jhot push: the protocols, what a receiver may do instead of accepting, hostile URLs, tokens, TLS.
. "$(dirname "$0")/../jvm/lib.sh"
. "$(dirname "$0")/lib.sh"

file=$srcdir/tests/tui/h2.jhot
receiver_start
url=http://127.0.0.1:$PORT

# --- the protocols ---
for path in "" / /v1development/profiles /v1/profiles /prefix/v1/profiles /ingest /push.v1.PusherService/Push; do
	forget
	run push "$file" "$url$path"
	is "push to \"$path\" succeeds" "$status" 0 || diag_file "$T/err"
	ok "the receiver gets the file's stacks and totals" received "$file"
done
forget
"$JHOT" convert -o "$T/a.collapsed" "$file" 2>/dev/null
"$JHOT" convert -o "$T/a.pb.gz" "$file" 2>/dev/null
run push "$T/a.pb.gz" "$file" "$url/ingest"
is "several files of several formats are pushed" "$status" 0
ok "in their order" received "$T/a.pb.gz" "$file"
run push "$T/a.collapsed" "$url"
is "a file without times and names is pushed" "$status" 0 || diag_file "$T/err"
: >"$T/empty.collapsed"
forget
run push "$T/empty.collapsed" "$file" "$url"
diag "an empty file: exit status $status"
ok "a file without samples, or that cannot be read, does not delay others" received "$file"

# --- a receiver that misbehaves: nothing is lost without an error ---
# misbehave NUMBER WORD...: pushes to a receiver that does this
misbehave() {
	local words="${*:2}"
	words=${words// /%20}
	words=${words//\//%2F}
	"$JHOT" push --timeout 2 "$file" "$url/mode/${words//\?/%3F}/n$1/v1/profiles" >/dev/null 2>"$T/err$1"
	echo $? >"$T/status$1"
}

cat >"$T/rows" <<'ROWS'
1|answered 400: bad stack|400 bad stack
1|answered 404|404
1|answered 413|413
1|token-file|401
1|token-file|403
1|redirects to "http://other.example/x"|redirect http://other.example/x?secret=1
1|try again in 100 s|retry 429 100
1|rejected 3 profiles: too old|partial 3 too old
5|answered 500: out of memory|500 out of memory
5|answered 503|503
5|not as a receiver|bytes
5|not as a receiver|html
5|longer than 1 MiB|endless
5|is not HTTP|garbage
5|Empty reply|close
5|timed out|hang
ROWS
forget
row=0
pids=
while IFS='|' read -r attempts text words; do
	row=$((row + 1))
	misbehave $row "$words" &
	pids="$pids $!"
done <"$T/rows"
# shellcheck disable=SC2086
wait $pids
row=0
while IFS='|' read -r attempts text words; do
	row=$((row + 1))
	is "a receiver that answers \"$words\": exit status" "$(cat "$T/status$row")" 12
	ok "the error says: $text" grep -q -- "$text" <(tr -s ' \n' '  ' <"$T/err$row") || diag_file "$T/err$row"
	is "number of attempts" "$(grep -c "/n$row/" "$R/log")" "$attempts"
done <"$T/rows"
forget
mode retry 429 2
(sleep 1; mode 200) &
from=${EPOCHREALTIME/./}
run push "$file" "$url"
is "after 429 with Retry-After the push succeeds" "$status" 0
ok "not before that time" [ $(((${EPOCHREALTIME/./} - from) / 1000)) -ge 1990 ]
ok "and only once" received "$file"
receiver_kill
run push "$file" "$url"
is "a receiver that is away: exit status" "$status" 12
ok "the error says so" grep -q 'Cannot push to' "$T/err"

# --- what is refused before anything is sent ---
mkfifo "$T/fifo"
echo 'secret-token' >"$T/token"
while IFS='|' read -r code words; do
	eval "set -- $words"
	run push "$@"
	is "push $words exits with $code" "$status" "$code"
	ok "without quoting a secret" not grep -q hunter2 "$T/err"
done <<ROWS
2|$file
2|$file $file
2|$file ''
2|$file ftp://a/ingest
2|$file file:///etc/passwd
2|$file http://
2|$file http://user:hunter2@a/ingest
2|$file 'http://evil\\@a/ingest'
2|$file 'http://a/in gest'
2|$file \$'http://a/\r\nX: y/ingest'
2|$file http://a:99999/ingest
2|$file http://[::1/ingest
2|$file http://a/ingest#b
2|$file http://a/unknown
2|--header x $file http://a/
2|--header 'Authorization: Bearer hunter2' $file http://a/
2|--header 'Content-Length: 1' $file http://a/
2|--header \$'A: b\r\nC: d' $file http://a/
7|--token-file $T/nowhere $file http://a/
7|--token-file $T/fifo $file http://a/
7|--token-file /dev/zero $file http://a/
7|$T/nowhere $url
ROWS

# --- headers and tokens ---
receiver_start
mode 200
forget
run push --header 'X-Scope-OrgID: team-a' --token-file "$T/token" "$file" "$url"
ok "a header is sent" grep -q '"X-Scope-OrgID": "team-a"' "$R/000.json"
ok "a token is sent" grep -q '"Authorization": "Bearer secret-token"' "$R/000.json"
ok "but not printed" not grep -q secret-token "$T/err"
forget
mode 307
run push --token-file "$T/token" "$file" "$url"
ok "a token is not printed in errors" not grep -q secret-token "$T/err"
run push --token-file "$T/token" "$file" http://receiver.invalid/
ok "a note says that a token is sent unencrypted" grep -q 'sent unencrypted' "$T/err"
receiver_kill

# --- TLS ---
if command -v openssl >/dev/null && openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost \
	-addext subjectAltName=DNS:localhost -keyout "$T/key" -out "$T/ca.pem" 2>/dev/null; then
	cat "$T/ca.pem" "$T/key" >"$T/certificate"
	receiver_start "$T/certificate"
	mode 200
	forget
	run push --ca-file "$T/ca.pem" "$file" "https://localhost:$PORT/ingest"
	is "TLS with a certificate that is trusted" "$status" 0 || diag_file "$T/err"
	ok "carries the profile" received "$file"
	forget
	run push "$file" "https://localhost:$PORT/ingest"
	is "a certificate that is not trusted is refused" "$status" 12
	ok "the error names the remedy" grep -q -- --ca-file "$T/err"
	run push --ca-file "$T/ca.pem" "$file" "https://127.0.0.1:$PORT/ingest"
	is "so is one of another name" "$status" 12
	ok "nothing has been sent to it" not requests 1
	receiver_kill
else
	skip "TLS" "no openssl"
fi
done_testing
