// SPDX-License-Identifier: Apache-2.0
// Repeats one cheap operation as fast as possible, to measure the cost of a profiler per operation.

import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * Rates WHAT: prints "ready", then every half second "rate OPERATIONS CPU_NS", of the process, since the last line; ends
 * with its input.
 *
 *   starts   two threads start a thread each and wait until it has ended, again and again
 *   mounts   eight virtual threads yield, so that each is remounted over and over (JDK 21 and newer)
 *   waits    eight threads take one monitor for some 20 us each, again and again
 *   holders  eight virtual threads do so with a lock, beside 10,000 that sleep (JDK 21 and newer)
 */
public final class Rates {
    private static final AtomicLong DONE = new AtomicLong();
    private static volatile boolean over;
    private static volatile long sum;
    private static final Map<String, Runnable> TASKS = new TreeMap<>();
    private static final Object MONITOR = new Object();
    private static final ReentrantLock LOCK = new ReentrantLock();

    static {
        TASKS.put("starts", () -> threads(2, Rates::starts));
        TASKS.put("mounts", () -> virtuals(8, Rates::mounts));
        TASKS.put("waits", () -> threads(8, Rates::waits));
        TASKS.put("holders", () -> {
            virtuals(10_000, Rates::sleeps);
            virtuals(8, Rates::holders);
        });
    }

    static void rateWork() {
        long x = System.nanoTime();
        for (int i = 0; i < 2000; i++) {
            x = x * 31 + i;
        }
        sum = x;
    }

    private static void starts() {
        try {
            while (!over) {
                Thread thread = new Thread(Rates::rateWork);
                thread.start();
                thread.join();
                DONE.incrementAndGet();
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void mounts() {
        for (long n = 1; !over; n++) {
            Thread.yield();
            if (n % 1024 == 0) {
                DONE.addAndGet(1024);
            }
        }
    }

    private static void waits() {
        while (!over) {
            synchronized (MONITOR) {
                held();
            }
            DONE.incrementAndGet();
        }
    }

    private static void holders() {
        while (!over) {
            LOCK.lock();
            try {
                held();
            } finally {
                LOCK.unlock();
            }
            DONE.incrementAndGet();
        }
    }

    static void held() {
        for (int i = 0; i < 10; i++) {
            rateWork();
        }
    }

    private static void sleeps() {
        try {
            Thread.sleep(3_600_000);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void threads(int count, Runnable body) {
        for (int i = 0; i < count; i++) {
            new Thread(body, "rate-" + i).start();
        }
    }

    /** Thread.startVirtualThread, which older JDKs do not have. */
    private static void virtuals(int count, Runnable body) {
        try {
            for (int i = 0; i < count; i++) {
                Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, body);
            }
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static long cpu() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    public static void main(String[] args) throws Exception {
        TASKS.get(args[0]).run();
        Thread teller = new Thread(() -> tell(System.out::println), "teller");
        teller.setDaemon(true);
        teller.start();
        System.out.println("ready");
        for (int c = 0; c >= 0 && c != 'q'; c = System.in.read()) {
            continue;
        }
        over = true;
        System.exit(0);
    }

    private static void tell(Consumer<String> out) {
        long done = DONE.get(), used = cpu();
        while (!over) {
            try {
                Thread.sleep(500);
            } catch (InterruptedException e) {
                return;
            }
            long nowDone = DONE.get(), nowUsed = cpu();
            out.accept("rate " + (nowDone - done) + " " + (nowUsed - used));
            done = nowDone;
            used = nowUsed;
        }
    }
}
