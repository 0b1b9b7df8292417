// SPDX-License-Identifier: Apache-2.0
// The frame of a program whose threads repeat the same work until it is asked to end.

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

/**
 * Prints "ready" after the first round, "rounds N" when it reads an "r", and "sum HEX ROUNDS" when it reads a "q" or the
 * end of its input. The same work gives the same result, so each round's must be the first one's; a difference is printed
 * as WRONG.
 */
final class Rounds {
    private static volatile boolean stop;
    private static long rounds;

    private Rounds() {
    }

    private static synchronized void finished(long result, long first) {
        rounds++;
        if (result != first) {
            System.out.println("WRONG: " + Long.toHexString(result) + ", not " + Long.toHexString(first));
        }
    }

    private static synchronized long finished() {
        return rounds;
    }

    static void run(String name, int width, Callable<Long> round) throws Exception {
        long first = round.call();
        List<Thread> threads = new ArrayList<>();
        for (int i = 1; i <= width; i++) {
            Thread thread = new Thread(() -> {
                try {
                    while (!stop) {
                        finished(round.call(), first);
                    }
                } catch (Exception e) {
                    System.out.println("WRONG: " + e);
                }
            }, name + "-" + i);
            thread.start();
            threads.add(thread);
        }
        System.out.println("ready");
        for (int c = 0; c >= 0 && c != 'q'; c = System.in.read()) {
            if (c == 'r') {
                System.out.println("rounds " + finished());
            }
        }
        stop = true;
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("sum " + Long.toHexString(first) + " " + rounds);
    }
}
