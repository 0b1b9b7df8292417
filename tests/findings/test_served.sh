#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `jhot why` measures the requests of a server that it knows: it names what makes some slow, is silent where they are meant to be, and
# leaves nothing in the JVM.
. "$(dirname "$0")/../jvm/lib.sh"

export XDG_CONFIG_HOME="$T/config"
mkdir -p "$T/config/jhot"

no_perf() {
	! grep -q perf_event "/proc/$1/maps"
}

# slow_request WORD...: the finding has all words
slow_request() {
	local word
	for word; do
		grep -q "^SLOW .*slow requests: .*$word" "$T/out" || return 1
	done
}

# judged KIND: runs jhot why of a server
judged() {
	jvm_start $CALM_JVM Served "$1" || return
	sleep 2
	run why "$JVM"
	becomes_quiet "$1: sampling ends" "$JVM"
	ok "$1: no memory of perf events remains" no_perf "$JVM"
	jvm_end
	is "$1: the JVM exits with 0" $? 0
	ok "$1: it has served requests without errors" grep -q '^requests [1-9][0-9]* slow' "$JVM_OUT"
	ok "$1: and reported none" not grep -q WRONG "$JVM_OUT"
	diag "$(sed -n 's/^requests/it served/p' "$JVM_OUT"); $(sed -n '1p;/^SLOW/p' "$T/out")"
}

judged lock
ok "lock: the finding names the method, the lock, its owner and what that does" \
	slow_request LinkHandler.handle 'waiting for the lock Served.Repo' 'held by flusher in Served.Repo.flush' || diag_file "$T/out"
judged peer
ok "peer: the finding names the peer, and where it is asked" slow_request LinkHandler.handle 'I/O: Served.ask: socket read 127.0.0.1:' ||
	diag_file "$T/out"
for kind in report poll even; do
	judged $kind
	ok "$kind: no finding about requests" not grep -q '^SLOW' "$T/out" || diag_file "$T/out"
done

# The settings add entry points.
echo 'requests = Called.handle' >"$T/config/jhot/config"
jvm_start $CALM_JVM Called pool || exit 1
run why -d 8 "$JVM"
ok "calls of methods that the settings file adds are measured, which takes 6 s more" grep -q ' 1[2-6] s: ' "$T/out" || diag_file "$T/out"
rm "$T/config/jhot/config"
run why -d 6 "$JVM"
ok "without it they are not measured" grep -q ' [5-8] s: ' "$T/out" || diag_file "$T/out"
jvm_end
is "the JVM exits with 0" $? 0
done_testing
