// SPDX-License-Identifier: Apache-2.0
// Programs that are slow for a reason that the first screen should show: Causes NAME.

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.LongUnaryOperator;

/** What is not among Problems and Waiting. */
public final class Causes extends Program {
    private static volatile Object made;

    static void price(long ms) {
        spin(ms);
    }

    /** Three thousand threads of three pools, all idle; and three that do something. */
    static void idle() {
        for (String pool : new String[] {"http-", "jdbc-", "mail-"}) {
            ExecutorService idle = Executors.newFixedThreadPool(1000, Waiting.named(pool));
            for (int i = 0; i < 1000; i++) {
                idle.execute(() -> sum++);
            }
        }
        for (int i = 0; i < 3; i++) {
            start("pricing-" + i, () -> {
                for (;;) {
                    price(30);
                    sleep(70);
                }
            });
        }
    }

    /** Code that is new all the time, as while a language on the JVM warms up: the compilers do most of the work. */
    static void warm() {
        byte[] code = Problems.codeOf("Problems$Formula.class");
        start("scripts", () -> {
            List<LongUnaryOperator> recent = new ArrayList<>();
            for (int n = 0;; n++) {
                recent.add(formula(code));
                if (recent.size() > 500) {
                    recent.remove(0);
                }
                for (int i = 0; i < 3000; i++) {
                    sum += recent.get(recent.size() - 1).applyAsLong(i);
                }
            }
        });
    }

    private static LongUnaryOperator formula(byte[] code) {
        try {
            return (LongUnaryOperator) new Problems.Loader().load(code);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    static byte[] render(int bytes) {
        return new byte[bytes];
    }

    /** Arrays of some megabytes each. */
    static void arrays() {
        start("renderer", () -> {
            for (int n = 0;; n++) {
                made = render(2000000 + n % 1000);
                sleep(1);
            }
        });
    }

    /** Writes each line while it holds the lock, to a disk that is slow. */
    static final class Logger {
        synchronized void log(long n) {
            write(n);
        }

        private void write(long n) {
            sleep(3);
            sum += n;
        }
    }

    static void serve(Logger logger) {
        price(1);
        logger.log(1);
    }

    static void logged() {
        Logger logger = new Logger();
        for (int i = 0; i < 8; i++) {
            start("http-" + i, () -> {
                for (;;) {
                    serve(logger);
                }
            });
        }
    }

    static void settle(long ms) {
        spin(ms);
    }

    /** Ends ten seconds after it was ready. */
    static void exits() {
        start("batch", () -> {
            for (int i = 0; i < 100; i++) {
                settle(100);
            }
            System.exit(0);
        });
    }

    private static final Map<String, Task> TASKS = new HashMap<>();

    static {
        TASKS.put("idle", () -> idle());
        TASKS.put("warm", () -> warm());
        TASKS.put("arrays", () -> arrays());
        TASKS.put("log", () -> logged());
        TASKS.put("exits", () -> exits());
    }

    public static void main(String[] args) throws Exception {
        run(TASKS, args[0]);
    }
}
