// SPDX-License-Identifier: Apache-2.0
// Many threads that rest, and some that compute briefly and rarely; ends when it reads a "q" or the end of its input.

import java.util.Random;
import java.util.concurrent.locks.LockSupport;

/**
 * usage: Rests RESTING WORKING EVERY_MS ROUNDS
 *
 * Prints "ready" when its threads run. "rest-N" are parked, sleep or wait to be notified; "work-N" compute, sleep for 0.5
 * to 1.5 times EVERY_MS, and so on. A thousand rounds take about 5 ms.
 */
public final class Rests {
    private static final int STEPS = 5_000;
    private static volatile boolean stop;
    private static volatile long sum;

    private static void compute(int rounds) {
        long x = sum;
        for (int r = 0; r < rounds; r++) {
            for (int i = 0; i < STEPS; i++) {
                x = x * 6364136223846793005L + 1442695040888963407L;
            }
        }
        sum = x;
    }

    private static void rest(int kind) {
        Object nobody = new Object();
        try {
            while (!stop) {
                if (kind == 0) {
                    Thread.sleep(1_000_000);
                } else if (kind == 1) {
                    LockSupport.park();
                } else {
                    synchronized (nobody) {
                        nobody.wait();
                    }
                }
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void work(int seed, int everyMs, int rounds) {
        Random random = new Random(seed * 0x9E3779B97F4A7C15L);
        try {
            while (!stop) {
                Thread.sleep((long) (everyMs * (0.5 + random.nextDouble())));
                compute(rounds);
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void start(Runnable body, String name) {
        Thread thread = new Thread(null, body, name, 256 * 1024);
        thread.setDaemon(true);
        thread.start();
    }

    public static void main(String[] args) throws Exception {
        int everyMs = Integer.parseInt(args[2]);
        int rounds = Integer.parseInt(args[3]);
        for (int i = 0; i < Integer.parseInt(args[0]); i++) {
            int kind = i % 3;
            start(() -> rest(kind), "rest-" + i);
        }
        for (int i = 0; i < Integer.parseInt(args[1]); i++) {
            int seed = i;
            start(() -> work(seed, everyMs, rounds), "work-" + i);
        }
        System.out.println("ready");
        for (int c = 0; c != 'q' && c >= 0; ) {
            c = System.in.read();
        }
        stop = true;
    }
}
