// SPDX-License-Identifier: Apache-2.0
// Causes of slow calls of Timed: the owner of a lock, the peer of a connection, busy threads.
import java.io.*;
import java.net.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.concurrent.locks.*;

/** A thread that acquires a lock before the call that is to wait for it. */
final class Holder {
    final Object monitor = new Object();
    final ReentrantLock lock = new ReentrantLock();
    final Semaphore asked = new Semaphore(0);
    volatile long ns;
    volatile boolean holds;

    Holder(int kind) {
        Timed.daemon("holder", () -> {
            for (;;) {
                asked.acquireUninterruptibly();
                if (kind == Timed.REENTRANT) lock.lock();
                if (kind == Timed.MONITOR) synchronized (monitor) { hold(); }
                else hold();
                if (kind == Timed.REENTRANT) lock.unlock();
            }
        });
    }
    void hold() {
        holds = true;
        Timed.park(this, ns);
        holds = false;
    }
    void acquire(long ns) {
        this.ns = ns;
        asked.release();
        while (!holds) Thread.yield();
    }
}
/** The other end of a connection, which answers late. */
final class Peer {
    final DataInputStream in;
    final DataOutputStream out;

    Peer() throws IOException {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Socket here = new Socket(server.getInetAddress(), server.getLocalPort()), there = server.accept();
            in = new DataInputStream(here.getInputStream());
            out = new DataOutputStream(here.getOutputStream());
            Timed.daemon("peer", () -> answer(there));
        }
    }
    static void answer(Socket there) {
        try {
            DataInputStream in = new DataInputStream(there.getInputStream());
            for (;;) {
                Timed.park(there, in.readInt() * Timed.MS);
                there.getOutputStream().write(1);
            }
        } catch (IOException e) { e.printStackTrace(); }
    }
    void ask(int ms) throws IOException {
        out.writeInt(ms);
        in.readByte();
    }
}
/** More busy threads than cores, while at least one call wants them. */
final class Hog {
    static final AtomicInteger WANTED = new AtomicInteger();
    static final List<Thread> HOGS = new ArrayList<>();

    static void start() {
        for (int i = 0; i < 4 * Runtime.getRuntime().availableProcessors(); i++)
            HOGS.add(Timed.daemon("hog-" + i, () -> {
                for (long x = 0;;) {
                    if (WANTED.get() == 0) LockSupport.park();
                    for (int j = 0; j < 10000; j++) x = x * 6364136223846793005L + j;
                    Timed.sink = x;
                }
            }));
    }
    static void wake() { if (WANTED.getAndIncrement() == 0) HOGS.forEach(LockSupport::unpark); }
    static void quiet() { WANTED.decrementAndGet(); }
}
