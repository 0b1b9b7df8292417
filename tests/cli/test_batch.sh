#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Screens without a terminal: of a recording, as text and as JSON, and of a JVM.
. "$(dirname "$0")/../jvm/lib.sh"

RECORDING=$srcdir/tests/recording/compile.jhot
export LC_ALL=C.UTF-8 XDG_CONFIG_HOME=$T/config TZ=UTC
unset LINES COLUMNS NO_COLOR

# run ARG...: status, output and errors
run() {
	"$JHOT" top "$@" >"$T/out" 2>"$T/err" </dev/null
	status=$?
}

run -b -n 2 --replay "$RECORDING"
is "-b: exit 0" "$status" 0
is "-n 2: two screens" "$(grep -c "^ jhot [0-9]" "$T/out")" 2
ok "with methods" grep -q 'SELF%.*METHOD' "$T/out"
ok "no escape sequence in them" sh -c "! grep -q '$(printf '\033')' '$T/out'"
ok "no key line" sh -c "! grep -q 'q quit' '$T/out'"
cp "$T/out" "$T/first"
run -b -n 2 --replay "$RECORDING"
same "the same recording gives the same screens" "$T/out" "$T/first"
COLUMNS=60 run -b -n 1 --replay "$RECORDING"
ok "COLUMNS is heeded" [ "$(wc -L <"$T/out")" -le 60 ]
run -b -n 1 --ascii --replay "$RECORDING"
ok "--ascii is" sh -c "! LC_ALL=C grep -q '[^ -~]' '$T/out'"
LC_ALL=C run -b -n 1 --replay "$RECORDING"
ok "and a locale without UTF-8" sh -c "! LC_ALL=C grep -q '[^ -~]' '$T/out'"
run -b -n 2 -d 3 --replay "$RECORDING"
is "-d 3: three recorded seconds each, and there are no more" "$(grep -c '^ jhot [0-9]' "$T/out")" 1
is "which is where the recording ends" "$(grep -c '^ jhot .* ENDED' "$T/out")" 1
run -b --replay "$RECORDING"
is "without -n: to the end of the recording" "$status" 0
ok "which is said" grep -q 'ENDED\|is over' "$T/out"

run --dump-screen 80x24 --replay "$RECORDING"
is "--dump-screen: exit 0" "$status" 0
is "one screen of 24 lines" "$(wc -l <"$T/out")" 24
ok "of 80 columns" [ "$(wc -L <"$T/out")" -le 80 ]
ok "whole, with its key line" grep -q 'q quit' "$T/out"
run --dump-screen 80x24 --keys T --replay "$RECORDING"
ok "--keys: another view" grep -q 'CALL TREE' "$T/out"
run --dump-screen 300x100 --keys f --replay "$RECORDING"
ok "the flame graph, large" grep -q 'all 100%' "$T/out"
run --dump-screen 40x8 --replay "$RECORDING"
is "the smallest" "$(wc -l <"$T/out")" 8

run --json -n 2 --replay "$RECORDING"
is "--json: what is wrong is in each, if only as an empty list" \
	"$(python3 -c 'import json, sys; print([type(json.loads(l)["findings"]).__name__ for l in sys.stdin])' <"$T/out")" "['list', 'list']"
is "--json: an object per screen" "$(wc -l <"$T/out")" 2
ok "each is JSON that adds up" python3 - "$T/out" <<'END'
import json, sys
for line in open(sys.argv[1]):
    o = json.loads(line)
    event = o["events"][0]
    assert event["event"] == "cpu" and o["pid"] > 0 and o["window_s"] > 0
    assert sum(m["self_samples"] for m in event["methods"]) == event["samples"] > 0
    assert all(m["self"] <= m["total"] for m in event["methods"])
    selfs = [m["self"] for m in event["methods"]]
    assert selfs == sorted(selfs, reverse=True)
    assert abs(sum(m["self_pct"] for m in event["methods"]) - 100) < 0.1
END

# What cpu explains: this old recording does not say what the JVM used; its copy does, and 62 % of it is sampled.
# explains_pct: of the first screen's cpu event
explains_pct() {
	python3 -c 'import json, sys; print(json.loads(sys.stdin.readline())["events"][0]["explains_pct"])' <"$T/out"
}
H2=$srcdir/tests/tui/h2.jhot
python3 - "$H2" "$T/explained.jhot" <<'END'
import struct, sys, zlib
old = zlib.decompress(open(sys.argv[1], "rb").read(), 31)
new, at = bytearray(old[:16]), 16
SAMPLES, PROCESS = 9, 10

def number(data, i):
    value = shift = 0
    while True:
        value |= (data[i] & 127) << shift
        shift += 7
        i += 1
        if not data[i - 1] & 128:
            return value, i

