// SPDX-License-Identifier: Apache-2.0
// Programs with one problem each, and programs that nearly have it: Problems NAME, or several: A+B

import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongUnaryOperator;

/** Each name is a problem; "NAME-not" is what only looks like it. */
public final class Problems extends Program {
    private static volatile Object made; // what is stored here is really allocated

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

    /** Two lock orders, but no deadlock: a thread gives up and starts again. */
    static void deadlockTried() {
        Account[] all = {new Account(), new Account()};
        for (int i = 0; i < 2; i++) {
            Account from = all[i], to = all[1 - i];
            start("trier-" + i, () -> {
                for (;;) {
                    from.lock.lock();
                    try {
                        sleep(100);
                        if (to.lock.tryLock(6, TimeUnit.SECONDS)) {
                            to.lock.unlock();
                        }
                    } catch (InterruptedException e) {
                        return;
                    } finally {
                        from.lock.unlock();
                    }
                }
            });
        }
    }

    // --- memory -------------------------------------------------------------------------------------

    private static final List<byte[]> kept = new ArrayList<>();

    /** Keeps a share of the heap, and makes garbage of small arrays all the time. */
    static void keep(double share) {
        long most = (long) (Runtime.getRuntime().maxMemory() * share);
        for (long bytes = 0; bytes < most; bytes += 10000) {
            kept.add(new byte[10000]);
        }
        start("worker", () -> {
            for (;;) {
                try {
                    for (int i = 0; i < 200; i++) {
                        made = new byte[1000];
                    }
                    sleep(1);
                } catch (OutOfMemoryError e) {
                    sum++; // goes on, as services do
                }
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
                if (n % 1000 == 0) {
                    spin(1);
                }
            }
        });
    }

    // --- all threads stopped -------------------------------------------------------------------------

    static int deep(int depth) {
        if (depth > 0) {
            return deep(depth - 1) + 1;
        }
        sleep(Long.MAX_VALUE / 2000000);
        return 0;
    }

    /** Many threads with deep stacks, and one that wants to see all of them. */
    static void watch(long pause) {
        for (int i = 0; i < 400; i++) {
            start("idle-" + i, () -> deep(60));
        }
        start("watchdog", () -> {
            for (;;) {
                made = Thread.getAllStackTraces();
                sleep(pause);
            }
        });
    }

    static long round(long x) {
        for (int i = 0; i < 25000000; i++) {
            x = x * 6364136223846793005L + 1442695040888963407L;
        }
        return x;
    }

    /** Long loops over an int, which poll for safepoints or, as the JVM is told, do not; and stops now and then. */
    static void rounds() {
        start("counter", () -> {
            for (;;) {
                sum += round(sum);
            }
        });
        start("watchdog", () -> {
            for (;;) {
                made = Thread.getAllStackTraces();
                sleep(100);
            }
        });
    }

    // --- classes ------------------------------------------------------------------------------------

    /** What is loaded again and again. */
    public static final class Script {
        static int runs;
    }

    static final class Loader extends ClassLoader {
        Loader() {
            super(null);
        }

        Object load(byte[] code) throws ReflectiveOperationException {
            return defineClass(null, code, 0, code.length).getDeclaredConstructor().newInstance();
        }
    }

