#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The flame graph of `jhot diff`: increases, decreases, new and removed frames in its data, its picture, and a real browser.

import os
import re
import subprocess
import tempfile

import browser
from browser import Graph, equal, ok

FOLDER = tempfile.TemporaryDirectory(prefix="jhot-diff-")
MORE, LESS, SAME = "▲ ", "▼ ", ""


def drawn(before, after, *options):
    paths = [os.path.join(FOLDER.name, name) for name in ("a.collapsed", "b.collapsed", "d.svg")]
    for path, lines in zip(paths, (before, after)):
        with open(path, "w", encoding="utf-8") as out:
            out.writelines("main;%s %d\n" % line for line in lines.items())
    subprocess.run([os.environ["builddir"] + "/jhot", "diff", *options, "-o", paths[2], *paths[:2]], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return paths[2]


BEFORE = {"a/A.more": 3000, "a/B.less": 3000, "a/C.same": 3000, "a/D.gone;a/D.too": 500, "a/<script>.x": 500}
AFTER = {"a/A.more": 3900, "a/B.less": 2100, "a/C.same": 3020, "a/E.came": 500, "a/<script>.x": 480}


def test_picture(svg):
    text = re.findall(r"<text[^>]*>([^<]*)</text>", svg)
    for name, glyph in (("a.A.more", MORE), ("a.B.less", LESS), ("a.C.same", SAME)):
        fits = [t for t in text if name.startswith(t[len(glyph):].rstrip("…")) or t.endswith(name[2:])]
        ok(any(t.startswith(glyph) and (glyph or t[0] not in MORE + LESS) for t in fits), "the picture marks the change of " + name, text)
    ok("#d65830" in svg and "#3e7ac8" in svg and "#e3e4e7" in svg, "new, removed and unchanged frames have their colors in the picture")
    ok("<script>.x" not in svg, "names in the picture are not markup")


def color(b, share, level):
    return b.run("const c = document.querySelector('#graph'), r = devicePixelRatio || 1;"
                 "const p = c.getContext('2d').getImageData(arguments[0] * (c.clientWidth - 10) * r, arguments[1] * r, 1, 1).data;"
                 "return [...p].slice(0, 3)", share, 4 + level * 20 + 3)


def test_live(b, g):
    equal(g.text("line"), "A 10,000 samples → B 10,000 samples, 0.0 %, not significant · 100 % of all · self 0 % · all",
          "the root has the samples of A and B and no significant change")
    ok(g.text("legend").startswith(MORE), "the legend has the glyphs", g.text("legend"))
    seen = {}
    for k in range(200):
        g.hover((k + 0.5) / 200, 2)
        seen.setdefault(g.text("name"), (g.text("line").split(" · ")[0], []))[1].append((k + 0.5) / 200)
    g.hover(0.5, 0)
    found = {name: (line, color(b, at[len(at) // 2], 2)) for name, (line, at) in seen.items()}
    equal(found["a.A.more"][0], "A 3,000 samples → B 3,900 samples, +30.0 %", "a method with an increase has its samples and change")
    equal(found["a.B.less"][0], "A 3,000 samples → B 2,100 samples, -30.0 %", "a method with a decrease has its samples and change")
    equal(found["a.C.same"][0], "A 3,000 samples → B 3,020 samples, +0.7 %, not significant", "an unchanged method is not significant")
    equal(found["a.D.gone"], ("A 500 samples → B 0 samples, gone", [62, 122, 200]), "a removed method is marked as gone and blue")
    equal(found["a.E.came"], ("A 0 samples → B 500 samples, new", [214, 88, 48]), "a new method is marked as new and red")
    equal(found["a.C.same"][1], [227, 228, 231], "an unchanged method is grey")
    g.b.key("c")
    equal(g.hash(), "#c=type", "key c changes the colors to types")
    g.b.key("r")
    equal(g.text("line").split(" · ")[0], "A 10,000 samples → B 10,000 samples, 0.0 %, not significant", "a reversed diff has the same samples for the root")


def main():
    path = drawn(BEFORE, AFTER, "--mode", "raw")
    with open(path, encoding="utf-8") as file:
        test_picture(file.read())
    again = drawn(BEFORE, {name: 2 * n for name, n in BEFORE.items()})
    with open(again, encoding="utf-8") as file:
        svg = file.read()
    ok(MORE not in svg.split("<metadata")[0].replace(MORE + "red", "") and "#d65830" not in svg, "a diff with the same recording doubled is all grey")
    path = drawn(BEFORE, AFTER, "--mode", "raw")
    b = browser.Browser()
    try:
        g = Graph(b)
        g.open("file://" + path)
        test_live(b, g)
        equal([c for c in b.complaints() if "getImageData" not in c], [], "the console has no messages")
    finally:
        b.close()
    browser.done()


main()
