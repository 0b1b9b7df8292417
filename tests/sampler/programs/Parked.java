// SPDX-License-Identifier: Apache-2.0
// Virtual threads that wait without a carrier, JDK 21 and newer: a given number of each kind, for as long as it lives, or for
// times that it measures itself.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import jdk.internal.misc.ThreadFlock;

/**
 * Parked N: N virtual threads each that sleep, that wait for a ReentrantLock, that take from a queue (in an executor), that
 * are parked (in a ThreadFlock, as a StructuredTaskScope has one); from JDK 24 on N each that wait for a monitor and that
 * are in Object.wait. Prints "ready", then does one line of its input after the other, and says "done" after each:
 *
 *   turns KIND MS N HOLD THINK DEPTH
 *                                N virtual threads take turns for MS ms, with a ReentrantLock (KIND lock) or with a monitor
 *                                (monitor), DEPTH frames deep: each has it for HOLD us, asleep, then sleeps for THINK us:
 *                                "waited COUNT MS", of those that found it taken
 *   garbage MS                   makes garbage for MS ms, 50 MB of it alive
 *   q                            it ends
 */
public final class Parked {
    private static final ReentrantLock LOCK = new ReentrantLock(), TURN = new ReentrantLock();
    private static final Object MONITOR = new Object(), TURN_MONITOR = new Object();
    private static final LongAdder COUNT = new LongAdder(), NS = new LongAdder();
    private static volatile boolean over;
    private static Object alive;

    static void sleeper() throws Exception {
        Thread.sleep(1_000_000);
    }

    static void locker() {
        LOCK.lock();
        LOCK.unlock();
    }

    static void taker(BlockingQueue<String> queue) throws Exception {
        queue.take();
    }

    static void parker() {
        while (true) {
            LockSupport.park();
        }
    }

    static void enterer() {
        synchronized (MONITOR) {
            MONITOR.notify();
        }
    }

    static void waiter() throws Exception {
        Object never = new Object();
        synchronized (never) {
            never.wait();
        }
    }

    interface Body {
        void run() throws Exception;
    }

    private static Runnable quiet(Body body) {
        return () -> {
            try {
                body.run();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        };
    }

    private static void nap(long us) throws Exception {
        Thread.sleep(us / 1000, (int) (us % 1000) * 1000);
    }

    static void lockTurn(long hold) throws Exception {
        if (!TURN.tryLock()) {
            long start = System.nanoTime();
            TURN.lock();
            NS.add(System.nanoTime() - start);
            COUNT.increment();
        }
        try {
            nap(hold);
        } finally {
            TURN.unlock();
        }
    }

    static void monitorTurn(long hold) throws Exception {
        long start = System.nanoTime();
        synchronized (TURN_MONITOR) {
            long ns = System.nanoTime() - start;
            if (ns > 100_000) {
                NS.add(ns);
                COUNT.increment();
            }
            nap(hold);
        }
    }

    static void turnBelow(long frames, boolean lock, long hold) throws Exception {
        if (frames > 0) {
            turnBelow(frames - 1, lock, hold);
        } else if (lock) {
            lockTurn(hold);
        } else {
            monitorTurn(hold);
        }
    }

    private static void turns(boolean lock, long ms, int n, long hold, long think, long depth) throws Exception {
        Thread[] threads = new Thread[n];
        over = false;
        COUNT.reset();
        NS.reset();
        for (int i = 0; i < n; i++) {
            threads[i] = Thread.ofVirtual().name("turn-" + i).start(quiet(() -> {
                while (!over) {
                    turnBelow(depth, lock, hold);
                    nap(think);
                }
            }));
        }
        Thread.sleep(ms);
        over = true;
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("waited " + COUNT.sum() + " " + NS.sum() / 1_000_000);
    }

    private static void garbage(long ms) {
        byte[][] kept = new byte[5000][];
        long end = System.nanoTime() + ms * 1_000_000;
        for (int i = 0; System.nanoTime() < end; i++) {
            kept[i % kept.length] = new byte[10_000];
        }
        alive = kept;
    }

    private static void act(String line) throws Exception {
        String[] words = line.split(" ");
        switch (words[0]) {
            case "turns" -> turns(words[1].equals("lock"), Long.parseLong(words[2]), Integer.parseInt(words[3]),
                    Long.parseLong(words[4]), Long.parseLong(words[5]), Long.parseLong(words[6]));
            case "garbage" -> garbage(Long.parseLong(words[1]));
            default -> throw new IllegalArgumentException(line);
        }
    }

    private static void start(int n, ExecutorService executor, ThreadFlock flock) throws Exception {
        BlockingQueue<String> queue = new LinkedBlockingQueue<>();
        List<Thread> started = Collections.synchronizedList(new ArrayList<>());
        for (int i = 0; i < n; i++) {
            started.add(Thread.ofVirtual().name("sleeper-" + i).start(quiet(Parked::sleeper)));
            started.add(Thread.ofVirtual().name("locker-" + i).start(Parked::locker));
            executor.submit(quiet(() -> {
                started.add(Thread.currentThread());
                taker(queue);
            }));
            started.add(flock.start(Thread.ofVirtual().name("parker-" + i).unstarted(Parked::parker)));
            if (Runtime.version().feature() >= 24) {
                started.add(Thread.ofVirtual().name("enterer-" + i).start(Parked::enterer));
                started.add(Thread.ofVirtual().name("waiter-" + i).start(quiet(Parked::waiter)));
            }
        }
        settle(started, n * (Runtime.version().feature() >= 24 ? 6 : 4));
    }

    /** Until all wait where they are meant to: on their way there takers wait for the queue's lock. */
    private static void settle(List<Thread> started, int count) throws Exception {
        for (int still = 0; still < 5; Thread.sleep(20)) {
            boolean runs = started.size() < count;
            for (int i = 0; !runs && i < count; i++) {
                runs = started.get(i).getState() == Thread.State.RUNNABLE;
            }
            still = runs ? 0 : still + 1;
        }
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();
        ThreadFlock flock = ThreadFlock.open("parkers");
        LOCK.lock();
        synchronized (MONITOR) {
            start(Integer.parseInt(args[0]), executor, flock);
            System.out.println("ready");
            for (String line = in.readLine(); line != null && !line.equals("q"); line = in.readLine()) {
                act(line);
                System.out.println("done");
            }
        }
        System.exit(0);
    }
}
