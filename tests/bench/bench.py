#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make bench: what jhot costs, beside async-profiler: one table, and a picture of how the two are to each other.

  ASPROF=PATH      async-profiler's bin/asprof; without it there is nothing beside
  WORKLOADS=DIR    programs under load: h2.sh, lucene-bench.sh, ... (tests/bench/workload.sh)
  ROWS="attach walk"   of the table below, these; what one that is asked for alone prints is shown, too
  QUICK=1          a short run of some minutes: to see that all of it works, not for its figures
  OUT=DIR          where benchmarks.md and .svg go: doc of the source for a whole run, else the folder of the build

A row is a command that prints lines "= WHAT | WHO | UNIT | LIMIT | VALUE...", a value per turn (figure in tests/bench/lib.sh),
and "! SENTENCE" for what it could not do; all that it prints is in bench-ROW.log. Its settings are variables that the
environment overrides. Here medians are made of that, how far they spread, and the ratio of those who took turns.
"""
import collections
import datetime
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

# limit_s: it is ended then. whole, quick: its settings; None for quick: left out. needs: variables without which it cannot run.
Row = collections.namedtuple("Row", "name command limit_s whole quick needs", defaults=((),))
ROWS = (
    Row("attach", "attach.sh", 900, {"TURNS": 20}, {"TURNS": 1}),
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
    """What several have been measured by: the values of each, one per turn."""

    def __init__(self, row, what, unit):
        self.row, self.what, self.unit, self.limit, self.values = row, what, unit, None, {}

    def of(self, who):
        return self.values.get(who, [])

    def ratios(self):
        """jhot's to its peer's: of each pair of turns, else of the medians."""
        ours, theirs = self.of(JHOT), self.of(PEER)
        if not ours or not theirs or min(ours + theirs) <= 0:
            return []
        if len(ours) == len(theirs):
            return [a / b for a, b in zip(ours, theirs)]
        return [statistics.median(ours) / statistics.median(theirs)]

    def is_over(self):
        return self.limit is not None and self.of(JHOT) and statistics.median(self.of(JHOT)) > self.limit


def spread(values):
    """Least and most; the quartiles, where there are enough."""
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
    """Why it did not end well, or None. What it started ends with it."""
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
    """Its figures, and sentences about what there is none of."""
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


# --- telling ---------------------------------------------------------------------------------------------

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
    """Where it was measured, a line each."""
    java = subprocess.run([os.environ["JAVA"], "-version"], capture_output=True, text=True).stderr.split("\n")
    return (
        ("machine", "%d CPUs, %s, %.1f GB" % (os.cpu_count(), found(r"^model name\s*: (.*)", "/proc/cpuinfo"),
                                              int(found(r"^MemTotal:\s*(\d+)", "/proc/meminfo")) / 1e6)),
        ("system", "%s, Linux %s" % (found(r'^PRETTY_NAME="(.*)"', "/etc/os-release"), os.uname().release)),
        ("JVM", java[0].replace('"', "")),
        ("jhot", "%s, %s" % (output(os.path.join(BUILD, "jhot"), "--version").split("\n")[0],
                             output("git", "log", "-1", "--format=commit %h of %cs") or "no commit")),
        (PEER, output(os.environ["ASPROF"], "--version") if os.environ.get("ASPROF") else "not run: ASPROF is not given"),
        ("date", datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")),
        ("load before", "%.2f" % LOAD),
    )


HEAD = """# Benchmarks

What jhot costs, beside async-profiler, on one machine: the last run of `make bench`, which writes this page. Figures of
others are worth what their machine was; ratios carry further. Each value is a median, in brackets the quartiles (of less than
four turns the least and the most). Who is compared took turns. "of nothing's" is a share of what the same program takes with
nothing attached: 1 is no cost. A ratio below 1 means that jhot takes less. What each row does stands on top of its script in
`tests/bench`; [decisions](decisions.md) has the figures that decided something.
%s
![jhot's figures as shares of async-profiler's](benchmarks.svg)

%s

%s
"""
SHORT = """
**This was a short run (`QUICK=1`), perhaps on a machine that did other work: it shows that all of it works. Its figures are of one turn or two.**
"""


def write(folder, results):
    facts = "| | |\n| --- | --- |\n" + "\n".join("| %s | %s |" % fact for fact in machine())
    compared = [(f.what, statistics.median(r), *spread(r)) for _, figures, _ in results for f in figures
                for r in [f.ratios()] if r]
    for name, text in (("benchmarks.md", HEAD % (SHORT if QUICK else "", facts, table(results))),
                       ("benchmarks.svg", plot.ratios(compared))):
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
        write(folder, results)  # a run that is ended has what it has
    print(table(results))
    print("\nwritten: %s, benchmarks.svg" % os.path.join(folder, "benchmarks.md"))
    return any(not figures and "left out" not in notes[0] and "not given" not in notes[0] for _, figures, notes in results)


LOAD = os.getloadavg()[0]
if __name__ == "__main__":
    sys.exit(main())
