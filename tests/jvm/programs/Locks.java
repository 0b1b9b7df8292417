// SPDX-License-Identifier: Apache-2.0
// Threads in every state that Java knows, each with a lock whose owner is known; ends when it reads a "q".

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * usage: Locks
 *
 * Prints "ready" when all threads have reached their states, and then stays like that: "the one that holds all the
 * locks" sleeps, and has the monitor and the ReentrantLock that "blocked on a monitor of Held" and "parked for a
 * ReentrantLock" want, and "notified, for a monitor of Held" and "signalled, for a ReentrantLock" again; the names of
 * others say what they do.
 */
public final class Locks {
    static final class Held {
    }

    static final class Waited {
    }

    private static final Held held = new Held();
    private static final Waited waited = new Waited();
    private static final ReentrantLock lock = new ReentrantLock();
    private static final Condition condition = lock.newCondition();
    private static volatile boolean has;
    private static volatile long sum;

    interface Body {
        void run() throws InterruptedException;
    }

    private static Thread start(String name, Body body) {
        Thread thread = new Thread(() -> {
            try {
                body.run();
            } catch (InterruptedException e) {
                System.out.println("interrupted");
            }
        }, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private static void hold() throws InterruptedException {
        synchronized (held) {
            lock.lock();
            held.notify();
            condition.signal();
            has = true;
            Thread.sleep(1_000_000);
        }
    }

    private static void block() {
        synchronized (held) {
            System.out.println("got it");
        }
    }

    private static void await() throws InterruptedException {
        synchronized (waited) {
            waited.wait();
        }
    }

    private static void awaitHeld() throws InterruptedException {
        synchronized (held) {
            held.wait();
        }
    }

    private static void awaitSignal() throws InterruptedException {
        lock.lock();
        condition.await();
    }

    private static void spin() {
        for (long x = 1; x != 0; x = x * 6364136223846793005L + 1442695040888963407L) {
            sum = x;
        }
    }

    private static void reach(Thread thread, Thread.State state) throws InterruptedException {
        while (thread.getState() != state) {
            Thread.sleep(1);
        }
        // The state changes shortly before the JVM records the lock; its next safepoint is later than both.
        Thread.getAllStackTraces();
    }

    public static void main(String[] args) throws Exception {
        Thread notified = start("notified, for a monitor of Held", Locks::awaitHeld);
        reach(notified, Thread.State.WAITING);
        reach(start("signalled, for a ReentrantLock", Locks::awaitSignal), Thread.State.WAITING);
        Thread holder = start("the one that holds all the locks", Locks::hold);
        while (!has) {
            Thread.sleep(1);
        }
        reach(holder, Thread.State.TIMED_WAITING);
        reach(notified, Thread.State.BLOCKED);
        reach(start("blocked on a monitor of Held", Locks::block), Thread.State.BLOCKED);
        reach(start("parked for a ReentrantLock", lock::lock), Thread.State.WAITING);
        reach(start("waiting on a Waited", Locks::await), Thread.State.WAITING);
        reach(start("parked f\u00fcr \u4e00\u79d2 \ud83d\ude00", () -> LockSupport.parkNanos(Long.MAX_VALUE / 2)),
            Thread.State.TIMED_WAITING);
        start("spinning, with a name much longer than the kernel keeps", Locks::spin);
        System.out.println("ready");
        for (int c = 0; c >= 0 && c != 'q'; c = System.in.read()) {
            // anything else keeps us running
        }
    }
}
