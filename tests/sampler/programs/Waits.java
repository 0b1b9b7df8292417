// SPDX-License-Identifier: Apache-2.0
// Waits on request, and prints the times that it has measured.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Prints "ready", then executes each line of its input and prints "done":
 *
 *   turns MS SHORT LONG CPU   twelve threads for MS ms, four each that sleep, that park and that are in Object.wait: each
 *                             waits SHORT ms, then LONG ms, again and again, and computes for CPU us between: "short NS"
 *                             "long NS", in all
 *   locks MS N HOLD CPU DEPTH N threads take turns with one monitor for MS ms, DEPTH frames deep: each has it for HOLD us
 *                             (sleeping from 1,000 on), then computes for CPU us: "blocked COUNT MS" in all, as ThreadInfo
 *                             has them
 *   mix KIND MS N M CPU HOLD...  N threads take one lock after the other for MS ms, M more only the last one, and compute for
 *                             CPU us between (sleep from 1,000 on); HOLD us for each lock, or HOLDxTIMES. KIND monitor or lock
 *                             (ReentrantLock).
 *                             "lock-I COUNT NS" each: waits for it in all, as ThreadInfo has them (blocked, waited), and
 *                             the time from asking to having; "jvm COUNT MS": what the JVM says of these threads, whole ms of
 *                             each
 *   signal MS N HOLD          one thread signals N others, and has the lock for HOLD ms more, and so has each of those when
 *                             it is its turn; for MS ms, with HOLD ms between: "signalled NS", from signal to return in all
 *   hold KIND MS N SPIN SLEEP  one thread has a lock for MS ms, again and again, in which it computes for SPIN us and then
 *                             sleeps for SLEEP ms, while N others want it only to give it back: "priced NS" "shipped NS",
 *                             what they have waited in all while it did the one and the other; KIND semaphore, too, which
 *                             no thread holds; virtual-KIND: all of them virtual threads
 *   time WISH                 thread contention monitoring is turned "on" or "off", or left as it is: "time MS", that of its
 *                             own thread then: -1, the JVM does not time waits
 *   q                         it ends
 */
public final class Waits {
    private static final int THREADS = 12;
    private static volatile long sum;

    private static void spin(long us) {
        long end = System.nanoTime() + us * 1000, x = end;
        while (us > 0 && System.nanoTime() < end) {
            x = x * 31 + 1;
        }
        sum = x;
    }

    interface Wait {
        void until(long ns) throws Exception;
    }

    static void sleeps(long ns) throws Exception {
        Thread.sleep((ns - System.nanoTime()) / 1_000_000);
    }

    static void parks(long ns) {
        for (long now = System.nanoTime(); now < ns; now = System.nanoTime()) {
            LockSupport.parkNanos(ns - now);
        }
    }

    static void waits(long ns) throws Exception {
        Object never = new Object();
        synchronized (never) {
            never.wait((ns - System.nanoTime()) / 1_000_000);
        }
    }

    static long waitShort(Wait wait, long ms) throws Exception {
        long start = System.nanoTime();
        wait.until(start + ms * 1_000_000);
        return System.nanoTime() - start;
    }

    static long waitLong(Wait wait, long ms) throws Exception {
        long start = System.nanoTime();
        wait.until(start + ms * 1_000_000);
        return System.nanoTime() - start;
    }

