#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The costs of the live view: live.py SECONDS PATTERN COMMAND... (a jhot top) on a pseudo-terminal of 80x24.
#
# Prints: ms until PATTERN was on the screen, bytes per refresh, refreshes, CPU per cent of one core, kB resident. All but the
# first are for SECONDS of steady state, after 12 s in which the window fills; with 0 only the first is printed.

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time

SETTLE_S = 12
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_ticks(pid):
    with open("/proc/%d/stat" % pid) as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def rss_kb(pid):
    with open("/proc/%d/status" % pid) as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmRSS:"))


def spawn(command, frame_out):
    pid, tty = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm-256color", LC_ALL="C.UTF-8")
        os.set_inheritable(frame_out, True)
        # the size must be set before the program reads it
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        os.execvp(command[0], command + ["--frame-fd", str(frame_out)])
    os.close(frame_out)
    return pid, tty


class Meter:
    """Reads the terminal and the frame pipe, and counts bytes and frames."""

    def __init__(self, tty, frames):
        self.tty, self.frames = tty, frames
        self.bytes = self.refreshes = 0
        self.seen = b""

    def read_tty(self):
        try:
            return os.read(self.tty, 65536)
        except OSError:  # EIO: the program has closed its end
            return b""

    def run(self, until, pattern=None):
        while time.monotonic() < until:
            ready, _, _ = select.select([self.tty, self.frames], [], [], max(0, until - time.monotonic()))
            if self.tty in ready:
                data = self.read_tty()
                if not data:
                    return False
                self.bytes += len(data)
                if pattern:
                    self.seen = (self.seen + data)[-65536:]
                    if pattern in self.seen:
                        return True
            if self.frames in ready:
                self.refreshes += os.read(self.frames, 65536).count(b"\n")
        return False


def main():
    seconds, pattern, command = int(sys.argv[1]), sys.argv[2].encode(), sys.argv[3:]
    frames, frame_out = os.pipe()
    start = time.monotonic()
    pid, tty = spawn(command, frame_out)
    meter = Meter(tty, frames)
    if not meter.run(start + 30, pattern):
        sys.exit("live.py: %r never appeared on the screen" % pattern)
    first_ms = (time.monotonic() - start) * 1000
    if not seconds:
        print("%.0f" % first_ms)
        return end(pid, tty, meter)
    meter.run(time.monotonic() + SETTLE_S)
    meter.bytes = meter.refreshes = 0
    ticks, since = cpu_ticks(pid), time.monotonic()
    meter.run(since + seconds)
    cpu = (cpu_ticks(pid) - ticks) / TICKS / (time.monotonic() - since) * 100
    print("%.0f %.0f %d %.2f %d" % (first_ms, meter.bytes / max(1, meter.refreshes), meter.refreshes, cpu, rss_kb(pid)))
    return end(pid, tty, meter)


def end(pid, tty, meter):
    os.write(tty, b"q")
    meter.run(time.monotonic() + 0.5)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


main()
