#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The table of `make bench` for rows with known figures: medians, ratios, limits; rows that cannot run, that fail, or that
# never end.

import csv
import os
import subprocess
import sys
import tempfile
import time
import xml.dom.minidom

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "lint")]
folder = tempfile.mkdtemp()
os.environ.update(builddir=folder)
os.environ.setdefault("srcdir", os.path.join(HERE, "..", ".."))
os.environ.pop("NEVER_GIVEN", None)

import bench  # noqa: E402
import lint  # noqa: E402
import plot  # noqa: E402

KNOWN = """A table of its own
= time of it | jhot | ms | 5 | 2 8 4 6 10
= time of it | async-profiler | ms | - | 4 8 8 8 10
= time of it | nothing | ms | - | 1
= other | jhot | B | 100 | 1
= other | jhot | B | 100 | 2 3
! a sentence about <it>
"""


def script(name, text):
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write("#!/bin/sh\n" + text)
    os.chmod(path, 0o755)
    return path


def row(name, text, limit_s=20, needs=()):
    return bench.Row(name, script(name, text), limit_s, {}, {}, needs)


def faults(what, got, want):
    return [] if got == want else ["%s: got %r, wanted %r" % (what, got, want)]


known = row("known", "cat <<'END'\n%sEND\n" % KNOWN)
figures, notes = bench.run(known, False)
first, second = figures
lint.check("the figures of a row are read", faults("names", [f.what for f in figures], ["time of it", "other"])
           + faults("values of several lines", second.of("jhot"), [1, 2, 3]) + faults("notes", notes, ["a sentence about <it>"]))
lint.check("ratios are those of interleaved turns", faults("ratios", first.ratios(), [0.5, 1, 0.5, 0.75, 1]))
lint.check("a median above its limit is marked", faults("over", [first.is_over(), bool(second.is_over())], [True, False]))
lint.check("a cell has the median and the quartiles, or with few values the minimum and maximum", faults("five", bench.cell(first.of("jhot")), "6 (4 to 8)")
           + faults("three: least and most", bench.cell(second.of("jhot")), "2 (1 to 3)"))

lint.check("a row that lacks a variable says so", faults(
    "notes", bench.run(row("needs", "echo '= x | jhot | ms | - | 1'\n", needs=("NEVER_GIVEN",)), False),
    ([], ["not run: NEVER_GIVEN is not given"])))
broken = bench.run(row("broken", "echo '= x | jhot | ms | - | 1'\nexit 3\n"), False)
lint.check("a row that fails keeps its figures and has a note", faults("figures", len(broken[0]), 1)
           + faults("notes", broken[1], ["ended with status 3: see bench-broken.log"]))

began = time.monotonic()
slow = bench.run(row("slow", "sleep 300 &\necho $! >%s/slow.pid\nwait\n" % folder, limit_s=1), False)
with open(os.path.join(folder, "slow.pid")) as file:
    sleeper = file.read().strip()
lint.check("a row that exceeds its time limit is ended", faults("notes", slow, ([], ["ended after its limit of 1 s"]))
           + (["it took %d s" % (time.monotonic() - began)] if time.monotonic() - began > 100 else []))


def is_running(pid):
    try:
        with open("/proc/%s/stat" % pid) as file:
            return file.read().split()[2] not in "ZX"
    except OSError:
        return False


patience = time.monotonic() + 20
while is_running(sleeper) and time.monotonic() < patience:
    time.sleep(0.05)
lint.check("processes of a row that was ended do not outlive it", ["%s runs" % sleeper] if is_running(sleeper) else [])

text = bench.table([(known, figures, notes)])
lint.check("a line of the table has the ratio and the limit", [] if "| 0.75 (0.5 to 1) | 5 OVER" in text else text.split("\n"))
records = list(bench.records([(known, figures, notes)]))
known_csv = list(csv.DictReader(bench.csv_text(records).splitlines()))
lint.check("the .csv has every figure and note", faults("rows", [r["what"] or r["note"] for r in known_csv],
                                                        ["time of it", "other", "a sentence about <it>"])
           + faults("median and quartiles", [known_csv[0][c] for c in ("jhot", "jhot_low", "jhot_high", "ratio", "limit")],
                    ["6", "4", "8", "0.75", "5"]) + faults("nothing", known_csv[1]["async-profiler"], ""))
walk = bench.Figure("walk-real", "walk: h2, JDK 21, both to the root, mean", "ns")
walk.values.update({"jhot": [1, 2], "async-profiler": [4, 4]})
page = bench.summary(bench.records([(known, figures + [walk], notes)]))
lint.check("the page has the figures of SUMMARY for any JDK", [] if page.split("\n")[2:] == [
    "| stack walk, H2 | ns |  | 1.5 (1 to 2) | 4 | 0.375 (0.25 to 0.5) |"] else page.split("\n"))
picture = plot.ratios([("a <row> & more", 0.5, 0.25, 0.75), ("another", 3.0, 2.0, 5.0)])
circles = xml.dom.minidom.parseString(picture).getElementsByTagName("circle")
half, three = (float(c.getAttribute("cx")) for c in circles)
one = plot.Scale([0.25, 5]).x(1)
lint.check("in the picture smaller costs are left of 1", [] if half < one < three else ["%f %f %f" % (half, one, three)])
subprocess.run(["rm", "-rf", folder], check=False)
lint.done()
