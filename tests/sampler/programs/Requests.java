// SPDX-License-Identifier: Apache-2.0
// Threads that work for requests and publish which, by the native library that is given.

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * usage: Requests LIBRARY MODE [COPY]
 *
 *   routes    four threads, each with requests to three routes, in a method of each route, until the end of the input. Then
 *             prints for each route the CPU time that its requests used by the threads' own clocks
 *   many      two threads, each request with a route of its own
 *   broken    four threads that publish broken records
 *   reload    four threads, and one that loads and unloads the library COPY, which publishes, too
 *   natives   four threads, and two native ones, of which one has a thread pointer that is not libc's
 */
public final class Requests {
    static native void begin(int route, long number);

    static native void beginNamed(int number);

    static native void end();

    static native long cpu();

    static native void flip();

    static native boolean broken(int kind);

    static native void describe();

    static native void reload(String path);

    static native void natives();

    private static final AtomicLongArray used = new AtomicLongArray(3);
    private static volatile boolean stop;
    private static volatile long sink;
    static volatile Object garbage;

    static long mix(long x, int rounds) {
        for (int i = 0; i < rounds; i++) {
            x ^= x >>> 33;
            x *= 0xff51afd7ed558ccdL;
            x ^= x >>> 29;
        }
        return x;
    }

    static long workCart(long x) {
        garbage = new byte[60_000];
        return mix(x + 1, 600_000);
    }

    static long workSearch(long x) {
        garbage = new byte[60_000];
        return mix(x + 2, 300_000);
    }

    static long workPay(long x) {
        garbage = new byte[60_000];
        return mix(x + 3, 100_000);
    }

    static long work(int route, long x) {
        return route == 0 ? workCart(x) : route == 1 ? workSearch(x) : workPay(x);
    }

    private static void serve(int thread) {
        long x = thread + 1;
        for (long request = 0; !stop; request++) {
            x = x * 6364136223846793005L + 1442695040888963407L;
            int route = (int) ((x >>> 33) % 3);
            long before = cpu();
            begin(route, request * 8 + thread);
            sink += work(route, x);
            end();
            used.addAndGet(route, cpu() - before);
        }
    }

    private static void serveMany(int thread) {
        for (int request = 0; !stop; request++) {
            beginNamed(request * 2 + thread);
            sink += mix(request, 100_000);
            end();
        }
    }

    private static void serveBroken(int thread) {
        for (int kind = thread; !stop; kind++) {
            if (!broken(kind)) {
                kind = -1;
            }
            sink += mix(kind, 2_000_000);
        }
    }

    public static void main(String[] args) throws Exception {
        List<Thread> threads = new ArrayList<>();
        System.load(args[0]);
        describe();
        if (args[1].equals("broken")) {
            Thread flipper = new Thread(Requests::flip, "flipper");
            flipper.setDaemon(true);
            flipper.start();
        }
        if (args[1].equals("natives")) {
            natives();
        }
        if (args[1].equals("reload")) {
            Thread reloader = new Thread(() -> {
                while (!stop) {
                    reload(args[2]);
                }
            }, "reloader");
            threads.add(reloader);
            reloader.start();
        }
        for (int i = 0; i < (args[1].equals("many") ? 2 : 4); i++) {
            int thread = i;
            Thread t = new Thread(() -> {
                if (args[1].equals("many")) {
                    serveMany(thread);
                } else if (args[1].equals("broken")) {
                    serveBroken(thread);
                } else {
                    serve(thread);
                }
            }, "worker-" + i);
            threads.add(t);
            t.start();
        }
        System.out.println("ready");
        System.in.read();
        stop = true;
        for (Thread t : threads) {
            t.join();
        }
        for (int i = 0; i < used.length(); i++) {
            System.out.println("route " + i + " " + used.get(i));
        }
    }
}
