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
    # collapsed files omit stacks without weight
    got = {k: v for k, v in got.items() if v}
    ok(got == dict(want) and sum(want.values()) > 0, what, differ(formats.collections.Counter(got), want))


def check(folder, kind, event, *options):
    name = " ".join((kind,) + options)
    args = ("-k", kind) + options
    weights = formats.collapsed(write(folder, "w.collapsed", "-d", "--total", *args))
    counts = formats.collapsed(write(folder, "c.collapsed", "-d", *args))
    pprof = formats.Pprof(write(folder, "a.pb.gz", *args))
    same(pprof.stacks, weights, "%s: pprof has the collapsed file's weights" % name)
    same(pprof.counts, counts, "%s: pprof has the collapsed file's counts" % name)
    scope = formats.speedscope(write(folder, "a.speedscope.json", *args))
    same(scope[event], weights, "%s: speedscope has the collapsed file's weights" % name)
    otlp = formats.Otlp(write(folder, "a.otlp", *args)).profiles
    same(otlp[0]["stacks"], weights, "%s: OTLP has the collapsed file's weights" % name)
    same(otlp[1]["stacks"], counts, "%s: OTLP has the collapsed file's counts" % name)
    if options:
        return  # JFR has threads outside of stacks
    jfr = formats.Jfr(write(folder, "a.jfr", *args))
    if event == "alloc":
        same(jfr.stacks("jdk.ObjectAllocationSample", "weight", "objectClass"), weights,
             "%s: JFR has the collapsed file's weights" % name)
        same(jfr.stacks("jdk.ObjectAllocationSample", None, "objectClass"), counts, "%s: JFR has the collapsed file's counts" % name)
    else:
        same(jfr.stacks("jdk.ExecutionSample"), counts, "%s: JFR has the collapsed file's counts" % name)
    ok(jfr.settings()["event"] == event, "%s: JFR has the name of the event" % name)


