#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The work of a running program with and without a profiler: work.py NAME PID RUN_FOLDER JHOT SCRATCH [TO_JVM]
#
# TURNS turns of each way to profile (LOADS) on one warm JVM, nothing attached between: base, jhot, base, async-profiler, base,
# ..., in alternating order. A turn is compared with the mean of the two adjacent bases, and each base but the outer ones with the
# mean of the bases before and after it, which is the noise. Prints for each: the time per operation and the JVM's CPU time per
# operation, agent included, both relative to nothing attached; and the CPU time of the front end.
# Environment: TURNS, WARM, SECONDS_EACH, LOADS, VERBOSE, ASPROF, PORT, H2_JAR, JAVA.

import os
import pty
import re
import signal
import subprocess
import sys
import threading
import time

TURNS = int(os.environ.get("TURNS", "10"))
WARM = float(os.environ.get("WARM", "20"))
SECONDS_EACH = float(os.environ.get("SECONDS_EACH", "6"))
ASPROF = os.environ.get("ASPROF", "")
# The time after a profiler's start and end: their one-time cost (names, unwind rows: about 0.4 s of CPU) does not count.
REST = 3.0
STUCK = 120

# Ways to profile: the name, jhot's arguments (a live view if there is no file), async-profiler's.
LOADS = {
    "100hz": ("100 Hz, live", ["top", "-i", "10ms"], ["-e", "cpu", "-i", "10ms"]),
    "1khz": ("1 kHz, recording", ["record", "-i", "1ms", "-o", "jhot.jhot"], ["-e", "cpu", "-i", "1ms", "-f", "asprof.jfr"]),
    "events": ("all events, recording", ["record", "-e", "cpu,alloc,lock,wall", "-o", "jhot.jhot"],
               ["-e", "cpu", "--wall", "50ms", "--alloc", "512k", "--lock", "10us", "-f", "asprof.jfr"]),
    # METHOD: see METHODS
    "latency": ("latency of calls", ["slow", "-d", "100000", "METHOD"], ["--trace", "METHOD", "-f", "asprof.jfr"]),
}
METHODS = {"javac": "com.sun.tools.javac.main.JavaCompiler.compile", "lucene-bench": "org.apache.lucene.index.IndexWriter.addDocument",
           "h2": "org.h2.server.TcpServerThread.process"}


class Ended(Exception):
    """The program has ended by itself, and its starter starts it again."""


def stuck(what):
    sys.exit("work.py: %s" % what)


def cpu_s(pid):
    """CPU time of a process, by its own clock."""
    return time.clock_gettime((~pid << 3) | 2)


# --- operations ------------------------------------------------------------------------------------------
# A meter's `turn` measures for a time of its own, and returns operations per second and the JVM's CPU seconds per operation.


class Counted:
    """A program that reports its number of operations; a turn is measured from one observed change to another."""

    def turn(self):
        first, seen, end = None, self.count(), time.monotonic() + SECONDS_EACH
        while True:
            time.sleep(0.01)
            done, now, cpu = self.count(), time.monotonic(), cpu_s(self.pid)
            if done != seen:
                if first is None:
                    first = (done, now, cpu)
                elif now > end:
                    return (done - first[0]) / (now - first[1]), (cpu - first[2]) / (done - first[0])
                seen = done
            if now > end + STUCK:
                stuck("the program does no more operations")

    def rest(self):
        pass


class Javac(Counted):
    """Rounds of javac over the same sources; the program prints their number when it reads "r"."""

    def __init__(self, folder, pid, to_jvm):
        self.out, self.pid, self.to_jvm = open(os.path.join(folder, "out"), "rb"), pid, open(to_jvm, "wb", buffering=0)

    def count(self):
        self.to_jvm.write(b"r\n")
        end, line = time.monotonic() + STUCK, b""
        while time.monotonic() < end:
            line += self.out.readline()
            if line.endswith(b"\n"):
                if line.startswith(b"rounds "):
                    return int(line.split()[1])
                line = b""
            time.sleep(0.0005)
        return stuck("javac does not answer")


