// SPDX-License-Identifier: Apache-2.0
// Latencies of all requests, summed up once a second: a lock of java.util.concurrent, and sorting.
package org.example.shop;

import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;

final class Metrics implements Runnable {
    private final ReentrantLock lock = new ReentrantLock();
    private long[] latencies = new long[1 << 12];
    private int used;
    private volatile String summary = "";

    void record(long nanos) {
        lock.lock();
        try {
            if (used == latencies.length) {
                latencies = Arrays.copyOf(latencies, used * 2);
            }
            latencies[used++] = nanos;
        } finally {
            lock.unlock();
        }
    }

    String summary() {
        return summary;
    }

    @Override
    public void run() {
        try {
            while (true) {
                Thread.sleep(1000);
                long[] second = take();
                Arrays.sort(second);
                if (second.length > 0) {
                    summary = second.length + " requests/s, median " + second[second.length / 2] / 1000
                        + " us, 99 % " + second[second.length * 99 / 100] / 1000 + " us";
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private long[] take() {
        lock.lock();
        try {
            long[] taken = Arrays.copyOf(latencies, used);
            used = 0;
            return taken;
        } finally {
            lock.unlock();
        }
    }
}
