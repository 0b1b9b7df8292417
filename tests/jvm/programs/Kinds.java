// SPDX-License-Identifier: Apache-2.0
// One thread that uses CPU time in ways that are difficult to sample, and prints how much it used.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.util.concurrent.locks.LockSupport;

/**
 * Prints "ready", then executes each line of its input and prints "done NS", the CPU time of the thread "kind",
 * all of it below Kinds.body:
 *
 *   bursts MS    300 us of work each 1.3 ms
 *   throws MS    an exception after the other, thrown and caught 50 frames apart
 *   deep MS      2,500 frames deep
 *   plain MS     nothing but work
 *   q            it ends
 */
public final class Kinds {
    private static volatile long sum;

    static void work(long us) {
        long end = System.nanoTime() + us * 1000, x = end;
        while (System.nanoTime() < end) {
            for (int i = 0; i < 100; i++) {
                x = x * 6364136223846793005L + 1442695040888963407L;
            }
        }
        sum = x;
    }

    static void thrown(int frames) {
        if (frames == 0) {
            throw new IllegalStateException("at the bottom");
        }
        thrown(frames - 1);
    }

    static void deep(int frames, long us) {
        if (frames == 0) {
            work(us);
        } else {
            deep(frames - 1, us);
        }
    }

    static void once(String kind) {
        switch (kind) {
            case "bursts":
                work(300);
                LockSupport.parkNanos(1_000_000);
                break;
            case "throws":
                try {
                    thrown(50);
                } catch (IllegalStateException e) {
                    sum++;
                }
                break;
            case "deep": deep(2500, 20_000); break;
            default: work(1000); break;
        }
    }

    static void body(String kind, long ms) {
        long end = System.nanoTime() + ms * 1_000_000;
        while (System.nanoTime() < end) {
            once(kind);
        }
        System.out.println("done " + ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime());
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready");
        for (String line = in.readLine(); line != null && !line.equals("q"); line = in.readLine()) {
            String[] words = line.split(" ");
            Thread thread = new Thread(null, () -> body(words[0], Long.parseLong(words[1])), "kind", 16 << 20);
            thread.start();
            thread.join();
        }
    }
}
