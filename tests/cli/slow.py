#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Compares a report of `jhot slow --json --calls` with the calls that a program has timed itself.
#
# usage: slow.py REPORT CALLS calls|p99|lock|lasting; CALLS has lines "call BEGIN DURATION" in ns
import json
import sys

with open(sys.argv[1]) as f:
    report = json.load(f)
with open(sys.argv[2]) as f:
    calls = [tuple(map(int, line.split()[1:])) for line in f if line.startswith("call ")]
calls = sorted(ns for begin, ns in calls if report["from_ns"] <= begin < report["to_ns"])


def calls_near():
    print("# %.0f +- %.0f of %d calls" % (report["calls"], report["calls_error"], len(calls)))
    counted = sum(call["counted"] for call in report["every"]) > 0.5 * len(report["every"])
    # An estimate is less exact where calls are about as long as the interval.
    return calls and abs(report["calls"] - len(calls)) <= (0.1 if counted else 0.2) * len(calls)


def p99_near():
    truth = calls[int(0.99 * (len(calls) - 1))] / 1e6
    got = report["p99_ms"]
    print("# p99 %s of %.1f ms; interval %.1f ms" % (got, truth, report["interval_ms"]))
    return got is not None and abs(got - truth) <= max(report["interval_ms"], 0.1 * truth)


def lock_first():
    cause = report["causes"][0] if report["causes"] else None
    shares = report["states"]["slowest"]
    print("# %s; slowest: %s" % (cause, shares))
    return bool(cause) and cause["state"] == "lock" and shares["lock"] > 0.5 and shares["lock"] == max(shares.values())


def few_last():
    lasting = [call for call in report["every"] if not call["complete"]]
    print("# %d of %d calls in progress" % (len(lasting), len(report["every"])))
    return len(lasting) <= 4


checks = {"calls": calls_near, "p99": p99_near, "lock": lock_first, "lasting": few_last}
if not checks[sys.argv[3]]():
    sys.exit(1)
