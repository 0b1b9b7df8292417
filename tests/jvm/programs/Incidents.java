// SPDX-License-Identifier: Apache-2.0
// A small healthy service, in which incidents begin on request.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayDeque;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Prints "ready". Four threads http-1 to http-4 serve a request of about 1 ms every 50 ms. Each line of its input is an incident,
 * whose begin is reported as "began KIND SECONDS-SINCE-1970":
 *
 *   cpu        a thread computes for 20 s       gc      allocation in a nearly full heap for 20 s (needs a small -Xmx)
 *   pool       all four threads wait for 20 s   deadlock    two threads, for good
 *   q          it ends
 */
public final class Incidents {
    private static final long NS = 20_000_000_000L;
    private static final Object first = new Object(), second = new Object();
    private static volatile long sum;
    private static volatile Object sink;
    private static volatile long stuckUntil;

    private static void spin(long ns) {
        long end = System.nanoTime() + ns, x = end;
        while (System.nanoTime() < end) {
            x = x * 6364136223846793005L + 1442695040888963407L;
        }
        sum = x;
    }

    private static void pause(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void request() {
        while (System.nanoTime() < stuckUntil) {
            pause(10);
        }
        spin(1_000_000);
    }

    static void hotLoop() {
        spin(NS);
    }

    /** Retains a part of the heap and replaces it piece by piece. */
    static void churn() {
        ArrayDeque<byte[]> kept = new ArrayDeque<>();
        long end = System.nanoTime() + NS, most = Runtime.getRuntime().maxMemory() * 6 / 10;
        for (long bytes = 0; System.nanoTime() < end;) {
            kept.add(new byte[4096]);
            bytes += 4096;
            while (bytes > most) {
                bytes -= kept.remove().length;
            }
        }
        sink = kept.size();
    }

    static void transfer(Object from, Object to) {
        synchronized (from) {
            pause(200);
            synchronized (to) {
                sum++;
            }
        }
    }

    private static void begin(String kind) {
        System.out.println("began " + kind + " " + System.currentTimeMillis() / 1000);
        switch (kind) {
            case "cpu": new Thread(Incidents::hotLoop, "batch").start(); break;
            case "gc": new Thread(Incidents::churn, "importer").start(); break;
            case "pool": stuckUntil = System.nanoTime() + NS; break;
            case "deadlock":
                new Thread(() -> transfer(first, second), "payer-1").start();
                new Thread(() -> transfer(second, first), "payer-2").start();
                break;
            default: throw new IllegalArgumentException(kind);
        }
    }

    public static void main(String[] args) throws Exception {
        AtomicInteger number = new AtomicInteger();
        ExecutorService pool = Executors.newFixedThreadPool(4, body -> {
            Thread t = new Thread(body, "http-" + number.incrementAndGet());
            t.setDaemon(true);
            return t;
        });
        Thread clients = new Thread(() -> {
            for (;;) {
                pool.execute(Incidents::request);
                pause(50);
            }
        }, "clients");
        clients.setDaemon(true);
        clients.start();
        System.out.println("ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null && !line.equals("q");) {
            begin(line);
        }
        Runtime.getRuntime().halt(0);
    }
}
