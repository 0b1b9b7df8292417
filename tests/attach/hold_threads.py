# SPDX-License-Identifier: Apache-2.0
"""Stops threads of other processes: python3 hold_threads.py TID...

Each is stopped as a debugger stops a single thread, so the process itself is not in state T. Prints "held". The threads
continue when stdin or this process ends."""
import ctypes
import os
import sys

SEIZE, INTERRUPT, WALL = 0x4206, 0x4207, 0x40000000

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long] * 4
for tid in map(int, sys.argv[1:]):
    for request in (SEIZE, INTERRUPT):
        if libc.ptrace(request, tid, 0, 0):
            sys.exit(os.strerror(ctypes.get_errno()))
    os.waitpid(tid, WALL)
print("held", flush=True)
sys.stdin.read()