while at < len(old):
    size, kind = struct.unpack_from("<II", old, at)
    new += old[at:at + 8 + size]
    body, weight = old[at + 8:at + 8 + size], 0
    at += 8 + size
    if kind != SAMPLES:
        continue
    event, i = number(body, 0)
    while i < len(body):
        for field in range(5):
            value, i = number(body, i)
        weight += value
    used, text = round(weight / 0.62), bytearray()
    while used > 127:
        text.append(used & 127 | 128)
        used >>= 7
    text.append(used)
    new += struct.pack("<II", len(text), PROCESS) + text
open(sys.argv[2], "wb").write(new)
END
run --json -n 1 -d 20 --replay "$H2"
is "a recording that does not say what the JVM used: what is explained is not known" "$(explains_pct)" None
run --dump-screen 160x24 --replay "$H2"
ok "of which there are samples" grep -Eq '[0-9]{3} samples' "$T/out"
is "nor told of" "$(grep -c 'explains' "$T/out")" 0
run --json -n 1 -d 20 --replay "$T/explained.jhot"
is "one that does: explains_pct" "$(explains_pct)" 62
run --dump-screen 160x24 --replay "$T/explained.jhot"
ok "and the header" grep -q 'explains 62% of CPU' "$T/out"

TERM=dumb script -qec "'$JHOT' top -n 1 -b --replay '$RECORDING'" /dev/null >"$T/out" 2>&1 </dev/null
ok "a dumb terminal gets screens" grep -q 'METHOD' "$T/out"
TERM=dumb timeout 20 script -qec "'$JHOT' --replay '$RECORDING'" /dev/null >"$T/out" 2>&1 </dev/null
ok "also without -b, and is told why" grep -q 'TERM=dumb cannot move the cursor' "$T/out"
ok "with the screens" grep -q 'METHOD' "$T/out"

for wrong in '-n 0' '-n x' '-b -n 1 --dump-screen 80' '--dump-screen 80x24x' '--dump-screen 0x5' '--json --dump-screen 80x24' '-n 3'; do
	run $wrong --replay "$RECORDING"
	is "jhot top $wrong: exit 2" "$status" 2
done
run -b
is "-b needs a JVM: exit 2" "$status" 2
"$JHOT" top -b -n 1 --replay "$RECORDING" >/dev/full 2>"$T/err"
is "a full disk: exit 6" $? 6

# the settings file
mkdir -p "$T/config/jhot"
printf 'window = 1m\nnames = method\nkeys {\n\tquit = X\n}\n' >"$T/config/jhot/config"
run --dump-screen 80x24 --replay "$RECORDING"
ok "settings are read" grep -q 'window 1m' "$T/out"
ok "keys are shown as they are set" grep -q 'X quit' "$T/out"
printf 'window = 1m\n\nkeys {\n\tquit = /\n}\n' >"$T/config/jhot/config"
run --dump-screen 80x24 --replay "$RECORDING"
is "settings that are wrong: exit 2" "$status" 2
ok "with the line" grep -q 'line 4' "$T/err"
ok "and the two commands" sh -c "tr -s '\n ' ' ' <'$T/err' | grep -q 'key / of quit is also a key of find'"
rm "$T/config/jhot/config"
mkdir "$T/config/jhot/config"
run -b -n 1 --replay "$RECORDING"
is "settings that cannot be read: exit 7" "$status" 7
rmdir "$T/config/jhot/config"

ok "a JVM" jvm_start Known shares
run -b -n 2 -d 1 "$JVM"
is "-b of a JVM: exit 0" "$status" 0
is "two screens" "$(grep -c '^ jhot [0-9]' "$T/out")" 2
timeout 60 "$JHOT" top --dump-screen 80x24 "$JVM" >"$T/out" 2>"$T/err" </dev/null
is "--dump-screen of a JVM ends by itself" $? 0
is "with one screen" "$(wc -l <"$T/out")" 24
# A machine that is busy may not let the JVM run for two seconds.
shows() {
	grep -q "$1" "$T/out" || { run -b -n 2 -d 1 "$JVM" && grep -q "$1" "$T/out"; }
}
ok "with its methods" wait_for 60 shows knownSixty
# The first output covers a whole interval.
run --json -n 1 -d 2 "$JVM"
ok "--json -n 1: samples of two seconds" python3 -c "
import json; d = json.load(open('$T/out')); exit(d['window_s'] < 2 or d['events'][0]['samples'] < 1)"
"$JHOT" top -b -d 1 "$JVM" >"$T/until" 2>"$T/err" &
batch=$!
wait_for 20 grep -qs knownSixty "$T/until"
kill -INT $batch 2>/dev/null || kill -TERM $batch
wait $batch
is "Ctrl-C ends it in order" $? 0
ok "and the JVM is let go" wait_for 20 quiet "$JVM"
"$JHOT" status "$JVM" >"$T/out"
ok "which status says" grep -q 'not being profiled' "$T/out"
jvm_end
done_testing