    private static void turns(long ms, long shortMs, long longMs, long us) throws Exception {
        Wait[] waits = {Waits::sleeps, Waits::parks, Waits::waits};
        AtomicLong shorts = new AtomicLong(), longs = new AtomicLong();
        List<Thread> threads = new ArrayList<>();
        long end = System.nanoTime() + ms * 1_000_000;
        for (int i = 0; i < THREADS; i++) {
            Wait wait = waits[i % waits.length];
            long first = (shortMs + longMs) * i / THREADS;
            Thread thread = new Thread(() -> {
                try {
                    Thread.sleep(first);
                    while (System.nanoTime() < end) {
                        shorts.addAndGet(waitShort(wait, shortMs));
                        spin(us);
                        longs.addAndGet(waitLong(wait, longMs));
                        spin(us);
                    }
                } catch (Exception e) {
                    e.printStackTrace();
                }
            }, "waits-" + threads.size());
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("short " + shorts.get());
        System.out.println("long " + longs.get());
    }

    static void turn(Object lock, long holdUs) throws Exception {
        synchronized (lock) {
            if (holdUs >= 1000) {
                Thread.sleep(holdUs / 1000);
            } else {
                spin(holdUs);
            }
        }
    }

    static void turnBelow(long frames, Object lock, long holdUs) throws Exception {
        if (frames > 0) {
            turnBelow(frames - 1, lock, holdUs);
        } else {
            turn(lock, holdUs);
        }
    }

    private static void locks(long ms, long n, long holdUs, long us, long depth) throws Exception {
        ThreadMXBean mx = ManagementFactory.getThreadMXBean();
        mx.setThreadContentionMonitoringEnabled(true);
        Object lock = new Object();
        AtomicLong count = new AtomicLong(), blocked = new AtomicLong();
        List<Thread> threads = new ArrayList<>();
        long end = System.nanoTime() + ms * 1_000_000;
        for (int i = 0; i < n; i++) {
            Thread thread = new Thread(() -> {
                try {
                    do {
                        turnBelow(depth, lock, holdUs);
                        spin(us);
                    } while (System.nanoTime() < end);
                    ThreadInfo info = mx.getThreadInfo(Thread.currentThread().getId());
                    count.addAndGet(info.getBlockedCount());
                    blocked.addAndGet(info.getBlockedTime());
                } catch (Exception e) {
                    e.printStackTrace();
                }
            }, "locks-" + i);
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("blocked " + count.get() + " " + blocked.get());
    }

    private static void time(String wish) {
        ThreadMXBean mx = ManagementFactory.getThreadMXBean();
        if (!wish.equals("-")) {
            mx.setThreadContentionMonitoringEnabled(wish.equals("on"));
        }
        System.out.println("time " + mx.getThreadInfo(Thread.currentThread().getId()).getBlockedTime());
    }

    static final class Mix {
        final boolean parks;
        final long[] holds, times;
        final Object[] monitors;
        final ReentrantLock[] locks;
        final AtomicLong[] counts, ns;
        final AtomicLong jvmCount = new AtomicLong(), jvmMs = new AtomicLong();
        final ThreadMXBean mx = ManagementFactory.getThreadMXBean();

        Mix(String[] words, int first) {
            int n = words.length - first;
            parks = words[1].equals("lock");
            holds = new long[n];
            times = new long[n];
            monitors = new Object[n];
            locks = new ReentrantLock[n];
            counts = new AtomicLong[n];
            ns = new AtomicLong[n];
            for (int i = 0; i < n; i++) {
                String[] parts = words[first + i].split("x");
                holds[i] = Long.parseLong(parts[0]);
                times[i] = parts.length > 1 ? Long.parseLong(parts[1]) : 1;
                monitors[i] = new Object();
                locks[i] = new ReentrantLock();
                counts[i] = new AtomicLong();
                ns[i] = new AtomicLong();
            }
        }

        ThreadInfo info() {
            return mx.getThreadInfo(Thread.currentThread().getId());
        }

        long waits() {
            ThreadInfo info = info();
            return parks ? info.getWaitedCount() : info.getBlockedCount();
        }

        void hold(int i) throws Exception {
            if (holds[i] >= 1000) {
                Thread.sleep(holds[i] / 1000);
            } else {
                spin(holds[i]);
            }
        }

        void take(int i) throws Exception {
            switch (i) {
                case 0: turn0(i); break;
                case 1: turn1(i); break;
                default: turn2(i); break;
            }
        }

        void turn0(int i) throws Exception {
            enter(i);
        }

        void turn1(int i) throws Exception {
            enter(i);
        }

        void turn2(int i) throws Exception {
            enter(i);
        }

        void enter(int i) throws Exception {
            long waits = waits(), asked = System.nanoTime(), got;
            if (parks) {
                locks[i].lock();
                try {
                    got = System.nanoTime();
                    waits = waits() - waits;
                    hold(i);
                } finally {
                    locks[i].unlock();
                }
            } else {
                synchronized (monitors[i]) {
                    got = System.nanoTime();
                    waits = waits() - waits;
                    hold(i);
                }
            }
            if (waits > 0) {
                counts[i].addAndGet(waits);
                ns[i].addAndGet(got - asked);
            }
        }

        void run(int first, long end, long us) {
            try {
                while (System.nanoTime() < end) {
                    for (int i = first; i < holds.length; i++) {
                        for (long k = 0; k < times[i] && System.nanoTime() < end; k++) {
                            take(i);
                            if (us >= 1000) {
                                Thread.sleep(us / 1000);
                            } else {
                                spin(us);
                            }
                        }
                    }
                }
                ThreadInfo info = info();
                jvmCount.addAndGet(parks ? info.getWaitedCount() : info.getBlockedCount());
                jvmMs.addAndGet(parks ? info.getWaitedTime() : info.getBlockedTime());
            } catch (Exception e) {
                e.printStackTrace();
            }
        }
    }

    private static void mix(String[] words) throws Exception {
        Mix mix = new Mix(words, 6);
        long end = System.nanoTime() + Long.parseLong(words[2]) * 1_000_000, us = Long.parseLong(words[5]);
        int n = Integer.parseInt(words[3]), all = n + Integer.parseInt(words[4]);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < all; i++) {
            int first = i < n ? 0 : mix.holds.length - 1;
            Thread thread = new Thread(() -> mix.run(first, end, us), "mix-" + i);
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        for (int i = 0; i < mix.holds.length; i++) {
            System.out.println("lock-" + i + " " + mix.counts[i].get() + " " + mix.ns[i].get());
        }
        System.out.println("jvm " + mix.jvmCount.get() + " " + mix.jvmMs.get());
    }

    static final class Signals {
        final ReentrantLock lock = new ReentrantLock();
        final Condition condition = lock.newCondition();
        final AtomicLong ns = new AtomicLong();
        final long holdMs;
        int waiting;
        long round, signalled;
        boolean over;

        Signals(long holdMs) {
            this.holdMs = holdMs;
        }

        void awaits() {
            lock.lock();
            try {
                while (!over) {
                    long last = round;
                    waiting++;
                    while (round == last) {
                        condition.await();
                    }
                    ns.addAndGet(System.nanoTime() - signalled);
                    Thread.sleep(holdMs);
                }
            } catch (InterruptedException e) {
                e.printStackTrace();
            } finally {
                lock.unlock();
            }
        }

        /** false: not all of them wait yet. */
        boolean signal(long n, boolean last) throws Exception {
            lock.lock();
            try {
                if (waiting < n) {
                    return false;
                }
                waiting = 0;
                over = last;
                round++;
                signalled = System.nanoTime();
                condition.signalAll();
                Thread.sleep(holdMs);
            } finally {
                lock.unlock();
            }
            return true;
        }
    }

    private static void signal(long ms, long n, long holdMs) throws Exception {
        Signals signals = new Signals(holdMs);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            Thread thread = new Thread(signals::awaits, "signal-" + i);
            threads.add(thread);
            thread.start();
        }
        long end = System.nanoTime() + ms * 1_000_000;
        for (boolean last = false; !last; Thread.sleep(holdMs)) {
            boolean due = System.nanoTime() > end;
            last = signals.signal(n, due) && due;
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("signalled " + signals.ns.get());
    }

    static final class Hold {
        final Object monitor = new Object();
        final ReentrantLock lock = new ReentrantLock();
        final Semaphore semaphore = new Semaphore(1);
        final String kind;
        final long end, us, ms;
        final List<long[]> held = new ArrayList<>(); // the holder's: got, priced, shipped
        final List<long[]> waits = Collections.synchronizedList(new ArrayList<>());

        Hold(String kind, long end, long us, long ms) {
            this.kind = kind;
            this.end = end;
            this.us = us;
            this.ms = ms;
        }

        void price() {
            spin(us);
        }

        void ship() throws InterruptedException {
            Thread.sleep(ms);
        }

        void work() throws InterruptedException {
            long got = System.nanoTime();
            price();
            long priced = System.nanoTime();
            ship();
            held.add(new long[] {got, priced, System.nanoTime()});
        }

        void take(boolean works) throws InterruptedException {
            if (kind.equals("monitor")) {
                synchronized (monitor) {
                    if (works) {
                        work();
                    }
                }
                return;
            }
            if (kind.equals("lock")) {
                lock.lock();
            } else {
                semaphore.acquire();
            }
            try {
                if (works) {
                    work();
                }
            } finally {
                if (kind.equals("lock")) {
                    lock.unlock();
                } else {
                    semaphore.release();
                }
            }
        }

        void holds() throws InterruptedException {
            while (System.nanoTime() < end) {
                take(true);
                Thread.sleep(2);
            }
        }

        void wants() throws InterruptedException {
            while (System.nanoTime() < end) {
                long asked = System.nanoTime();
                take(false);
                waits.add(new long[] {asked, System.nanoTime()});
                Thread.sleep(1);
            }
        }

        /** What all have waited while the holder was between these two of its times. */
        long waited(int from, int to) {
            long ns = 0;
            for (long[] wait : waits) {
                for (long[] hold : held) {
                    ns += Math.max(0, Math.min(wait[1], hold[to]) - Math.max(wait[0], hold[from]));
                }
            }
            return ns;
        }
    }

    interface Body {
        void run() throws InterruptedException;
    }

    private static Thread start(boolean virtual, Body body) throws ReflectiveOperationException {
        Runnable run = () -> {
            try {
                body.run();
            } catch (InterruptedException e) {
                e.printStackTrace();
            }
        };
        if (virtual) { // this is compiled for JDK 8
            return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, run);
        }
        Thread thread = new Thread(run);
        thread.start();
        return thread;
    }

    private static void hold(String[] words) throws Exception {
        long end = System.nanoTime() + Long.parseLong(words[2]) * 1_000_000;
        boolean virtual = words[1].startsWith("virtual-");
        Hold hold = new Hold(words[1].replace("virtual-", ""), end, Long.parseLong(words[4]), Long.parseLong(words[5]));
        List<Thread> threads = new ArrayList<>();
        threads.add(start(virtual, hold::holds));
        for (int i = 0; i < Integer.parseInt(words[3]); i++) {
            threads.add(start(virtual, hold::wants));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("priced " + hold.waited(0, 1));
        System.out.println("shipped " + hold.waited(1, 2));
    }

    /** All words but the first. */
    private static long[] numbers(String[] words) {
        long[] n = new long[words.length];
        for (int i = 1; i < words.length; i++) {
            n[i] = Long.parseLong(words[i]);
        }
        return n;
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready");
        for (String line = in.readLine(); line != null && !line.equals("q"); line = in.readLine()) {
            String[] words = line.split(" ");
            long[] n = words[0].matches("turns|signal|locks") ? numbers(words) : null;
            switch (words[0]) {
                case "mix": mix(words); break;
                case "hold": hold(words); break;
                case "time": time(words[1]); break;
                case "turns": turns(n[1], n[2], n[3], n[4]); break;
                case "signal": signal(n[1], n[2], n[3]); break;
                case "locks": locks(n[1], n[2], n[3], n[4], n[5]); break;
                default: throw new IllegalArgumentException(line);
            }
            System.out.println("done");
        }
    }
}
