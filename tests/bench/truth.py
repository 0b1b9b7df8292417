#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make bench-truth: recordings of programs that measure the truth themselves, per kind of time and JDK.

  MAJORS="8 17"  only these JDKs    ROWS=wall,lock  kinds whose names contain one of these
  TURNS=5        repetitions, each on a new JVM: prints their median, minimum and maximum
  ASPROF=PATH    async-profiler in turns of its own

A row is one kind of time: a program, its command, what to record, and two functions: the truth (from the program's output), and
the recorded value (from the stacks with their values). "-" if a profiler does not support it. attributed.py has the rows
"attribution", with variables of their own.
"""
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

import attributed

SRC, BUILD, JAVA, JDK = sys.argv[1:5]
JDKS = os.environ.get("JDKS", os.path.expanduser("~/.cache/jhot/jdks"))
TURNS = int(os.environ.get("TURNS", "1"))
ASPROF = os.environ.get("ASPROF", "")
JHOT = os.path.join(BUILD, "jhot")
CLASSES = ":".join(os.path.join(BUILD, "tests", part, "classes") for part in ("jvm", "sampler"))
PATIENCE_S = 60
CGROUPS = (("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "20000"), ("/sys/fs/cgroup", "cpu.max", "20000 100000"))


class Jvm:
    """A program that prints "ready", then executes commands, and prints "done" after each."""

    def __init__(self, java, options, program, folder):
        self.path = os.path.join(folder, "out")
        self.out = open(self.path, "w+b")
        self.process = subprocess.Popen(
            [*options[0], java, "-Xmx256m", *options[1], "-cp", CLASSES + ":" + folder, *program],
            stdin=subprocess.PIPE, stdout=self.out, stderr=subprocess.DEVNULL)
        self.pid = str(self.process.pid)
        self.until(lambda text: "ready" in text)

    def text(self):
        with open(self.path, encoding="utf-8", errors="replace") as out:
            return out.read()

    def until(self, holds):
        end = time.monotonic() + PATIENCE_S
        while not holds(self.text()):
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError("the program did not respond")
            time.sleep(0.05)

    def work(self, line):
        """Executes a command and returns its output."""
        before = self.text()
        self.process.stdin.write((line + "\n").encode())
        self.process.stdin.flush()
        self.until(lambda text: text.count("done") > before.count("done"))
        return self.text()[len(before):]

    def end(self):
        self.process.kill()
        self.process.wait()


def jhot(jvm, row, line, folder):
    """Records with jhot while the program works; returns the program's output and the stacks."""
    path = os.path.join(folder, "jhot.collapsed")
    with open(os.path.join(folder, "err"), "wb") as err:
        recorder = subprocess.Popen([JHOT, "record", *row["jhot"], "-d", "600", "-o", path, jvm.pid],
                                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=err)
    try:
        end = time.monotonic() + PATIENCE_S
        while " every " not in subprocess.run([JHOT, "status", jvm.pid], capture_output=True, text=True).stdout:
            if recorder.poll() is not None or time.monotonic() > end:
                raise RuntimeError("jhot did not start")
            time.sleep(0.05)
        said = jvm.work(line)
    finally:
        recorder.terminate()
        recorder.wait()
    return said, stacks(path)


def asprof(jvm, row, line, folder):
    path = os.path.join(folder, "asprof.collapsed")
    subprocess.run([ASPROF, "start", *row["asprof"], jvm.pid], check=True, capture_output=True)
    try:
        said = jvm.work(line)
    finally:
        how = [option for option in row["asprof"] if option in ("-t", "--total")]
        subprocess.run([ASPROF, "stop", *how, "-o", "collapsed", "-f", path, jvm.pid], check=True, capture_output=True)
    return said, stacks(path)


def collector(pid):
    """CPU time of the collector's threads (by their names in the kernel) and of all threads, in ns."""
    gc = whole = 0
    for task in os.listdir("/proc/%s/task" % pid):
        try:
            with open("/proc/%s/task/%s/comm" % (pid, task)) as comm, open("/proc/%s/task/%s/schedstat" % (pid, task)) as stat:
                name, ns = comm.read(), int(stat.read().split()[0])
        except (OSError, IndexError):
            continue
        whole += ns
        if re.match(r"GC |G1 |ParGC|Gang|Concurrent Mark|Z[A-Z]|XW|Shen", name):
            gc += ns
    return gc, whole


def header(jvm, row, line, folder):
    """Six seconds of a running program according to the live view's header, and according to the kernel."""
    with open(os.path.join(folder, "err"), "wb") as err:
        top = subprocess.Popen([JHOT, "top", "-b", "--json", jvm.pid], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=err)
    try:
        for _ in range(3):
            top.stdout.readline()
        before = collector(jvm.pid)
        screens = [json.loads(top.stdout.readline()) for _ in range(6)]
        after = collector(jvm.pid)
    finally:
        top.terminate()
        top.stdout.close()
        top.wait()
    return ("done %d %d" % tuple(b - a for a, b in zip(before, after)),
            [(key, sum(seconds[key] for seconds in screens)) for key in ("cpu_gc_pct", "cpu_pct")])


def stacks(path):
    with open(path, encoding="utf-8", errors="replace") as lines:
        return [(stack, int(value)) for stack, _, value in (line.rstrip("\n").rpartition(" ") for line in lines)]


def below(*patterns):
    """The sum of all stacks in which each of these patterns is found."""
    return lambda got, said: sum(v for stack, v in got if all(re.search(p, stack) for p in patterns))


def share(part, whole):
    def of(got, said):
        all_of_it = below(*whole)(got, said)
        return below(*part)(got, said) / all_of_it if all_of_it else 0
    return of


def number(key, which=1):
    """The number at this position in the last line that begins with key."""
    def of(said):
        return int([line for line in said.split("\n") if line.startswith(key)][-1].split()[which])
    return of


def said_short(said):
    return number("short")(said) / (number("short")(said) + number("long")(said))


def renamed(said):
    old, new = number("cpu renamed-from-outside-old", 2)(said), number("cpu renamed-from-outside-new", 2)(said)
    return new / (old + new)


def cpu_of_names(said):
    return sum(int(line.split()[2]) for line in said.split("\n") if line.startswith("cpu "))


CPU = {"jhot": ["-i", "10ms", "--total"], "asprof": ["-e", "cpu", "-i", "10ms", "--total"]}
LOCK = {"jhot": ["-e", "lock", "--total"], "asprof": ["-e", "lock", "--lock", "0", "--total"]}
COUNT = {"jhot": ["-e", "lock"], "asprof": ["-e", "lock", "--lock", "0"]}
THREADS = {"jhot": ["-t", "-i", "1ms"], "asprof": ["-e", "cpu", "-i", "1ms", "-t"]}
NAMED = {"jhot": ["-t", "-i", "10ms", "--total"], "asprof": ["-e", "cpu", "-i", "10ms", "-t", "--total"]}


def kind(what, line, **more):
    return {"what": "cpu: " + what, "program": ["Kinds"], "line": line, "true": number("done"),
            "got": below(r"Kinds\.(body|deep)"), **CPU, **more}


def waits(what, line, hold, **more):
    return {"what": what, "program": ["Waits"], "line": line, "true": number("lock-0", 2 if "--total" in more["jhot"] else 1),
            "got": below(r"turn0"), **more}


ROWS = [
    {"what": "cpu: callees that C2 inlines, of them and their caller", "program": ["Inlined"], "line": None,
     "true": lambda said: 1, "got": share([r"Inlined\.(small|large)(_\[.\])?$"], [r"Inlined\.(both|small|large)(_\[.\])?$"]), **CPU},
    {"what": "wall: waits of 10 ms beside waits of 140, their share", "program": ["Waits"], "line": "turns 5000 10 140 0",
     "true": said_short, "got": share([r"waitShort"], [r"wait(Short|Long)"]),
     "jhot": ["-e", "wall", "-i", "20ms"], "asprof": ["-e", "wall", "-i", "20ms"]},
    {"what": "cpu: threads of 4 ms, 300 a second", "program": ["Short"], "line": "paced 1800 4000 300",
     "true": number("done"), "got": below(r"^\[4000-"), **NAMED},
    {"what": "cpu: their samples that have their name", "program": ["Short"], "line": "paced 1800 4000 300",
     "true": lambda said: 1, "got": share([r"Short\.shortBody", r"^\[4000-"], [r"Short\.shortBody"]), **NAMED},
    {"what": "cpu: 1,200 threads that need 0.4 ms, twice a second", "program": ["Short"], "line": "bursts 1200 400 6000",
     "true": number("done"), "got": below(r"Short\.burstBody"), **CPU},
    {"what": "cpu: samples of -i 1ms, one a ms", "program": ["Names"], "line": "rename 3000",
     "true": lambda said: cpu_of_names(said) / 1e6, "got": below(r"Names\.burn"), **THREADS},
    {"what": "cpu: share of a thread's second name", "program": ["Names"], "line": "rename 4000",
     "true": renamed, "got": share([r"^\[renamed-from-outside-new"], [r"^\[renamed-from-outside"]), **THREADS},
    waits("lock: waits for a monitor of 0.1 ms", "mix monitor 3000 4 0 50 100", 100, **COUNT),
    waits("lock: and their time", "mix monitor 3000 4 0 50 100", 100, **LOCK),
    waits("lock: waits for a monitor of 20 us", "mix monitor 3000 4 0 50 20", 20, **COUNT),
    waits("lock: and their time (20 us)", "mix monitor 3000 4 0 50 20", 20, **LOCK),
    waits("lock: waits for a monitor of 5 us", "mix monitor 3000 4 0 50 5", 5, **COUNT),
    waits("lock: and their time (5 us)", "mix monitor 3000 4 0 50 5", 5, **LOCK),
    waits("lock: waits for a ReentrantLock of 0.1 ms", "mix lock 3000 4 0 50 100", 100, **COUNT),
    waits("lock: and their time (ReentrantLock)", "mix lock 3000 4 0 50 100", 100, **LOCK),
    {"what": "lock: time from signal to the lock", "program": ["Waits"], "line": "signal 2000 4 5",
     "true": number("signalled"), "got": below(r"Signals\.awaits"), **LOCK},
    {"what": "header: the collector's share of the CPU time", "program": ["Garbage"], "line": "", "asks": {jhot: header},
     "true": lambda said: number("done", 1)(said) / number("done", 2)(said), "got": lambda got, said: dict(got)["cpu_gc_pct"] / dict(got)["cpu_pct"]},
    {"what": "cpu: samples under virtual threads' own names", "program": ["Names"], "line": "virtual 400", "since": 21,
     "true": lambda said: 1, "got": share([r"^\[(vt-named|virtual-#)", r"Names\.units"], [r"Names\.units"]), **THREADS},
    {"what": "lock: virtual threads, a monitor of 5 ms", "program": ["Parked", "0"], "since": 24,
     "line": "turns monitor 3000 8 5000 1000 0", "true": lambda said: number("waited", 2)(said) * 1e6,
     "got": below(r"Parked\.turnBelow"), **LOCK},
    {"what": "lock: virtual threads, a ReentrantLock of 5 ms", "program": ["Parked", "0"], "since": 21,
     "line": "turns lock 3000 8 5000 1000 0", "true": lambda said: number("waited", 2)(said) * 1e6,
     "got": below(r"Parked\.turnBelow"), **LOCK},
    kind("bursts of 0.3 ms", "bursts 3000"),
    kind("exceptions, one after the other", "throws 3000"),
    kind("2,500 frames deep", "deep 3000"),
    kind("nice 19", "plain 3000", wrap=["nice", "-n", "19"]),
    kind("SCHED_IDLE", "plain 3000", wrap=["chrt", "-i", "0"]),
    kind("all threads on one CPU", "plain 3000", wrap=["taskset", "-c", "0"]),
    kind("a cgroup that may use 0.2 of a CPU", "plain 4000", wrap=["cgroup"]),
]


def cgroup():
    """A command that runs another in a cgroup limited to a fifth of a CPU; None if that is not possible here."""
    for top, limit, value in CGROUPS:
        path = os.path.join(top, "jhot-truth")
        try:
            os.makedirs(path, exist_ok=True)
            with open(os.path.join(path, limit), "w") as file:
                file.write(value)
        except OSError:
            continue
        return ["sh", "-c", 'echo $$ > "%s/cgroup.procs" && exec "$@"' % path, "sh"]
    return None


def inlined(jvm, line):
    """For a program without commands, which starts with its input and runs until it is killed."""
    if line is not None:
        return jvm.work(line)
    jvm.process.stdin.write(b"go\n")
    jvm.process.stdin.flush()
    time.sleep(4)
    return ""


def measured(profiler, row, java, options, folder):
    jvm = Jvm(java, options, row["program"], folder)
    jvm.work, work = (lambda line: inlined(jvm, line)) if row["line"] is None else jvm.work, jvm.work
    try:
        said, got = profiler(jvm, row, row["line"], folder)
        true = row["true"](said)
        return row["got"](got, said) / true if true else None
    except (RuntimeError, subprocess.CalledProcessError, OSError, IndexError) as error:
        print("# %s: %s" % (row["what"], error), file=sys.stderr)
        return None
    finally:
        jvm.work = work
        jvm.end()


def cell(profiler, row, java, options, folder):
    """All turns of one profiler, as text."""
    profiler = row["asks"].get(profiler) if "asks" in row else profiler
    got = [measured(profiler, row, java, options, folder) for _ in range(TURNS if profiler else 0)]
    got = sorted(value for value in got if value is not None)
    if not got:
        return "-"
    return "%.3g" % statistics.median(got) + (" (%.3g..%.3g)" % (got[0], got[-1]) if TURNS > 1 else "")


def parked(major, folder):
    """Compiles Parked.java, which needs a newer javac; False if there is none."""
    javac = os.path.join(JDKS, str(major), "bin", "javac")
    return os.path.exists(javac) and not subprocess.run(
        [javac, "-nowarn", "--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED", "-d", folder,
         os.path.join(SRC, "tests/sampler/programs/Parked.java")], capture_output=True).returncode


def major_of(java):
    text = subprocess.run([java, "-version"], capture_output=True, text=True).stderr
    return int(re.search(r'"(?:1\.)?(\d+)', text).group(1))


def jdks():
    own = {major_of(JAVA): JAVA}
    for name in os.listdir(JDKS) if os.path.isdir(JDKS) else []:
        if name.isdigit():
            own.setdefault(int(name), os.path.join(JDKS, name, "bin", "java"))
    wanted = [int(major) for major in os.environ.get("MAJORS", "").split()] or sorted(own)
    return [(major, own[major]) for major in wanted if major in own]


def table(major, java, folder):
    wanted = os.environ.get("ROWS", "").split(",")
    has_parked = major >= 21 and parked(major, folder)
    for row in ROWS:
        if not any(part in row["what"] for part in wanted) or major < row.get("since", 8) or (
                row["program"][0] == "Parked" and not has_parked):
            continue
        wrap = cgroup() if row.get("wrap") == ["cgroup"] else row.get("wrap", [])
        if wrap is None:
            continue
        options = (wrap, ["--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED"] if row["program"][0] == "Parked" else [])
        cells = [cell(p, row, java, options, folder) for p in ([jhot, asprof] if ASPROF else [jhot])]
        print("%-4d %-58s" % (major, row["what"]) + "".join("%22s" % text for text in cells), flush=True)


def main():
    print("JDK  recorded, of what is true (1 = all of it)" + " " * 36 + "jhot" + (" " * 8 + "async-profiler" if ASPROF else ""))
    for major, java in jdks():
        with tempfile.TemporaryDirectory() as folder:
            table(major, java, folder)
    for top, _, _ in CGROUPS:
        if os.path.isdir(os.path.join(top, "jhot-truth")):
            os.rmdir(os.path.join(top, "jhot-truth"))
    attributed.table(jdks(), JDK)


main()