    static byte[] codeOf(String name) {
        try (InputStream in = Problems.class.getResourceAsStream(name)) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            for (int b = in.read(); b >= 0; b = in.read()) {
                out.write(b);
            }
            return out.toByteArray();
        } catch (java.io.IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A class in a loader of its own every few ms, for so long; loaders are kept or thrown away. */
    static void load(long forMs, boolean keeps) {
        byte[] code = codeOf("Problems$Script.class");
        start("scripts", () -> {
            List<Object> all = new ArrayList<>();
            long end = System.currentTimeMillis() + forMs;
            while (System.currentTimeMillis() < end) {
                try {
                    Object script = new Loader().load(code);
                    if (keeps) {
                        all.add(script);
                    }
                } catch (ReflectiveOperationException e) {
                    throw new IllegalStateException(e);
                }
                sleep(3);
            }
        });
    }

    // --- compiled code ------------------------------------------------------------------------------

    static int length(String text) {
        return text.length();
    }

    static int lengthOrNone(String text) {
        try {
            return length(text) + 1;
        } catch (NullPointerException e) {
            return 0;
        }
    }

    /** So many of a hundred are null. With -XX:-OmitStackTraceInFastThrow compiled code gives up at each. */
    static void measure(int nulls) {
        String[] all = new String[100];
        for (int i = nulls; i < all.length; i++) {
            all[i] = "text " + i;
        }
        start("measurer", () -> {
            for (;;) {
                for (int i = 0; i < all.length; i++) {
                    sum += lengthOrNone(all[i]);
                }
            }
        });
    }

    static long crunch(long x) {
        for (int i = 0; i < 200000; i++) {
            x = x * 6364136223846793005L + 1442695040888963407L;
        }
        return x;
    }

    /** To be run with crunch excluded from compilation, or not. */
    static void crunchAll() {
        start("cruncher", () -> {
            for (;;) {
                sum += crunch(sum);
                spin(1);
            }
        });
    }

    /** What is compiled once for each loader. */
    public static final class Formula implements LongUnaryOperator {
        static long mix(long a, int b) {
            a ^= a >>> 17;
            a *= 0x9e3779b97f4a7c15L + b;
            a ^= a << 9;
            return a % (b * 2L + 3);
        }

        @Override
        public long applyAsLong(long x) {
            for (int i = 0; i < 40; i++) {
                x = mix(x, i);
                x = (x & 1) == 0 ? Long.rotateLeft(x, 7) ^ i : x + mix(i, (int) x);
            }
            return x;
        }
    }

    /** Many formulas, interleaved, all of them hot. */
    static void formulas(int count) {
        byte[] code = codeOf("Problems$Formula.class");
        List<LongUnaryOperator> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            try {
                all.add((LongUnaryOperator) new Loader().load(code));
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
        }
        start("formulas", () -> {
            for (;;) {
                for (LongUnaryOperator each : all) {
                    for (int i = 0; i < 50; i++) {
                        sum += each.applyAsLong(i);
                    }
                }
            }
        });
    }

    // --- a limit of CPU time ------------------------------------------------------------------------

    /** So many ms of each 100 on each of two threads. */
    static void work(long ms) {
        for (int i = 0; i < 2; i++) {
            start("worker-" + i, () -> {
                for (;;) {
                    spin(ms);
                    if (ms < 100) {
                        sleep(100 - ms);
                    }
                }
            });
        }
    }

    private static final Map<String, Task> TASKS = new HashMap<>();

    static {
        TASKS.put("deadlock", () -> deadlock());
        TASKS.put("deadlock-3", () -> deadlockOfThree());
        TASKS.put("deadlock-not", () -> deadlockNot());
        TASKS.put("deadlock-tried", () -> deadlockTried());
        TASKS.put("stops", () -> watch(3));
        TASKS.put("stops-not", () -> watch(3000));
        TASKS.put("late", () -> rounds());
        TASKS.put("classes", () -> load(Long.MAX_VALUE / 2, false));
        TASKS.put("classes-not", () -> load(4000, true));
        TASKS.put("deopt", () -> measure(10));
        TASKS.put("deopt-not", () -> measure(0));
        TASKS.put("interpreted", () -> crunchAll());
        TASKS.put("codecache", () -> formulas(1500));
        TASKS.put("throttled", () -> work(100));
        TASKS.put("throttled-not", () -> work(3));
        TASKS.put("heap", () -> keep(0.9));
        TASKS.put("heap-not", () -> keep(0.6));
        TASKS.put("gc", () -> churn(4, 0));
        TASKS.put("gc-not", () -> churn(2, 100));
        TASKS.put("exceptions", () -> parseAll(100));
        TASKS.put("exceptions-not", () -> parseAll(2));
    }

    public static void main(String[] args) throws Exception {
        run(TASKS, args[0]);
    }
}
