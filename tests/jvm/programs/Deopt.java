// SPDX-License-Identifier: Apache-2.0
// Code whose compilers' assumptions are broken all the time; ends when it reads a "q" or the end of its input.

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.function.LongUnaryOperator;

/**
 * usage: Deopt [THREADS]
 *
 * Every round reloads the class Work and its parts, in a class loader that is dropped afterwards. Work runs until
 * it is compiled, then does what was never seen before while the compiled code is on the stack: loads a second class
 * with a method that had one implementation, takes a branch that was never taken, meets null, another type, an index
 * out of range. So methods are deoptimized, compiled again, and unloaded. Prints "ready" after the first round,
 * "sum HEX ROUNDS" at the end; a round with another result than the first prints WRONG.
 */
public final class Deopt extends ClassLoader {
    private Deopt() {
        super(Deopt.class.getClassLoader());
    }

    /** The classes that each round reloads. */
    public static final class Work implements LongUnaryOperator {
        abstract static class Shape {
            abstract long area(long x);
        }

        static final class Square extends Shape {
            @Override
            long area(long x) {
                return x * x + 1;
            }
        }

        /** Not loaded before it is used. */
        static final class Circle extends Shape {
            @Override
            long area(long x) {
                return 3 * x * x + 7;
            }
        }

        private static long plain(Shape shape, long x, int n) {
            for (int i = 0; i < n; i++) {
                x = x * 31 + shape.area(x ^ i);
            }
            return x;
        }

        private static long branch(long x, int n, int odd) {
            for (int i = 0; i < n; i++) {
                x = i == odd ? x * 17 + Long.toString(x).length() : x * 31 + i;
            }
            return x;
        }

        private static long types(Object[] all, int[] numbers, long x, int n) {
            for (int i = 0; i < n; i++) {
                Object o = all[i % all.length];
                try {
                    x = x * 31 + o.hashCode() + numbers[i % (all.length + 1)];
                } catch (NullPointerException | ArrayIndexOutOfBoundsException e) {
                    x = x * 13 + 5;
                }
            }
            return x;
        }

        private static long deep(Shape shape, long x, int depth) {
            return depth == 0 ? plain(shape, x, 300) : deep(shape, x + depth, depth - 1) + 1;
        }

        @Override
        public long applyAsLong(long x) {
            Shape square = new Square();
            Object[] same = {1, 2, 3, 4};
            int[] enough = new int[5];
            for (int i = 0; i < 40; i++) {
                x = deep(square, x, 20);
                x = branch(x, 3_000, -1);
                x = types(same, enough, x, 3_000);
            }
            Shape circle = new Circle();
            for (int i = 0; i < 10; i++) {
                x = deep((i & 1) == 0 ? circle : square, x, 20);
                x = branch(x, 3_000, i * 200);
                x = types(new Object[] {1, "two", null, 4.0, 'c'}, enough, x, 3_000);
            }
            return x;
        }
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!name.startsWith("Deopt$Work")) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            return loaded != null ? loaded : define(name);
        }
    }

    private Class<?> define(String name) throws ClassNotFoundException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (InputStream in = Deopt.class.getResourceAsStream(name + ".class")) {
            byte[] part = new byte[8192];
            for (int n = in.read(part); n > 0; n = in.read(part)) {
                bytes.write(part, 0, n);
            }
        } catch (IOException e) {
            throw new ClassNotFoundException(name, e);
        }
        return defineClass(name, bytes.toByteArray(), 0, bytes.size());
    }

    private static long round() throws Exception {
        LongUnaryOperator work =
            (LongUnaryOperator) new Deopt().loadClass("Deopt$Work").getDeclaredConstructor().newInstance();
        return work.applyAsLong(42);
    }

    public static void main(String[] args) throws Exception {
        Rounds.run("deopt", args.length > 0 ? Integer.parseInt(args[0]) : 1, Deopt::round);
    }
}
