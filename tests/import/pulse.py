# SPDX-License-Identifier: Apache-2.0
# Checks that a page's heat map has samples in the 50 ms in which they were taken according to the JDK's own `jfr print --json`:
# pulse.py JSON FILE PAGE EVENT. FILE is the recording, PAGE jhot's HTML of this event alone. Prints differences and exits with 1.

import collections
import json
import re
import sys

from oracle import nanoseconds, start_of

DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_"


def read_page(path):
    """The digits of the parts of each second."""
    count, parts, line = re.search(r"^pulse (\d+) (\d+)\n(.*)$", open(path).read(), re.M).groups()
    values, seconds, second, at = [DIGITS.index(c) for c in line], {}, 0, 0

    def number():
        nonlocal at
        n = unit = 0
        while True:
            digit = values[at]
            at += 1
            n |= (digit & 31) << unit
            unit += 5
            if digit < 32:
                return n

    for _ in range(int(count)):
        second += number()
        number()
        seconds[second] = values[at:at + int(parts)]
        at += int(parts)
        second += 1
    return seconds


def main(printed, path, page, event):
    start, want = start_of(path), collections.defaultdict(lambda: [0] * 20)
    for e in json.load(open(printed))["recording"]["events"]:
        if e["type"] == event:
            at = nanoseconds(e["values"]["startTime"]) - start
            want[at // 10 ** 9][at % 10 ** 9 // (50 * 10 ** 6)] += 1
    got = read_page(page)
    wrong = [(second, want[second], got.get(second)) for second in sorted(set(want) | set(got)) if got.get(second) is None or any(
        abs(got[second][i] - 63 * n / max(want[second])) > 1 for i, n in enumerate(want[second]))]
    for difference in wrong:
        print(*difference)
    print("%d seconds" % len(want))
    return bool(wrong) or not want


sys.exit(main(*sys.argv[1:]))
