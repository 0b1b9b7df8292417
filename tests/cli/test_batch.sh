#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Screens without a terminal: top -b, --dump-screen and --json on a recording and on a JVM.
. "$(dirname "$0")/../jvm/lib.sh"

RECORDING=$srcdir/tests/recording/compile.jhot
export LC_ALL=C.UTF-8 XDG_CONFIG_HOME=$T/config TZ=UTC
unset LINES COLUMNS NO_COLOR

# run ARG...: runs jhot top; sets status; output and errors are in $T/out and $T/err
run() {
	"$JHOT" top "$@" >"$T/out" 2>"$T/err" </dev/null
	status=$?
}

run -b -n 2 --replay "$RECORDING"
is "top -b exits with 0" "$status" 0
is "top -b -n 2 prints two screens" "$(grep -c "^ jhot [0-9]" "$T/out")" 2
ok "top -b prints the methods" grep -q 'SELF%.*METHOD' "$T/out"
ok "top -b prints no escape sequence" sh -c "! grep -q '$(printf '\033')' '$T/out'"
ok "top -b prints no key line" sh -c "! grep -q 'q quit' '$T/out'"
cp "$T/out" "$T/first"
run -b -n 2 --replay "$RECORDING"
same "two replays of a recording print the same screens" "$T/out" "$T/first"
COLUMNS=60 run -b -n 1 --replay "$RECORDING"
ok "COLUMNS limits the width of top -b" [ "$(wc -L <"$T/out")" -le 60 ]
run -b -n 1 --ascii --replay "$RECORDING"
ok "--ascii prints only ASCII" sh -c "! LC_ALL=C grep -q '[^ -~]' '$T/out'"
LC_ALL=C run -b -n 1 --replay "$RECORDING"
ok "a locale without UTF-8 prints only ASCII" sh -c "! LC_ALL=C grep -q '[^ -~]' '$T/out'"
run -b -n 2 -d 3 --replay "$RECORDING"
is "-d 3 covers three recorded seconds per screen, so the recording has only one" "$(grep -c '^ jhot [0-9]' "$T/out")" 1
is "-d 3 marks the last screen as ENDED" "$(grep -c '^ jhot .* ENDED' "$T/out")" 1
run -b --replay "$RECORDING"
is "top -b without -n exits with 0 at the recording's end" "$status" 0
ok "top -b without -n marks the recording's end" grep -q 'ENDED\|is over' "$T/out"

run --dump-screen 80x24 --replay "$RECORDING"
is "--dump-screen exits with 0" "$status" 0
is "--dump-screen 80x24 prints one screen of 24 lines" "$(wc -l <"$T/out")" 24
ok "--dump-screen 80x24 prints at most 80 columns" [ "$(wc -L <"$T/out")" -le 80 ]
ok "--dump-screen prints the key line" grep -q 'q quit' "$T/out"
run --dump-screen 80x24 --keys T --replay "$RECORDING"
ok "--dump-screen --keys T prints the call tree" grep -q 'CALL TREE' "$T/out"
run --dump-screen 300x100 --keys f --replay "$RECORDING"
ok "--dump-screen 300x100 --keys f prints the flame graph" grep -q 'all 100%' "$T/out"
run --dump-screen 40x8 --replay "$RECORDING"
is "--dump-screen 40x8 prints 8 lines" "$(wc -l <"$T/out")" 8

run --json -n 2 --replay "$RECORDING"
is "--json has a list of findings in each object" \
	"$(python3 -c 'import json, sys; print([type(json.loads(l)["findings"]).__name__ for l in sys.stdin])' <"$T/out")" "['list', 'list']"
is "--json -n 2 prints two objects" "$(wc -l <"$T/out")" 2
ok "each JSON object has consistent samples, sorted methods and percentages that add up to 100" python3 - "$T/out" <<'END'
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

# The explained share of CPU time: this old recording lacks the JVM's CPU time; its copy has it, and 62 % of it is sampled.
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
is "explains_pct is null if the recording lacks the JVM's CPU time" "$(explains_pct)" None
run --dump-screen 160x24 --replay "$H2"
ok "the view of a recording without the JVM's CPU time has samples" grep -Eq '[0-9]{3} samples' "$T/out"
is "the view of a recording without the JVM's CPU time shows no explained share" "$(grep -c 'explains' "$T/out")" 0
run --json -n 1 -d 20 --replay "$T/explained.jhot"
is "explains_pct is the sampled share of the JVM's CPU time" "$(explains_pct)" 62
run --dump-screen 160x24 --replay "$T/explained.jhot"
ok "the header shows the explained share of the JVM's CPU time" grep -q 'explains 62% of CPU' "$T/out"

