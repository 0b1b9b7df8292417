# SPDX-License-Identifier: Apache-2.0
"""Imitates a HotSpot JVM that never opens its attach socket: pretend.py LIBJVM

Maps the library and has HotSpot's two threads that take part in SIGQUIT, by name and signal mask. Prints "ready", and
"quit" for each SIGQUIT; ends with its standard input."""
import ctypes
import mmap
import select
import signal
import sys
import threading
import time


def run(name, change):
    ctypes.CDLL(None).prctl(15, name, 0, 0, 0)  # PR_SET_NAME
    signal.pthread_sigmask(change, [signal.SIGQUIT])
    started.release()
    time.sleep(100000)


with open(sys.argv[1], "rb") as file:
    mapped = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
signal.signal(signal.SIGQUIT, lambda *_: print("quit", flush=True))
started = threading.Semaphore(0)
for args in (b"VM Thread", signal.SIG_UNBLOCK), (b"Signal Dispatcher", signal.SIG_BLOCK):
    threading.Thread(target=run, args=args, daemon=True).start()
    started.acquire()
print("ready", flush=True)
# The signal is delivered to another thread; its handler runs here between two instructions.
while not select.select([0], [], [], 0.02)[0]:
    pass
