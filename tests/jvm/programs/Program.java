// SPDX-License-Identifier: Apache-2.0
// Base of the programs with a planted problem.

import java.io.IOException;
import java.util.Map;

/** Prints "ready" and runs until its input ends or has a "q". With -Dvirtual=true its threads are virtual. */
class Program {
    static volatile long sum;

    interface Task {
        void run() throws Exception;
    }

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

    /** A thread that does not keep the JVM alive; a virtual one by reflection: this is compiled for JDK 8. */
    static Thread thread(String name, Runnable body) {
        if (Boolean.getBoolean("virtual")) {
            try {
                Object made = Thread.class.getMethod("ofVirtual").invoke(null);
                Class<?> builder = Class.forName("java.lang.Thread$Builder");
                made = builder.getMethod("name", String.class).invoke(made, name);
                return (Thread) builder.getMethod("unstarted", Runnable.class).invoke(made, body);
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
        }
        Thread t = new Thread(body, name);
        t.setDaemon(true);
        return t;
    }

    static void start(String name, Runnable body) {
        thread(name, body).start();
    }

    static void ready() throws IOException {
        System.out.println("ready");
        for (int c = System.in.read(); c >= 0 && c != 'q'; c = System.in.read()) {
            continue;
        }
    }

    /** Does what these names stand for, "A" or "A+B". */
    static void run(Map<String, Task> tasks, String names) throws Exception {
        for (String name : names.split("\\+")) {
            tasks.get(name).run();
        }
        ready();
    }
}
