# SPDX-License-Identifier: Apache-2.0
# For tests that push: a receiver that misbehaves on request. Sourced by bash after tests/jvm/lib.sh.

PUSH=$srcdir/tests/push
R=$T/receiver
mkdir "$R"
export JHOT PYTHONDONTWRITEBYTECODE=1
command -v python3 >/dev/null || skip_all "no python3, in which the receiver is written"
"$JHOT" push "$T/none" http://127.0.0.1:1/ 2>"$T/err"
if grep -q libcurl "$T/err"; then
	ok "without libcurl, the error says what to install" grep -q 'libcurl4' "$T/err"
	skip "everything else" "this jhot cannot load libcurl"
	done_testing
fi

# receiver_start [CERTIFICATE]: on the port of the previous one, if there was one. Sets RECEIVER, PORT.
receiver_start() {
	local port=0
	[ ! -e "$R/port" ] || port=$(cat "$R/port")
	rm -f "$R/port"
	[ -e "$R/mode" ] || mode 200
	python3 "$PUSH/receiver.py" "$R" "$port" "$@" 2>"$T/receiver.err" &
	RECEIVER=$!
	wait_for 20 [ -s "$R/port" ] || diag_file "$T/receiver.err"
	PORT=$(cat "$R/port")
}

receiver_kill() {
	{
		kill -KILL "$RECEIVER"
		wait "$RECEIVER"
	} 2>/dev/null
}

# mode WORD...: what the receiver does with further requests
mode() {
	echo "$*" >"$R/mode.part"
	mv "$R/mode.part" "$R/mode"
}

# requests N: it has had at least N, whatever it did with them
requests() {
	[ "$(cat "$R/log" 2>/dev/null | wc -l)" -ge "$1" ]
}

# accepted N: it has accepted at least N
accepted() {
	[ "$(find "$R" -name '*.json' | wc -l)" -ge "$1" ]
}

forget() {
	rm -f "$R"/*.json "$R"/*.body "$R/log"
}

# received FILE...: what it has accepted is what these files contain, in their order
received() {
	python3 "$PUSH/received.py" "$R" "$@" 2>&1 | sed 's/^[^#]/# &/'
	return "${PIPESTATUS[0]}"
}
