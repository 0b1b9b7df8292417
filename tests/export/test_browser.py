#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The flame graph in a real browser: zoom, search, URL fragment, flip, reverse, keys; and the picture without scripts.

import re
import time

import browser
from browser import diag, equal, made, ok

LINE, NAME, FOUND = "line", "name", "found"


def test_hover_and_zoom(g):
    equal(g.text(NAME), "all", "the graph starts with all of the profile")
    equal(g.text(LINE), "1,000 samples · 10.00 s · 100 % of all · self 0 % · all", "the graph starts with the samples and time of the whole profile")
    g.hover(0.85, 2)
    equal(g.text(NAME), "app.Store.write", "the frame under the pointer is named")
    equal(g.text(LINE), "300 samples · 3.00 s · 30.0 % of all · self 0 % · C1", "the frame under the pointer has its samples, value and share")
    g.click(0.85, 2)
    equal(g.hash(), "#z=app.Main.main;app.Store.write", "a click zooms, and the address has the path")
    g.hover(0.2, 3)
    equal(g.text(NAME), "[libz.so.1] deflate", "in a zoom a child of the frame is below it")
    g.hover(0.1, 4)
    equal(g.text(NAME), "do_syscall_64", "in a zoom a kernel frame has its share of the width")
    equal(g.text(LINE), "50 samples · 500.00 ms · 5.0 % of all · 16.7 % of zoom · self 5.0 % · kernel",
          "in a zoom a frame has its shares of all and of the zoom")
    g.b.key("Escape")
    equal(g.hash(), "", "Escape resets the zoom")
    g.click(0.2, 2)
    g.click(0.2, 3)
    equal(g.hash(), "#z=app.Main.main;app.Shop.serve;app.Price.compute", "siblings are sorted by name")
    g.b.key("Backspace")
    g.b.wait("location.hash.endsWith('serve')", "a step back")
    equal(g.hash(), "#z=app.Main.main;app.Shop.serve", "Backspace goes back one zoom")
    g.b.key("0")
    equal(g.hash(), "", "key 0 resets the zoom")


def test_search(g):
    g.search("HashMap")
    equal(g.text(FOUND), "matched 70.0 % of all (1 of 3)", "nested matches count once, and Enter shows the widest")
    equal(g.text(NAME), "java.util.HashMap.get", "the widest match is named")
    g.b.key("n", "n")
    equal(g.text(NAME), "java.util.HashMap.getNode", "key n goes to the next match, n again to the third")
    g.b.key("N")
    equal(g.text(FOUND), "matched 70.0 % of all (2 of 3)", "key N goes to the previous match")
    g.click(0.2, 2)
    equal(g.text(FOUND), "matched 70.0 % of all, 100 % of zoom", "a zoom shows the matches' share of it")
    g.search("getNode$")
    equal(g.text(FOUND), "matched 20.0 % of all, 28.6 % of zoom (1 of 1)", "a search may be a regular expression")
    equal(g.hash(), "#z=app.Main.main;app.Shop.serve&q=getNode$", "the address has the zoom and the search")
    g.search("get(")
    equal(g.text(FOUND), "matched 0 % of all, 0 % of zoom", "a search that is not a valid regular expression is plain text")
    g.b.key("/", "Escape")
    equal(g.text(FOUND), "", "Escape clears the search")
    g.b.key("Escape")
    equal(g.hash(), "", "Escape again resets the zoom")


def test_address(g, url):
    g.open(url + "#z=app.Main.main;app.Shop.serve&q=getNode&i=1")
    equal(g.text(FOUND), "matched 20.0 % of all, 28.6 % of zoom", "an address restores zoom and search")
    equal(g.b.run("return document.querySelector('[aria-pressed=true]').textContent"), "Flip", "an address restores the flip")
    g.open(url + "#z=app.Main.main;no.such.frame&q=%E0%A4%A")
    equal(g.text(NAME), "app.Main.main", "an address with an unknown frame zooms to the last known one")
    g.open(url)


