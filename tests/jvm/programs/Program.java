// SPDX-License-Identifier: Apache-2.0
// What the programs have in common whose threads do what a finding looks for.

import java.io.IOException;

/** Prints "ready" and goes on until its input ends, or says q. */
class Program {
    static volatile long sum;

    static void sleep(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void spin(long ms) {
        long end = System.nanoTime() + ms * 1000000, x = end;
        while (System.nanoTime() < end) {
            for (int i = 0; i < 1000; i++) {
                x = x * 6364136223846793005L + 1442695040888963407L;
            }
        }
        sum = x;
    }

    static void start(String name, Runnable body) {
        Thread t = new Thread(body, name);
        t.setDaemon(true);
        t.start();
    }

    static void ready() throws IOException {
        System.out.println("ready");
        for (int c = System.in.read(); c >= 0 && c != 'q'; c = System.in.read()) {
            continue;
        }
    }
}
