#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# A picture of a terminal: picture.py TITLE <SCREEN >PICTURE.svg
#
# SCREEN is text with colors as `tmux capture-pane -e` writes it. Letters stay text in cells of a fixed size; blocks
# are drawn, so that they meet whatever font the reader has. Same screen, same bytes.

import re
import sys
import unicodedata
from xml.sax.saxutils import escape

CELL_W, CELL_H, FONT, PAD, BAR = 8.4, 18, 14, 12, 28
GROUND, INK = "#16191d", "#d5d8dc"
BASE = ["#16191d", "#e0605e", "#7fb86a", "#d9b45b", "#6a9fd8", "#b98ad0", "#62b5b5", "#d5d8dc",
        "#737b85", "#f08582", "#9fd48a", "#f0d080", "#8fbdf0", "#d3a9e8", "#86d3d3", "#ffffff"]


def palette(n):
    if n < 16:
        return BASE[n]
    if n >= 232:
        level = 8 + (n - 232) * 10
        return "#%02x%02x%02x" % (level, level, level)
    n -= 16
    levels = [0, 95, 135, 175, 215, 255]
    return "#%02x%02x%02x" % (levels[n // 36], levels[n // 6 % 6], levels[n % 6])


class Style:
    def __init__(self):
        self.reset()

    def reset(self):
        self.fg = self.bg = None
        self.bold = self.dim = self.underline = self.reverse = False

    def take(self, codes):
        codes = [int(c or 0) for c in codes.split(";")]
        while codes:
            c = codes.pop(0)
            if c == 0:
                self.reset()
            elif c in (1, 2, 4, 7):
                setattr(self, {1: "bold", 2: "dim", 4: "underline", 7: "reverse"}[c], True)
            elif c == 22:
                self.bold = self.dim = False
            elif c in (24, 27):
                setattr(self, {24: "underline", 27: "reverse"}[c], False)
            elif c in (38, 48) and codes and codes[0] == 5:
                setattr(self, "fg" if c == 38 else "bg", palette(codes[1]))
                del codes[:2]
            elif c in (39, 49):
                setattr(self, "fg" if c == 39 else "bg", None)
            elif 30 <= c <= 37 or 40 <= c <= 47:
                setattr(self, "fg" if c < 40 else "bg", palette(c % 10))
            elif 90 <= c <= 97 or 100 <= c <= 107:
                setattr(self, "fg" if c < 100 else "bg", palette(c % 10 + 8))

    def key(self):
        fg, bg = self.fg or INK, self.bg
        if self.reverse:
            fg, bg = bg or GROUND, fg
        return fg, bg, self.bold, self.dim, self.underline


def cells(line, style):
    out = []
    for part in re.split("(\033\\[[0-9;]*m|[\016\017])", line):
        if part.startswith("\033"):
            style.take(part[2:-1])
            continue
        for ch in part:
            if ch < " ":
                continue
            out.append((ch, style.key()))
            if unicodedata.east_asian_width(ch) in "WF":
                out.append(("", style.key()))
    return out


def rect(x, y, w, h, fill):
    return '<rect x="%g" y="%g" width="%g" height="%g" fill="%s"/>' % (x, y, w, h, fill)


def block(ch, x, y, fill):
    """The eighths: from below, and from the left."""
    n = ord(ch)
    if 0x2581 <= n <= 0x2588:
        h = CELL_H * (n - 0x2580) / 8
        return rect(x, y + CELL_H - h, CELL_W + 0.2, h, fill)
    if 0x2589 <= n <= 0x258F:
        return rect(x, y, CELL_W * (0x2590 - n) / 8, CELL_H, fill)
    return None


def draw_text(run, row, col, key):
    fg, _, bold, dim, underline = key
    text = run.rstrip(" ")
    skip = len(text) - len(text.lstrip(" "))
    text = text[skip:]
    if not text:
        return None
    more = (' font-weight="bold"' if bold else "") + (' opacity="0.6"' if dim else "")
    more += ' text-decoration="underline"' if underline else ""
    return '<text x="%g" y="%g" fill="%s" textLength="%g"%s>%s</text>' % (
        PAD + (col + skip) * CELL_W, BAR + PAD + row * CELL_H + CELL_H * 0.76, fg,
        len(text) * CELL_W, more, escape(text))


def draw_row(row, line):
    """Grounds first, then letters over them."""
    grounds, letters = [], []
    col = 0
    while col < len(line):
        key = line[col][1]
        end = col
        while end < len(line) and line[end][1] == key:
            end += 1
        if key[1]:
            grounds.append(rect(PAD + col * CELL_W, BAR + PAD + row * CELL_H,
                                (end - col) * CELL_W + 0.2, CELL_H + 0.2, key[1]))
        run, start = "", col
        for at in range(col, end):
            shape = line[at][0] and block(line[at][0], PAD + at * CELL_W, BAR + PAD + row * CELL_H, key[0])
            if shape:
                letters.append(shape)
            run += " " if shape else line[at][0] or " "
        # words apart, so that a font of another width moves nothing far
        for word in re.finditer(r"[^ ]+( [^ ]+)*", run):
            letters.append(draw_text(word.group(), row, start + word.start(), key))
        col = end
    return grounds + [t for t in letters if t]


def main():
    style, rows = Style(), []
    for line in sys.stdin.read().rstrip("\n").split("\n"):
        rows.append(cells(line, style))
    width = 2 * PAD + max(len(r) for r in rows) * CELL_W
    height = BAR + 2 * PAD + len(rows) * CELL_H
    print('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" width="%g" height="%g" '
          'font-family="DejaVu Sans Mono,Menlo,Consolas,Liberation Mono,monospace" font-size="%d" '
          'xml:space="preserve">' % (width, height, width, height, FONT))
    print("<title>%s</title>" % escape(sys.argv[1]))
    print('<rect width="%g" height="%g" rx="8" fill="%s"/>' % (width, height, GROUND))
    for i, color in enumerate(("#e0605e", "#d9b45b", "#7fb86a")):
        print('<circle cx="%d" cy="15" r="5" fill="%s"/>' % (18 + 18 * i, color))
    print('<text x="%g" y="20" fill="#737b85" text-anchor="middle">%s</text>' % (width / 2, escape(sys.argv[1])))
    for row, line in enumerate(rows):
        for shape in draw_row(row, line):
            print(shape)
    print("</svg>")


main()