def test_flip_and_reverse(g):
    g.b.key("i")
    g.click(0.85, 2, flipped=True)
    equal(g.hash(), "#z=app.Main.main;app.Store.write&i=1", "in a flipped graph the root is at the bottom")
    g.b.key("i", "0")
    equal(g.hash(), "", "key i again restores the orientation, and 0 the zoom")
    g.b.key("r")
    g.hover(0.1, 1)
    equal(g.text(NAME), "[libz.so.1] deflate", "in a reversed graph the first level has the leaves")
    equal(g.text(LINE), "250 samples · 2.50 s · 25.0 % of all · native", "in a reversed graph leaves have their self time")
    g.click(0.5, 1)
    g.hover(0.5, 3)
    equal((g.text(NAME), g.hash()), ("app.Main.main", "#z=java.util.HashMap.get&r=1"), "in a reversed graph callers are above callees")
    g.search("Shop")
    equal(g.text(FOUND), "matched 70.0 % of all, 100 % of zoom (1 of 1)", "in a reversed graph a search counts samples")
    g.b.key("r", "/", "Escape")
    equal(g.hash(), "", "key r again restores the graph")


def test_keys(g):
    g.b.key("Down", "Down", "Down", "Right")
    equal(g.text("live")[:16], "app.Store.write,", "arrow keys select frames, which are announced")
    g.b.key("Down", "Enter")
    equal(g.hash(), "#z=app.Main.main;app.Store.write;[libz.so.1] deflate", "Enter zooms to the selected frame")
    g.b.key("Up")
    g.b.key("Up")
    equal(g.text(NAME), "app.Store.write", "Up selects the caller")
    g.b.key("0", "?")
    ok(g.b.run("return document.getElementById('help').getBoundingClientRect().height > 20"), "key ? shows the keys")
    g.b.key("?", "a")
    equal(g.b.run("return [...document.querySelectorAll('#about > div')].map(d => d.textContent).slice(0, 3)"),
          ["pid 41234", "name shop-api.jar", "jdk 21.0.4"], "key a shows the facts of the recording")
    ok(g.b.run("return document.getElementById('about').getBoundingClientRect().height > 20"), "the facts are shown in a visible panel")
    g.b.run("document.getElementById('more').click()")
    equal(g.b.run("return document.getElementById('about').getBoundingClientRect().height"), 0, "the button 'more' closes the panel")
    g.b.key("c", "c")
    equal(g.hash(), "#c=self", "key c changes the meaning of colors")
    g.b.key("c", "c")


def test_looks(g):
    shown = g.b.picture()
    x, y = g.point(0.45, 2)
    # The known profile's colors, as flame.c computes them for the picture.
    fills = set(re.findall(r'fill="#([0-9a-f]{6})"', open(made("-k", "known", "known.svg")).read()))
    got = "%02x%02x%02x" % shown.at(x, y - 7)
    near = min(max(abs(int(f[i:i + 2], 16) - int(got[i:i + 2], 16)) for i in (0, 2, 4)) for f in fills)
    ok(near <= 2, "canvas and picture have the same colors", got, sorted(fills))
    equal(g.b.run("return document.querySelectorAll('script, style, link, img').length"), 1, "the document has one script, and no style, link or image")
    g.b.key("d")
    g.b.wait("getComputedStyle(document.getElementById('page')).backgroundColor === 'rgb(22, 24, 29)'", "dark")
    ok(sum(g.b.picture().at(x, y - 7)) < sum(shown.at(x, y - 7)), "key d makes the graph darker")
    g.b.key("d")
    left, top, width, height = g.box()
    g.b.size(500, 500)
    g.b.wait("document.querySelector('#graph').getBoundingClientRect().width <= 500", "the canvas follows the window")
    ok(g.box()[3] < height, "the canvas gets lower in a smaller window")
    g.b.size(1200, 700)
    g.b.wait("document.querySelector('#graph').getBoundingClientRect().width > 1000", "the window is wide again")


def test_hostile(b, g, server):
    g.open(server.url + "/hostile.svg")
    b.key("Down", "Down", "Down", "Down")
    names = [g.text(NAME)]
    while len(names) < 15:
        b.key("Left")
        names.insert(0, g.text(NAME))
    while len(names) < 30:
        b.key("Right")
        names.append(g.text(NAME))
    ok("</metadata><script>alert(1)</script>" in " ".join(names), "markup in a name is shown as text", names)
    equal(b.run("return document.querySelectorAll('script').length + document.querySelectorAll('x').length"), 1,
          "no element comes from a name")


