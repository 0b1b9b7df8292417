#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The page in a real browser: a spike is found and explained, lists, events, folding, hiding, names that look like
# markup, and what remains without scripts; and the options that change the appearance of files.

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
    equal(g.text("resolution"), "a cell is 1 s, a column 5 s", "the page says how fine its time is")
    g.b.key("s")
    equal(g.hash(), "#t=252-255", "s finds the three seconds of ten minutes in which more ran")
    equal(g.text(STRETCH), "4:12 to 4:15 \u00b7 3 s \u00b7 3.3 times what runs elsewhere \u00b7 unlike the rest: "
          "app.Cache.rebuild 70.0 % here, 0 % elsewhere", "and says what is unlike the rest there")
    equal(g.text(LINE), "900 samples \u00b7 9.00 s \u00b7 100 % of all \u00b7 self 0 % \u00b7 all", "the flame graph is of these")
    g.b.key("3")
    equal(rows(g)[1], "70.0 %70.0 %+70.0 %app.Cache.rebuild", "so are the methods, beside the rest")
    g.b.key("2")
    ok(any("app.Cache.rebuild" in r for r in rows(g)), "and the tree", rows(g))
    g.b.key("1", "]")
    equal((g.hash(), g.text(LINE)[:11]), ("#t=255-258", "270 samples"), "] goes on to the next stretch")
    g.b.key("Escape")
    equal((g.hash(), g.text(LINE)[:14]), ("", "54,630 samples"), "Escape chooses all of it")
    drag(g, 251, 253)
    equal((g.hash(), g.text(LINE)[:11]), ("#t=251-254", "690 samples"), "a stretch is chosen by mouse")
    g.b.run("document.getElementById('heat').focus()")
    g.b.key("Right", "Down")
    equal(g.hash(), "#t=257-258", "and by keys")
    g.b.key("Escape")
    g.search("rebuild")
    picture = g.b.picture()
    chosen, other = picture.at(*cell(g, 253)), picture.at(*cell(g, 400))
    ok(sum(other) - sum(chosen) > 200, "a search shows when that ran", chosen, other)


def part(g, second, tenth):
    """The middle of what a tenth of a second has in its column, where ten minutes are 600 columns of 50 ms cells."""
    left, top, width = g.b.run("const r = document.getElementById('heat').getBoundingClientRect(); return [r.left, r.top, r.width]")
    return left + (second + 0.5) * width / 600, top + (tenth + 0.5) * 8


def test_pulse(g):
    equal(g.text("resolution"), "a cell is 50 ms, a column 1 s", "of ten minutes, time is as fine as 50 ms")
    picture = g.b.picture()
    light = {name: sum(picture.at(*part(g, second, tenth))) for name, second, tenth in
             (("usual", 100, 3), ("idle", 100, 0), ("spike", 253, 9), ("before", 253, 3))}
    ok(light["idle"] == light["before"] == 765 and light["usual"] < 700 and light["spike"] < light["usual"] - 100,
       "parts of seconds have their own shades", light)
    g.b.pointer(*part(g, 253, 9))
    g.b.wait("document.getElementById('stretch').textContent.includes(' ms ')", "the pointer is seen")
    equal(g.text(STRETCH), "4:13 and 950 to 1000 ms \u00b7 about 150 samples", "what a part of a second has")
    g.b.pointer(*part(g, 253, 9), click=True)
    equal(g.hash(), "#t=253-254", "a stretch is of whole seconds")
    g.search("serve")
    equal(g.text("resolution"), "a cell is 1 s", "of what is searched, no parts are known")
    g.b.key("/", "Escape", "Escape")
    g.b.size(700, 700)
    g.b.wait("document.getElementById('resolution').textContent.includes('of a stretch 50 ms')", "the small window")
    g.b.key("s")
    g.b.wait("document.getElementById('pulse').style.display === 'block'", "a strip of its own")
    left, top, width = g.b.run("const r = document.getElementById('pulse').getBoundingClientRect(); return [r.left, r.top, r.width]")
    picture = g.b.picture()
    middle = left + width / 2
    ok(sum(picture.at(middle, top + 76)) < sum(picture.at(middle, top + 4)), "the strip has the chosen seconds in parts")
    g.b.pointer(middle, top + 40, click=True)
    ok(g.hash() in ("#t=252-253", "#t=253-254", "#t=254-255"), "and a second is chosen in it", g.hash())
    g.b.size(1200, 700)


