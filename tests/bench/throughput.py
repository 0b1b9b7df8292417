#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Throughput of a running workload with and without a profiler: throughput.py NAME PID RUN_FOLDER JHOT SCRATCH
#
# RUNS turns of each profiler on one warm JVM, nothing attached before and after each: base, jhot, base, asprof, base,
# ... Each turn with a profiler is compared with the mean of the two bases beside it, each base but the outer ones
# with the mean of the bases before and after it: that is the noise. Prints a line of each: turns, median, quartiles,
# least and most of the loss in per cent. Of the environment: RUNS, WARM, SECONDS_EACH, VERBOSE, ASPROF, PORT, H2_JAR, JAVA.

import os
import re
import signal
import statistics
import subprocess
import sys
import time

RUNS = int(os.environ.get("RUNS", "10"))
WARM = float(os.environ.get("WARM", "20"))
SECONDS_EACH = float(os.environ.get("SECONDS_EACH", "6"))
ASPROF = os.environ.get("ASPROF", "")
REST = 0.5  # behind a profiler's start and end: what they cost once is not throughput
STUCK = 120


def stuck(what):
    sys.exit("throughput.py: %s" % what)


# --- operations ------------------------------------------------------------------------------------------


class Lucene:
    """Rounds of indexing and searching: all that three searching threads of a round have done ends it."""

    LAST = re.compile(rb"processed 20000 records")
    THREADS = 3

    def __init__(self, folder, pid):
        self.out, self.seen, self.pid = open(os.path.join(folder, "out"), "rb"), 0, pid

    def round_end(self):
        """Waits for the end of the round that runs; its time."""
        end = time.monotonic() + STUCK
        while time.monotonic() < end and os.path.exists("/proc/%d" % self.pid):
            self.seen += len(self.LAST.findall(self.lines()))
            if self.seen >= self.THREADS:
                self.seen -= self.THREADS
                return time.monotonic()
            time.sleep(0.005)
        return stuck("the benchmark's rounds have ended")

    def lines(self):
        text = b""
        while True:
            line = self.out.readline()
            if not line.endswith(b"\n"):
                self.out.seek(-len(line), os.SEEK_CUR)  # the rest is still to come
                return text
            text += line

    def rate(self):
        """Rounds a second of the next whole round."""
        self.seen += len(self.LAST.findall(self.lines()))
        self.seen %= self.THREADS
        return 1 / -(self.round_end() - self.round_end())

    def rest(self):
        pass


class H2:
    """Rows that three clients have inserted, 200 with each round of their statements, as another client sees it."""

    URL = "jdbc:h2:tcp://127.0.0.1:%s/./t;LOCK_TIMEOUT=20000" % os.environ.get("PORT", "9092")
    COUNT = "select 'n=' || coalesce(max(id), 0) from o;\n"
    FORGET = "delete from o where id > 200000;\nselect 'n=' || 0;\n"

    def __init__(self, folder, pid):
        java, jar = os.environ["JAVA"], os.environ["H2_JAR"]
        self.shell = subprocess.Popen(
            [java, "-Xmx64m", "-XX:TieredStopAtLevel=1", "-cp", jar, "org.h2.tools.Shell", "-url", self.URL, "-user", "sa"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        end = time.monotonic() + STUCK
        while self.ask(self.COUNT) <= 200000:  # the clients come after the first rows
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

    def rate(self):
        """Rows a second, from one change that is seen to another."""
        first, seen, end = None, self.ask(self.COUNT), time.monotonic() + SECONDS_EACH
        while True:
            time.sleep(0.01)
            rows, now = self.ask(self.COUNT), time.monotonic()
            if rows != seen:
                if first is None:
                    first = (rows, now)
                elif now > end:
                    return (rows - first[0]) / (now - first[1])
                seen = rows
            if now > end + STUCK:
                stuck("the clients insert no rows any more")

    def rest(self):
        """So that the table is as large in each turn."""
        self.ask(self.FORGET)
        time.sleep(REST)


METERS = {"lucene-bench": Lucene, "h2": H2}

# --- profilers -------------------------------------------------------------------------------------------


class Jhot:
    def __init__(self, jhot, pid, scratch):
        self.pid, self.jhot = pid, jhot
        self.command = [jhot, "record", "-e", "cpu,alloc,lock,wall", "-o", os.path.join(scratch, "jhot.collapsed")]

    def start(self):
        self.process = subprocess.Popen(self.command + [str(self.pid)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        end = time.monotonic() + 10
        while time.monotonic() < end and self.process.poll() is None:
            text = subprocess.run([self.jhot, "status", str(self.pid)], capture_output=True, text=True).stdout
            if len(re.findall(r"^event .* every ", text, re.M)) == 4:
                return
            time.sleep(0.05)
        self.process.kill()
        stuck("jhot did not start: %s" % self.process.stderr.read().decode())

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        if self.process.wait(timeout=30):
            stuck("jhot: %s" % self.process.stderr.read().decode())


class Asprof:
    """The same events at its own default intervals; more than one needs its recordings."""

    def __init__(self, jhot, pid, scratch):
        self.pid, self.file = str(pid), os.path.join(scratch, "asprof.jfr")

    def run(self, *args):
        done = subprocess.run([ASPROF, *args, self.pid], capture_output=True, text=True)
        if done.returncode:
            stuck("asprof: %s%s" % (done.stdout, done.stderr))

    def start(self):
        self.run("start", "-e", "cpu", "--wall", "50ms", "--alloc", "512k", "--lock", "10us", "-f", self.file)

    def stop(self):
        self.run("stop")


# --- turns -----------------------------------------------------------------------------------------------


def turn(meter, profiler):
    meter.rest()
    if profiler:
        profiler.start()
    time.sleep(REST)
    rate = meter.rate()
    if profiler:
        profiler.stop()
    if os.environ.get("VERBOSE"):
        print("%8.3f a second: %s" % (rate, type(profiler).__name__ if profiler else "-"), file=sys.stderr, flush=True)
    return rate


def loss(rate, before, after):
    return (1 - rate / ((before + after) / 2)) * 100


def tell(name, who, losses):
    if len(losses) < 2:
        return
    quarters = statistics.quantiles(losses, n=4, method="inclusive")
    print(
        "%-13s %-28s %5d %8.2f %8.2f .. %-6.2f %8.2f .. %.2f"
        % (name, who, len(losses), statistics.median(losses), quarters[0], quarters[2], min(losses), max(losses)),
        flush=True,
    )


def main():
    # Started in a shell's background it is ignored, and so would be by who is ended by it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    name, pid, folder, jhot, scratch = sys.argv[1], int(sys.argv[2]), *sys.argv[3:6]
    meter = METERS[name](folder, pid)
    profilers = {"jhot, four events": Jhot(jhot, pid, scratch)}
    if ASPROF:
        profilers["async-profiler, the same"] = Asprof(jhot, pid, scratch)
    time.sleep(WARM)
    losses = {who: [] for who in profilers}
    bases = [turn(meter, None)]
    for _ in range(RUNS):
        for who, profiler in profilers.items():
            rate = turn(meter, profiler)
            bases.append(turn(meter, None))
            losses[who].append(loss(rate, bases[-2], bases[-1]))
    noise = [loss(bases[i], bases[i - 1], bases[i + 1]) for i in range(1, len(bases) - 1)]
    tell(name, "nothing attached (noise)", noise)
    for who in profilers:
        tell(name, who, losses[who])


main()
