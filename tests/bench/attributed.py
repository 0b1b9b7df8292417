#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make bench-truth, rows "attribution": the distance of a profile from the attribution by each instruction's debug information.

  AWFY=DIR   a checkout of Are We Fast Yet, by default fetched from GitHub into ~/.cache/jhot; its Java programs are used
  BENCHES="DeltaBlue:12000 Richards:100"   the programs and their sizes      SECONDS_EACH=15   of recording
  MAJORS TURNS ASPROF   as for truth.py

Compilation is deterministic: one compiler, for which the program waits, so concurrent JVMs have the same code. One has libtruth.so,
which samples pcs and writes the debug information of all code; the others are profiled, attached after compilation. HotSpot records
debug information at the end of an instruction, and a timer interrupt occurs after the instruction that took the time, so the method
of the first record at or after a pc is the one that spent the time.

The figure is the distance between two distributions of samples of compiled Java code over methods: half the sum of absolute
differences, 0 for the same and 1 for nothing in common. "another truth" is a second JVM with libtruth.so: the effect of chance alone.
"""
import bisect
import collections
import os
import re
import statistics
import struct
import subprocess
import sys
import tempfile
import time

SRC, BUILD = sys.argv[1:3]
ASPROF = os.environ.get("ASPROF", "")
TURNS = int(os.environ.get("TURNS", "1"))
SECONDS = int(os.environ.get("SECONDS_EACH", "15"))
WARM_S = 10
BENCHES = os.environ.get("BENCHES", "DeltaBlue:12000 Richards:100").split()
HOME = "https://github.com/smarr/are-we-fast-yet"
DETERMINISTIC = ["-Xmx256m", "-XX:+UseSerialGC", "-Xbatch", "-XX:-TieredCompilation"]
INLINED = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+DebugNonSafepoints"]


def programs(jdk, folder):
    """Compiles the programs into folder."""
    checkout = os.environ.get("AWFY", os.path.expanduser("~/.cache/jhot/are-we-fast-yet"))
    if not os.path.isdir(checkout):
        subprocess.run(["git", "clone", "-q", "--depth", "1", HOME, checkout], check=True)
    top = os.path.join(checkout, "benchmarks", "Java", "src")
    files = [os.path.join(at, name) for at, _, names in os.walk(top) for name in names if name.endswith(".java")]
    subprocess.run([os.path.join(jdk, "bin", "javac"), "-nowarn", "-Xlint:-options", "--release", "8", "-d", folder, *files],
                   check=True, capture_output=True)


def agent(jdk, folder):
    path = os.path.join(folder, "libtruth.so")
    subprocess.run([os.environ.get("CC", "cc"), "-O1", "-D_GNU_SOURCE", "-fPIC", "-shared", "-o", path, "-I" + jdk + "/include",
                    "-I" + jdk + "/include/linux", os.path.join(SRC, "tests/bench/truth_agent.c"), "-lpthread"], check=True)
    return path


def plain(name):
    """A method's name without parts that differ between JVMs and tools."""
    return re.sub(r"0x[0-9a-f]{8,}|_\[.\]$", "", name.replace("/", "."))


class Truth:
    """A JVM with libtruth.so, its folder, and the samples of an interval."""

    def __init__(self, java, lib, program, folder):
        self.folder = folder
        self.process = run(java, ["-agentpath:%s=%s" % (lib, folder)], program)
        self.first = self.last = 0

    def count(self):
        with open(os.path.join(self.folder, "pcs"), "rb") as pcs:
            return struct.unpack("<Q", pcs.read(8))[0]

    def methods(self):
        """Samples by method."""
        codes, pages = [], collections.defaultdict(list)
        with open(os.path.join(self.folder, "code"), encoding="utf-8", errors="replace") as lines:
            for line in lines:
                words = line.split()
                if words[0] == "C":
                    codes.append((int(words[1], 16), int(words[2]), int(words[3]), [], []))
                elif words[0] == "P" and len(words) == 3:
                    codes[-1][3].append(int(words[1], 16))
                    codes[-1][4].append(plain(words[2]))
        for code in codes:
            for page in range(code[0] >> 12, (code[0] + code[1] >> 12) + 1):
                pages[page].append(code)
        with open(os.path.join(self.folder, "pcs"), "rb") as file:
            file.seek(8 * (1 + self.first))
            data = file.read(8 * (self.last - self.first))
        found = collections.Counter()
        for number, (pc,) in enumerate(struct.iter_unpack("<Q", data), self.first):
            covers = [c for c in pages[pc >> 12] if c[2] <= number and c[0] <= pc < c[0] + c[1]]
            at = bisect.bisect_left(covers[-1][3], pc) if covers else 0
            if covers and at < len(covers[-1][3]):
                found[covers[-1][4][at]] += 1
        return found


