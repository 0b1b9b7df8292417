#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# make bench-verdicts: findings of `jhot why` for programs with one planted problem each, and for healthy ones (verdicts/Shop.java).
#
# A cell per JDK: R the cause is named; S nothing, or only that the machine is busy (cores), is found; W something else is
# found, or anything in a healthy program; - no result, because the JVM got no core. Behind the table are the sentences, each
# with the numbers that disagree by more than 10 % with what /proc and the JVM's counters say of the same seconds.
#
#   MAJORS="8 17 21 25"   JDKs           ONLY="collide reload"   these programs   BUSY=2   busy loops beside them
#   DURATION=10           of `jhot why`  SIDE_BY_SIDE=2          programs at a time

import concurrent.futures
import json
import os
import pathlib
import pwd
import re
import struct
import subprocess
import sys
import tempfile
import time

SOURCE, BUILD, JAVAC = sys.argv[1:4]
JDKS = os.environ.get("JDKS") or os.path.expanduser("~/.cache/jhot/jdks")
MAJORS = os.environ.get("MAJORS", "8 17 21 25").split()
DURATION = os.environ.get("DURATION", "10")

SERVERS = {"nplus1": "db 1", "slowhttp": "httpd 400", "chain": "db 40", "httpclient": "httpd 400", "reserve": "stock",
           "ok_subscriber": "db 3000", "ok_bot": "db 3000"}
SINCE = {"pinned": 21, "vhog": 21, "vlock": 21, "vsem": 21, "ok_virtual": 21, "ok_vtask": 21,  # the first JDK
         "cleaner": 9, "httpclient": 11}
WARM_S = {"deopt": 34, "classes": 61, "metaspace": 12, "leak": 9, "cleaner": 16, "ok_warm": 61, "ok_clinit": 0}  # instead of 4
CARRIERS = "-Djdk.virtualThreadScheduler.parallelism=2"
COMMON_POOL = "-Djava.util.concurrent.ForkJoinPool.common.parallelism=3"
OPTIONS = {
    "humongous": "-XX:+UseG1GC -XX:G1HeapRegionSize=1m -Xmx128m", "deopt": "-XX:-OmitStackTraceInFastThrow",
    "pinned": CARRIERS, "vhog": CARRIERS, "commonpool": COMMON_POOL, "parallel": COMMON_POOL, "ok_import": COMMON_POOL,
    "direct": "-XX:MaxDirectMemorySize=4g", "thrash": "-Xmx64m", "leak": "-Xmx64m", "ok_futures": COMMON_POOL,
    "sumall": "-XX:-UseCountedLoopSafepoints -XX:LoopStripMiningIter=0", "metaspace": "-XX:MaxMetaspaceSize=14m",
}

# The rule that finds the cause, and what its sentence contains. None: no rule exists, so anything but silence is wrong.
PLANTED = {
    "collide": ("collisions", "tileAt"), "nplus1": ("io", "DbConnection.execute"), "slowhttp": ("io", "callPricing"),
    "compute": ("locks", "http-"), "pinned": ("pinned", "nap"), "perreq": ("threads", "started"),
    "humongous": ("humongous", "humongous"), "finalizers": ("finalizers", "NativeImage.finalize"),
    "commonpool": ("starved", "commonPool"), "reload": ("locks", "PriceTable"), "classes": ("classes", "renderTemplate|loaded"),
    "metaspace": ("gc", "metaspace at its limit"), "fsync": ("io", "commit"), "deopt": ("deopt", "lengthOf"),
    "exceptions": ("exceptions", "parseQuantity"), "fds": ("descriptors", "descriptors"),
    "connpool": ("pool", "ConnPool.getConnection"), "connleak": ("pool", "ConnPool.getConnection"),
    "semleak": ("pool", "checkout"), "rrw": ("locks", "index-writer"), "log": ("locks", "FileLogger"),
    "thrash": ("heap", "heap"), "leak": ("heap", "heap"), "sysgc": ("gc", "System.gc"),
    "slowconsumer": ("pool", "full queue"), "slowconsumercpu": ("pool", "full queue"), "deadlock": ("deadlock", "http-"),
    "pooldead": ("starved", "worker-"), "chain": ("starved", "db-exec-"), "vlock": ("locks", "vsave"),
    "ownpool": ("starved", "report-"), "ownpoolcpu": ("starved", "report-"), "intern": ("locks", "updateUser"),
    "date": ("locks", "SimpleDateFormat"), "dumps": ("stops", "safepoints"), "sumall": ("safepoint", "safepoint"),
    "parallel": ("starved", "commonPool.*importAll|commonPool.*nap"), "vhog": ("cores", "virtual threads for a carrier"),
    "timer": ("timer", "buildReport.*late"), "oldtimer": ("timer", "Report.run.*late"), "process": ("io", "convert.*child"),
    "direct": ("offheap", "decodeFrame"),
    "reserve": ("io", "StockClient.reserve"), "payment": ("pool", "processPayment"), "httpclient": ("io", "priceOf"),
    "cleaner": ("finalizers", "freeTexture"),
    "clinit": ("clinit", "Config.<clinit>"), "clinitdead": ("clinit", "each other"), "debuglog": None, "reflect": None,
    "retry": None, "spin": None, "spinyield": None, "slowclients": None, "regex": None, "vsem": None, "async": None,
    "listscan": None,
}
FIXED = {"pinned": 24}  # healthy from this JDK on
HEALTHY = """ok_idle ok_keepalive ok_workers ok_batch ok_timers ok_prodcons ok_longpoll ok_subscriber ok_nio ok_barrier ok_process
    ok_sleepers ok_virtual ok_standby ok_forkjoin ok_alloc ok_locks ok_files ok_warm ok_futures ok_cache ok_async ok_vtask
    ok_cached ok_loops ok_fixeddelay ok_pipeline ok_stdin ok_clinit ok_direct ok_growing ok_ratetimer ok_job ok_import
    ok_oldtimer ok_candidates ok_signal ok_chat
    ok_bot ok_accept ok_gobble""".split()