def test_blocked(b, server):
    picture_of = {}
    for path, what in (("/img.html", "in an <img>"), ("/blocked.svg", "where scripts and styles are forbidden")):
        b.open(server.url + path)
        b.wait("document.readyState === 'complete'", "the page")
        picture = b.picture()
        colors = {picture.at(x, 62 + 2 * 19 + 3) for x in range(20, 1180, 40)}
        ok(len(colors) >= 2 and all(sum(c) > 300 for c in colors), "the page shows a colored picture " + what, colors)
        picture_of[path] = [picture.at(x, y) for x in range(0, 1100, 7) for y in range(0, 160, 3)]
    equal(picture_of["/img.html"], picture_of["/blocked.svg"], "both pages show the same picture")


def test_big(b, g):
    path = made("-n", "20000", "big.svg")
    nodes = int(re.search(r"^nodes (\d+)$", open(path).read(), re.M).group(1))
    ok(nodes > 100000, "the graph has %d nodes" % nodes)
    start = time.monotonic()
    g.open("file://" + path)
    diag("%.1f MB, live after %.0f ms" % (len(open(path).read()) / 1e6, 1000 * (time.monotonic() - start)))
    g.search("HashMap")
    share = float(re.search(r"matched ([\d.]+) %", g.text(FOUND)).group(1))
    ok(0 < share < 100, "a big graph can be searched (%s %%)" % share)
    b.key("r")
    ok(g.text(FOUND).startswith("matched %s %%" % re.sub(r"\.0$", ".0", "%.1f" % share)),
       "a reversed big graph matches the same share", g.text(FOUND))
    g.click(0.3, 1)
    ok(g.hash().startswith("#z="), "a reversed big graph can be zoomed")


def test_never_blank(b):
    """A resized canvas is empty: an observer that runs after the view's own checks that it was drawn."""
    b.run("const c = document.querySelector('#graph'); window.empty = [];"
          "const copy = new OffscreenCanvas(1, 1).getContext('2d', {willReadFrequently: true});"
          "new ResizeObserver(() => { copy.clearRect(0, 0, 1, 1); copy.drawImage(c, 40, 14, 1, 1, 0, 0, 1, 1);"
          "window.empty.push(copy.getImageData(0, 0, 1, 1).data[3] === 0) }).observe(c.parentNode)")
    for width in ("70%", "100%"):
        b.run("window.empty.length = 0; document.getElementById('page').style.width = arguments[0]", width)
        b.wait("window.empty.length", "a new size")
        equal(b.run("return window.empty"), [False], "the canvas is never blank at a width of " + width)


def test_weights(g):
    g.open("file://" + made("-k", "alloc", "alloc.svg"))
    g.hover(0.5, 2)
    equal((g.text(NAME), g.text(LINE)), ("java.lang.String", "30 samples · 1.00 MiB · 75.0 % of all · self 75.0 % · class"),
          "where samples have weights, a box has samples and value")
    g.open("file://" + made("--total", "-k", "alloc", "alloc.svg"))
    g.hover(0.5, 2)
    equal((g.text(NAME), g.text(LINE)), ("byte[]", "10 samples · 3.00 MiB · 75.0 % of all · self 75.0 % · class"),
          "with --total the width of a box is its value")
    g.open("file://" + made("-t", "-k", "known", "threads.svg"))
    g.hover(0.5, 1)
    equal(g.text(NAME), "main [tid 41301]", "with -t a graph is by thread")


def main():
    known = made("-k", "known", "known.svg")
    svg = open(known, "rb").read()
    hostile = open(made("-t", "-k", "hostile", "hostile.svg"), "rb").read()
    strict = {"Content-Security-Policy": "default-src 'none'; script-src 'unsafe-inline'"}
    answers = {
        "/known.svg": ("image/svg+xml", strict, svg),
        "/hostile.svg": ("image/svg+xml", strict, hostile),
        "/blocked.svg": ("image/svg+xml", {"Content-Security-Policy": "default-src 'none'"}, svg),
        "/img.html": ("text/html", {}, b"<body style='margin:0'><img src='known.svg' style='display:block'>"),
    }
    with browser.session(answers) as (b, g, server):
        g.open(server.url + "/known.svg")
        test_hover_and_zoom(g)
        test_search(g)
        test_address(g, server.url + "/known.svg")
        test_flip_and_reverse(g)
        test_keys(g)
        test_looks(g)
        test_never_blank(b)
        g.open("file://" + known)
        test_hover_and_zoom(g)
        test_address(g, "file://" + known)
        test_weights(g)
        test_hostile(b, g, server)
        test_big(b, g)
        equal(b.complaints(), [], "the console has no messages under a policy that allows one inline script only")
        test_blocked(b, server)


main()
