# SPDX-License-Identifier: Apache-2.0
# Checks that two recordings have the same vitals in each second, both according to the JDK's own `jfr print --json`:
# vitals.py JSON FILE JHOT-JSON JHOT-FILE. The second recording is jhot's conversion of the first. Prints differences and exits with 1.

import collections
import json
import sys

from oracle import nanoseconds, start_of, value_of

VITALS = "jdk.GCHeapSummary", "jdk.GarbageCollection", "jdk.CPULoad"


def read(printed, path):
    """The vitals of each second: heap at its end, collections, pauses, CPU load."""
    start, before = start_of(path), 0
    seconds = collections.defaultdict(lambda: {"heap": None, "collections": 0, "pauses": 0, "loads": []})
    events = json.load(open(printed))["recording"]["events"]
    for event in sorted(events, key=lambda e: nanoseconds(e["values"]["startTime"])):
        values = event["values"]
        if event["type"] not in VITALS:  # so that a last second with only samples has no vitals
            continue
        second = seconds[(nanoseconds(values["startTime"]) - start) // 10 ** 9]
        if event["type"] == "jdk.GCHeapSummary":
            space = values["heapSpace"]
            second["heap"] = (values["heapUsed"], space["committedSize"], space["reservedSize"])
        elif event["type"] == "jdk.GarbageCollection":
            second["collections"] += values.get("collections", 1)
            second["pauses"] += value_of(values["sumOfPauses"])
        elif event["type"] == "jdk.CPULoad":
            at = nanoseconds(values["startTime"]) - start
            second["loads"].append((values["jvmUser"], values["jvmSystem"], values["machineTotal"]))
            second["since"], before = (at - before) / 1e9, at
    return seconds


def main(*arguments):
    want, got = read(*arguments[:2]), read(*arguments[2:])
    heap, wrong, counts = None, [], collections.Counter()
    for second in sorted(set(want) | set(got)):
        a, b = want[second], got[second]
        heap = a["heap"] or heap
        if b["heap"] != heap:
            wrong.append((second, "heap", heap, b["heap"]))
        if a["collections"] != b["collections"] or abs(a["pauses"] - b["pauses"]) > 2 * a["collections"]:
            wrong.append((second, "collections", a, b))
        # jhot writes the mean of two loads in one second, with a resolution of milliseconds.
        if len(a["loads"]) == 1 and (len(b["loads"]) != 1 or max(
                abs(x - y) for x, y in zip(a["loads"][0], b["loads"][0])) > 0.002 + 0.001 / a["since"]):
            wrong.append((second, "CPU load", a["loads"], b["loads"]))
        counts.update({"heap": b["heap"] is not None, "collections": b["collections"], "loads": len(b["loads"])})
    for difference in wrong:
        print(*difference)
    print("%d s with a heap, %d collections, %d loads" % (counts["heap"], counts["collections"], counts["loads"]))
    return bool(wrong) or not counts["heap"] or not counts["loads"] or not counts["collections"]


sys.exit(main(*sys.argv[1:]))
