#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The comparison of `make bench-latency` for an invented report: percentiles, rates, merged and split calls, causes.

import copy
import os
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "lint")]

import latency  # noqa: E402
import lint  # noqa: E402

MS = 1000000
INTERVAL = 5 * MS
START = 1000 * MS
# Two threads: 100 ms without pauses; 3 ms and 60 ms with pauses.
CALLS = [["h-0", START + n * 100 * MS, 100 * MS] for n in range(10)] + [
    ["h-1", START + n * 100 * MS + 7 * MS, (60 if n % 2 else 3) * MS] for n in range(10)]
SLEEP, LOCK = {"cpu": 0.3, "sleep": 0.7, "lock": 0.0}, {"cpu": 0.1, "sleep": 0.0, "lock": 0.9}
TRUTH = {"family": "invented", "count": 20, "p50": 60 * MS, "p90": 100 * MS, "p99": 100 * MS, "max": 100 * MS, "overrun": False,
         "cause": "lock", "states": {"all": SLEEP, "slowest": LOCK}}


def polled(call, offset):
    """A call as polls at multiples of the interval plus this offset find it; None if they do not."""
    thread, begin, duration = call
    polls = [at for at in range(offset, 3000 * MS, INTERVAL) if begin <= at < begin + duration]
    return polls and {"thread": thread, "begin_ns": polls[0] - INTERVAL // 2, "complete": True, "error_ms": 2.0,
                      "duration_ms": (polls[-1] - polls[0] + INTERVAL) / MS} or None


def report(offset=0, **changed):
    every = [call for call in (polled(call, offset) for call in CALLS) if call]
    return {"method": "Timed.handle", "from_ns": START - INTERVAL, "to_ns": START + 1000 * MS, "interval_ms": 5.0, "calls": 21.0,
            "calls_error": 1.5, "per_second": 21.0, "p50_ms": 61.0, "p90_ms": 95.0, "p99_ms": 105.5, "p999_ms": None, "max_ms": None,
            "states": {"all": {"cpu": 0.25, "sleep": 0.75}, "slowest": {"lock": 0.8, "cpu": 0.2}}, "every": every,
            "slowest": every[:5], "notes": ["a note"], **changed}


def check(what, got, want):
    lint.check(what, [] if got == want else ["got %r, wanted %r" % (got, want)])


def marks(result):
    return "".join(mark or "." for _, _, mark in result["percentiles"])


NO_FAULT = {"merged": 0, "split": 0, "missed": 0, "extra": 0}
result = latency.compare("invented", report(), TRUTH, CALLS)
check("percentiles are judged by 5 % or an interval", marks(result), "++!?")
check("a percentile may be off by one rank, and lie between the two values", marks(latency.compare("invented", report(p50_ms=80.0, p90_ms=80.0), TRUTH, CALLS)), "+!!?")
check("percentiles below 4 intervals are not judged", marks(latency.compare("invented", report(), {**TRUTH, "p50": 19 * MS}, CALLS)), ".+!?")
check("the rate has its error and is judged by 3 of them", (
    result["rate"][3], latency.rate(report(calls=26), TRUTH)[3], latency.rate(report(calls=None), TRUTH)[3]), ("+", "!", "?"))
check("each call that polls find is found, at any phase", [
    latency.faults(report(offset * MS // 3), CALLS) for offset in range(0, 15)], [NO_FAULT] * 15)

every = report()["every"]
merged = [{**every[0], "duration_ms": 200.0}, *every[2:]]
check("a report of two calls as one is merged", latency.faults(report(every=merged), CALLS), {**NO_FAULT, "merged": 1})
split = [{**every[0], "duration_ms": 45.0}, {**every[0], "begin_ns": every[0]["begin_ns"] + 55 * MS, "duration_ms": 45.0}, *every[1:]]
check("two reports of one call are a split", latency.faults(report(every=split), CALLS), {**NO_FAULT, "split": 1})
check("a call that is not reported is missed", latency.faults(report(every=every[1:]), CALLS), {**NO_FAULT, "missed": 1})
extra = every + [{"thread": "h-1", "begin_ns": START + 80 * MS, "duration_ms": 10.0}]
check("a report where no call is is extra", latency.faults(report(every=extra), CALLS), {**NO_FAULT, "extra": 1})
check("threads of other names cannot be compared", latency.faults(report(every=[{**every[0], "thread": "ForkJoinPool-1"}]), CALLS), None)
without = report(every=None)
check("without the list of all calls, the slowest are compared", latency.faults(without, CALLS), NO_FAULT)
check("durations of the slowest are compared", (
    result["slowest"], latency.slowest(report(slowest=[{**every[0], "duration_ms": 80.0}, every[1]]), CALLS),
    latency.slowest(report(slowest=[{**every[0], "complete": False}]), CALLS)), ((5, 5), (1, 2), (0, 0)))

check("the cause is the leading state", result["cause"], ("lock", "lock", "+"))
other = copy.deepcopy(report())
other["states"]["slowest"] = {"lock": 0.4, "cpu": 0.6}
check("another leading state is wrong", latency.cause("invented", other, TRUTH)[2], "!")
check("a cause that did not take effect is not judged", latency.cause("invented", other, {**TRUTH, "cause": "io"})[2], "-")
check("sleep of a virtual thread may be reported as park", latency.cause("virtual", report(
    states={"slowest": {"park": 1.0}}), {**TRUTH, "cause": "sleep", "states": {"slowest": SLEEP}})[2], "+")
check("the shares of states are compared", round(result["off"]), 5)

text = latency.line("invented", "17", result)
check("a line has all of it", text.split(), """invented 17 19.9/20.9 +-1.49+ 60/61+ 100/95+ 100/106! 100/?? 0 0 0 0 5/5 5 lock/lock+""".split())
check("columns are below their headings", [len(latency.HEADING.split("  slowest")[0])], [len(text.split("  lock/")[0])])
check("the last line counts", latency.summary([result, result], 1), "percentiles: 4 within, 2 outside, 2 unknown; rates: 2 within, 0 outside, "
      "0 unknown; causes: 2 within, 0 outside, 0 unknown; calls: 0 merged, 0 split, 0 missed, 0 extra; 1 rows without a result")
nulls = report(calls=None, calls_error=None, p50_ms=None, p90_ms=None, p99_ms=None, states=None, every=[], slowest=[], notes=None)
empty = latency.compare("invented", nulls, {**TRUTH, "count": 0, "p50": None, "p90": None, "p99": None, "max": None}, [])
check("a report and a truth without calls are a line", latency.line("invented", "8", empty).split(), """invented 8 0/? +-0? ?/? ?/? ?/? ?/? - - - -
    0/0 - lock/None-""".split())
lint.done()
