#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make bench-latency: what `jhot slow` reports of programs that time their own calls (latency/Timed.java).

  MAJORS="8 17 21 25"  JDKs                  ONLY="d20 gcmiddle"  these families, or rows such as gcmiddle-G1
  DURATION=10          seconds of jhot slow; families with long calls get a multiple

A row per family and JDK. Pairs are true/reported. The columns:

  calls/s          with the reported standard error; ! if the difference exceeds 3 standard errors and one call, unless fewer are
                   reported as a lower bound
  p50 .. max       ms. + within tolerance (5 %, at least one interval) of the true percentile, or of a value between the calls
                   one rank below and above it; ! outside; ? reported as unknown. Without a mark: the true value is below 4
                   intervals, too short to be judged
  merged .. extra  reported calls that span several true ones; additional reports of one true call; true calls of 4 intervals
                   and more that are not reported (not counted where a random subset of the virtual threads is polled); reported calls where
                   no true one is
  slow ok          calls listed as slowest whose duration is within tolerance
  off              the largest difference between true and reported shares of a state, all calls, in percentage points
  slowest 1 %      the state that makes them slow; ! if another state leads in the report. Not judged (-) if the true p99 is below 4
                   intervals or the planned cause did not take effect
"""
import bisect
import collections
import glob
import json
import os
import subprocess
import sys
import tempfile
import time

JDKS = os.environ.get("JDKS") or os.path.expanduser("~/.cache/jhot/jdks")
MAJORS = os.environ.get("MAJORS", "8 17 21 25").split()
DURATION = int(os.environ.get("DURATION", "10"))
WARM_S = 3
PATIENCE_S = 60  # for jhot, beyond its duration
NS = 1000000
PERCENTILES = {"p50": 500, "p90": 900, "p99": 990, "max": 1000}  # per mille
SHORTEST = 4  # intervals, of a value that is judged
TIE = 0.1  # of the time

COLLECTORS = {"Serial": "-XX:+UseSerialGC", "Parallel": "-XX:+UseParallelGC", "G1": "-XX:+UseG1GC",
              "Z": "-XX:+UnlockExperimentalVMOptions -XX:+UseZGC",
              "Shenandoah": "-XX:+UnlockExperimentalVMOptions -XX:+UseShenandoahGC"}
SINCE = {name: 21 for name in ("virtual", "virtualspin", "virtualpark", "virtualmany", "virtualeach")}
LONGER = {"d1000": 3, "d5000": 6, "osr": 2, "manythreads": 2, "virtualmany": 2}  # multiples of DURATION
# Sleep of a virtual thread is a park.
SAME = {**{(name, "sleep"): ("sleep", "park") for name in SINCE if name != "virtualpark"}, ("slowgc", "gc"): ("safepoint",)}
ROWS = {name: (name, "") for name in """d002 d02 d1 d5 d20 d100 d1000 d5000 bimodal backtoback20 backtoback100 equalpool recursion
    exceptions interpreted c1 osr fresh inlined virtual virtualspin virtualpark virtualmany virtualeach threadeach slowspin slowsleep slowwait slowpark slowmonitor slowlock slowsocket slowfile
    slowgc slowcpu manythreads""".split()}
# Compiles after some 20 calls: a service that has run for hours has compiled what it calls 20 times per second.
WARM = "-XX:Tier3InvocationThreshold=20 -XX:Tier3MinInvocationThreshold=10 -XX:Tier3CompileThreshold=20 -XX:Tier0InvokeNotifyFreqLog=2"
ROWS = {name: (name, WARM) for name in ROWS}
ROWS["fresh"] = ("fresh", "")
ROWS["cold"] = ("d20", "")
ROWS["interpreted"] = ("interpreted", "-Xint")
ROWS["c1"] = ("c1", WARM + " -XX:TieredStopAtLevel=1")
ROWS["slowgc"] = ("slowgc", WARM + " -XX:+UseSerialGC -Xmn20m")
ROWS.update({"gcmiddle-" + name: ("gcmiddle", WARM + " -Xmx48m -Xmn8m " + option) for name, option in COLLECTORS.items()})


class Program:
    """A family of Timed.java in a JVM of its own, which ends with its input."""

    def __init__(self, major, classes, family, options):
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [JDKS + "/" + major + "/bin/java", "-XX:+IgnoreUnrecognizedVMOptions", "-Xmx256m", *options, "-cp", classes, "Timed",
             family], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True)
        self.pid = str(self.process.pid)
        if self.process.stdout.readline() != "ready\n":
            self.fail()

    def ask(self, command, from_ns, to_ns):
        self.process.stdin.write("%s %d %d\n" % (command, from_ns, to_ns))
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        return json.loads(line) if line else self.fail()

    def fail(self):
        """Raises an error with the last message on stderr, without its stack."""
        self.close()
        self.errors.seek(0)
        said = [line.strip() for line in self.errors if line[0] not in "\t\n"]
        raise RuntimeError("the program ended with status %d: %s" % (self.process.returncode, said[-1] if said else "no message"))

    def close(self):
        """Ends the program with its input, or kills it after a second."""
        try:
            self.process.communicate(timeout=1)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()


def supports(major, options):
    """True if this JDK is there and accepts the options: Program would ignore an unrecognized collector."""
    if not os.path.exists(JDKS + "/" + major):
        return False
    return subprocess.run([JDKS + "/" + major + "/bin/java", *options, "-version"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False).returncode == 0


def slow(jhot, pid, seconds):
    """The report of `jhot slow`."""
    run = subprocess.run([jhot, "slow", "-d", str(seconds), "--json", "--calls", "Timed.handle", pid], text=True,
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=seconds + PATIENCE_S,
                         check=False)
    if run.returncode or not run.stdout:
        raise RuntimeError((run.stderr.strip() or "jhot slow printed nothing").split("\n")[0])
    return json.loads(run.stdout)


def is_within(true, reported, interval):
    return abs(reported - true) <= max(0.05 * true, interval)


def neighbours(durations, permille):
    """The values one rank below and above a percentile of sorted values; the maximum itself."""
    rank = -(-len(durations) * permille // 1000)
    return durations[max(rank - 2, 0) if permille < 1000 else -1], durations[min(rank, len(durations) - 1)]


def percentiles(report, truth, calls):
    """Per percentile: true and reported value in ms, and the mark of its cell."""
    durations = sorted(call[2] / NS for call in calls if report["from_ns"] <= call[1] <= report["to_ns"])
    cells, interval = [], report["interval_ms"]
    for name, permille in PERCENTILES.items():
        true, reported, mark = truth[name], report.get(name + "_ms"), ""
        true = true / NS if true is not None else None
        if true is not None and true >= SHORTEST * interval:
            low, high = neighbours(durations, permille)
            mark = "?" if reported is None else "+" if is_within(min(max(reported, low), high), reported, interval) else "!"
        cells.append((true, reported, mark))
    return cells


def rate(report, truth):
    """True and reported calls per second, standard error, and the mark."""
    seconds = (report["to_ns"] - report["from_ns"]) / 1e9
    calls, error = report.get("calls"), report.get("calls_error") or 0
    bound = report.get("calls_at_least") and calls < truth["count"]
    mark = "?" if calls is None else "+" if bound or abs(calls - truth["count"]) <= 3 * error + 1 else "!"
    return truth["count"] / seconds, None if calls is None else calls / seconds, error / seconds, mark


class Lists:
    """True calls by thread, in their order: [(begin, end), ...]."""

    def __init__(self, calls):
        self.threads = collections.defaultdict(list)
        for thread, begin, duration in calls:
            self.threads[thread].append((begin, begin + duration))
        for of_thread in self.threads.values():
            of_thread.sort()

    def overlapping(self, thread, begin, end):
        of_thread = self.threads.get(thread, [])
        first = bisect.bisect_right(of_thread, (begin, 0))
        first -= first > 0 and of_thread[first - 1][1] > begin
        until = bisect.bisect_left(of_thread, (end, 0))
        return of_thread[first:until]


def span(call):
    return call["thread"], call["begin_ns"], call["begin_ns"] + int(call["duration_ms"] * NS)


def faults(report, calls):
    """Counts of merged, split, missed and extra calls. None if the report lists no thread of the program.

    Each end of a reported call has an error of up to an interval. A reported call is merged if it contains the end of a true call
    and the begin of the next after an interval is cut off at each end. A true call is split if, after the same cut, it contains
    the middles of several reported calls; it is missed if no reported call overlaps it for more than an interval.
    """
    reported, true = [span(call) for call in report.get("every") or report.get("slowest") or []], Lists(calls)
    if not any(thread in true.threads for thread, _, _ in reported):
        return None
    interval = int(report["interval_ms"] * NS)
    found, middles, count = set(), collections.Counter(), collections.Counter()
    for thread, begin, end in reported:
        within = true.overlapping(thread, begin, end)
        count["extra"] += not within
        found.update((thread, *call) for call in within if min(end, call[1]) - max(begin, call[0]) > interval)
        low, high, middle = begin + interval, end - interval, (begin + end) // 2
        count["merged"] += any(low < a[1] and b[0] < high for a, b in zip(within, within[1:]))
        middles.update((thread, *call) for call in within if call[0] + interval < middle < call[1] - interval)
    count["split"] = sum(times - 1 for times in middles.values())
    if report.get("every") is not None and all(call.get("represents", 1) == 1 for call in report["every"]):
        count["missed"] = sum(
            (thread, begin, end) not in found for thread, of_thread in true.threads.items() for begin, end in of_thread
            if begin > report["from_ns"] and end < report["to_ns"] and end - begin >= SHORTEST * interval)
    return {key: count[key] for key in ("merged", "split", "missed", "extra")}


def slowest(report, calls):
    """How many of the calls listed as slowest are complete, and how many of these have a duration within tolerance."""
    true, right, complete = Lists(calls), 0, 0
    for call in report.get("slowest") or []:
        if not call.get("complete", True):
            continue
        thread, begin, end = span(call)
        longest = max((b - a for a, b in true.overlapping(thread, begin, end)), default=None)
        complete += 1
        right += longest is not None and is_within(longest / NS, call["duration_ms"], report["interval_ms"])
    return right, complete


def leading(shares):
    return max(shares, key=lambda state: shares[state] or 0) if shares else None


def cause(family, report, truth):
    """The true cause of the slowest 1 %, the reported one, and the mark. States with almost equal shares are equally right."""
    true, reported = truth["cause"], leading((report.get("states") or {}).get("slowest"))
    shares = truth["states"]["slowest"]
    right = [state for state in shares if shares[state] > max(shares.values()) - TIE]
    if true not in right or (truth["p99"] or 0) < SHORTEST * report["interval_ms"] * NS:
        return true, reported, "-"
    right += [alias for state in right for alias in SAME.get((family, state), ())]
    return true, reported, "?" if reported is None else "+" if reported in right else "!"


def states_off(family, report, truth):
    shares = dict((report.get("states") or {}).get("all") or {})
    if not shares:
        return None
    for (of_family, true), same in SAME.items():
        if of_family == family:
            shares[true] = sum(shares.pop(state, 0) or 0 for state in same)
    return 100 * max(abs(share - (shares.get(state) or 0)) for state, share in truth["states"]["all"].items())


def compare(family, report, truth, calls):
    return {"rate": rate(report, truth), "percentiles": percentiles(report, truth, calls), "faults": faults(report, calls),
            "slowest": slowest(report, calls), "off": states_off(family, report, truth), "cause": cause(family, report, truth),
            "notes": report.get("notes") or []}


def observe(jhot, major, classes, row):
    family, options = ROWS[row]
    program = Program(major, classes, family, options.split())
    try:
        time.sleep(WARM_S)
        report = slow(jhot, program.pid, DURATION * LONGER.get(row, 1))
        truth = program.ask("window", report["from_ns"], report["to_ns"])
        if truth["overrun"]:
            raise RuntimeError("the program's log is too short for this duration")
        return compare(family, report, truth, program.ask("calls", report["from_ns"], report["to_ns"])["calls"])
    finally:
        program.close()


def figure(value):
    return "?" if value is None else "%.0f" % value if value >= 1000 else "%.3g" % value


HEADING = ("%-19s %3s %24s" + " %15s" * 4 + "  %6s %5s %6s %5s %7s %4s  %s") % (
    "family", "JDK", "calls/s", "p50 ms", "p90 ms", "p99 ms", "max ms", "merged", "split", "missed", "extra", "slow ok", "off",
    "slowest 1 %")


def line(row, major, result):
    true, reported, error, mark = result["rate"]
    text = "%-19s %3s %24s" % (row, major, "%s/%s +-%s%s" % (figure(true), figure(reported), figure(error), mark))
    for true, reported, mark in result["percentiles"]:
        text += " %15s" % ("%s/%s%s" % (figure(true), figure(reported), mark or " "))
    counts = list(result["faults"].values()) if result["faults"] else ["-"] * 4
    off = "-" if result["off"] is None else "%.0f" % result["off"]
    return text + "  %6s %5s %6s %5s %7s %4s  %s/%s%s" % (*counts, "%d/%d" % result["slowest"], off, *result["cause"])


def summary(results, failed):
    """What is within tolerance, outside, and unknown, of all rows."""
    marks = {"percentiles": [cell[2] for result in results for cell in result["percentiles"]],
             "rates": [result["rate"][3] for result in results], "causes": [result["cause"][2] for result in results]}
    parts = ["%s: %d within, %d outside, %d unknown" % (what, of.count("+"), of.count("!"), of.count("?"))
             for what, of in marks.items()]
    sums = collections.Counter()
    for result in results:
        sums.update(result["faults"] or {})
    parts.append("calls: " + ", ".join("%d %s" % (sums[key], key) for key in ("merged", "split", "missed", "extra")))
    return "; ".join(parts + ["%d rows without a result" % failed])


def main():
    source, build, javac = sys.argv[1:4]
    only = os.environ.get("ONLY", "").split()
    results, notes, failed = [], [], 0
    print(HEADING)
    with tempfile.TemporaryDirectory() as classes:
        subprocess.run([javac, "-nowarn", "-Xlint:-options", "--release", "8", "-d", classes,
                        *glob.glob(source + "/tests/bench/latency/*.java")], check=True)
        for row in [row for row in ROWS if not only or row in only or ROWS[row][0] in only]:
            for major in MAJORS:
                if int(major) < SINCE.get(row, 8) or not supports(major, ROWS[row][1].split()):
                    continue
                try:
                    result = observe(build + "/jhot", major, classes, row)
                except (RuntimeError, ValueError, KeyError, OSError, subprocess.TimeoutExpired) as error:
                    failed += 1
                    print("%-19s %3s - %s" % (row, major, error), flush=True)
                    continue
                results.append(result)
                notes += ["%s on JDK %s: %s" % (row, major, note) for note in result["notes"]]
                print(line(row, major, result), flush=True)
    print("".join("\n" + note for note in notes) + "\n" + summary(results, failed))


if __name__ == "__main__":
    main()
