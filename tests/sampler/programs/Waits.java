// SPDX-License-Identifier: Apache-2.0
// Waits for times that it measures itself; does what its standard input asks for.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Prints "ready", then does one line of its input after the other, and says "done" after each:
 *
 *   turns MS SHORT LONG CPU   twelve threads for MS ms, four each that sleep, that park and that are in Object.wait: each
 *                             waits SHORT ms, then LONG ms, again and again, and computes for CPU us between: "short NS"
 *                             "long NS", in all
 *   locks MS N HOLD CPU DEPTH N threads take turns with one monitor for MS ms, DEPTH frames deep: each has it for HOLD us
 *                             (sleeping from 1,000 on), then computes for CPU us: "blocked COUNT MS" in all, as ThreadInfo
 *                             has them
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

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready");
        for (String line = in.readLine(); line != null && !line.equals("q"); line = in.readLine()) {
            String[] words = line.split(" ");
            long[] n = new long[words.length];
            for (int i = 1; i < words.length; i++) {
                n[i] = Long.parseLong(words[i]);
            }
            switch (words[0]) {
                case "turns": turns(n[1], n[2], n[3], n[4]); break;
                case "locks": locks(n[1], n[2], n[3], n[4], n[5]); break;
                default: throw new IllegalArgumentException(line);
            }
            System.out.println("done");
        }
    }
}
