// SPDX-License-Identifier: Apache-2.0
// Threads that never fill a sampling interval: they live for a moment, or need a moment now and then, or a thousand times a
// second.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Prints "ready", then executes each line of its input and prints "done NS WALL", the CPU time of the threads' bodies
 * by the JVM's own count, and the elapsed time:
 *
 *   lives COUNT US      COUNT threads "short-N", three at a time, each with US of CPU time
 *   paced COUNT US RATE  the same, called "US-N", RATE per second, beside a thread "steady"; the third number printed is its CPU time
 *   bursts COUNT US MS  COUNT threads "burst-N" for MS; each uses US of CPU time, waits half a second, and repeats
 *   wakes US PAUSE MS   a thread "wakes" for MS; it uses US of CPU time, waits for PAUSE us, and repeats
 *   q                   it ends
 */
public final class Short {
    private static final ThreadMXBean mx = ManagementFactory.getThreadMXBean();
    private static final AtomicLong cpu = new AtomicLong();
    private static volatile long sum;

    private static void spin(long ns) {
        long end = mx.getCurrentThreadCpuTime() + ns, x = end;
        while (mx.getCurrentThreadCpuTime() < end) {
            for (int i = 0; i < 100; i++) {
                x = x * 6364136223846793005L + 1442695040888963407L;
            }
        }
        sum = x;
    }

    static void shortBody(long ns) {
        spin(ns);
        cpu.addAndGet(mx.getCurrentThreadCpuTime());
    }

    /** What a thread used before it came here, to start, is not counted: nor is it looked for. */
    static void burstBody(long ns, long end, long wait) {
        long before = mx.getCurrentThreadCpuTime();
        try {
            Thread.sleep(wait);
            while (System.nanoTime() < end) {
                spin(ns);
                Thread.sleep(500);
            }
            cpu.addAndGet(mx.getCurrentThreadCpuTime() - before);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** What it used to get here is not counted. */
    static void wakeBody(long ns, long pause, long end) {
        long before = mx.getCurrentThreadCpuTime();
        while (System.nanoTime() < end) {
            spin(ns);
            LockSupport.parkNanos(pause);
        }
        cpu.addAndGet(mx.getCurrentThreadCpuTime() - before);
    }

    private static Thread thread(String[] words, int i, long wait, long begin) {
        long us = 1000, ns = Long.parseLong(words[2]) * us;
        switch (words[0]) {
            case "bursts": {
                long end = begin + Long.parseLong(words[3]) * us * us;
                return new Thread(() -> burstBody(ns, end, wait), "burst-" + i);
            }
            case "wakes": {
                long end = begin + Long.parseLong(words[3]) * us * us;
                return new Thread(() -> wakeBody(Long.parseLong(words[1]) * us, ns, end), "wakes");
            }
            case "paced": return new Thread(() -> shortBody(ns), words[2] + "-us-of-a-short-life-" + i);
            default: return new Thread(() -> shortBody(ns), "short-" + i);
        }
    }

    private static void run(Thread[] threads, int together) throws InterruptedException {
        for (int i = 0; i < threads.length; i++) {
            if (i >= together) {
                threads[i - together].join();
            }
            threads[i].start();
        }
        for (Thread t : threads) {
            t.join();
        }
    }

    private static volatile boolean stops;
    private static volatile long steady;

    static void steadyBody() {
        while (!stops) {
            spin(1000000);
        }
        steady = mx.getCurrentThreadCpuTime();
    }

    private static void pace(Thread[] threads, long rate) throws InterruptedException {
        long begin = System.nanoTime();
        for (int i = 0; i < threads.length; i++) {
            long due = begin + i * 1000000000L / rate;
            for (long now = System.nanoTime(); now < due; now = System.nanoTime()) {
                LockSupport.parkNanos(due - now);
            }
            threads[i].start();
        }
        for (Thread t : threads) {
            t.join();
        }
    }

    private static void paceBeside(Thread[] threads, long rate) throws InterruptedException {
        Thread beside = new Thread(Short::steadyBody, "steady");
        stops = false;
        beside.start();
        pace(threads, rate);
        stops = true;
        beside.join();
    }

    private static void line(String[] words) throws InterruptedException {
        Thread[] threads = new Thread[words[0].equals("wakes") ? 1 : Integer.parseInt(words[1])];
        long begin = System.nanoTime();
        Random random = new Random(1);
        cpu.set(0);
        for (int i = 0; i < threads.length; i++) {
            threads[i] = thread(words, i, random.nextInt(500), begin);
        }
        if (words[0].equals("paced")) {
            paceBeside(threads, Long.parseLong(words[3]));
        } else {
            run(threads, words[0].equals("lives") ? 3 : threads.length);
        }
        System.out.println("done " + cpu.get() + " " + (System.nanoTime() - begin) + " " + steady);
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready");
        for (String line = in.readLine(); line != null && !line.equals("q"); line = in.readLine()) {
            line(line.split(" "));
        }
    }
}
