// SPDX-License-Identifier: Apache-2.0
// Uses CPU, allocates, waits for locks, sleeps and parks, and prints its own totals of each.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Prints "ready", then executes each line of its input and prints "done":
 *
 *   work MS      nine threads run for MS, each below Totals.body; then their own totals:
 *                "cpu NS" "alloc CLASS BYTES" (two) "lock NS" "wall NS"
 *   q            it ends
 */
public final class Totals {
    static final class Node {
        long a, b, c, d;
    }

    private static final com.sun.management.ThreadMXBean mx =
        (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final Object monitor = new Object();
    private static final ReentrantLock lock = new ReentrantLock();
    private static final AtomicLong cpu = new AtomicLong(), wall = new AtomicLong(), blocked = new AtomicLong(),
        arrays = new AtomicLong(), nodes = new AtomicLong();
    private static volatile Object sink;
    private static volatile long sum;

    interface Body {
        void run(long end) throws Exception;
    }

    private static void spin(long ns) {
        long end = System.nanoTime() + ns, x = end;
        while (System.nanoTime() < end) {
            for (int i = 0; i < 200; i++) {
                x = x * 6364136223846793005L + 1442695040888963407L;
            }
        }
        sum = x;
    }

    /** Half of a core, so that all of it fits a small machine. */
    static void busy(long end) throws Exception {
        while (System.nanoTime() < end) {
            spin(5_000_000);
            Thread.sleep(5);
        }
    }

    static Object array() {
        return new byte[1000];
    }

    static Object node() {
        return new Node();
    }

    private static void allocate(long end, AtomicLong bytes, boolean array) throws Exception {
        long id = Thread.currentThread().getId(), start = mx.getThreadAllocatedBytes(id);
        while (System.nanoTime() < end) {
            for (int i = array ? 2_000 : 20_000; i > 0; i--) {
                sink = array ? array() : node();
            }
            LockSupport.parkNanos(2_000_000);
        }
        bytes.addAndGet(mx.getThreadAllocatedBytes(id) - start);
    }

    static void turnsMonitor(long end) throws Exception {
        long waited = 0;
        for (int n = 0; System.nanoTime() < end; n++) {
            long start = System.nanoTime();
            synchronized (monitor) {
                waited += System.nanoTime() - start;
                Thread.sleep(2 + n % 5);
            }
            spin(500_000);
        }
        blocked.addAndGet(waited);
    }

    static void turnsLock(long end) throws Exception {
        long waited = 0;
        for (int n = 0; System.nanoTime() < end; n++) {
            long start = System.nanoTime();
            lock.lock();
            try {
                waited += System.nanoTime() - start;
                Thread.sleep(2 + n % 5);
            } finally {
                lock.unlock();
            }
            spin(500_000);
        }
        blocked.addAndGet(waited);
    }

    static void sleeps(long end) throws Exception {
        Thread.sleep(Math.max(0, (end - System.nanoTime()) / 1_000_000));
    }

    static void parks(long end) {
        while (System.nanoTime() < end) {
            LockSupport.parkNanos(end - System.nanoTime());
        }
    }

    static void body(Body body, long end) {
        long start = System.nanoTime(), id = Thread.currentThread().getId();
        try {
            body.run(end);
        } catch (Exception e) {
            e.printStackTrace();
        }
        wall.addAndGet(System.nanoTime() - start);
        cpu.addAndGet(mx.getThreadCpuTime(id));
    }

    private static void work(long ms) throws Exception {
        Body[] bodies = {Totals::busy, e -> allocate(e, arrays, true), e -> allocate(e, nodes, false),
            Totals::turnsMonitor, Totals::turnsMonitor, Totals::turnsLock, Totals::turnsLock, Totals::sleeps,
            Totals::parks};
        List<Thread> threads = new ArrayList<>();
        long end = System.nanoTime() + ms * 1_000_000;
        for (AtomicLong figure : new AtomicLong[] {cpu, wall, blocked, arrays, nodes}) {
            figure.set(0);
        }
        for (Body body : bodies) {
            Thread thread = new Thread(() -> body(body, end), "totals-" + threads.size());
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("cpu " + cpu);
        System.out.println("alloc byte[] " + arrays);
        System.out.println("alloc Totals$Node " + nodes);
        System.out.println("lock " + blocked);
        System.out.println("wall " + wall);
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready");
        for (String line = in.readLine(); line != null && !line.equals("q"); line = in.readLine()) {
            String[] words = line.split(" ");
            if (!words[0].equals("work")) {
                throw new IllegalArgumentException(line);
            }
            work(Long.parseLong(words[1]));
            System.out.println("done");
        }
    }
}
