#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the time from Enter to the screen: runs a command in a terminal of its own, prints after how many ms each text
was drawn, and ends it with q.

usage: first_screen.py TEXT[,TEXT]... COMMAND [ARG]...      exit status: the command's; 99: a text did not appear
"""
import fcntl
import os
import pty
import select
import struct
import sys
import termios
import time

LIMIT = 20


def read_until(fd, seen, text, end):
    """The output so far, once it contains the text; None if the text does not appear."""
    while text and text not in seen:
        if not select.select([fd], [], [], max(0, end - time.monotonic()))[0]:
            return None
        try:
            more = os.read(fd, 65536)
        except OSError:
            return None
        if not more:
            return None
        seen += more
    return seen


def main():
    texts = sys.argv[1].encode().split(b",")
    start = time.monotonic()
    pid, fd = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        os.execvp(sys.argv[2], sys.argv[2:])
    seen, times = b"", []
    for text in texts:
        found = read_until(fd, seen, text, start + LIMIT)
        if found is None:
            sys.stderr.write("%s did not appear\n" % text.decode())
            break
        seen = found
        times.append("%d" % ((time.monotonic() - start) * 1000))
    print(" ".join(times), flush=True)
    try:
        os.write(fd, b"q")
    except OSError:
        pass
    while True:
        try:
            if not select.select([fd], [], [], LIMIT)[0] or not os.read(fd, 65536):
                break
        except OSError:
            break
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    sys.exit(99 if len(times) < len(texts) else status)


main()
