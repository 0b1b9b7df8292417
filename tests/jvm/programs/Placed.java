// SPDX-License-Identifier: Apache-2.0
// A program that is idle until it is asked to work, so that many of them can be started side by side.

import java.util.ArrayList;
import java.util.List;

/**
 * usage: Placed MODE; prints "ready"; a "w" on its input makes one thread work in Known's methods, a "q" ends it
 *
 *   rest      nothing else
 *   full      its heap is full, and each second it asks for what cannot be had
 *   filled    its heap is full but for 150 kB, and no allocation has failed
 *   leaving   ends at once, but a shutdown hook waits for the "q"
 */
public final class Placed {
    private static volatile long sum;

    private static void work() {
        Thread worker = new Thread(() -> {
            for (;;) {
                sum += Known.knownRound(sum);
            }
        }, "worker");
        worker.setDaemon(true);
        worker.start();
    }

    private static List<byte[]> fill() {
        byte[] spare = new byte[1 << 18]; // for what the program itself needs
        List<byte[]> held = new ArrayList<>(1 << 16);
        int size = 1 << 20;
        while (size >= 4096) {
            try {
                held.add(new byte[size]);
            } catch (OutOfMemoryError e) {
                size /= 2;
            }
        }
        return spare.length > 0 ? held : null;
    }

    private static long free() {
        Runtime runtime = Runtime.getRuntime();
        return runtime.maxMemory() - runtime.totalMemory() + runtime.freeMemory();
    }

    private static List<byte[]> fillWithoutError(long left) {
        List<byte[]> held = new ArrayList<>(1 << 16);
        for (int size = 1 << 15; size >= 256; size /= 8) {
            for (;;) {
                if (free() < left + 32 * size) {
                    System.gc();
                }
                if (free() < left + 32 * size) {
                    break;
                }
                held.add(new byte[size]);
            }
        }
        return held;
    }

    private static void starve() {
        List<byte[]> held = fill();
        Thread asking = new Thread(() -> {
            for (;;) {
                try {
                    Thread.sleep(1000);
                    held.get(0)[0] += new byte[1 << 20].length;
                } catch (OutOfMemoryError | InterruptedException e) {
                    continue; // as a service does that catches all
                }
            }
        }, "starving");
        asking.setDaemon(true);
        asking.start();
    }

    /** Reads commands until it is asked to end. */
    private static void listen() {
        try {
            for (int c = 0; c >= 0 && c != 'q'; c = System.in.read()) {
                if (c == 'w') {
                    work();
                }
            }
        } catch (java.io.IOException e) {
            return;
        }
    }

    public static void main(String[] args) throws Exception {
        Known.knownRound(1); // loaded before there is no memory
        if (args[0].equals("full")) {
            starve();
        }
        if (args[0].equals("leaving")) {
            Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                System.out.println("ready");
                listen();
            }));
            System.exit(0);
        }
        List<byte[]> held = args[0].equals("filled") ? fillWithoutError(150_000) : null;
        System.out.println("ready");
        listen();
        sum += held == null ? 0 : held.size();
    }
}
