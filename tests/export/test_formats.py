#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# pprof, speedscope and flight recordings hold the stacks and totals of the collapsed file of the same profile, whatever
# the names; the same profile gives the same bytes; the JDK's own tool reads what it shall (skipped without one).

import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import formats  # noqa: E402

BUILD = os.environ.get("builddir", ".")
TOOL = os.path.join(BUILD, "tests/export/export_tool")
JDKS = os.environ.get("JDKS") or os.path.expanduser("~/.cache/jhot/jdks")
count = failed = 0


def ok(good, what, detail=""):
    global count, failed
    count += 1
    failed += not good
    print("%sok %d - %s" % ("" if good else "not ", count, what))
    if not good and detail:
        print("# " + str(detail)[:2000].replace("\n", "\n# "))


def skip(what, why):
    global count
    count += 1
    print("ok %d - %s # SKIP %s" % (count, what, why))


def write(folder, name, *args):
    path = os.path.join(folder, name)
    subprocess.run([TOOL, *args, path], check=True)
    return path


def differ(a, b):
    return [(k, a[k], b[k]) for k in sorted(set(a) | set(b)) if a[k] != b[k]][:5]


def same(got, want, what):
    # a stack without any weight is in no collapsed file
    got = {k: v for k, v in got.items() if v}
    ok(got == dict(want) and sum(want.values()) > 0, what, differ(formats.collections.Counter(got), want))


def check(folder, kind, event, *options):
    name = " ".join((kind,) + options)
    args = ("-k", kind) + options
    weights = formats.collapsed(write(folder, "w.collapsed", "-d", "--total", *args))
    counts = formats.collapsed(write(folder, "c.collapsed", "-d", *args))
    pprof = formats.Pprof(write(folder, "a.pb.gz", *args))
    same(pprof.stacks, weights, "%s: pprof has the weights" % name)
    same(pprof.counts, counts, "%s: and the counts" % name)
    scope = formats.speedscope(write(folder, "a.speedscope.json", *args))
    same(scope[event], weights, "%s: speedscope has the weights" % name)
    for end in ("pb.gz", "speedscope.json", "jfr", "txt"):
        first, again = (open(write(folder, n + end, *args), "rb").read() for n in ("one.", "two."))
        ok(first == again, "%s: the same profile, the same %d bytes of %s" % (name, len(first), end))
    if options:
        return  # flight recordings tell threads in their own way
    jfr = formats.Jfr(write(folder, "a.jfr", *args))
    if event == "alloc":
        same(jfr.stacks("jdk.ObjectAllocationSample", "weight", "objectClass"), weights,
             "%s: a flight recording has the weights" % name)
        same(jfr.stacks("jdk.ObjectAllocationSample", None, "objectClass"), counts, "%s: and the counts" % name)
    else:
        same(jfr.stacks("jdk.ExecutionSample"), counts, "%s: a flight recording has the counts" % name)
    ok(jfr.settings()["event"] == event, "%s: and says of which event" % name)


