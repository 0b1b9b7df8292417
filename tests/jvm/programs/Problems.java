// SPDX-License-Identifier: Apache-2.0
// Programs with one problem each, and programs that nearly have it: Problems NAME.

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/** Prints "ready" and goes on until its input ends. Each name is a problem; "NAME-not" is what only looks like it. */
public final class Problems {
    private static volatile long sum;

    static void sleep(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void spin(long ms) {
        long end = System.nanoTime() + ms * 1000000, x = end;
        while (System.nanoTime() < end) {
            for (int i = 0; i < 1000; i++) {
                x = x * 6364136223846793005L + 1442695040888963407L;
            }
        }
        sum = x;
    }

    static void start(String name, Runnable body) {
        Thread t = new Thread(body, name);
        t.setDaemon(true);
        t.start();
    }

    // --- locks that are taken in two orders, and in one ---------------------------------------------

    static final class Account {
        final ReentrantLock lock = new ReentrantLock();
    }

    static void transfer(Object from, Object to, long ms) {
        synchronized (from) {
            sleep(ms);
            synchronized (to) {
                sum++;
            }
        }
    }

    static void transferLocked(Account from, Account to, long ms) {
        from.lock.lock();
        try {
            sleep(ms);
            to.lock.lock();
            to.lock.unlock();
        } finally {
            from.lock.unlock();
        }
    }

    static void deadlock() {
        Object a = new Object(), b = new Object();
        start("payer-1", () -> transfer(a, b, 300));
        start("payer-2", () -> transfer(b, a, 300));
    }

    static void deadlockOfThree() {
        Account[] all = {new Account(), new Account(), new Account()};
        for (int i = 0; i < 3; i++) {
            int at = i;
            start("payer-" + i, () -> transferLocked(all[at], all[(at + 1) % 3], 300));
        }
    }

    /** Long waits in a row, in one order: each goes on. */
    static void deadlockNot() {
        Object a = new Object(), b = new Object();
        for (int i = 0; i < 3; i++) {
            start("payer-" + i, () -> {
                for (;;) {
                    transfer(a, b, 700);
                }
            });
        }
    }

    // --- memory -------------------------------------------------------------------------------------

    private static final List<byte[]> kept = new ArrayList<>();

    /** Keeps a share of the heap, and makes garbage of small arrays all the time. */
    static void keep(double share) {
        long most = (long) (Runtime.getRuntime().maxMemory() * share);
        for (long bytes = 0; bytes < most; bytes += 100000) {
            kept.add(new byte[100000]);
        }
        start("worker", () -> {
            for (;;) {
                for (int i = 0; i < 200; i++) {
                    sum += new byte[1000].length;
                }
                sleep(1);
            }
        });
    }

    /** Garbage that lives for a moment, as fast as it goes, or little of it. */
    static void churn(int threads, long pause) {
        for (int t = 0; t < threads; t++) {
            start("churner-" + t, () -> {
                List<Map<String, Object>> recent = new ArrayList<>();
                for (int n = 0;; n++) {
                    Map<String, Object> row = new HashMap<>();
                    for (int i = 0; i < 20; i++) {
                        row.put("key-" + i, new byte[100]);
                    }
                    recent.add(row);
                    if (recent.size() > 3000) {
                        recent = new ArrayList<>();
                    }
                    if (pause > 0 && n % 100 == 0) {
                        sleep(pause);
                    }
                }
            });
        }
    }

    // --- exceptions ---------------------------------------------------------------------------------

    static int parse(String text) {
        try {
            return Integer.parseInt(text);
        } catch (NumberFormatException e) {
            return -1;
        }
    }

    static void parseAll(int bad) {
        start("parser", () -> {
            for (int n = 0;; n++) {
                sum += parse(n % 100 < bad ? "n/a" : "123456");
                if (n % 100 == 0) {
                    spin(1);
                }
            }
        });
    }

    static void run(String name) {
        switch (name) {
        case "deadlock":
            deadlock();
            break;
        case "deadlock-3":
            deadlockOfThree();
            break;
        case "deadlock-not":
            deadlockNot();
            break;
        case "heap":
            keep(0.93);
            break;
        case "heap-not":
            keep(0.6);
            break;
        case "gc":
            churn(4, 0);
            break;
        case "gc-not":
            churn(2, 5);
            break;
        case "exceptions":
            parseAll(100);
            break;
        case "exceptions-not":
            parseAll(2);
            break;
        default:
            throw new IllegalArgumentException(name);
        }
    }

    public static void main(String[] args) throws Exception {
        run(args[0]);
        System.out.println("ready");
        for (int c = System.in.read(); c >= 0 && c != 'q'; c = System.in.read()) {
            continue;
        }
    }
}