class Lucene:
    """Rounds of indexing and searching: a round ends when its three searching threads have finished. After 100 the JVM changes."""

    LAST = re.compile(rb"processed 20000 records")
    THREADS = 3

    def __init__(self, folder, pid, _):
        self.folder = folder
        self.begin(pid)

    def begin(self, pid):
        self.out, self.seen, self.pid = open(os.path.join(self.folder, "out"), "rb"), 0, pid

    def again(self):
        """Waits for the next JVM."""
        end = time.monotonic() + STUCK
        while time.monotonic() < end:
            time.sleep(0.5)
            with open(self.folder + ".pid", encoding="ascii") as file:
                pid = int(file.read() or self.pid)
            if pid != self.pid and os.path.exists("/proc/%d" % pid):
                self.begin(pid)
                return
        stuck("it has ended, and was not started again")

    def round_end(self):
        """Waits for the end of the current round; returns its time, and the CPU time until then."""
        end = time.monotonic() + STUCK
        while time.monotonic() < end and os.path.exists("/proc/%d" % self.pid):
            self.seen += len(self.LAST.findall(self.lines()))
            if self.seen >= self.THREADS:
                self.seen -= self.THREADS
                return time.monotonic(), cpu_s(self.pid)
            time.sleep(0.005)
        raise Ended

    def lines(self):
        text = b""
        while True:
            line = self.out.readline()
            if not line.endswith(b"\n"):
                self.out.seek(-len(line), os.SEEK_CUR)  # the rest is still to come
                return text
            text += line

    def turn(self):
        """Measures the next complete rounds."""
        self.seen += len(self.LAST.findall(self.lines()))
        self.seen %= self.THREADS
        rounds, began = 1, self.round_end()
        ended = self.round_end()
        while ended[0] < began[0] + SECONDS_EACH:
            rounds, ended = rounds + 1, self.round_end()
        return rounds / (ended[0] - began[0]), (ended[1] - began[1]) / rounds

    def rest(self):
        pass


