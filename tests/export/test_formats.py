#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# pprof, OTLP, speedscope and JFR files contain the stacks and totals of the same profile's collapsed file, whatever
# its names; the same profile gives the same bytes; the JDK's own tool can read the JFR file (skipped without one).

import ast
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unicodedata

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
    otlp = formats.Otlp(write(folder, "a.otlp", *args)).profiles
    same(otlp[0]["stacks"], weights, "%s: OTLP has the weights" % name)
    same(otlp[1]["stacks"], counts, "%s: and the counts" % name)
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
    ok(states == {"STATE_RUNNABLE", "STATE_SLEEPING", "STATE_BLOCKED_ON_MONITOR_ENTER", "STATE_IN_OBJECT_WAIT",
                  "STATE_PARKED", "STATE_IN_IO"}, "states of the wall clock", states)
    indices = {f["bytecodeIndex"] for e in jfr.events["profiler.WallClockSample"]
               for f in jfr.get(e["stackTrace"])["frames"]}
    ok(indices == {0, 0xffffffff}, "an unknown bytecode index is -1, index 0 is 0", indices)


def check_vitals(folder):
    jfr = formats.Jfr(write(folder, "v.jfr", "-k", "events"))
    loads = [(e["startTime"] // 10 ** 9,) + tuple(round(e[k], 4) for k in ("jvmUser", "jvmSystem", "machineTotal"))
             for e in jfr.events["jdk.CPULoad"]]
    ok(loads == [(1, 0.25, 0.1, 0.5), (3, 0.25, 0, 0.25)], "CPU load between readings, of all CPUs", loads)
    collections = [(e["startTime"] // 10 ** 9, e["gcId"], e["collections"], e["sumOfPauses"], e["longestPause"],
                    jfr.get(e["name"])["name"]) for e in jfr.events["jdk.GarbageCollection"]]
    ok(collections == [(1, 8, 1, 4000000, 4000000, "G1"), (3, 10, 2, 8000000, 1 << 63, "G1")],
       "collections in the second in which they were counted; the longest of two is not known", collections)
    heap = [(e["heapUsed"] >> 20, e["heapSpace"]["committedSize"] >> 20, e["heapSpace"]["reservedSize"] >> 20,
             jfr.get(e["when"])["when"]) for e in jfr.events["jdk.GCHeapSummary"]]
    ok(heap == [(mb, 256, 512, "Each Second") for mb in (110, 120, 130)], "the heap at each reading", heap)
    park = jfr.events["jdk.ThreadPark"][0]
    ok(park["timeout"] == park["until"] == 1 << 63, "what a thread would have parked for at most is not known", park)


def check_facts(folder):
    """Of the session and of each event, in every text that has space for it."""
    scope = json.load(open(write(folder, "f.speedscope.json", "-k", "events"), encoding="utf-8"))
    plain = dict(re.split(r" +", line, maxsplit=1) for line in
                 open(write(folder, "f.txt", "-k", "events")).read().split("\n\n")[0].splitlines())
    lines = re.findall(r"^fact ([^=\n]*)=(.*)$", open(write(folder, "f.svg", "-k", "events")).read(), re.M)
    page = open(write(folder, "f.html", "-k", "events")).read()
    ok(dict(lines) == plain and len(lines) == len(plain) > 12, "a graph has the facts that the text has", [dict(lines), plain])
    ok({**scope["jhot"]["session"], **scope["jhot"]["events"][0]} == plain, "so has speedscope's file", scope["jhot"])
    ok([e["event"] for e in scope["jhot"]["events"]] == ["cpu", "alloc", "lock", "wall"], "of each event")
    rows = re.findall(r"<tr><td>([^<]*)</td><td>([^<]*)</td></tr>", page.split("</details>")[0].split("<details>")[1])
    ok(dict(rows) == plain, "and the page without scripts", rows)
    want = {"command": "shop-api.jar --port 8080", "own_cpu_s": "0.012", "label.env": "prod", "engine": "perf", "lost": "3", "coarse_pct": "0.0"}
    ok(want.items() <= plain.items(), "what it cost and lost is in it", plain)
    ok("\nfact interval=10000000\n" in open(write(folder, "k.svg", "-k", "known")).read(), "and at which interval")
    ok(all(re.search(r"^fact event=%s$" % e, page, re.M) for e in ("cpu", "alloc", "lock", "wall")), "the page's data have all events")


def check_otlp(folder):
    otlp = formats.Otlp(write(folder, "k.otlp", "-k", "known"))
    first = otlp.profiles[0]
    ok((first["type"], first["period_type"], first["period"], first["duration"]) ==
       (("cpu", "nanoseconds"), ("cpu", "nanoseconds"), 10 ** 7, 30 * 10 ** 9), "OTLP: type, period and duration", first)
    ok(otlp.profiles[1]["type"] == ("samples", "count"), "and the samples' number", otlp.profiles[1]["type"])
    ok({("thread.name", "main"), ("thread.id", 1), ("tid", 41301)} <= first["labels"], "threads", first["labels"])
    ok(otlp.resource["process.pid"] == 41234 and otlp.resource["service.name"] == "shop-api.jar", "what it is of", otlp.resource)
    ok(first["facts"]["jhot.engine"] == "ctimer", "and how it was sampled", first["facts"])
    otlp = formats.Otlp(write(folder, "e.otlp", "-k", "events"))
    types = [p["type"][0] for p in otlp.profiles]
    ok(types == ["cpu", "samples", "alloc_space", "samples", "delay", "contentions", "wall", "samples"], "all events in one file", types)
    ok(("thread.state", "is in I/O") in otlp.profiles[6]["labels"], "states of the wall clock", otlp.profiles[6]["labels"])
    hostile = formats.Otlp(write(folder, "h.otlp", "-k", "hostile"))
    ok(hostile.resource["script"] == "</script><script>alert(2)</script>", "a label is an attribute by its own name", hostile.resource)
    check_otlp_protoc(folder)


def descriptors(folder):
    """The published description of the format, as protoc takes it: out of what is generated from it for Python."""
    out = b""
    for name in ("common/v1/common", "resource/v1/resource", "profiles/v1development/profiles"):
        source = open(os.path.join(folder, "opentelemetry/proto", name + "_pb2.py"), encoding="utf-8").read()
        file = ast.literal_eval(re.search(r"AddSerializedFile\((b'.*?[^\\]')\)", source).group(1))
        size, length = len(file), bytearray()
        while size > 127:
            length.append(size & 127 | 128)
            size >>= 7
        out += b"\x0a" + bytes(length) + bytes([size]) + file
    return out


def check_otlp_protoc(folder):
    protos = os.environ.get("OTEL_PROTO") or os.path.expanduser("~/.cache/jhot/otlp")
    package, protoc = os.path.join(protos, "opentelemetry/proto/profiles/v1development"), shutil.which("protoc")
    if not os.path.isdir(package) or not protoc:
        skip("protoc decodes OTLP by the published description", "no protoc (Debian: protobuf-compiler)" if not protoc else
             "its description is not there (Debian: python3-opentelemetry-proto, since forky)")
        return
    if os.path.exists(os.path.join(package, "profiles.proto")):
        source = ["-I", protos]
    else:
        with open(os.path.join(folder, "otlp.descriptors"), "wb") as file:
            file.write(descriptors(protos))
        source = ["--descriptor_set_in=" + file.name]

    def decode(data):
        run = subprocess.run([protoc, "--decode=opentelemetry.proto.profiles.v1development.ProfilesData", *source,
                              "opentelemetry/proto/profiles/v1development/profiles.proto"], input=data, capture_output=True)
        lines = run.stdout.decode("utf-8").splitlines()
        return run.returncode == 0, [line for line in lines if re.match(r" *[0-9]+[:{ ]", line)], lines, run.stderr

    for kind in ("hostile", "events"):
        data = open(write(folder, "p.otlp", "-k", kind), "rb").read()
        whole, unknown, lines, said = decode(data)
        ok(whole and not unknown and len(lines) > 100,
           "protoc decodes OTLP by the published description, every field (%s)" % kind, (said, unknown[:3]))
    ok(not decode(data[:-3])[0], "and not a file that is cut off")
    ok(decode(data + b"\xfa\x01\x01x")[1], "a field that the description has not is found")


def check_table(folder):
    """Every format there is: whatever names say, it is written, is the same again, and none of them gets through raw."""
    for row in subprocess.run([TOOL, "-l"], check=True, capture_output=True, text=True).stdout.splitlines():
        name, suffix = row.split()
        for kind in ("known", "hostile", "events", "long"):
            first, again = (open(write(folder, n + suffix, "-k", kind), "rb").read() for n in ("one", "two"))
            ok(first and first == again, "%s of %s: the same profile, the same %d bytes" % (name, kind, len(first)))
        data = open(write(folder, "h" + suffix, "-k", "hostile"), "rb").read()
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        for raw in (b"\xff\xfe broken", b"tab\tnewline", b"newline\nreturn", b"\x01\x02\x7f", b"\xed\xa0\x80surrogate"):
            ok(raw not in data, "%s: %r is not as it was" % (name, raw))
        binary = b"\0" in data
        if not binary:
            text = data.decode("utf-8")
            bad = [c for c in set(text) if unicodedata.category(c) == "Cc" and c not in "\n\t"]
            ok(not bad, "%s: UTF-8 without control characters" % name, bad)
        if not binary and text.lstrip().startswith("<"):
            ok("<script>alert" not in text, "%s: no name becomes a script" % name)
        ok(len(data) > 4000, "%s: of a name of 10,000 characters it has the first 4,096" % name, len(data))


def check_other_decoders(folder):
    """pprof by Google's own reader, speedscope's file by its published schema."""
    go, home = shutil.which("go"), os.path.join(folder, "go")
    if not go:
        skip("go tool pprof reads pprof", "no go tool pprof (Debian: golang-go)")
    for kind in ("known", "random") if go else ():
        run = subprocess.run([go, "tool", "pprof", "-symbolize=none", "-raw", write(folder, "g.pb.gz", "-k", kind)], capture_output=True, text=True,
                             env={**os.environ, "HOME": home, "GOCACHE": home, "PPROF_TMPDIR": home})
        stacks, counts = formats.pprof_raw(run.stdout)
        same(stacks, formats.collapsed(write(folder, "g.collapsed", "-d", "--total", "-k", kind)),
             "go tool pprof -raw: the weights of %s" % kind)
        same(counts, formats.collapsed(write(folder, "g.collapsed", "-d", "-k", kind)), "and the counts")
    schema = os.environ.get("SPEEDSCOPE_SCHEMA") or os.path.expanduser("~/.cache/jhot/npm/speedscope/file-format-schema.json")
    try:
        import jsonschema
        checker = jsonschema.Draft7Validator(json.load(open(schema)))
    except (ImportError, OSError) as error:
        skip("speedscope's file follows its published schema",
             "no python3-jsonschema" if isinstance(error, ImportError) else "speedscope's schema is not there (npm package speedscope)")
        return
    for kind in ("known", "hostile", "events", "long"):
        errors = [e.message for e in checker.iter_errors(json.load(open(write(folder, "s.speedscope.json", "-k", kind))))]
        ok(not errors, "speedscope's published schema allows its file of %s" % kind, errors[:3])
    broken = json.load(open(write(folder, "s.speedscope.json", "-k", "known")))
    del broken["shared"]["frames"]
    ok(list(checker.iter_errors(broken)), "and refuses one without frames")


def jdk_home(major):
    """One of $JDKS, or that of $JAVA or of the path."""
    java = os.environ.get("JAVA") or shutil.which("java") or "/"
    for home in (os.path.join(JDKS, major), os.path.dirname(os.path.dirname(os.path.realpath(java)))):
        try:
            if re.search(r'^JAVA_VERSION="%s\b' % major, open(os.path.join(home, "release")).read(), re.M):
                return home
        except OSError:
            pass
    return None


def jfr_tool(major, *args):
    home = jdk_home(major)
    if not home:
        return None
    return subprocess.run([os.path.join(home, "bin/jfr"), *args], capture_output=True, text=True, timeout=120).stdout


def check_jdk(folder):
    path = write(folder, "k.jfr", "-k", "known")
    text = jfr_tool("17", "summary", path)
    if text is None:
        skip("JDK 17 reads it", "no JDK 17 in %s or $JAVA" % JDKS)
    else:
        ok(re.search(r"jdk.ExecutionSample +1000 ", text), "JDK 17: jfr summary counts the samples", text)
        text = jfr_tool("17", "print", write(folder, "h.jfr", "-k", "hostile"))
        ok(text.count("jdk.ExecutionSample {") == sum(formats.collapsed(
            write(folder, "h.collapsed", "-k", "hostile")).values()), "and jfr print gets through hostile names")
        text = jfr_tool("17", "print", "--events", "CPULoad,GarbageCollection,GCHeapSummary", write(folder, "e.jfr", "-k", "events"))
        for line in ("jvmUser = 25.00%", "sumOfPauses = 8.00 ms", "longestPause = N/A", "collections = 2", "heapUsed = 130.0 MB"):
            ok(line in text, "jfr print: " + line, text)
    text = jfr_tool("25", "view", "hot-methods", path)
    if text is None:
        skip("JDK 25 shows views of it", "no JDK 25 in " + JDKS)
        return
    ok(re.search(r"java.util.HashMap.get\(\) +500 +50", text), "JDK 25: jfr view hot-methods", text)
    path = write(folder, "v.jfr", "-k", "events")
    text = jfr_tool("25", "view", "allocation-by-site", path)
    ok(re.search(r"app.Main.main\(\) +100", text), "jfr view allocation-by-site", text)
    text = jfr_tool("25", "view", "contention-by-site", path)
    ok(re.search(r"app.Main.main\(\) +2 +1.45 s +2.50 s", text), "jfr view contention-by-site", text)
    text = jfr_tool("25", "view", "cpu-load", path)
    ok("Machine Total (Average): 37.50%" in text, "jfr view cpu-load", text)


def main():
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("known", "hostile", "random", "long"):
            check(folder, kind, "cpu")
        check(folder, "random", "cpu", "-t")
        check(folder, "alloc", "alloc")
        check_all_events(folder)
        check_vitals(folder)
        check_facts(folder)
        check_otlp(folder)
        check_table(folder)
        check_other_decoders(folder)
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
