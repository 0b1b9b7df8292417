#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Output files by number of nodes: size and time to write of each format; for pages, in headless Chromium, time to load, zoom,
# reset and search; the cost of a day; and how many of 100 loads show what the script draws.
#
#   FLAMEGRAPH=flamegraph.pl  CONVERTER=jfr-converter.jar  also measure these tools' files of the same stacks; the converter may also
#                             be a folder of its classes, and is run by JAVA
#   LOADS=100  ROUNDS=3  SIZES=10k,100k,600k  DAY=1

import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.environ["srcdir"], "tests", "export"))
import browser  # noqa: E402

TOOL = "tests/export/export_tool"
SIZES = [(stacks, label) for stacks, label in ((2000, "10k"), (20000, "100k"), (120000, "600k"))
         if label in os.environ.get("SIZES", "10k,100k,600k").split(",")]
ROUNDS, LOADS = int(os.environ.get("ROUNDS", 3)), int(os.environ.get("LOADS", 100))
PANEL = (241, 242, 244)  # the header's background, which the picture does not have
# One action in our page, until its frame is drawn; peers have scripts of their own.
OURS = """const done = arguments[0], begin = performance.now();
%s;
requestAnimationFrame(() => setTimeout(() => done(performance.now() - begin)));"""
KEY = "window.dispatchEvent(new KeyboardEvent('keydown', {key: '%s', bubbles: true}))"
ACTIONS = (("zoom", KEY % "ArrowDown" + ";" + KEY % "ArrowDown" + ";" + KEY % "ArrowDown" + ";" + KEY % "Enter"), ("reset", KEY % "0"),
           ("search", "const s = document.querySelector('input'); s.value = 'HashMap'; s.dispatchEvent(new Event('input'))"))
PEERS = {"flamegraph.pl": (("zoom", "zoom(document.querySelectorAll('#frames > g')[40])"), ("reset", "unzoom()"),
                           ("search", "search('HashMap')")),
         "converter": (("zoom", "render(levels[3][0])"), ("reset", "render()"), ("search", "search('HashMap')"))}


def written(arguments):
    times = []
    for _ in range(ROUNDS):
        begin = time.monotonic()
        subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        times.append(time.monotonic() - begin)
    return statistics.median(times)


def wait(b):
    """Waits for the load, and returns its time according to the browser."""
    b.wait("document.readyState === 'complete'", "the page", 240)
    return b.run("const n = performance.getEntriesByType('navigation')[0]; return n ? n.loadEventEnd || n.domComplete : 0")


def act(b, script):
    return b.later(OURS % script)


def row(name, nodes, size, write_s, *times):
    print("%-22s %8s %9.2f MB %8.2f s" % (name, nodes, size / 1e6, write_s) + "".join(" %6.0f ms" % t for t in times), flush=True)


def measure(b, name, nodes, path, write_s, actions):
    loads, times = [], {what: [] for what, _ in actions}
    for _ in range(ROUNDS):
        b.open("about:blank")
        b.open("file://" + path)
        loads.append(wait(b))
        for what, script in actions:
            times[what].append(act(b, script))
    row(name, nodes, os.path.getsize(path), write_s, statistics.median(loads), *(statistics.median(times[what]) for what, _ in actions))


def peers(b, folder, stacks, nodes):
    collapsed = os.path.join(folder, "a.collapsed")
    subprocess.run([TOOL, "-n", str(stacks), collapsed], check=True)
    script, jar = os.environ.get("FLAMEGRAPH"), os.environ.get("CONVERTER")
    if script and stacks <= 20000:
        path = os.path.join(folder, "peer.svg")
        begin = time.monotonic()
        with open(path, "w") as out:
            subprocess.run(["perl", script, collapsed], check=True, stdout=out)
        measure(b, "flamegraph.pl", nodes, path, time.monotonic() - begin, PEERS["flamegraph.pl"])
    if not jar:
        return
    flight = os.path.join(folder, "a.jfr")
    subprocess.run([TOOL, "-n", str(stacks), flight], check=True)
    for source, form in ((collapsed, "html"), (flight, "html"), (flight, "pprof"), (flight, "collapsed")):
        path, name = os.path.join(folder, "peer." + form), "converter .%s" % form + " of .jfr" * (source == flight)
        seconds = written([os.environ.get("JAVA", "java"), "-cp", jar, "one.convert.Main", "-o", form, source, path])
        if form == "html":
            measure(b, name, nodes, path, seconds, PEERS["converter"])
        else:
            row(name, nodes, os.path.getsize(path), seconds)


def shown(b, url):
    """True if the first screenshot after the load has what only the script draws: its panel, and frames of several colors."""
    b.open("about:blank")
    b.open(url)
    panel = b.part(0, 0, 8, 8).at(3, 3)
    canvas = b.run("const c = document.querySelector('#graph'), r = c && c.getBoundingClientRect();"
                   "return r && [r.left, r.top, r.width]")
    if not canvas:
        return False
    left, top, width = canvas
    boxes = b.part(left, top + 4, width, 4 * browser.ROW)
    colors = {boxes.at(width * (i + 0.5) / 40, browser.ROW * level + 3) for i in range(40) for level in (1, 2, 3)}
    return panel == PANEL and len(colors) > 3


def loads(b, folder):
    for suffix in ("svg", "html"):
        path = os.path.join(folder, "loads." + suffix)
        subprocess.run([TOOL, "-n", "2000", path], check=True)
        alone = os.path.join(folder, "alone." + suffix)
        with open(path) as file, open(alone, "w") as out:
            out.write(re.sub(r"<script>.*</script>", "", file.read(), flags=re.S))
        assert not shown(b, "file://" + alone), "the picture alone is taken for the graph"
        print("%d of %d loads of .%s show the graph" % (sum(shown(b, "file://" + path) for _ in range(LOADS)), LOADS, suffix),
              flush=True)


def main():
    b = browser.Browser()
    folder = tempfile.mkdtemp(prefix="jhot-bench-")
    print("%-22s %8s %12s %10s %9s %9s %9s %9s" % ("file", "nodes", "size", "written", "loaded", "zoom", "reset", "search"))
    try:
        for stacks, label in SIZES:
            listed = subprocess.run([TOOL, "-m", "-n", str(stacks)], check=True, capture_output=True, text=True).stdout
            nodes = re.search(r"^(\d+) nodes", listed, re.M).group(1)
            for form, size, ms in re.findall(r"^(\S+) +(\d+) bytes +(\d+) ms", listed, re.M):
                if form not in ("svg", "html"):
                    row("jhot " + form, nodes, int(size), int(ms) / 1000)
                    continue
                path = os.path.join(folder, "a." + form)
                subprocess.run([TOOL, "-n", str(stacks), path], check=True)
                measure(b, "jhot " + form, nodes, path, int(ms) / 1000, ACTIONS)
            peers(b, folder, stacks, nodes)
        if os.environ.get("DAY", "1") == "1":
            path = os.path.join(folder, "day.html")
            begin = time.monotonic()  # includes building the model from a day's samples, which is most of it
            subprocess.run([TOOL, "-k", "day", path], check=True)
            measure(b, "a day .html", "-", path, time.monotonic() - begin, ACTIONS)
        loads(b, folder)
    finally:
        b.close()
        subprocess.run(["rm", "-rf", folder], check=False)


main()
