// SPDX-License-Identifier: Apache-2.0
// Loads native libraries in throwaway class loaders, runs them, and lets the collector unload them.

import java.io.ByteArrayOutputStream;
import java.io.InputStream;

/**
 * usage: Loader LIBRARY...
 *
 * In turn, again and again until told to end by "q" or the end of its input: a class loader of its own loads a
 * library, Loader.spin of it runs for some 100 ms in thread "main", the loader becomes garbage. Prints "ready" when
 * the first turn is over, "turns N" at the end.
 */
public final class Loader extends ClassLoader implements Runnable {
    /** Work takes this many rounds at a time: about 100 ms. */
    private static final long ROUNDS = 60_000_000;
    private static volatile boolean stop;

    private Loader() {
        super(Loader.class.getClassLoader());
    }

    /** Of the copy of this class in a loader of its own, which is the one whose library gets loaded. */
    @Override
    public void run() {
        System.load(System.getProperty("loader.library"));
        spin(ROUNDS);
    }

    private static native long spin(long rounds);

    /** Defines a copy of this class instead of asking the parent. */
    private Class<?> copy() throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (InputStream in = Loader.class.getResourceAsStream("Loader.class")) {
            int c;
            while ((c = in.read()) >= 0) {
                bytes.write(c);
            }
        }
        return defineClass("Loader", bytes.toByteArray(), 0, bytes.size());
    }

    private static void turn(String library) throws Exception {
        System.setProperty("loader.library", library);
        java.lang.reflect.Constructor<?> made = new Loader().copy().getDeclaredConstructor();
        made.setAccessible(true);
        ((Runnable) made.newInstance()).run();
    }

    public static void main(String[] libraries) throws Exception {
        Thread reader = new Thread(() -> {
            try {
                int c;
                do {
                    c = System.in.read();
                } while (c >= 0 && c != 'q');
            } catch (java.io.IOException e) {
                // the end, too
            }
            stop = true;
        });
        reader.setDaemon(true);
        reader.start();
        int turns = 0;
        for (; !stop; turns++) {
            turn(libraries[turns % libraries.length]);
            System.gc();
            if (turns == 0) {
                System.out.println("ready");
            }
        }
        System.out.println("turns " + turns);
    }
}
