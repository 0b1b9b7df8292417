// SPDX-License-Identifier: Apache-2.0
// A program whose profile is known by construction; ends when it reads a "q" or the end of its input.

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.zip.CRC32;

/**
 * usage: Known MODE [NUMBER]; an "x" ends it at once, with status 7
 *
 * Prints "ready" when its threads run and are compiled, and "sum HEX" when it is asked to end: a wrong
 * sum means that something disturbed the program. Every mode's method names start with "known".
 *
 *   shares       one thread; knownSixty, knownThirty, knownTen do the same work in the ratio 6:3:1
 *   threads N    N threads "known-1".. each in knownThread
 *   deep N       one thread, knownDeep N times recursive, above it knownLeaf
 *   zip          one thread in java.util.zip's native code, called by knownZip
 *   churn N      threads that live for about a millisecond in knownShort, N at a time
 *   idle         nothing runs
 *
 * KNOWN_DUTY in the environment is the percentage of the time that a thread of these works for; it sleeps for the rest.
 */
public final class Known {
    private static final int UNIT = 2_000;
    private static final int DUTY = duty(System.getenv("KNOWN_DUTY"));
    private static final long WORK_NS = 4_000_000; // between two sleeps
    private static volatile boolean stop;
    private static volatile long sum;

    private static final List<Thread> threads = new ArrayList<>();

    private static int duty(String percent) {
        return percent == null ? 100 : Integer.parseInt(percent);
    }

    /** The same work for everyone; 64-bit mixing that no compiler folds away. */
    private static long mix(long x, int rounds) {
        for (int i = 0; i < rounds; i++) {
            x ^= x >>> 33;
            x *= 0xff51afd7ed558ccdL;
            x ^= x >>> 29;
        }
        return x;
    }

    static long knownSixty(long x) {
        for (int i = 0; i < 6 * UNIT; i++) {
            x ^= x >>> 33;
            x *= 0xff51afd7ed558ccdL;
        }
        return x;
    }

    static long knownThirty(long x) {
        for (int i = 0; i < 3 * UNIT; i++) {
            x ^= x >>> 33;
            x *= 0xff51afd7ed558ccdL;
        }
        return x;
    }

    static long knownTen(long x) {
        for (int i = 0; i < UNIT; i++) {
            x ^= x >>> 33;
            x *= 0xff51afd7ed558ccdL;
        }
        return x;
    }

    static long knownRound(long x) {
        return knownTen(knownThirty(knownSixty(x)));
    }

    static long knownThread(long x) {
        return mix(x, 20_000);
    }

    static long knownLeaf(long x) {
        return mix(x, 20_000);
    }

    static long knownDeep(int depth, long x) {
        return depth == 0 ? knownLeaf(x) : knownDeep(depth - 1, x) + 1;
    }

    static long knownZip(byte[] data, CRC32 crc) {
        crc.update(data);
        return crc.getValue();
    }

    static long knownShort(long x) {
        return mix(x, 500_000);
    }

    /** One unit of a mode's work. It must be a pure function of x, so that sums can be checked. */
    private interface Work {
        long run(long x);
    }

    /**
     * Runs work until asked to stop; each chain of 8 units starts again from the same seed, so whatever
     * the number of chains every one must end in the same value, and that value is the sum.
     */
    private static void drive(Work work, CountDownLatch warm) {
        long expected = 0;
        boolean first = true;
        long began = System.nanoTime();
        for (int chains = 0; !stop || first; chains++) {
            long x = 42;
            for (int i = 0; i < 8; i++) {
                x = work.run(x);
            }
            if (first) {
                expected = x;
                first = false;
            } else if (x != expected) {
                System.out.println("WRONG: chain " + chains + " ended in " + Long.toHexString(x));
            }
            if (chains == 40) {
                warm.countDown();
            }
            if (DUTY < 100 && chains >= 40 && System.nanoTime() - began > WORK_NS) {
                rest(System.nanoTime() - began);
                began = System.nanoTime();
            }
        }
        sum = expected;
        warm.countDown();
    }

    private static void rest(long workedNs) {
        try {
            Thread.sleep(workedNs * (100 - DUTY) / DUTY / 1_000_000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void start(String name, Runnable body) {
        Thread thread = new Thread(null, body, name);
        thread.setDaemon(true);
        threads.add(thread);
        thread.start();
    }

    private static void startDriven(int count, Work work) throws InterruptedException {
        CountDownLatch warm = new CountDownLatch(count);
        for (int i = 1; i <= count; i++) {
            start("known-" + i, () -> drive(work, warm));
        }
        warm.await();
    }

    private static void churn(int atOnce) {
        for (int i = 1; i <= atOnce; i++) {
            start("churner-" + i, () -> {
                for (int n = 0; !stop; n++) {
                    Thread brief = new Thread(() -> sum = knownShort(42), "brief-" + n);
                    brief.start();
                    try {
                        brief.join();
                    } catch (InterruptedException e) {
                        return;
                    }
                }
            });
        }
    }

    private static void startMode(String mode, int number) throws InterruptedException {
        switch (mode) {
        case "shares":
            startDriven(1, Known::knownRound);
            break;
        case "threads":
            startDriven(number, Known::knownThread);
            break;
        case "deep":
            startDriven(1, x -> knownDeep(number, x));
            break;
        case "zip":
            byte[] data = new byte[1 << 20];
            startDriven(1, x -> {
                CRC32 crc = new CRC32();
                data[0] = (byte) x;
                return knownZip(data, crc);
            });
            break;
        case "churn":
            churn(number);
            break;
        case "idle":
            break;
        default:
            throw new IllegalArgumentException("no mode " + mode);
        }
    }

    public static void main(String[] args) throws Exception {
        int number = args.length > 1 ? Integer.parseInt(args[1]) : 1;
        startMode(args[0], number);
        System.out.println("ready");
        for (int c = 0; c >= 0 && c != 'q'; c = System.in.read()) {
            if (c == 'x') {
                Runtime.getRuntime().halt(7);
            }
        }
        stop = true;
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("sum " + Long.toHexString(sum));
    }
}
