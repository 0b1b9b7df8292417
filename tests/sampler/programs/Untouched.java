// SPDX-License-Identifier: Apache-2.0
// A system class loader of the program, as in application servers and test frameworks, that records its callers.

/** With -Djava.system.class.loader=Untouched: prints "ready", sleeps until its input ends, prints "asked THREAD CLASS" of each request by another thread. */
public final class Untouched extends ClassLoader {
    private static final StringBuffer asked = new StringBuffer();
    private static volatile boolean ready;

    public Untouched(ClassLoader parent) {
        super(parent);
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (ready) asked.append("asked ").append(Thread.currentThread().getName()).append(' ').append(name).append('\n');
        return super.loadClass(name, resolve);
    }

    public static void main(String[] args) throws Exception {
        Untouched own = (Untouched) ClassLoader.getSystemClassLoader();
        own.begin();
        System.out.println("ready");
        while (System.in.read() != 'q') {
        }
        own.end();
    }

    private void begin() throws Exception {
        loadClass("java.lang.Object", false);
        ready = true;
    }

    private void end() {
        ready = false;
        System.out.print(asked);
    }
}
