// SPDX-License-Identifier: Apache-2.0
// A method whose every call is timed by the program itself; ends when it reads a "q".

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;

/**
 * usage: Called pool|storm|brief|renamed|spawn|tiny
 *
 * Four threads call handle, which takes about 12 ms; every 20th call waits for a monitor for 150 ms more. storm: each call has a
 * thread of its own, which ends with it; brief: each 15 calls have. renamed: the callers get a name for each call, as servers do.
 * spawn: they start processes, too. tiny: one thread calls touch instead, which takes 20 us, 180 times per second. Prints "call BEGIN DURATION" of each at the end, in ns of System.nanoTime, which is the kernel's
 * monotonic clock.
 */
public final class Called {
    private static final List<long[]> LOG = new ArrayList<>();
    private static volatile boolean ends;
    private final Object gate = new Object();
    private final Semaphore wanted = new Semaphore(0);
    private final Semaphore held = new Semaphore(0);
    private long sum;

    void handle(boolean slow) throws InterruptedException {
        long until;
        Thread.sleep(10);
        until = System.nanoTime() + 2000000;
        while (System.nanoTime() < until) {
            sum++;
        }
        if (slow) {
            wanted.release();
            held.acquire();
            synchronized (gate) {
                sum++;
            }
        }
    }

    /** Too long to be inlined into its caller, and too short to be found by polls. */
    static long touch(long seed) {
        long until = System.nanoTime() + 20000, x = seed;
        while (System.nanoTime() < until) {
            x = x * 6364136223846793005L + 1442695040888963407L;
            x ^= x >>> 31;
            x += until;
        }
        return x;
    }

    private void touches() throws InterruptedException {
        for (int i = 0; !ends; i++) {
            long begin = System.nanoTime();
            sum += touch(i);
            synchronized (LOG) {
                LOG.add(new long[] {begin, System.nanoTime() - begin});
            }
            if (i > 3000) {
                Thread.sleep(5);
            }
        }
    }

    static void never() {
        throw new IllegalStateException();
    }

    private void hold() throws InterruptedException {
        for (;;) {
            wanted.acquire();
            synchronized (gate) {
                held.release();
                Thread.sleep(150);
            }
        }
    }

    private void call(boolean slow) {
        long begin = System.nanoTime();
        try {
            handle(slow);
        } catch (InterruptedException e) {
            return;
        }
        synchronized (LOG) {
            LOG.add(new long[] {begin, System.nanoTime() - begin});
        }
    }

    private void serve(String kind, int number) throws Exception {
        for (int i = number * 5; !ends; i++) {
            boolean slow = i % 20 == 19;
            if (kind.equals("storm") || kind.equals("brief")) {
                int first = i;
                int calls = kind.equals("storm") ? 1 : 15;
                Thread one = new Thread(() -> {
                    for (int k = first; k < first + calls; k++) {
                        call(k % 20 == 19);
                    }
                }, "one-" + i);
                one.start();
                one.join();
                i += calls - 1;
            } else {
                if (kind.equals("renamed")) {
                    Thread.currentThread().setName("request-" + number + "-" + i);
                }
                call(slow);
            }
            if (kind.equals("spawn") && i % 10 == 0 && new ProcessBuilder("true").start().waitFor() != 0) {
                System.out.println("WRONG: a process has failed");
            }
            Thread.sleep(5 + i % 7);
        }
    }

    public static void main(String[] args) throws Exception {
        List<Thread> callers = new ArrayList<>();
        boolean tiny = args[0].equals("tiny");
        for (int i = 0; i < (tiny ? 1 : 4); i++) {
            Called called = new Called();
            int number = i;
            Thread holder = new Thread(() -> {
                try {
                    called.hold();
                } catch (InterruptedException e) {
                    System.out.println("WRONG: " + e);
                }
            }, "holder-" + i);
            Thread caller = new Thread(() -> {
                try {
                    if (tiny) {
                        called.touches();
                    } else {
                        called.serve(args[0], number);
                    }
                } catch (Exception e) {
                    System.out.println("WRONG: " + e);
                }
            }, "caller-" + i);
            holder.setDaemon(true);
            holder.start();
            caller.start();
            callers.add(caller);
        }
        System.out.println("ready");
        while (System.in.read() != 'q') {
            continue;
        }
        ends = true;
        for (Thread caller : callers) {
            caller.join();
        }
        for (long[] call : LOG) {
            System.out.println("call " + call[0] + " " + call[1]);
        }
        System.out.println("sum " + LOG.size());
    }
}
