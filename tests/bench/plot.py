# SPDX-License-Identifier: Apache-2.0
"""Draws ratios as an SVG picture: a line each, with its median and spread, on a logarithmic scale around 1."""
import math
from xml.sax.saxutils import escape

ROW, LEFT, WIDTH, TOP, BOTTOM, EDGE = 20, 430, 900, 46, 30, 60
STYLE = """
:root { --ground: #ffffff; --text: #1f2328; --dim: #656d76; --grid: #d8dee4; --less: #1a7f37; --more: #bc4c00; }
@media (prefers-color-scheme: dark) {
:root { --ground: #0d1117; --text: #e6edf3; --dim: #8d96a0; --grid: #30363d; --less: #3fb950; --more: #db6d28; }
}
text { font: 12px system-ui, sans-serif; fill: var(--text); }
.dim { fill: var(--dim); }
.grid { stroke: var(--grid); }
.one { stroke: var(--dim); }
.less { stroke: var(--less); fill: var(--less); }
.more { stroke: var(--more); fill: var(--more); }
.whisker { stroke-width: 2; }
"""


def power(exponent):
    return "%g" % 2 ** exponent if exponent >= 0 else "1/%d" % 2 ** -exponent


class Scale:
    """Maps ratios to pixels: powers of two at equal distances, including 1."""

    def __init__(self, values):
        logs = [math.log2(value) for value in values] + [-1, 1]
        self.least, self.most = math.floor(min(logs)), math.ceil(max(logs))
        self.step = (WIDTH - LEFT - EDGE) / (self.most - self.least)

    def x(self, ratio):
        return LEFT + (math.log2(ratio) - self.least) * self.step

    def exponents(self):
        return range(self.least, self.most + 1)


def text(x, y, words, anchor="start", kind=""):
    return '<text x="%.1f" y="%.1f" text-anchor="%s"%s>%s</text>' % (
        x, y, anchor, ' class="%s"' % kind if kind else "", escape(words))


def line(x1, y1, x2, y2, kind):
    return '<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" class="%s"/>' % (x1, y1, x2, y2, kind)


def ratios(rows):
    """rows: what, median, minimum, maximum. Returns the picture's text."""
    scale = Scale([value for row in rows for value in row[1:]])
    height = TOP + ROW * len(rows) + BOTTOM
    parts = [text(12, 20, "jhot / async-profiler"), text(12, 36, "left of 1: jhot takes less", kind="dim")]
    for exponent in scale.exponents():
        x = scale.x(2.0 ** exponent)
        parts.append(line(x, TOP, x, height - BOTTOM, "one" if exponent == 0 else "grid"))
        parts.append(text(x, height - 10, power(exponent), "middle", "dim"))
    for i, (what, median, least, most) in enumerate(rows):
        y, kind = TOP + ROW * (i + 0.5), "less" if median <= 1 else "more"
        parts += [text(LEFT - 12, y + 4, what, "end"),
                  line(scale.x(least), y, scale.x(most), y, kind + " whisker"),
                  '<circle cx="%.1f" cy="%.1f" r="4" class="%s"/>' % (scale.x(median), y, kind),
                  text(WIDTH - 10, y + 4, "%.2f" % median, "end", "dim")]
    return ('<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img">\n'
            "<title>jhot's figures as shares of async-profiler's</title>\n<style>%s</style>\n"
            '<rect width="100%%" height="100%%" style="fill: var(--ground)"/>\n%s\n</svg>\n'
            % (WIDTH, height, WIDTH, height, STYLE, "\n".join(parts)))
