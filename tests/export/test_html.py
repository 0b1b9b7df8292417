#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The HTML page in a real browser: a spike is found and explained, lists, events, folding, hiding, hostile names, and the
# page without scripts; and the options that change the appearance of files.

import re

import browser
from browser import equal, made, ok

LINE, NAME, STRETCH = "line", "name", "stretch"


def rows(g):
    return g.b.run("return [...document.querySelectorAll('#list [role=row], #list [role=treeitem]')].map(r => r.textContent)")


def cell(g, second):
    """The middle of a second's cell: ten minutes are 120 columns of five."""
    left, top, width = g.b.run("const r = document.getElementById('heat').getBoundingClientRect(); return [r.left, r.top, r.width]")
    return left + (second // 5 + 0.5) * width / 120, top + (second % 5 + 0.5) * 66 / 5


def drag(g, first, last):
    steps = [{"type": "pointerMove", "x": int(x), "y": int(y), "origin": "viewport", "duration": 0}
             for x, y in (cell(g, first), cell(g, last))]
    steps[1:1] = [{"type": "pointerDown", "button": 0}]
    g.b.act(steps + [{"type": "pointerUp", "button": 0}])


def test_spike(g):
    equal(g.text("resolution"), "a cell is 1 s, a column 5 s", "the page shows the resolution of its heat map")
    g.b.key("s")
    equal(g.hash(), "#t=252-255", "key s selects the three seconds with the highest load of ten minutes")
    equal(g.text(STRETCH), "4:12 to 4:15 \u00b7 3 s \u00b7 3.3 times the rate elsewhere \u00b7 unlike the rest: "
          "app.Cache.rebuild 70.0 % here, 0 % elsewhere", "the selection is described by what differs from the rest")
    equal(g.text(LINE), "900 samples \u00b7 9.00 s \u00b7 100 % of all \u00b7 self 0 % \u00b7 all", "the flame graph shows the selected seconds")
    g.b.key("3")
    equal(rows(g)[1], "70.0 %70.0 %+70.0 %app.Cache.rebuild", "the methods show the selected seconds beside the rest")
    g.b.key("2")
    ok(any("app.Cache.rebuild" in r for r in rows(g)), "the tree shows the selected seconds", rows(g))
    g.b.key("1", "]")
    equal((g.hash(), g.text(LINE)[:11]), ("#t=255-258", "270 samples"), "key ] selects the next period")
    g.b.key("Escape")
    equal((g.hash(), g.text(LINE)[:14]), ("", "54,630 samples"), "Escape selects all of the recording")
    drag(g, 251, 253)
    equal((g.hash(), g.text(LINE)[:11]), ("#t=251-254", "690 samples"), "dragging selects a period")
    g.b.run("document.getElementById('heat').focus()")
    g.b.key("Right", "Down")
    equal(g.hash(), "#t=257-258", "arrow keys select a period")
    g.b.key("Escape")
    g.search("rebuild")
    picture = g.b.picture()
    chosen, other = picture.at(*cell(g, 253)), picture.at(*cell(g, 400))
    ok(sum(other) - sum(chosen) > 200, "a search highlights the seconds with matches", chosen, other)


def part(g, second, tenth):
    """The middle of cell `tenth` in the column of a second; ten minutes are 600 columns of 50 ms cells."""
    left, top, width = g.b.run("const r = document.getElementById('heat').getBoundingClientRect(); return [r.left, r.top, r.width]")
    return left + (second + 0.5) * width / 600, top + (tenth + 0.5) * 8


def test_pulse(g):
    equal(g.text("resolution"), "a cell is 50 ms, a column 1 s", "a heat map of ten minutes has cells of 50 ms if there is space")
    picture = g.b.picture()
    light = {name: sum(picture.at(*part(g, second, tenth))) for name, second, tenth in
             (("usual", 100, 3), ("idle", 100, 0), ("spike", 253, 9), ("before", 253, 3))}
    ok(light["idle"] == light["before"] == 765 and light["usual"] < 700 and light["spike"] < light["usual"] - 100,
       "parts of seconds have their own shades", light)
    g.b.pointer(*part(g, 253, 9))
    g.b.wait("document.getElementById('stretch').textContent.includes(' ms ')", "the pointer is seen")
    equal(g.text(STRETCH), "4:13 and 950 to 1000 ms \u00b7 about 150 samples", "the pointer shows the samples of a part of a second")
    g.b.pointer(*part(g, 253, 9), click=True)
    equal(g.hash(), "#t=253-254", "a click selects the whole second")
    g.search("serve")
    equal(g.text("resolution"), "a cell is 1 s", "the heat map of a search has cells of 1 s")
    g.b.key("/", "Escape", "Escape")
    g.b.size(700, 700)
    g.b.wait("document.getElementById('resolution').textContent.includes('of a selection 50 ms')", "the small window")
    g.b.key("s")
    g.b.wait("document.getElementById('pulse').style.display === 'block'", "a strip of its own")
    left, top, width = g.b.run("const r = document.getElementById('pulse').getBoundingClientRect(); return [r.left, r.top, r.width]")
    picture = g.b.picture()
    middle = left + width / 2
    ok(sum(picture.at(middle, top + 76)) < sum(picture.at(middle, top + 4)), "in a small window a strip shows the selected seconds in parts")
    g.b.pointer(middle, top + 40, click=True)
    ok(g.hash() in ("#t=252-253", "#t=253-254", "#t=254-255"), "a click in the strip selects a second", g.hash())
    g.b.size(1200, 700)


def test_lists(g):
    g.b.key("3")
    names = [re.sub(r"^.*%", "", r) for r in rows(g)[1:]]
    equal(names[0], "java.util.HashMap.get", "the hottest method is the first row")
    equal(rows(g)[1], "50.0 %70.0 %java.util.HashMap.get", "nested calls count once in a total")
    g.b.run("document.getElementById('sort-name').click()")
    names = [re.sub(r"^.*%", "", r) for r in rows(g)[1:]]
    equal(names, sorted(names), "a click on the column name sorts by name")
    g.search("Store")
    equal([re.sub(r"^.*%", "", r) for r in rows(g)[1:]], ["app.Store.write"], "a search filters the methods")
    g.b.key("/", "Escape")
    g.b.run("[...document.querySelectorAll('#list [role=row]')].find(r => r.textContent.includes('getNode')).click()")
    equal((g.text(NAME), g.hash()), ("java.util.HashMap.getNode", "#q=^java\\.util\\.HashMap\\.getNode$"),
          "a click on a row selects the method in the flame graph")
    g.b.key("Escape", "2")
    before = rows(g)
    g.b.key("Down", "Down", "Left")
    ok(len(rows(g)) < len(before), "arrow keys collapse the tree", before, rows(g))
    g.b.key("1")


def test_shapes(g):
    """Folding and hiding; the known profile's stacks have native frames, but none before Java."""
    g.b.key("Down", "Down", "Down", "x")
    equal((g.hash(), g.text(LINE)[:11]), ("#h=app.Main.main;app.Shop.serve", "300 samples"), "key x hides a subtree")
    equal(g.b.run("return [...document.querySelectorAll('button')].find(b => b.textContent.startsWith('Show')).textContent"),
          "Show hidden (70.0 %)", "the button Show hidden has the hidden share")
    g.b.key("X")
    equal((g.hash(), g.text(LINE)[:13]), ("", "1,000 samples"), "key X shows hidden subtrees again")
    g.b.key("r", "Down", "Down", "x")
    ok(g.hash().startswith("#r=1&hr="), "key x hides a leaf in a reversed graph", g.hash())
    g.b.key("X", "r")


def test_fold(g):
    g.b.key("f", "Down", "Down")
    equal((g.text(NAME), g.hash()), ("app.Main.main", "#f=1"), "key f folds native frames before a thread's first Java frame")
    g.b.key("Down", "Down")
    equal(g.text(NAME), "[libz.so.1] crc32", "key f removes native frames between others")
    g.b.key("f", "Down", "Down")
    equal(g.text(NAME), "[libz.so.1] start_thread", "key f again restores the frames")


def test_events(g):
    equal(g.text("title"), "shop-api.jar: CPU time", "the page starts with the first event")
    g.b.key("e")
    equal((g.text("title"), g.hash()), ("shop-api.jar: allocated memory", "#e=alloc"), "key e switches to the next event")
    g.b.key("e", "e", "e")
    equal(g.text("title"), "shop-api.jar: CPU time", "key e on the last event returns to the first")


def test_hostile(b, g, server):
    for tab in ("", "#v=tree", "#v=methods"):
        g.open(server.url + "/hostile.html" + tab)
        equal(b.run("return document.querySelectorAll('script').length + document.querySelectorAll('x').length"), 1,
              "no element comes from a name " + tab)
    ok(any("</script>" in r for r in rows(g)), "markup in a name is shown as text", rows(g)[:5])
    ok("<script>alert(1)</script>" in b.run("return document.title"), "no script in a name has run")


def test_blocked(b, server):
    b.open(server.url + "/blocked.html")
    b.wait("document.readyState === 'complete'", "the page")
    picture = b.picture()
    colors = {picture.at(x, 8 + 62 + 2 * 19 + 3) for x in range(30, 1100, 40)}
    ok(len(colors) >= 2 and all(sum(c) > 300 for c in colors), "without scripts the page shows the picture", colors)
    ok("java.util.HashMap.get" in b.run("return document.querySelector('table').textContent"), "without scripts the page shows a table")


def test_options(g):
    wide = open(made("-k", "known", "--width", "700", "--inverted", "--colors", "package", "w.svg")).read()
    ok('<svg xmlns="http://www.w3.org/2000/svg" width="700"' in wide, "--width sets the width of the picture")
    g.open("file://" + made("-k", "known", "--width", "700", "--inverted", "--colors", "package", "w.svg"))
    equal(g.b.run("return document.getElementById('page').clientWidth"), 700, "--width sets the width of the live view")
    equal(g.b.run("return document.querySelector('[aria-pressed=true]').textContent"), "Flip", "--inverted flips the graph")
    ok(g.b.run("return document.body === null && document.documentElement.textContent.includes('Color: package')"), "--colors sets the meaning of colors")
    g.open("file://" + made("-k", "known", "--reverse", "r.svg"))
    g.hover(0.1, 1)
    equal(g.text(NAME), "[libz.so.1] deflate", "--reverse reverses the graph")
    g.open("file://" + made("-k", "known", "--minwidth", "10", "m.svg"))
    g.hover(0.72, 4)
    equal((g.text(NAME), g.text(LINE)), ("[narrow frames]", "50 samples \u00b7 500.00 ms \u00b7 5.0 % of all \u00b7 "
          "self 5.0 % \u00b7 narrow frames"), "--minwidth joins narrow frames, which are named so")


def main():
    page = {kind: open(made("-k", kind, kind + ".html"), "rb").read() for kind in ("known", "hostile")}
    answers = {
        "/hostile.html": ("text/html", {}, page["hostile"]),
        "/blocked.html": ("text/html", {"Content-Security-Policy": "script-src 'none'"}, page["known"]),
    }
    with browser.session(answers) as (b, g, server):
        g.open("file://" + made("-k", "spike", "spike.html"))
        test_spike(g)
        g.open("file://" + made("-k", "pulse", "pulse.html"))
        test_pulse(g)
        g.open("file://" + made("-k", "known", "known.html"))
        test_lists(g)
        test_shapes(g)
        g.open("file://" + made("-k", "native", "native.html"))
        test_fold(g)
        g.open("file://" + made("-k", "events", "events.html"))
        test_events(g)
        test_options(g)
        test_hostile(b, g, server)
        equal(b.complaints(), [], "the console has no messages")
        test_blocked(b, server)


main()