def check_all_events(folder):
    scope = formats.speedscope(write(folder, "e.speedscope.json", "-k", "events"))
    ok(sorted(scope) == ["alloc", "cpu", "lock", "wall"], "all events in one speedscope file", sorted(scope))
    jfr = formats.Jfr(write(folder, "e.jfr", "-k", "events"))
    for number, (event, name, value, leaf) in enumerate((
            ("cpu", "jdk.ExecutionSample", None, None), ("alloc", "jdk.ObjectAllocationSample", "weight", "objectClass"),
            ("lock", None, None, None), ("wall", "profiler.WallClockSample", "samples", None))):
        options = ("-d", "-k", "events", "-e", str(number))
        want = formats.collapsed(write(folder, "e.collapsed", *options, *(["--total"] if value == "weight" or not name else [])))
        if name:
            got = jfr.stacks(name, value, leaf)
        else:
            got = (jfr.stacks("jdk.JavaMonitorEnter", "duration", "monitorClass") +
                   jfr.stacks("jdk.ThreadPark", "duration", "parkedClass"))
        same(got, want, "%s in the one flight recording" % event)
        if name and value != "weight":
            continue
        same(scope[event], want, "and in speedscope's file")
    waits = sorted(e["duration"] for e in jfr.events["jdk.JavaMonitorEnter"])
    ok(waits == [400000000, 2500000000], "a wait of three seconds is one event", waits)
    ok(len(jfr.events["jdk.ThreadPark"]) == 1, "a lock of java.util.concurrent parks")
    second = {int(e["startTime"] // 10 ** 9) for e in jfr.events["jdk.ExecutionSample"]}
    ok(second == {1, 3}, "samples are in their seconds", second)
    states = {jfr.get(e["state"])["name"] for e in jfr.events["profiler.WallClockSample"]}
    ok(states == {"STATE_RUNNABLE", "STATE_SLEEPING"}, "states of the wall clock", states)


def jfr_tool(major, *args):
    tool = os.path.join(JDKS, major, "bin/jfr")
    if not os.path.exists(tool):
        return None
    return subprocess.run([tool, *args], capture_output=True, text=True, timeout=120).stdout


def check_jdk(folder):
    path = write(folder, "k.jfr", "-k", "known")
    text = jfr_tool("17", "summary", path)
    if text is None:
        skip("JDK 17 reads it", "no JDK 17 in " + JDKS)
    else:
        ok(re.search(r"jdk.ExecutionSample +1000 ", text), "JDK 17: jfr summary counts the samples", text)
        text = jfr_tool("17", "print", write(folder, "h.jfr", "-k", "hostile"))
        ok(text.count("jdk.ExecutionSample {") == sum(formats.collapsed(
            write(folder, "h.collapsed", "-k", "hostile")).values()), "and jfr print gets through hostile names")
    text = jfr_tool("25", "view", "hot-methods", path)
    if text is None:
        skip("JDK 25 shows views of it", "no JDK 25 in " + JDKS)
        return
    ok(re.search(r"java.util.HashMap.get\(\) +500 +50", text), "JDK 25: jfr view hot-methods", text)
    path = write(folder, "v.jfr", "-k", "events")
    text = jfr_tool("25", "view", "allocation-by-site", path)
    ok(re.search(r"app.Main.main\(\) +100", text), "jfr view allocation-by-site", text)
    text = jfr_tool("25", "view", "contention-by-site", path)
    ok(re.search(r"app.Main.main\(\) +2 ", text), "jfr view contention-by-site", text)


def main():
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("known", "hostile", "random", "long"):
            check(folder, kind, "cpu")
        check(folder, "random", "cpu", "-t")
        check(folder, "alloc", "alloc")
        check_all_events(folder)
        pprof = formats.Pprof(write(folder, "k.pb.gz", "-k", "known"))
        ok(pprof.types == [("samples", "count"), ("cpu", "nanoseconds")] and pprof.default == "cpu",
           "pprof: types of cpu", pprof.types)
        ok((pprof.period, pprof.duration) == (10 ** 7, 30 * 10 ** 9), "period and duration")
        ok(("thread", "main") in pprof.labels and ("tid", 41301) in pprof.labels, "threads are labels", pprof.labels)
        ok("pid=41234" in pprof.comments and "engine=ctimer" in pprof.comments, "what it is of", pprof.comments)
        jfr = formats.Jfr(write(folder, "l.jfr", "-k", "long"))
        times = [e["startTime"] / 1e9 for e in jfr.events["jdk.ExecutionSample"]]
        late = sum(t >= 1900 for t in times)
        ok(max(times) < 2000 and abs(late - len(times) * 0.05) < len(times) * 0.02, "an old recording keeps its times", late)
        check_jdk(folder)
    print("1..%d" % count)
    sys.exit(failed > 0)


main()
