// SPDX-License-Identifier: Apache-2.0
// The Java program of the process in which the roles run: it causes samples of every event, and computes a known result.

import java.util.concurrent.locks.LockSupport;

/** Prints "ready", then "sum 0" when it reads a "q" or the end of its input; anything else is a fault. */
public final class Neighbours {
    private static final Object LOCK = new Object();
    private static volatile boolean stop;
    private static volatile byte[] garbage;
    private static long entered, left;

    static long mix(long x, int rounds) {
        for (int i = 0; i < rounds; i++) {
            x ^= x >>> 33;
            x *= 0xff51afd7ed558ccdL;
        }
        return x;
    }

    static void turn(long[] faults, long expected) {
        if (mix(1, 20_000) != expected) {
            faults[0]++;
        }
        for (int i = 0; i < 20; i++) {
            garbage = new byte[10_000];
        }
        synchronized (LOCK) {
            entered++;
            mix(entered, 10_000);
            left++;
        }
        LockSupport.parkNanos(3_000_000);
    }

    public static void main(String[] args) throws Exception {
        long[] faults = new long[1];
        long expected = mix(1, 20_000);
        Thread[] threads = new Thread[3];
        int read;

        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> {
                while (!stop) {
                    turn(faults, expected);
                }
            }, "neighbour-" + i);
            threads[i].start();
        }
        System.out.println("ready");
        while ((read = System.in.read()) >= 0 && read != 'q') {
            continue;
        }
        stop = true;
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("sum " + (faults[0] + entered - left));
    }
}
