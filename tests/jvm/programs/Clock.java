// SPDX-License-Identifier: Apache-2.0
// One thread that does little but ask for the time; ends when it reads a "q" or the end of its input.

/** Prints "ready" when its thread "clock" runs: clockTop calls System.nanoTime all the time. */
public final class Clock {
    private static volatile boolean stop;
    private static volatile long sum;

    private static void clockTop() {
        long x = 0;
        for (int i = 0; i < 10_000; i++) {
            x ^= System.nanoTime();
        }
        sum += x;
    }

    public static void main(String[] args) throws Exception {
        Thread thread = new Thread(() -> {
            while (!stop) {
                clockTop();
            }
        }, "clock");
        thread.start();
        System.out.println("ready");
        for (int c = 0; c >= 0 && c != 'q'; c = System.in.read()) {
            // anything else keeps us running
        }
        stop = true;
        thread.join();
    }
}
