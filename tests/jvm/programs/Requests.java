// SPDX-License-Identifier: Apache-2.0
// Answers a number of requests, with a method that can be made slower: for comparisons of their cost.

import java.lang.management.ManagementFactory;

/**
 * Requests METHOD PERCENT COUNT: prints "ready"; at the first byte of its input it answers COUNT requests, each of which
 * spends about 40 % of its time in workForty, 20 % in workTwenty and 5 % in each of eight others, prints
 * "requests COUNT CPU_NS" and ends. METHOD (forty, twenty or none) does PERCENT more.
 */
public final class Requests {
    private static final int STEPS = 65_000; // of a hundredth of a request
    private static final long[] TABLE = new long[4096];
    private static volatile long sum;

    static long workForty(long x, int steps) {
        for (int i = 0; i < steps; i++) {
            x = x * 6364136223846793005L + TABLE[(int) (x >>> 52)];
        }
        return x;
    }

    static long workTwenty(long x, int steps) {
        for (int i = 0; i < steps; i++) {
            x = x * 6364136223846793005L + TABLE[(int) (x >>> 52)];
        }
        return x;
    }

    static long workOne(long x, int steps) {
        for (int i = 0; i < steps; i++) {
            x = x * 6364136223846793005L + TABLE[(int) (x >>> 52)];
        }
        return x;
    }

    static long workTwo(long x, int steps) {
        for (int i = 0; i < steps; i++) {
            x = x * 6364136223846793005L + TABLE[(int) (x >>> 52)];
        }
        return x;
    }

    static long workThree(long x, int steps) {
        for (int i = 0; i < steps; i++) {
            x = x * 6364136223846793005L + TABLE[(int) (x >>> 52)];
        }
        return x;
    }

    static long workFour(long x, int steps) {
        for (int i = 0; i < steps; i++) {
            x = x * 6364136223846793005L + TABLE[(int) (x >>> 52)];
        }
        return x;
    }

    static long workFive(long x, int steps) {
        for (int i = 0; i < steps; i++) {
            x = x * 6364136223846793005L + TABLE[(int) (x >>> 52)];
        }
        return x;
    }

    static long workSix(long x, int steps) {
        for (int i = 0; i < steps; i++) {
            x = x * 6364136223846793005L + TABLE[(int) (x >>> 52)];
        }
        return x;
    }

    static long workSeven(long x, int steps) {
        for (int i = 0; i < steps; i++) {
            x = x * 6364136223846793005L + TABLE[(int) (x >>> 52)];
        }
        return x;
    }

    static long workEight(long x, int steps) {
        for (int i = 0; i < steps; i++) {
            x = x * 6364136223846793005L + TABLE[(int) (x >>> 52)];
        }
        return x;
    }

    static long answer(long x, int forty, int twenty) {
        x = workForty(x, forty);
        x = workTwenty(x, twenty);
        x = workOne(x, 5 * STEPS);
        x = workTwo(x, 5 * STEPS);
        x = workThree(x, 5 * STEPS);
        x = workFour(x, 5 * STEPS);
        x = workFive(x, 5 * STEPS);
        x = workSix(x, 5 * STEPS);
        x = workSeven(x, 5 * STEPS);
        x = workEight(x, 5 * STEPS);
        return x;
    }

    public static void main(String[] args) throws Exception {
        int more = 100 + Integer.parseInt(args[1]), count = Integer.parseInt(args[2]);
        int forty = 40 * STEPS * (args[0].equals("forty") ? more : 100) / 100;
        int twenty = 20 * STEPS * (args[0].equals("twenty") ? more : 100) / 100;
        for (int i = 0; i < TABLE.length; i++) {
            TABLE[i] = i * 1442695040888963407L;
        }
        for (int i = 0; i < 60; i++) { // so that all is compiled when it is measured
            sum = answer(i, forty, twenty);
        }
        System.out.println("ready");
        System.in.read();
        long begin = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        for (int i = 0; i < count; i++) {
            sum = answer(i, forty, twenty);
        }
        System.out.println("requests " + count + " "
            + (ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - begin));
    }
}