def launch(major, classes, arguments, options=()):
    command = [JDKS + "/" + major + "/bin/java", "-XX:+IgnoreUnrecognizedVMOptions", "-Xmx160m", *options]
    return subprocess.Popen(command + ["-cp", classes, "Shop", *arguments], stdin=subprocess.PIPE, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


# Numbers in a rule's sentence, each with its truth: a key of difference(), in which a rate is per second.
NUMBERS = {
    "cores": [(r"(\S+) threads running", "running"), (r"(\S+) waiting for a core", "runnable")],
    "threads": [(r"(\S+) threads per second", "started"), (r"(\d+) live", "live")],
    "classes": [(r"(\S+) classes per second", "loaded")],
    "descriptors": [(r"^(\d+) of", "open")],
    "gc": [(r"pauses the program for (\S+) %", "pauses_pct"), (r"uses (\S+) % of the CPU", "gc_cpu_pct")],
    "safepoint": [(r"wait for them (\S+) %", "sync_pct")],
    "stops": [(r"stop the program for (\S+) %", "stops_pct")],
}


def counters(pid):
    """HotSpot's counters, by name, from the file that it maps: see PerfDataPrologue and PerfDataEntry in perfMemory.hpp."""
    with open("/tmp/hsperfdata_%s/%d" % (pwd.getpwuid(os.geteuid()).pw_name, pid), "rb") as file:
        data = file.read()
    at, count = struct.unpack_from("<ii", data, 24)
    values = {}
    for _ in range(count):
        size, name, vector, kind, _, _, _, value = struct.unpack_from("<iii4Bi", data, at)
        if kind == ord("J") and not vector:
            values[data[at + name:data.index(b"\0", at + name)].decode()] = struct.unpack_from("<q", data, at + value)[0]
        at += size
    return values


def snapshot(pid):
    """Totals since the program's start: times in seconds."""
    perf, tasks = counters(pid), "/proc/%d/task/" % pid
    frequency = perf["sun.os.hrt.frequency"]
    now = {"at": time.monotonic(), "running": 0, "runnable": 0, "gc_cpu": 0, "open": len(os.listdir("/proc/%d/fd" % pid))}
    for tid in os.listdir(tasks):
        try:
            running, runnable = [int(ns) / 1e9 for ns in pathlib.Path(tasks, tid, "schedstat").read_text().split()[:2]]
            name = pathlib.Path(tasks, tid, "comm").read_text()
        except OSError:
            continue
        now["running"] += running
        now["runnable"] += runnable
        now["gc_cpu"] += running if re.match("GC Thread|G1 |ParGC|VM Thread", name) else 0
    now["started"] = perf.get("java.threads.started", 0)
    now["live"] = perf.get("java.threads.live", 0)
    now["loaded"] = perf.get("java.cls.loadedClasses", 0) + perf.get("java.cls.sharedLoadedClasses", 0)
    now["stopped"] = perf.get("sun.rt.safepointTime", 0) / frequency
    now["sync"] = perf.get("sun.rt.safepointSyncTime", 0) / frequency
    now["pauses"] = sum(value for key, value in perf.items() if re.fullmatch(r"sun\.gc\.collector\.\d\.time", key)) / frequency
    return now


def difference(then, now):
    seconds = now["at"] - then["at"]
    rate = {key: (now[key] - then[key]) / seconds for key in now}
    cpu = rate["running"] or 1
    return {**rate, "live": now["live"], "open": now["open"], "sync_pct": 100 * rate["sync"], "pauses_pct": 100 * rate["pauses"],
            "gc_cpu_pct": 100 * rate["gc_cpu"] / cpu, "stops_pct": 100 * (rate["stopped"] + rate["sync"] - rate["pauses"])}


def disagreements(finding, truth):
    """Numbers of the sentence that are more than 10 % off, and off by more than 1."""
    off = []
    for pattern, key in NUMBERS.get(finding["rule"], ()):
        match = re.search(pattern, finding["what"])
        if match and abs(float(match[1]) - truth[key]) > max(1, truth[key] / 10):
            off.append("%s: %s, in truth %.1f" % (key, match[1], truth[key]))
    return off


def observe(name, major, classes):
    """The findings of `jhot why`, each with its disagreements; None if it has none to give."""
    running, arguments = [], [name]
    try:
        if name in SERVERS:
            running.append(launch(major, classes, SERVERS[name].split()))
            arguments.append(running[0].stdout.readline().split()[1])
        program = launch(major, classes, arguments, OPTIONS.get(name, "").split())
        running.append(program)
        if "ready" not in program.stderr.readline():
            return None
        time.sleep(WARM_S.get(name, 4))
        then = snapshot(program.pid)
        why = subprocess.run([BUILD + "/jhot", "why", "--json", "-d", DURATION, str(program.pid)], text=True,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        truth = difference(then, snapshot(program.pid))
        findings = json.loads(why.stdout)["findings"] if why.stdout else None
        for finding in findings or []:
            finding["off"] = disagreements(finding, truth)
        return findings
    finally:
        for process in reversed(running):
            process.terminate()
            try:
                process.communicate(timeout=10)
            except subprocess.TimeoutExpired:  # a JVM without free memory may not handle the signal
                process.kill()
                process.communicate()


def verdict(name, major, findings):
    if findings is None:
        return "-"
    expected = None if name in FIXED and int(major) >= FIXED[name] else PLANTED.get(name)
    if expected and any(f["rule"] == expected[0] and re.search(expected[1], f["what"]) for f in findings):
        return "R"
    return "W" if any(f["rule"] != "cores" for f in findings) else "S"


def main():
    names = os.environ.get("ONLY", "").split() or [*PLANTED, *HEALTHY]
    busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(int(os.environ.get("BUSY", "0")))]
    cells, sentences = {}, []
    with tempfile.TemporaryDirectory() as classes, \
            concurrent.futures.ThreadPoolExecutor(int(os.environ.get("SIDE_BY_SIDE", "2"))) as pool:
        subprocess.run([JAVAC, "-nowarn", "-Xlint:-options", "--release", "8", "-d", classes,
                        SOURCE + "/tests/bench/verdicts/Shop.java"], check=True)
        pending = {pool.submit(observe, name, major, classes): (name, major) for name in names for major in MAJORS
                   if int(major) >= SINCE.get(name, 0)}
        for done in concurrent.futures.as_completed(pending):
            name, major = pending[done]
            cells[name, major] = verdict(name, major, done.result())
            sentences += [(name, major, f["rule"], f["what"], f["off"]) for f in done.result() or []]
            print("%d of %d: %s on JDK %s: %s" % (len(cells), len(pending), name, major, cells[name, major]), file=sys.stderr)
    for process in busy:
        process.kill()
    print("%-16s" % "program" + "".join("%4s" % major for major in MAJORS))
    for name in names:
        print("%-16s" % name + "".join("%4s" % cells.get((name, major), "") for major in MAJORS))
    print()
    for *row, off in sorted(sentences):
        print("%-16s %3s  %-12s %s" % tuple(row) + "".join("\n%34s! %s" % ("", number) for number in off))
    counts = [list(cells.values()).count(cell) for cell in "RSW-"]
    print("\n%d right, %d silent, %d wrong, %d without a result" % tuple(counts))
    print("%d numbers more than 10 %% off" % sum(len(row[-1]) for row in sentences))


main()
