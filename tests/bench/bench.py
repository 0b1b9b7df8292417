#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make bench: the costs of jhot and async-profiler: one table, and a picture of their ratios.

  ASPROF=PATH      async-profiler's bin/asprof; without it only jhot is measured
  WORKLOADS=DIR    programs under load: h2.sh, lucene-bench.sh, ... (tests/bench/workload.sh)
  ROWS="attach walk"   only these rows of the table below; the output of a single row is shown as well
  QUICK=1          a short run of some minutes, to check that everything works, not for its figures
  OUT=DIR          the folder for benchmarks.md, .svg and .csv: by default doc for a complete run, else the build folder

A row is a command that prints lines "= WHAT | WHO | UNIT | LIMIT | VALUE...", a value per turn (figure in tests/bench/lib.sh),
and "! SENTENCE" for figures that it could not measure; its output is in bench-ROW.log. Its settings are variables that the
environment overrides. This script computes medians, their spread, and ratios of interleaved turns. The .csv has all figures; the
page and its picture have those of SUMMARY.
"""
import collections
import csv
import datetime
import io
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import threading

import plot

SRC, BUILD = os.environ["srcdir"], os.environ["builddir"]
QUICK = os.environ.get("QUICK") == "1"
JHOT, PEER, NOTHING = "jhot", "async-profiler", "nothing"

# limit_s: the time limit of the row. whole, quick: its settings; None for quick: skipped. needs: variables that it requires.
Row = collections.namedtuple("Row", "name command limit_s whole quick needs", defaults=((),))
ROWS = (
    Row("attach", "attach.sh", 900, {"TURNS": 20}, {"TURNS": 1}),
    Row("startup", "startup.sh", 900, {"TURNS": 15}, {"TURNS": 1}),
    Row("walk", "walk.sh", 1200, {"SECONDS_EACH": 10, "VMX": 1, "WORKLOADS": ""},
        {"SECONDS_EACH": 2, "ROUNDS": 1, "WARM": 1, "ONLY": "Compile|deep", "WORKLOADS": ""}),
    Row("walk-real", "walk.sh", 1200, {"SECONDS_EACH": 10, "WARM": 20, "VMX": 1, "ONLY": "h2|lucene|clojure|sunflow"}, None,
        ("WORKLOADS",)),
    Row("work", "work.sh", 7200, {"TURNS": 10, "LOADS": "100hz 1khz"},
        {"TURNS": 1, "LOADS": "100hz 1khz", "SECONDS_EACH": 1, "WARM": 2, "ONLY": "javac"}),
    Row("memory", "memory.sh", 1200, {"TURNS": 3, "SECONDS_EACH": 60}, {"TURNS": 1, "SECONDS_EACH": 5}),
    Row("live", "live.sh", 1800, {"SECONDS_EACH": 60}, {"SECONDS_EACH": 3, "STACKS": 1000}),
    Row("exports", "exports.sh", 900, {"TURNS": 3, "SECONDS_EACH": 5}, {"TURNS": 1, "SECONDS_EACH": 1, "FORMATS": "html jfr"}),
    Row("idle", "idle.sh", 300, {"SECONDS_EACH": 15}, {"SECONDS_EACH": 3}),
    Row("rates", "rates.sh", 2400, {"MAJORS": "17 21"}, None),
    Row("events", "events.sh", 900, {}, None),
    Row("screen", "screen.sh", 1200, {}, None),
    Row("day", os.path.join(BUILD, "tests", "bench", "bench_day"), 900, {}, None),
)


class Figure:
    """A quantity, with the values of each profiler, one per turn."""

    def __init__(self, row, what, unit):
        self.row, self.what, self.unit, self.limit, self.values = row, what, unit, None, {}

    def of(self, who):
        return self.values.get(who, [])

    def ratios(self):
        """Ratios of jhot to its peer: for each pair of turns, or of the medians."""
        ours, theirs = self.of(JHOT), self.of(PEER)
        if not ours or not theirs or min(ours + theirs) <= 0:
            return []
        if len(ours) == len(theirs):
            return [a / b for a, b in zip(ours, theirs)]
        return [statistics.median(ours) / statistics.median(theirs)]

    def is_over(self):
        return self.limit is not None and self.of(JHOT) and statistics.median(self.of(JHOT)) > self.limit


def spread(values):
    """The quartiles, or with few values the minimum and maximum."""
    if len(values) < 4:
        return min(values), max(values)
    quarters = statistics.quantiles(values, n=4, method="inclusive")
    return quarters[0], quarters[2]


def number(value):
    return "%d" % round(value) if abs(value) >= 1000 or value == round(value) else "%.3g" % value


def cell(values):
    if not values:
        return ""
    if len(values) == 1:
        return number(values[0])
    return "%s (%s to %s)" % (number(statistics.median(values)), *map(number, spread(values)))


# --- running ---------------------------------------------------------------------------------------------


def figures_of(row, lines):
    figures = {}
    for line in lines:
        if not line.startswith("= "):
            continue
        what, who, unit, limit, values = (part.strip() for part in line[2:].split("|"))
        figure = figures.setdefault(what, Figure(row.name, what, unit))
        figure.values.setdefault(who, []).extend(float(value) for value in values.split())
        if who == JHOT and re.match(r"[\d.]+$", limit):
            figure.limit = float(limit)
    return list(figures.values())


def ended(process, row):
    """The reason why it failed, or None. Ends all processes that it started."""
    try:
        status = process.wait(timeout=row.limit_s)
        return None if status == 0 else "ended with status %d: see bench-%s.log" % (status, row.name)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(timeout=30)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return "ended after its limit of %d s" % row.limit_s


def copied(process, log, lines, shown):
    for line in process.stdout:
        log.write(line)
        lines.append(line)
        if shown:
            sys.stdout.write(line)
            sys.stdout.flush()


def run(row, shown):
    """The row's figures, and notes on those that it lacks."""
    settings = row.quick if QUICK else row.whole
    if settings is None:
        return [], ["left out of a short run"]
    missing = [name for name in row.needs if not os.environ.get(name)]
    if missing:
        return [], ["not run: %s is not given" % name for name in missing]
    env = {**{name: str(value) for name, value in settings.items()}, **os.environ}
    if settings.get("WORKLOADS") == "":
        env["WORKLOADS"] = ""
    command = [row.command] if os.path.isabs(row.command) else ["bash", os.path.join(SRC, "tests", "bench", row.command)]
    lines = []
    with open(os.path.join(BUILD, "bench-%s.log" % row.name), "w", encoding="utf-8") as log:
        process = subprocess.Popen(command, env=env, cwd=BUILD, start_new_session=True, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        reader = threading.Thread(target=copied, args=(process, log, lines, shown))
        reader.start()
        try:
            why = ended(process, row)
        except KeyboardInterrupt:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait()
            raise
        reader.join(timeout=30)
    figures = figures_of(row, lines)
    notes = [line[2:].strip() for line in lines if line.startswith("! ")] + ([why] if why else [])
    return figures, notes if figures or notes else ["no figures: see bench-%s.log" % row.name]


# --- reporting -------------------------------------------------------------------------------------------

# The figures on the page, and their names there; "JDK N" matches any version.
SUMMARY = {
    "attach, cold: until it samples": "first attach, until the first sample",
    "attach, warm: until it samples": "later attach, until the first sample",
    "longest safepoint of a session": "longest safepoint of a session",
    "walk: Compile, JDK N, both to the root, mean": "stack walk, javac",
    "walk: h2, JDK N, both to the root, mean": "stack walk, H2",
    "walk: lucene-bench, JDK N, both to the root, mean": "stack walk, Lucene",
    "walk: clojure, JDK N, both to the root, mean": "stack walk, Clojure",
    "walk: shares, JDK N, both to the root, mean": "stack walk, a small loop",
    "walk: shares, JDK N, mean": "the same, async-profiler only up to the first Java frame",
    "broken stacks: h2, JDK N": "broken stacks, H2",
    "h2, 100 Hz, live: time of the work": "H2 with 100 samples per second, run time",
    "lucene-bench, 1 kHz, recording: time of the work": "Lucene with 1,000 samples per second, run time",
    "javac, 1 kHz, recording: CPU time of the JVM": "javac with 1,000 samples per second, CPU time",
    "the JVM's memory more than without, 60 s": "memory added to the JVM",
    "end of a recording to its .collapsed": "writing .collapsed",
    "end of a recording to its .jfr": "writing .jfr",
    "threads that start, JDK N: CPU of each": "starting threads, CPU time",
    "waits for a monitor, JDK N: CPU of each": "contended monitor, CPU time",
}
SIDES = (NOTHING, JHOT, PEER, "ratio")
CSV_COLUMNS = ("row", "what", "unit") + tuple(side + end for side in SIDES for end in ("", "_low", "_high")) + (
    "limit", "turns", "note")


def records(results):
    """A dict of texts per figure, with the columns of the .csv; a note has only some of them."""
    for row, figures, notes in results:
        for f in figures:
            record = {"row": row.name, "what": f.what, "unit": f.unit, "turns": str(max(map(len, f.values.values()))),
                      "limit": "" if f.limit is None else number(f.limit)}
            for side, values in zip(SIDES, (f.of(NOTHING), f.of(JHOT), f.of(PEER), f.ratios())):
                if values:
                    ends = (statistics.median(values), *spread(values))
                    record.update(zip((side, side + "_low", side + "_high"), map(number, ends)))
            yield record
        for note in notes:
            yield {"row": row.name, "note": note}


def csv_text(rows):
    out = io.StringIO()
    writer = csv.DictWriter(out, CSV_COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def spanned(record, side):
    if not record.get(side):
        return ""
    if record[side + "_low"] == record[side + "_high"]:
        return record[side]
    return "%s (%s to %s)" % (record[side], record[side + "_low"], record[side + "_high"])


def summarized(rows):
    """The records of SUMMARY with their names there, in its order."""
    found_rows = {re.sub(r"JDK \d+", "JDK N", record.get("what", "")): record for record in rows}
    return [(name, found_rows[what]) for what, name in SUMMARY.items() if what in found_rows]


def summary(rows):
    lines = ["| | unit | nothing attached | jhot | async-profiler | ratio |", "| --- | --- | --- | --- | --- | --- |"]
    for name, record in summarized(rows):
        unit = "of a run without" if record["unit"] == "of nothing's" else record["unit"]
        lines.append("| %s |" % " | ".join([name, unit] + [spanned(record, side) for side in SIDES]))
    return "\n".join(lines)


def picture(rows):
    return plot.ratios([(name, *(float(record["ratio" + end]) for end in ("", "_low", "_high")))
                        for name, record in summarized(rows) if record.get("ratio")])


COLUMNS = ("row", "what", "unit", NOTHING, JHOT, PEER, "jhot / peer", "limit", "turns")


def table(results):
    rows = [COLUMNS]
    for row, figures, notes in results:
        for i, f in enumerate(figures):
            limit = "" if f.limit is None else number(f.limit) + (" OVER" if f.is_over() else "")
            rows.append(("" if i else row.name, f.what, f.unit, cell(f.of(NOTHING)), cell(f.of(JHOT)), cell(f.of(PEER)),
                         cell(f.ratios()), limit, str(max(map(len, f.values.values())))))
        for note in notes:
            rows.append(("" if figures else row.name, note) + ("",) * (len(COLUMNS) - 2))
    widths = [max(len(row[i]) for row in rows) for i in range(len(COLUMNS))]
    lines = ["| " + " | ".join(text.ljust(width) for text, width in zip(row, widths)) + " |" for row in rows]
    lines.insert(1, "| " + " | ".join("-" * width for width in widths) + " |")
    return "\n".join(lines)


def output(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=SRC).stdout.strip()
    except OSError:
        return ""


def found(pattern, path):
    with open(path, encoding="utf-8", errors="replace") as file:
        match = re.search(pattern, file.read(), re.M)
    return match.group(1).strip() if match else "?"


def machine():
    """Facts about the environment, a line each."""
    java = subprocess.run([os.environ["JAVA"], "-version"], capture_output=True, text=True).stderr.split("\n")
    return (
        ("machine", "%d CPUs, %s, %.1f GB" % (os.cpu_count(), found(r"^model name\s*: (.*)", "/proc/cpuinfo"),
                                              int(found(r"^MemTotal:\s*(\d+)", "/proc/meminfo")) / 1e6)),
        ("system", "%s, Linux %s" % (found(r'^PRETTY_NAME="(.*)"', "/etc/os-release"), os.uname().release)),
        ("JVM", java[0].replace('"', "")),
        ("jhot", "%s, %s" % (output(os.path.join(BUILD, "jhot"), "--version").split("\n")[0], COMMIT)),
        (PEER, output(os.environ["ASPROF"], "--version") if os.environ.get("ASPROF") else "not run: ASPROF is not given"),
        ("date", datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")),
        ("load before", "%.2f" % LOAD),
    )


HEAD = """# Benchmarks

What jhot costs beside async-profiler. `make bench` writes this page, its picture and [benchmarks.csv](benchmarks.csv), which has
all figures; this page has a selection. Absolute values depend on the machine, ratios less so.

Values are medians, with quartiles in brackets (with fewer than four runs, the minimum and maximum). The profilers ran interleaved. A
ratio below 1 means that jhot costs less. A stack walk goes to the thread's outermost frame with both, unless stated otherwise.
"of a run without" is relative to the same program with nothing attached, so 1 is no cost.
%s
![jhot's figures as shares of async-profiler's](benchmarks.svg)

%s

%s

The scripts in `tests/bench` describe each row.
"""
SHORT = """
**This was a short run (`QUICK=1`) with one or two turns, perhaps on a busy machine: it shows only that everything works.**
"""


def write(folder, results):
    facts = "| | |\n| --- | --- |\n" + "\n".join("| %s | %s |" % fact for fact in machine())
    rows = list(records(results))
    for name, text in (("benchmarks.md", HEAD % (SHORT if QUICK else "", summary(rows), facts)),
                       ("benchmarks.csv", csv_text(rows)), ("benchmarks.svg", picture(rows))):
        path = os.path.join(folder, name)
        with open(path + ".part", "w", encoding="utf-8") as out:
            out.write(text)
        os.replace(path + ".part", path)


def chosen():
    names = os.environ.get("ROWS", "").split()
    wrong = [name for name in names if name not in [row.name for row in ROWS]]
    if wrong:
        sys.exit("ROWS: there is no %s; there are: %s" % (" ".join(wrong), " ".join(row.name for row in ROWS)))
    return [row for row in ROWS if not names or row.name in names]


def main():
    rows = chosen()
    whole = len(rows) == len(ROWS) and not QUICK
    folder = os.environ.get("OUT") or (os.path.join(SRC, "doc") if whole else BUILD)
    if os.environ.get("ASPROF") and not shutil.which(os.environ["ASPROF"]):
        sys.exit("ASPROF: %s is no program" % os.environ["ASPROF"])
    results = []
    for row in rows:
        began = datetime.datetime.now()
        print("%s ..." % row.name, file=sys.stderr, flush=True)
        figures, notes = run(row, len(rows) == 1)
        results.append((row, figures, notes))
        print("%s: %d figures after %d s %s" % (row.name, len(figures), (datetime.datetime.now() - began).seconds,
                                               "; ".join(notes)), file=sys.stderr, flush=True)
        write(folder, results)  # so that an interrupted run keeps its results
    print(table(results))
    print("\nwritten: %s, .csv and .svg" % os.path.join(folder, "benchmarks.md"))
    return any(not figures and "left out" not in notes[0] and "not given" not in notes[0] for _, figures, notes in results)


def commit():
    """The measured commit, as of the start of the run."""
    changed = ", with local changes" if output("git", "status", "--porcelain", "--untracked-files=no") else ""
    return (output("git", "log", "-1", "--format=commit %h of %cs") or "no commit") + changed


LOAD, COMMIT = os.getloadavg()[0], commit()
if __name__ == "__main__":
    sys.exit(main())