TERM=dumb script -qec "'$JHOT' top -n 1 -b --replay '$RECORDING'" /dev/null >"$T/out" 2>&1 </dev/null
ok "top -b on a dumb terminal prints screens" grep -q 'METHOD' "$T/out"
TERM=dumb timeout 20 script -qec "'$JHOT' --replay '$RECORDING'" /dev/null >"$T/out" 2>&1 </dev/null
ok "on a dumb terminal jhot says that TERM=dumb cannot move the cursor" grep -q 'TERM=dumb cannot move the cursor' "$T/out"
ok "on a dumb terminal jhot without -b prints screens" grep -q 'METHOD' "$T/out"

for wrong in '-n 0' '-n x' '-b -n 1 --dump-screen 80' '--dump-screen 80x24x' '--dump-screen 0x5' '--json --dump-screen 80x24' '-n 3'; do
	run $wrong --replay "$RECORDING"
	is "jhot top $wrong exits with 2" "$status" 2
done
run -b
is "top -b without a JVM exits with 2" "$status" 2
"$JHOT" top -b -n 1 --replay "$RECORDING" >/dev/full 2>"$T/err"
is "top -b to a full disk exits with 6" $? 6

# the settings file
mkdir -p "$T/config/jhot"
printf 'window = 1m\nnames = method\nkeys {\n\tquit = X\n}\n' >"$T/config/jhot/config"
run --dump-screen 80x24 --replay "$RECORDING"
ok "the settings file sets the window" grep -q 'window 1m' "$T/out"
ok "the key line shows a key from the settings file" grep -q 'X quit' "$T/out"
printf 'window = 1m\n\nkeys {\n\tquit = /\n}\n' >"$T/config/jhot/config"
run --dump-screen 80x24 --replay "$RECORDING"
is "a wrong settings file exits with 2" "$status" 2
ok "the error of a wrong settings file has the line" grep -q 'line 4' "$T/err"
ok "the error of a key that is set twice names both commands" sh -c "tr -s '\n ' ' ' <'$T/err' | grep -q 'key / of quit is also a key of find'"
rm "$T/config/jhot/config"
mkdir "$T/config/jhot/config"
run -b -n 1 --replay "$RECORDING"
is "a settings file that cannot be read exits with 7" "$status" 7
rmdir "$T/config/jhot/config"

ok "a JVM starts" jvm_start Known shares
run -b -n 2 -d 1 "$JVM"
is "top -b of a JVM exits with 0" "$status" 0
is "top -b -n 2 of a JVM prints two screens" "$(grep -c '^ jhot [0-9]' "$T/out")" 2
timeout 60 "$JHOT" top --dump-screen 80x24 "$JVM" >"$T/out" 2>"$T/err" </dev/null
is "top --dump-screen of a JVM exits with 0" $? 0
is "top --dump-screen 80x24 of a JVM prints one screen" "$(wc -l <"$T/out")" 24
# On a busy machine the JVM may not run for two seconds.
shows() {
	grep -q "$1" "$T/out" || { run -b -n 2 -d 1 "$JVM" && grep -q "$1" "$T/out"; }
}
ok "top -b of a JVM prints its hot method" wait_for 60 shows knownSixty
# The first output covers a whole interval.
run --json -n 1 -d 2 "$JVM"
ok "top --json -n 1 -d 2 covers two seconds and has samples" python3 -c "
import json; d = json.load(open('$T/out')); exit(d['window_s'] < 2 or d['events'][0]['samples'] < 1)"
"$JHOT" top -b -d 1 "$JVM" >"$T/until" 2>"$T/err" &
batch=$!
wait_for 20 grep -qs knownSixty "$T/until"
kill -INT $batch 2>/dev/null || kill -TERM $batch
wait $batch
is "top -b exits with 0 on Ctrl-C" $? 0
ok "sampling ends when top -b ends" wait_for 20 quiet "$JVM"
"$JHOT" status "$JVM" >"$T/out"
ok "jhot status says that the JVM is not being profiled" grep -q 'not being profiled' "$T/out"
jvm_end
done_testing