class H2(Counted):
    """Rows that three clients have inserted, 200 per round of their statements, as seen by another client."""

    URL = "jdbc:h2:tcp://127.0.0.1:%s/./t;LOCK_TIMEOUT=20000" % os.environ.get("PORT", "9092")
    COUNT = "select 'n=' || coalesce(max(id), 0) from o;\n"
    FORGET = "delete from o where id > 200000;\nselect 'n=' || 0;\n"

    def __init__(self, folder, pid, _):
        java, jar, self.pid = os.environ["JAVA"], os.environ["H2_JAR"], pid
        self.shell = subprocess.Popen(
            [java, "-Xmx64m", "-XX:TieredStopAtLevel=1", "-cp", jar, "org.h2.tools.Shell", "-url", self.URL, "-user", "sa"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        end = time.monotonic() + STUCK
        while self.count() <= 200000:  # the clients start after the first rows
            if time.monotonic() > end:
                stuck("the clients insert no rows")
            time.sleep(0.5)

    def ask(self, statement):
        self.shell.stdin.write(statement.encode())
        self.shell.stdin.flush()
        while True:
            line = self.shell.stdout.readline()
            if not line:
                stuck("the database does not answer")
            found = re.match(rb"(?:sql> )*n=(\d+)", line)
            if found:
                return int(found.group(1))
            if b"Error" in line and b"not found" in line:
                return 0

    def count(self):
        return self.ask(self.COUNT)

    def rest(self):
        """Deletes rows, so that the table has the same size in each turn."""
        self.ask(self.FORGET)
        time.sleep(REST)


METERS = {"javac": Javac, "lucene-bench": Lucene, "h2": H2}

# --- profilers -------------------------------------------------------------------------------------------


class Jhot:
    """Runs on a pseudo-terminal whose output is discarded."""

    name = "jhot"

    def __init__(self, jhot, pid, arguments):
        self.pid, self.jhot, self.arguments = pid, jhot, arguments

    def start(self):
        self.child, self.tty = pty.fork()
        if self.child == 0:
            os.environ.update(TERM="xterm-256color")
            os.execv(self.jhot, [self.jhot, *self.arguments, str(self.pid)])
        threading.Thread(target=self.read, args=(self.tty,), daemon=True).start()
        end = time.monotonic() + 10
        while time.monotonic() < end:
            text = subprocess.run([self.jhot, "status", str(self.pid)], capture_output=True, text=True).stdout
            if re.search(r"^event .* every ", text, re.M):
                self.cpu, self.since = cpu_s(self.child), time.monotonic()
                return
            time.sleep(0.05)
        os.kill(self.child, signal.SIGKILL)
        stuck("jhot did not start")

    def read(self, tty):
        try:
            while os.read(tty, 65536):
                pass
        except OSError:  # it has ended
            pass

    def stop(self):
        """Returns the front end's CPU usage in per cent of a core."""
        share = (cpu_s(self.child) - self.cpu) / (time.monotonic() - self.since) * 100
        self.forget()
        return share

    def forget(self):
        """The JVM may have ended meanwhile."""
        os.kill(self.child, signal.SIGTERM)
        os.waitpid(self.child, 0)
        os.close(self.tty)


class Asprof:
    name = "async-profiler"

    def __init__(self, jhot, pid, arguments):
        self.pid, self.arguments = pid, arguments

    def run(self, *args):
        done = subprocess.run([ASPROF, *args, str(self.pid)], capture_output=True, text=True)
        if done.returncode:
            stuck("asprof: %s%s" % (done.stdout, done.stderr))

    def start(self):
        self.run("start", *self.arguments)

    def stop(self):
        self.run("stop", *([] if "-f" in self.arguments else ["-o", "collapsed", "-f", "asprof.collapsed"]))

    def forget(self):
        pass


# --- turns -----------------------------------------------------------------------------------------------


def turn(meter, profiler, front):
    meter.rest()
    if profiler:
        profiler.start()
    time.sleep(REST)
    try:
        figures = meter.turn()
    except Ended:
        if profiler:
            profiler.forget()
        raise
    share = profiler.stop() if profiler else None
    if share is not None:
        front.append(share)
    if os.environ.get("VERBOSE"):
        print("%8.3f a second, %.4f s of CPU each: %s" % (*figures, profiler.name if profiler else "-"), file=sys.stderr, flush=True)
    return figures


def beside(figures, before, after):
    """Time and CPU time of an operation, relative to the adjacent bases."""
    return (before[0] + after[0]) / 2 / figures[0], figures[1] / ((before[1] + after[1]) / 2)


def figure(what, who, unit, values):
    if values:
        print("= %s | %s | %s | - | %s" % (what, who, unit, " ".join("%.4f" % value for value in values)), flush=True)


def print_figures(name, what, who, shares):
    figure("%s, %s: time of the work" % (name, what), who, "of nothing's", [share[0] for share in shares])
    figure("%s, %s: CPU time of the JVM" % (name, what), who, "of nothing's", [share[1] for share in shares])


def main():
    # A shell's background processes ignore SIGINT, and child processes that are ended by it would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    name, pid, folder, jhot, scratch = sys.argv[1], int(sys.argv[2]), *sys.argv[3:6]
    meter = METERS[name](folder, pid, *sys.argv[6:] or [None])
    loads = [LOADS[load] for load in os.environ.get("LOADS", "100hz 1khz events").split()]
    loads = [(what, [argument.replace("METHOD", METHODS[name]) for argument in ours],
              [argument.replace("METHOD", METHODS[name]) for argument in theirs]) for what, ours, theirs in loads]
    ways = [(what, profiler(jhot, pid, arguments)) for what, ours, theirs in loads
            for profiler, arguments in ((Jhot, ours), (Asprof, theirs)) if profiler is Jhot or ASPROF]
    os.chdir(scratch)
    time.sleep(WARM)
    shares, fronts = [[] for _ in ways], [[] for _ in ways]
    bases = [[turn(meter, None, None)]]  # of each JVM
    for round_ in range(TURNS):
        for i in range(len(ways))[::-1 if round_ % 2 else 1]:
            while True:
                try:
                    figures, after = turn(meter, ways[i][1], fronts[i]), turn(meter, None, None)
                    break
                except Ended:
                    meter.again()
                    for _, profiler in ways:
                        profiler.pid = meter.pid
                    time.sleep(WARM)
                    bases.append([turn(meter, None, None)])
            bases[-1].append(after)
            shares[i].append(beside(figures, *bases[-1][-2:]))
    noise = [beside(run[i], run[i - 1], run[i + 1]) for run in bases for i in range(1, len(run) - 1)]
    for i, (what, profiler) in enumerate(ways):
        if profiler.name == "jhot":
            print_figures(name, what, "nothing", noise)
        print_figures(name, what, profiler.name, shares[i])
        figure("%s, %s: CPU of the front end" % (name, what), profiler.name, "% of a core", fronts[i])


main()