def run(java, options, program):
    name, _, size = program.partition(":")
    return subprocess.Popen([java, *DETERMINISTIC, *options, "-cp", CLASSES, "Harness", name, "1000000", size],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def recorder(who, pid, path):
    command = [os.path.join(BUILD, "jhot"), "record", "-e", "cpu", "-i", "1ms", "-d", str(SECONDS), "-o", path, str(pid)]
    if who == "async-profiler":
        command = [ASPROF, "-e", "cpu", "-i", "1ms", "-d", str(SECONDS), "-o", "collapsed", "-f", path, str(pid)]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def profile(path, java_methods):
    """Samples by innermost method, of compiled or interpreted Java code."""
    found = collections.Counter()
    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            stack, _, value = line.rstrip("\n").rpartition(" ")
            leaf = plain(stack.split(";")[-1])
            if leaf in java_methods or re.match(r"(deltablue|richards|som|java|[A-Z]\w+)\.[\w.$<>]+$", leaf):
                found[leaf] += int(value)
    return found


def distance(one, other):
    first, second = sum(one.values()), sum(other.values())
    return sum(abs(one[key] / first - other[key] / second) for key in set(one) | set(other)) / 2 if first and second else None


def turn(java, lib, program, options, who):
    """Returns the distance of each profiler, and of another truth."""
    with tempfile.TemporaryDirectory() as folder:
        places = [os.path.join(folder, name) for name in ("truth", "another")]
        for place in places:
            os.mkdir(place)
        truths = [Truth(java, lib, program, place) for place in places]
        targets = [run(java, options, program) for _ in who]
        paths = [os.path.join(folder, name + ".collapsed") for name in who]
        try:
            time.sleep(WARM_S)
            for truth in truths:
                truth.first = truth.count()
            for process in [recorder(*each) for each in zip(who, [target.pid for target in targets], paths)]:
                process.wait()
            for truth in truths:
                truth.last = truth.count()
        finally:
            for process in targets + [truth.process for truth in truths]:
                process.kill()
                process.wait()
        true, another = (truth.methods() for truth in truths)
        return [distance(true, profile(path, set(true))) if os.path.exists(path) else None for path in paths] + [
            distance(true, another)]


def cell(values):
    values = sorted(value for value in values if value is not None)
    if not values:
        return "-"
    return "%.2f" % statistics.median(values) + (" (%.2f..%.2f)" % (values[0], values[-1]) if len(values) > 1 else "")


def table(jdks, jdk):
    """jdks: pairs of a major version and its java. jdk: the JDK with javac and jvmti.h."""
    global CLASSES
    who = ["jhot"] + (["async-profiler"] if ASPROF else [])
    wanted = os.environ.get("ROWS", "").split(",")
    rows = [(p, what, options) for p in BENCHES for what, options in (("attached late", []), ("DebugNonSafepoints", INLINED))
            if any(part in "attribution: " + p + ", " + what for part in wanted)]
    if not rows:
        return
    print("JDK  distance of a profile from the truth (0: none)".ljust(63) + "".join("%22s" % w for w in who + ["another truth"]))
    with tempfile.TemporaryDirectory() as folder:
        CLASSES = folder
        try:
            programs(jdk, folder)
            lib = agent(jdk, folder)
        except (OSError, subprocess.CalledProcessError) as error:
            print("# attribution: %s" % error, file=sys.stderr)
            return
        for major, java in jdks:
            for program, what, options in rows:
                turns = [turn(java, lib, program, options, who) for _ in range(TURNS)]
                print("%-4d %-58s" % (major, "attribution: %s, %s" % (program.split(":")[0], what)) +
                      "".join("%22s" % cell(values) for values in zip(*turns)), flush=True)


CLASSES = ""