def check_all_events(folder):
    scope = formats.speedscope(write(folder, "e.speedscope.json", "-k", "events"))
    ok(sorted(scope) == ["alloc", "cpu", "lock", "wall"], "a speedscope file has all events", sorted(scope))
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
        same(got, want, "%s in a JFR file of all events has the collapsed file's values" % event)
        if name and value != "weight":
            continue
        same(scope[event], want, "speedscope has the collapsed file's values of all events")
    waits = sorted(e["duration"] for e in jfr.events["jdk.JavaMonitorEnter"])
    ok(waits == [400000000, 2500000000], "JFR: a wait of several seconds is one event", waits)
    ok(len(jfr.events["jdk.ThreadPark"]) == 1, "JFR: a wait for a java.util.concurrent lock is a jdk.ThreadPark")
    second = {int(e["startTime"] // 10 ** 9) for e in jfr.events["jdk.ExecutionSample"]}
    ok(second == {1, 3}, "JFR: samples are in their seconds", second)
    states = {jfr.get(e["state"])["name"] for e in jfr.events["profiler.WallClockSample"]}
    ok(states == {"STATE_RUNNABLE", "STATE_SLEEPING", "STATE_BLOCKED_ON_MONITOR_ENTER", "STATE_IN_OBJECT_WAIT",
                  "STATE_PARKED", "STATE_IN_IO"}, "JFR: wall samples have the states of threads", states)
    indices = {f["bytecodeIndex"] for e in jfr.events["profiler.WallClockSample"]
               for f in jfr.get(e["stackTrace"])["frames"]}
    ok(indices == {0, 0xffffffff}, "JFR: an unknown bytecode index is -1, index 0 is 0", indices)


def check_vitals(folder):
    jfr = formats.Jfr(write(folder, "v.jfr", "-k", "events"))
    loads = [(e["startTime"] // 10 ** 9,) + tuple(round(e[k], 4) for k in ("jvmUser", "jvmSystem", "machineTotal"))
             for e in jfr.events["jdk.CPULoad"]]
    ok(loads == [(1, 0.25, 0.1, 0.5), (3, 0.25, 0, 0.25)], "JFR: CPU load is that between readings, as a share of all CPUs", loads)
    collections = [(e["startTime"] // 10 ** 9, e["gcId"], e["collections"], e["sumOfPauses"], e["longestPause"],
                    jfr.get(e["name"])["name"]) for e in jfr.events["jdk.GarbageCollection"]]
    ok(collections == [(1, 8, 1, 4000000, 4000000, "G1"), (3, 10, 2, 8000000, 1 << 63, "G1")],
       "JFR: collections are in the second of their reading; the longest of two pauses is unknown", collections)
    heap = [(e["heapUsed"] >> 20, e["heapSpace"]["committedSize"] >> 20, e["heapSpace"]["reservedSize"] >> 20,
             jfr.get(e["when"])["when"]) for e in jfr.events["jdk.GCHeapSummary"]]
    ok(heap == [(mb, 256, 512, "Each Second") for mb in (110, 120, 130)], "JFR: the heap has its values at each reading", heap)
    park = jfr.events["jdk.ThreadPark"][0]
    ok(park["timeout"] == park["until"] == 1 << 63, "JFR: the timeout of a park is unknown", park)


def check_facts(folder):
    """Facts of the session and of each event, in every text format that has a place for them."""
    scope = json.load(open(write(folder, "f.speedscope.json", "-k", "events"), encoding="utf-8"))
    plain = dict(re.split(r" +", line, maxsplit=1) for line in
                 open(write(folder, "f.txt", "-k", "events")).read().split("\n\n")[0].splitlines())
    lines = re.findall(r"^fact ([^=\n]*)=(.*)$", open(write(folder, "f.svg", "-k", "events")).read(), re.M)
    page = open(write(folder, "f.html", "-k", "events")).read()
    ok(dict(lines) == plain and len(lines) == len(plain) > 12, "the flame graph has the facts of the text", [dict(lines), plain])
    ok({**scope["jhot"]["session"], **scope["jhot"]["events"][0]} == plain, "speedscope has the facts of the text", scope["jhot"])
    ok([e["event"] for e in scope["jhot"]["events"]] == ["cpu", "alloc", "lock", "wall"], "speedscope has the facts of each event")
    rows = re.findall(r"<tr><td>([^<]*)</td><td>([^<]*)</td></tr>", page.split("</details>")[0].split("<details>")[1])
    ok(dict(rows) == plain, "the HTML page has the facts of the text without scripts", rows)
    want = {"command": "shop-api.jar --port 8080", "own_cpu_s": "0.012", "label.env": "prod", "engine": "perf", "lost": "3", "coarse_pct": "0.0"}
    ok(want.items() <= plain.items(), "the facts include cost, losses and labels", plain)
    ok("\nfact interval=10000000\n" in open(write(folder, "k.svg", "-k", "known")).read(), "the flame graph has the interval")
    ok(all(re.search(r"^fact event=%s$" % e, page, re.M) for e in ("cpu", "alloc", "lock", "wall")), "the HTML page has the facts of all events")


def check_requests(folder):
    """Attributes of requests are labels, not frames, and spans are links; the totals are those of the collapsed file."""
    file = formats.collapsed(write(folder, "r.collapsed", "-d", "-k", "requests"))
    ok(file == {"[http.route] /cart;[http.method] GET;app.Main.main;app.Shop.serve": 40,
                "[http.route] /pay;[http.method] GET;app.Main.main;app.Shop.serve": 10, "app.Main.main;app.Shop.serve": 7},
       "requests: the collapsed file has them as outermost frames", file)
    spans = {"a0" * 16: "b0" * 8, "a1" * 16: "b1" * 8}
    want = {("/cart", "a0" * 16): 20, ("/cart", "a1" * 16): 10, ("/cart", None): 10, ("/pay", None): 10, (None, None): 7}
    pprof = formats.Pprof(write(folder, "r.pb.gz", "-k", "requests"))
    got = formats.collections.Counter()
    for stack, labels, n, weight in pprof.samples:
        got[labels.get("http.route"), labels.get("trace_id")] += n
        assert stack == "app.Main.main;app.Shop.serve" and weight == n * 10 ** 7, stack
        assert spans.get(labels.get("trace_id")) == labels.get("span_id"), labels
    ok(got == want, "requests: pprof has routes and spans as labels", got)
    otlp = formats.Otlp(write(folder, "r.otlp", "-k", "requests")).profiles
    got = formats.collections.Counter()
    for stack, attributes, span, value in otlp[1]["samples"]:
        assert stack == "app.Main.main;app.Shop.serve", stack
        assert span is None or spans[span[0]] == span[1], span
        got[attributes.get("http.route"), span[0] if span else None] += value
    ok(got == want, "requests: OTLP has routes as attributes and spans as links", got)
    jfr = formats.Jfr(write(folder, "r.jfr", "-k", "requests"))
    same(jfr.stacks("jdk.ExecutionSample"), file, "requests: JFR has them as outermost frames")


def check_otlp(folder):
    otlp = formats.Otlp(write(folder, "k.otlp", "-k", "known"))
    first = otlp.profiles[0]
    ok((first["type"], first["period_type"], first["period"], first["duration"]) ==
       (("cpu", "nanoseconds"), ("cpu", "nanoseconds"), 10 ** 7, 30 * 10 ** 9), "OTLP: the first profile has type, period and duration", first)
    ok(otlp.profiles[1]["type"] == ("samples", "count"), "OTLP: the second profile has the number of samples", otlp.profiles[1]["type"])
    ok({("thread.name", "main"), ("thread.id", 1), ("tid", 41301)} <= first["labels"], "OTLP: samples have their threads", first["labels"])
    ok(otlp.resource["process.pid"] == 41234 and otlp.resource["service.name"] == "shop-api.jar", "OTLP: the resource has the process and the service", otlp.resource)
    ok(first["facts"]["jhot.engine"] == "ctimer", "OTLP: the profile has the engine", first["facts"])
    otlp = formats.Otlp(write(folder, "e.otlp", "-k", "events"))
    types = [p["type"][0] for p in otlp.profiles]
    ok(types == ["cpu", "samples", "alloc_space", "samples", "delay", "contentions", "wall", "samples"], "OTLP: one file has all events", types)
    ok(("thread.state", "is in I/O") in otlp.profiles[6]["labels"], "OTLP: wall samples have the states of threads", otlp.profiles[6]["labels"])
    hostile = formats.Otlp(write(folder, "h.otlp", "-k", "hostile"))
    ok(hostile.resource["script"] == "</script><script>alert(2)</script>", "OTLP: a label is an attribute under its own name", hostile.resource)
    check_otlp_protoc(folder)


def descriptors(folder):
    """The published description of the format as protoc descriptors, extracted from the Python code generated from it."""
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
             "the description is not installed (Debian: python3-opentelemetry-proto, since forky)")
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
           "protoc decodes every field of OTLP by the published description (%s)" % kind, (said, unknown[:3]))
    ok(not decode(data[:-3])[0], "protoc rejects a truncated OTLP file")
    ok(decode(data + b"\xfa\x01\x01x")[1], "the check finds a field that the description lacks")


def check_table(folder):
    """All formats: files are reproducible, and hostile names are sanitized."""
    for row in subprocess.run([TOOL, "-l"], check=True, capture_output=True, text=True).stdout.splitlines():
        name, suffix = row.split()
        for kind in ("known", "hostile", "events", "long"):
            first, again = (open(write(folder, n + suffix, "-k", kind), "rb").read() for n in ("one", "two"))
            ok(first and first == again, "%s of %s: the same profile gives the same %d bytes" % (name, kind, len(first)))
        data = open(write(folder, "h" + suffix, "-k", "hostile"), "rb").read()
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        for raw in (b"\xff\xfe broken", b"tab\tnewline", b"newline\nreturn", b"\x01\x02\x7f", b"\xed\xa0\x80surrogate"):
            ok(raw not in data, "%s: %r is sanitized" % (name, raw))
        binary = b"\0" in data
        if not binary:
            text = data.decode("utf-8")
            bad = [c for c in set(text) if unicodedata.category(c) == "Cc" and c not in "\n\t"]
            ok(not bad, "%s: the file is UTF-8 without control characters" % name, bad)
        if not binary and text.lstrip().startswith("<"):
            ok("<script>alert" not in text, "%s: no name becomes a script" % name)
        ok(len(data) > 4000, "%s: of a name of 10,000 characters the first 4,096 are kept" % name, len(data))


def check_other_decoders(folder):
    """pprof by Google's own decoder, speedscope by its published schema."""
    go, home = shutil.which("go"), os.path.join(folder, "go")
    if not go:
        skip("go tool pprof reads pprof", "no go tool pprof (Debian: golang-go)")
    for kind in ("known", "random") if go else ():
        run = subprocess.run([go, "tool", "pprof", "-symbolize=none", "-raw", write(folder, "g.pb.gz", "-k", kind)], capture_output=True, text=True,
                             env={**os.environ, "HOME": home, "GOCACHE": home, "PPROF_TMPDIR": home})
        stacks, counts = formats.pprof_raw(run.stdout)
        same(stacks, formats.collapsed(write(folder, "g.collapsed", "-d", "--total", "-k", kind)),
             "go tool pprof reads the weights of %s" % kind)
        same(counts, formats.collapsed(write(folder, "g.collapsed", "-d", "-k", kind)), "go tool pprof reads the counts")
    schema = os.environ.get("SPEEDSCOPE_SCHEMA") or os.path.expanduser("~/.cache/jhot/npm/speedscope/file-format-schema.json")
    try:
        import jsonschema
        checker = jsonschema.Draft7Validator(json.load(open(schema)))
    except (ImportError, OSError) as error:
        skip("speedscope's published schema accepts its file",
             "no python3-jsonschema" if isinstance(error, ImportError) else "speedscope's schema is not installed (npm package speedscope)")
        return
    for kind in ("known", "hostile", "events", "long"):
        errors = [e.message for e in checker.iter_errors(json.load(open(write(folder, "s.speedscope.json", "-k", kind))))]
        ok(not errors, "speedscope's published schema accepts its file of %s" % kind, errors[:3])
    broken = json.load(open(write(folder, "s.speedscope.json", "-k", "known")))
    del broken["shared"]["frames"]
    ok(list(checker.iter_errors(broken)), "speedscope's published schema rejects a file without frames")


def jdk_home(major):
    """The home of this JDK in $JDKS, or of $JAVA or the java in the path if it has this version."""
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
        skip("JDK 17 reads JFR", "no JDK 17 in %s or $JAVA" % JDKS)
    else:
        ok(re.search(r"jdk.ExecutionSample +1000 ", text), "JDK 17: jfr summary counts the samples", text)
        text = jfr_tool("17", "print", write(folder, "h.jfr", "-k", "hostile"))
        ok(text.count("jdk.ExecutionSample {") == sum(formats.collapsed(
            write(folder, "h.collapsed", "-k", "hostile")).values()), "JDK 17: jfr print prints all samples with hostile names")
        text = jfr_tool("17", "print", "--events", "CPULoad,GarbageCollection,GCHeapSummary", write(folder, "e.jfr", "-k", "events"))
        for line in ("jvmUser = 25.00%", "sumOfPauses = 8.00 ms", "longestPause = N/A", "collections = 2", "heapUsed = 130.0 MB"):
            ok(line in text, "jfr print: " + line, text)
    text = jfr_tool("25", "view", "hot-methods", path)
    if text is None:
        skip("JDK 25 shows views of JFR", "no JDK 25 in " + JDKS)
        return
    ok(re.search(r"java.util.HashMap.get\(\) +500 +50", text), "JDK 25: jfr view hot-methods has the hottest method", text)
    path = write(folder, "v.jfr", "-k", "events")
    text = jfr_tool("25", "view", "allocation-by-site", path)
    ok(re.search(r"app.Main.main\(\) +100", text), "JDK 25: jfr view allocation-by-site has the site", text)
    text = jfr_tool("25", "view", "contention-by-site", path)
    ok(re.search(r"app.Main.main\(\) +2 +1.45 s +2.50 s", text), "JDK 25: jfr view contention-by-site has the site", text)
    text = jfr_tool("25", "view", "cpu-load", path)
    ok("Machine Total (Average): 37.50%" in text, "JDK 25: jfr view cpu-load has the average", text)


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
        check_requests(folder)
        check_table(folder)
        check_other_decoders(folder)
        pprof = formats.Pprof(write(folder, "k.pb.gz", "-k", "known"))
        ok(pprof.types == [("samples", "count"), ("cpu", "nanoseconds")] and pprof.default == "cpu",
           "pprof: the file has the types of cpu", pprof.types)
        ok((pprof.period, pprof.duration) == (10 ** 7, 30 * 10 ** 9), "pprof: the file has period and duration")
        ok(("thread", "main") in pprof.labels and ("tid", 41301) in pprof.labels, "pprof: threads are labels", pprof.labels)
        ok("pid=41234" in pprof.comments and "engine=ctimer" in pprof.comments, "pprof: comments have the process and the engine", pprof.comments)
        jfr = formats.Jfr(write(folder, "l.jfr", "-k", "long"))
        times = [e["startTime"] / 1e9 for e in jfr.events["jdk.ExecutionSample"]]
        late = sum(t >= 1900 for t in times)
        ok(max(times) < 2000 and abs(late - len(times) * 0.05) < len(times) * 0.02, "JFR: old samples of a long recording keep their times", late)
        check_jdk(folder)
    print("1..%d" % count)
    sys.exit(failed > 0)


main()
