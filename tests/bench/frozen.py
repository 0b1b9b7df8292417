#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The cost of the live view without input: frozen.py JHOT RECORDING [SECONDS] on a pseudo-terminal of 80x24.
#
# Prints, for SECONDS each: CPU per cent of one core and bytes per 10 s while live, then while frozen.

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


def cpu_ns(pid):
    # of all threads, in nanoseconds: ticks of 4 ms would be too coarse
    total = 0
    for task in os.listdir("/proc/%d/task" % pid):
        with open("/proc/%d/task/%s/schedstat" % (pid, task)) as f:
            total += int(f.read().split()[0])
    return total


def read_for(tty, seconds):
    until, count = time.monotonic() + seconds, 0
    while time.monotonic() < until:
        ready, _, _ = select.select([tty], [], [], max(0, until - time.monotonic()))
        if ready:
            count += len(os.read(tty, 65536))
    return count


def measure(pid, tty, seconds):
    before, since = cpu_ns(pid), time.monotonic()
    count = read_for(tty, seconds)
    spent = time.monotonic() - since
    return (cpu_ns(pid) - before) / 1e9 / spent * 100, count / spent * 10


def main():
    jhot, recording = sys.argv[1:3]
    seconds = int(sys.argv[3]) if len(sys.argv) > 3 else 20
    pid, tty = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm-256color", LC_ALL="C.UTF-8", XDG_CONFIG_HOME="/nonexistent")
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        os.execv(jhot, [jhot, "top", "--replay", recording])
    read_for(tty, SETTLE_S)
    live = measure(pid, tty, seconds)
    os.write(tty, b" ")
    read_for(tty, 1)
    frozen = measure(pid, tty, seconds)
    print("%.2f %.0f %.3f %.0f" % (live + frozen))
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


main()
