#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Rates of true and false reports of `jhot diff` on a real JVM: how often it finds a method that became slower, and how often it
# reports a difference if nothing changed. Each recording is of a JVM of its own that serves the same requests, so that
# counts compare their cost; the kinds are interleaved, so that other load on the machine affects all alike.
#
#   usage: real_diff.sh     RUNS=5 a side  REQUESTS=4000 (a minute of CPU)  INTERVAL=10ms  SLOWER=10 %  SETS=20 comparisons
#           KINDS="forty twenty"  FILES=DIR: recordings are kept there, and existing ones are reused
. "$(dirname "$0")/../jvm/lib.sh"

RUNS=${RUNS:-5}
REQUESTS=${REQUESTS:-4000}
INTERVAL=${INTERVAL:-10ms}
SLOWER=${SLOWER:-10}
SETS=${SETS:-20}
KINDS=${KINDS:-forty twenty}
FILES=${FILES:-$T}
mkdir -p "$FILES"

# recorded NAME METHOD PERCENT: one JVM, one file
recorded() {
	[ ! -e "$FILES/$1.jhot" ] || return 0
	jvm_start -XX:CompileCommand=quiet -XX:CompileCommand=dontinline,Requests::work* Requests "$2" "$3" "$REQUESTS" || exit 1
	"$JHOT" record -i "$INTERVAL" -d 3600 -o "$FILES/$1.part.jhot" "$JVM" >/dev/null 2>"$T/err" </dev/null &
	local record=$!
	wait_for 60 sampling "$JVM" || { cat "$T/err" >&2; exit 1; }
	echo g >&"$JVM_IN"
	wait "$record"
	mv "$FILES/$1.part.jhot" "$FILES/$1.jhot" || { cat "$T/err" >&2; exit 1; }
	sed -n "s/^requests/$2/p" "$JVM_OUT" >>"$FILES/truth"
}

# Unchanged recordings are used on both sides of comparisons.
for ((i = 0; i < RUNS; i++)); do
	recorded "none-$((2 * i))" none 0
	for kind in $KINDS; do
		recorded "$kind-$i" "$kind" "$SLOWER"
	done
	recorded "none-$((2 * i + 1))" none 0
done

echo "$RUNS recordings a side of $REQUESTS requests, a sample per $INTERVAL of CPU time; the method does $SLOWER % more"
python3 - "$FILES" "$JHOT" "$RUNS" "$SETS" $KINDS <<'PYTHON'
import glob, json, random, statistics, subprocess, sys

folder, jhot, runs, sets, kinds = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5:]
files = {kind: sorted(glob.glob("%s/%s-*.jhot" % (folder, kind))) for kind in ["none"] + kinds}
needle = {"forty": "Requests.workForty", "twenty": "Requests.workTwenty"}
random.seed(1)


def compared(mode, a, b):
    out = subprocess.run([jhot, "diff", "--json", "--mode", mode] + a + ["--"] + b, capture_output=True, text=True)
    assert out.returncode == 0, out.stderr
    return json.loads(out.stdout)


def sure(diff):
    return {row["name"] for row in diff["methods"] if row["self"]["sure"] or row["total"]["sure"]}


costs = {}
for line in open(folder + "/truth"):
    kind, n, ns = line.split()
    costs.setdefault(kind, []).append(int(ns) / int(n) / 1e6)
base = statistics.median(costs["none"])
for kind, values in costs.items():
    print("%-6s a request took %.2f ms of CPU time (%+.1f %%) by the program's own clock; from one JVM to the next +-%.1f %%" %
          (kind, statistics.median(values), 100 * (statistics.median(values) / base - 1),
           100 * statistics.stdev(values) / statistics.mean(values)))
for mode in ("raw", "share"):
    alarms, noise, samples = 0, [], []
    for _ in range(sets):
        some = random.sample(files["none"], 2 * runs)
        diff = compared(mode, some[:runs], some[runs:])
        alarms += bool(sure(diff)) or diff["all"]["sure"]
        noise.append(diff["noise_pct"])
        samples.append(diff["all"]["a_samples"] / runs)
    print("%-5s unchanged: %d of %d comparisons report a difference; %.0f samples a recording, noise %.1f %%" %
          (mode, alarms, sets, statistics.median(samples), statistics.median(noise)))
    for kind in kinds:
        found, others, deltas = 0, 0, []
        for _ in range(sets):
            diff = compared(mode, random.sample(files["none"], runs), random.sample(files[kind], runs))
            row = next(r for r in diff["methods"] if r["name"] == needle[kind])
            found += row["self"]["sure"] and row["self"]["delta"] > 0
            others += bool([name for name in sure(diff) if ".work" in name and name != needle[kind]])
            deltas.append(100 * row["self"]["delta"] / row["self"]["a"])
        print("%-5s %s: found in %d of %d, measured %+.1f %%; %d also report another method" %
              (mode, needle[kind], found, sets, statistics.median(deltas), others))
PYTHON
