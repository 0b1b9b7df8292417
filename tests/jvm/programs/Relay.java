// SPDX-License-Identifier: Apache-2.0
// Threads that want a core thousands of times a second, for some ten microseconds each; ends when it reads a "q" or the
// end of its input.

import java.util.concurrent.LinkedBlockingQueue;

/** Prints "ready" when its threads "relay-0" to "relay-5" hand four tokens on, each to the next of them. */
public final class Relay {
    private static final int RUNNERS = 6;
    private static final int TOKENS = 4;
    private static final int STEPS = 40_000;
    private static volatile boolean stop;
    private static volatile long sum;

    private static void work() {
        long x = sum;
        for (int i = 0; i < STEPS; i++) {
            x = x * 6364136223846793005L + 1442695040888963407L;
        }
        sum = x;
    }

    private static void run(LinkedBlockingQueue<Integer> from, LinkedBlockingQueue<Integer> to) {
        try {
            while (!stop) {
                int token = from.take();
                work();
                to.put(token);
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @SuppressWarnings("unchecked")
    public static void main(String[] args) throws Exception {
        LinkedBlockingQueue<Integer>[] queues = new LinkedBlockingQueue[RUNNERS];
        for (int i = 0; i < RUNNERS; i++) {
            queues[i] = new LinkedBlockingQueue<>();
        }
        for (int i = 0; i < RUNNERS; i++) {
            LinkedBlockingQueue<Integer> from = queues[i];
            LinkedBlockingQueue<Integer> to = queues[(i + 1) % RUNNERS];
            Thread t = new Thread(() -> run(from, to), "relay-" + i);
            t.setDaemon(true);
            t.start();
        }
        for (int i = 0; i < TOKENS; i++) {
            queues[i].put(i);
        }
        System.out.println("ready");
        for (int c = 0; c != 'q' && c >= 0; ) {
            c = System.in.read();
        }
        stop = true;
    }
}
