// SPDX-License-Identifier: Apache-2.0
// A short program that begins to work at once.

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * usage: Early MS [STATUS]: works for MS milliseconds each in earlyFirst, earlySecond and earlyThird, prints "main MS",
 * the time since 1970 at which main began, "first NS", "second NS" and "third NS", the CPU time of these, and exits with
 * STATUS.
 */
public final class Early {
    private static long sum;

    private static long mix(long x) {
        for (int i = 0; i < 20_000; i++) {
            x ^= x >>> 33;
            x *= 0xff51afd7ed558ccdL;
        }
        return x;
    }

    private static void earlyFirst(long end) {
        while (System.nanoTime() < end) {
            sum += mix(sum + 1);
        }
    }

    private static void earlySecond(long end) {
        while (System.nanoTime() < end) {
            sum += mix(sum + 2);
        }
    }

    private static void earlyThird(long end) {
        while (System.nanoTime() < end) {
            sum += mix(sum + 3);
        }
    }

    public static void main(String[] args) {
        long main = System.currentTimeMillis();
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long ns = Long.parseLong(args[0]) * 1_000_000, begin = threads.getCurrentThreadCpuTime();
        earlyFirst(System.nanoTime() + ns);
        long first = threads.getCurrentThreadCpuTime();
        earlySecond(System.nanoTime() + ns);
        long second = threads.getCurrentThreadCpuTime();
        earlyThird(System.nanoTime() + ns);
        long third = threads.getCurrentThreadCpuTime();
        System.out.println("main " + main + "\nfirst " + (first - begin) + "\nsecond " + (second - first) + "\nthird " + (third - second));
        if (args.length > 1) {
            System.exit(Integer.parseInt(args[1]));
        }
    }
}
