#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Compares files of measured calls with the calls that a program has timed itself.
#
# usage: calls.py CALLS jfr EVENTS | stacks COLLAPSED | page HTML
#        CALLS has lines "call BEGIN DURATION" in ns of CLOCK_MONOTONIC; EVENTS is the output of jfr print --json
import datetime
import json
import re
import sys
import time

SLOW_NS = 100_000_000
truth = [tuple(map(int, line.split()[1:])) for line in open(sys.argv[1]) if line.startswith("call ")]
slow = sorted(call for call in truth if call[1] >= SLOW_NS)
text = open(sys.argv[3]).read()


def seconds(duration):
    return float(re.fullmatch(r"PT([\d.]+)S", duration).group(1))


def wall_to_mono(stamp):
    stamp = re.sub(r"(\.\d{6})\d*", r"\1", stamp)
    wall = datetime.datetime.fromisoformat(stamp).timestamp()
    return wall * 1e9 - (time.time_ns() - time.monotonic_ns())


def jfr():
    """Each slow call between the first and the last event has an event with its begin, duration and cause."""
    events = [e["values"] for e in json.loads(text)["recording"]["events"]]
    events = [(wall_to_mono(e["startTime"]), 1e9 * seconds(e["duration"]), e) for e in events
              if e["complete"] and seconds(e["uncertainty"]) < 0.05]
    begin, end = min(e[0] for e in events), max(e[0] for e in events)
    wanted = [call for call in slow if begin + 1e9 < call[0] < end - 1e9]
    missed = wrong = locked = matched = 0
    # The wall clock may have been adjusted since.
    offsets = sorted(min((e[0] - at for e in events if e[1] >= SLOW_NS), key=abs) for at, _ in wanted)
    offset = offsets[len(offsets) // 2]
    print("# begins are %.1f ms off" % (offset / 1e6))
    for at, ns in wanted:
        near = [e for e in events if abs(e[0] - offset - at) < 25e6 and abs(e[1] - ns) < 50e6]
        missed += not near
        for _, found, values in near[:1]:
            states = {key: seconds(values[key]) for key in ("cpu", "runnable", "lock", "io", "sleep", "wait", "park",
                                                             "safepoint", "shortWaits")}
            locked += states["lock"]
            matched += found / 1e9
            sums = abs(sum(states.values()) - found / 1e9) < 1e-6
            wrong += not (sums and states["lock"] == max(states.values()) and "Called.handle" in values["method"] and
                          values["eventThread"]["javaName"].startswith("caller-"))
    print("# %d events; of %d slow calls %d missed, %d wrong; %.2f of their time in the lock" % (
        len(events), len(wanted), missed, wrong, locked / (matched or 1)))
    return len(wanted) >= 10 and missed <= len(wanted) // 20 and wrong <= len(wanted) // 20 and locked > 0.75 * matched


def stacks():
    """The stacks are those of slow calls alone, and their time is that of the slow calls."""
    lines = [line.rpartition(" ") for line in text.splitlines()]
    time_ns = sum(int(value) for _, _, value in lines)
    locked = sum(int(value) for stack, _, value in lines if "waits for" in stack)
    true_ns = sum(ns for _, ns in slow)
    print("# %.3f s of %.3f s, of them %.3f s in a lock" % (time_ns / 1e9, true_ns / 1e9, locked / 1e9))
    # The recording lacks the first and the last second of the program's calls.
    return all("Called.handle" in stack for stack, _, _ in lines) and 0.6 * true_ns < time_ns < 1.05 * true_ns and \
        locked > 0.8 * time_ns


def page():
    section = re.search(r'<section id="latency">(.*?)</section>', text, re.S).group(1)
    rows = re.findall(r"<tr>(.*?)</tr>", section, re.S)
    figures = re.findall(r"<td[^>]*>(.*?)</td>", rows[1])
    p99 = re.fullmatch(r"(\d+) ms", figures[3])
    true_p99 = sorted(ns for _, ns in truth)[int(0.99 * len(truth))] / 1e6
    print("# %s; true p99 %.0f ms" % (figures, true_p99))
    return bool(p99) and abs(int(p99.group(1)) - true_p99) < 20 and "<rect" in section and "lock" in section and \
        re.search(r"waits for[^<]*\[lock\]</td>.*?<td>\*</td>", section) is not None


if not {"jfr": jfr, "stacks": stacks, "page": page}[sys.argv[2]]():
    sys.exit(1)
