// SPDX-License-Identifier: Apache-2.0
// Does one cheap thing as often as it can, for what a profiler costs where that is done a million times a second.

import java.lang.management.ManagementFactory;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * Rates WHAT: prints "ready", then every half second "rate OPERATIONS CPU_NS", of the process, since the last line; ends
 * with its input.
 *
 *   starts   two threads start a thread each and wait until it has ended, again and again
 *   mounts   eight virtual threads yield, so that each is mounted anew, again and again (JDK 21 and newer)
 */
public final class Rates {
    private static final AtomicLong DONE = new AtomicLong();
    private static volatile boolean over;
    private static volatile long sum;

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

    /** Thread.startVirtualThread, which older JDKs do not have. */
    private static void virtual(Runnable body) throws Exception {
        Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, body);
    }

    private static long cpu() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    public static void main(String[] args) throws Exception {
        boolean starts = args[0].equals("starts");
        for (int i = 0; i < (starts ? 2 : 8); i++) {
            if (starts) {
                new Thread(Rates::starts, "starter-" + i).start();
            } else {
                virtual(Rates::mounts);
            }
        }
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
