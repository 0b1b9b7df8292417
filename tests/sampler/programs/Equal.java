// SPDX-License-Identifier: Apache-2.0
// Many threads that exist before they are sampled and use the same CPU time each.

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;

/** Equal COUNT US: starts COUNT threads and prints "ready". At a line of input each uses US of CPU time; then "done NS", of all. */
public final class Equal {
    private static final ThreadMXBean mx = ManagementFactory.getThreadMXBean();
    private static final AtomicLong cpu = new AtomicLong();
    private static volatile long sum;

    private static void body(long ns) {
        long begin = mx.getCurrentThreadCpuTime(), now = begin, x = begin;
        while (now - begin < ns) {
            for (int i = 0; i < 10000; i++) {
                x = x * 6364136223846793005L + 1442695040888963407L;
            }
            now = mx.getCurrentThreadCpuTime();
        }
        sum = x;
        cpu.addAndGet(now - begin);
    }

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[0]);
        long ns = Long.parseLong(args[1]) * 1000;
        CountDownLatch go = new CountDownLatch(1), done = new CountDownLatch(count), end = new CountDownLatch(1);
        for (int i = 0; i < count; i++) {
            new Thread(() -> {
                try {
                    go.await();
                    body(ns);
                    done.countDown();
                    end.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }, "equal-" + i).start();
        }
        System.out.println("ready");
        System.in.read();
        go.countDown();
        done.await();
        System.out.println("done " + cpu.get());
        System.in.read();
        end.countDown();
    }
}
