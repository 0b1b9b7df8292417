// SPDX-License-Identifier: Apache-2.0
// Threads that change their names, and virtual threads; prints the CPU time that it used under each name.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * Prints "ready", then executes each line of its input and prints "done":
 *
 *   rename MS    two threads use CPU for MS, half of it under another name: one names itself, the other is
 *                named by a third. Then "cpu NAME NS" of each name.
 *   virtual N    five virtual threads do N units of work times 1 to 5, interleaved; the fifth has no name. Then
 *                "units NAME N" of each, virtual-#ID for the one without
 *   many N       N virtual threads without a name, one after the other, a unit each; then "units many N"
 *   lock MS      two virtual threads alternate in a synchronized block, each for that long
 *   q            it ends
 */
public final class Names {
    private static final ThreadMXBean mx = ManagementFactory.getThreadMXBean();
    private static volatile long sum;

    static void unit() {
        long x = sum;
        for (int i = 0; i < 400_000; i++) {
            x = x * 6364136223846793005L + 1442695040888963407L;
        }
        sum = x;
    }

    static void burnUntil(long end) {
        while (System.nanoTime() < end) {
            unit();
        }
    }

    private static synchronized void say(String line) {
        System.out.println(line);
    }

    // --- renames

    private static Thread renamed(String name, long ms, boolean itself) {
        Thread thread = new Thread(() -> {
            long start = System.nanoTime(), half = ms * 500_000L;
            burnUntil(start + half);
            long first = mx.getCurrentThreadCpuTime();
            if (itself) {
                Thread.currentThread().setName(name + "-new");
            } else {
                nameFromOutside(Thread.currentThread(), name + "-new");
            }
            burnUntil(start + 2 * half);
            say("cpu " + name + "-old " + first);
            say("cpu " + name + "-new " + (mx.getCurrentThreadCpuTime() - first));
        }, name + "-old");
        thread.start();
        return thread;
    }

    private static void nameFromOutside(Thread thread, String name) {
        Thread other = new Thread(() -> thread.setName(name), "namer");
        other.start();
        try {
            other.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    // --- virtual threads; by reflection, since this is compiled for JDK 8

    private static Thread virtual(String name, Runnable run) throws Exception {
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        Class<?> type = Class.forName("java.lang.Thread$Builder");
        if (name != null) {
            builder = type.getMethod("name", String.class).invoke(builder, name);
        }
        Method start = type.getMethod("start", Runnable.class);
        return (Thread) start.invoke(builder, run);
    }

    private static void units(CountDownLatch begin, long n, int times) {
        try {
            begin.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        for (long i = 0; i < n; i++) {
            for (int k = 0; k < times; k++) {
                unit();
            }
            Thread.yield();
        }
    }

    private static void virtuals(long n) throws Exception {
        for (int i = 0; i < 3000; i++) {
            unit(); // so that it is compiled, and all units take as long
        }
        CountDownLatch begin = new CountDownLatch(1);
        List<Thread> threads = new ArrayList<>();
        for (int i = 1; i <= 5; i++) {
            int times = i;
            threads.add(virtual(i < 5 ? "vt-named-\u00e9-" + i : null, () -> units(begin, n, times)));
        }
        begin.countDown();
        for (int i = 1; i <= 5; i++) {
            threads.get(i - 1).join();
            say("units " + (i < 5 ? "vt-named-\u00e9-" + i : "virtual-#" + threads.get(4).getId()) + " " + n * i);
        }
    }

    private static void many(long n) throws Exception {
        for (long i = 0; i < n; i++) {
            virtual(null, Names::unit).join();
        }
        say("units many " + n);
    }

    private static void lock(long ms) throws Exception {
        long end = System.nanoTime() + ms * 1_000_000L;
        List<Thread> threads = new ArrayList<>();
        for (int i = 1; i <= 2; i++) {
            threads.add(virtual("vt-lock-" + i, () -> {
                while (System.nanoTime() < end) {
                    synchronized (mx) {
                        burnUntil(System.nanoTime() + 20_000_000);
                    }
                    Thread.yield();
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.setOut(new java.io.PrintStream(System.out, true, "UTF-8"));
        say("ready");
        for (String line = in.readLine(); line != null && !line.equals("q"); line = in.readLine()) {
            String[] words = line.split(" ");
            long n = Long.parseLong(words[1]);
            if (words[0].equals("rename")) {
                Thread self = renamed("renames-itself-a-long-name", n, true);
                Thread other = renamed("renamed-from-outside", n, false);
                self.join();
                other.join();
            } else if (words[0].equals("virtual")) {
                virtuals(n);
            } else if (words[0].equals("lock")) {
                lock(n);
            } else {
                many(n);
            }
            say("done");
        }
    }
}
