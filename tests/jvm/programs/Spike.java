// SPDX-License-Identifier: Apache-2.0
// A program that does nothing until it reads "spike MS": then a new thread computes for that much CPU time. Ends at "q".

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/** Prints "ready", and after each spike "spent NS": the thread's own CPU time in spikeWork. */
public final class Spike {
    private static final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    private static volatile long sum;

    private static long spikeWork(long ms) {
        long begin = threads.getCurrentThreadCpuTime();
        long x = ms;
        while (threads.getCurrentThreadCpuTime() - begin < ms * 1_000_000) {
            for (int i = 0; i < 100_000; i++) {
                x ^= x >>> 33;
                x *= 0xff51afd7ed558ccdL;
            }
        }
        sum += x;
        return threads.getCurrentThreadCpuTime() - begin;
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready");
        for (String line = in.readLine(); line != null && !line.equals("q"); line = in.readLine()) {
            if (!line.startsWith("spike ")) {
                continue;
            }
            long ms = Long.parseLong(line.substring(6));
            Thread spike = new Thread(() -> System.out.println("spent " + spikeWork(ms)), "spike");
            spike.start();
            spike.join();
        }
    }
}