def test_lists(g):
    g.b.key("3")
    names = [re.sub(r"^.*%", "", r) for r in rows(g)[1:]]
    equal(names[0], "java.util.HashMap.get", "the hottest method first")
    equal(rows(g)[1], "50.0 %70.0 %java.util.HashMap.get", "nested calls count once in a total")
    g.b.run("document.getElementById('sort-name').click()")
    names = [re.sub(r"^.*%", "", r) for r in rows(g)[1:]]
    equal(names, sorted(names), "sorted by name")
    g.search("Store")
    equal([re.sub(r"^.*%", "", r) for r in rows(g)[1:]], ["app.Store.write"], "a search leaves what matches")
    g.b.key("/", "Escape")
    g.b.run("[...document.querySelectorAll('#list [role=row]')].find(r => r.textContent.includes('getNode')).click()")
    equal((g.text(NAME), g.hash()), ("java.util.HashMap.getNode", "#q=^java\\.util\\.HashMap\\.getNode$"),
          "a row leads into the flame graph")
    g.b.key("Escape", "2")
    before = rows(g)
    g.b.key("Down", "Down", "Left")
    ok(len(rows(g)) < len(before), "the tree closes by keys", before, rows(g))
    g.b.key("1")


def test_shapes(g):
    """Folding and hiding; the known profile's stacks have native frames, but none before Java."""
    g.b.key("Down", "Down", "Down", "x")
    equal((g.hash(), g.text(LINE)[:11]), ("#h=app.Main.main;app.Shop.serve", "300 samples"), "x hides a subtree")
    equal(g.b.run("return [...document.querySelectorAll('button')].find(b => b.textContent.startsWith('Show')).textContent"),
          "Show hidden (70.0 %)", "and says how much that is")
    g.b.key("X")
    equal((g.hash(), g.text(LINE)[:13]), ("", "1,000 samples"), "X shows it again")
    g.b.key("r", "Down", "Down", "x")
    ok(g.hash().startswith("#r=1&hr="), "a leaf is hidden, too", g.hash())
    g.b.key("X", "r")


def test_fold(g):
    g.b.key("f", "Down", "Down")
    equal((g.text(NAME), g.hash()), ("app.Main.main", "#f=1"), "folded, a thread begins with its first Java frame")
    g.b.key("Down", "Down")
    equal(g.text(NAME), "[libz.so.1] crc32", "native frames between others are left out")
    g.b.key("f", "Down", "Down")
    equal(g.text(NAME), "[libz.so.1] start_thread", "and back")


def test_events(g):
    equal(g.text("title"), "shop-api.jar: CPU time", "the first event")
    g.b.key("e")
    equal((g.text("title"), g.hash()), ("shop-api.jar: allocated memory", "#e=alloc"), "e shows the next")
    g.b.key("e", "e", "e")
    equal(g.text("title"), "shop-api.jar: CPU time", "and the first again")


def test_hostile(b, g, server):
    for tab in ("", "#v=tree", "#v=methods"):
        g.open(server.url + "/hostile.html" + tab)
        equal(b.run("return document.querySelectorAll('script').length + document.querySelectorAll('x').length"), 1,
              "no element comes from a name " + tab)
    ok(any("</script>" in r for r in rows(g)), "markup is text", rows(g)[:5])
    ok("<script>alert(1)</script>" in b.run("return document.title"), "nothing ran, which would be an alert")


def test_blocked(b, server):
    b.open(server.url + "/blocked.html")
    b.wait("document.readyState === 'complete'", "the page")
    picture = b.picture()
    colors = {picture.at(x, 8 + 62 + 2 * 19 + 3) for x in range(30, 1100, 40)}
    ok(len(colors) >= 2 and all(sum(c) > 300 for c in colors), "without scripts there is the picture", colors)
    ok("java.util.HashMap.get" in b.run("return document.querySelector('table').textContent"), "and a table")


def test_options(g):
    wide = open(made("-k", "known", "--width", "700", "--inverted", "--colors", "package", "w.svg")).read()
    ok('<svg xmlns="http://www.w3.org/2000/svg" width="700"' in wide, "--width: so wide is the picture")
    g.open("file://" + made("-k", "known", "--width", "700", "--inverted", "--colors", "package", "w.svg"))
    equal(g.b.run("return document.getElementById('page').clientWidth"), 700, "and the live view")
    equal(g.b.run("return document.querySelector('[aria-pressed=true]').textContent"), "Flip", "--inverted")
    ok(g.b.run("return document.body === null && document.documentElement.textContent.includes('Colour: package')"), "--colors")
    g.open("file://" + made("-k", "known", "--reverse", "r.svg"))
    g.hover(0.1, 1)
    equal(g.text(NAME), "[libz.so.1] deflate", "--reverse")
    g.open("file://" + made("-k", "known", "--minwidth", "10", "m.svg"))
    g.hover(0.72, 4)
    equal((g.text(NAME), g.text(LINE)), ("[narrow frames]", "50 samples \u00b7 500.00 ms \u00b7 5.0 % of all \u00b7 "
          "self 5.0 % \u00b7 narrow frames"), "--minwidth joins what is narrow, and says so")


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
        equal(b.complaints(), [], "nothing to complain about")
        test_blocked(b, server)


main()
