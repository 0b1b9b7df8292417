// SPDX-License-Identifier: Apache-2.0
// Call chains and shares known by construction, one kind of code for each thread; ends when it reads a "q".

import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.zip.CRC32;
import java.util.zip.Deflater;

/**
 * usage: Walks [MODE...]   all modes but "births" if none is given; "virtual" only where there are virtual threads
 *
 * Every thread calls KINDTop, which calls KINDMiddle, which calls KINDLeaf, for ever. Whenever a stack is
 * looked at, its frames of this class are the beginning of that chain and nothing else:
 *
 *   deep      deepMiddle is 400 times recursive       inline   all small enough to be inlined
 *   copy      System.arraycopy of every element size  call     an interface with six implementations
 *   throw     20 frames deep exceptions               zip      native code
 *   text      String intrinsics                       math     stubs for sin, log, pow
 *   digest    long stubs: MD5, SHA-256, AES           reflect  through the VM: native accessors
 *   alloc     small objects and arrays                lock     monitors
 *   virtual   virtual threads that park 60 frames deep
 *   abyss     abyssMiddle is 3,000 times recursive
 *   unload    classes that are loaded, run once, and become garbage
 *   births    threads that run the chain once, 200 of them a second
 *
 * The caller of the chain is sixty, thirty or ten, which run it in that percentage of all rounds.
 */
public final class Walks {
    static volatile long sink;
    static final int DEEP = 400;
    static final int THROW = 20;
    static final int VIRTUAL = 60;
    static final int ABYSS = 3_000;

    // --- deep

    static void deepTop() {
        sink += deepMiddle(DEEP, sink);
    }

    static long deepMiddle(int n, long x) {
        return n > 1 ? deepMiddle(n - 1, x * 31 + n) + 1 : deepLeaf(x);
    }

    static long deepLeaf(long x) {
        for (int i = 0; i < 1_000; i++) {
            x = x * 31 + i;
        }
        return x;
    }

    // --- inline

    static void inlineTop() {
        long x = sink;
        for (int i = 0; i < 20; i++) {
            x += inlineMiddle(x);
        }
        sink = x;
    }

    static long inlineMiddle(long x) {
        return inlineLeaf(x) + 1;
    }

    static long inlineLeaf(long x) {
        for (int i = 0; i < 50; i++) {
            x ^= x << 7 ^ x >>> 9;
        }
        return x;
    }

    // --- copy

    static final byte[] BYTES = new byte[1 << 15];
    static final short[] SHORTS = new short[1 << 14];
    static final long[] LONGS = new long[1 << 12];
    static final Object[] OBJECTS = new String[1 << 12];

    static void copyTop() {
        for (int i = 0; i < 4; i++) {
            copyMiddle(i & 63);
        }
    }

    static void copyMiddle(int from) {
        copyLeaf(BYTES, from, 30_000);
        copyLeaf(SHORTS, from, 16_000);
        copyLeaf(LONGS, from, 4_000);
        copyLeaf(OBJECTS, from, 4_000);
    }

    static void copyLeaf(Object array, int from, int length) {
        System.arraycopy(array, from, array, 0, length);
        System.arraycopy(array, 0, array, from, length);
    }

    // --- call

    interface Shape {
        long callLeaf(long x);
    }

    static final class Circle implements Shape {
        public long callLeaf(long x) {
            return x * 3;
        }
    }

    static final class Square implements Shape {
        public long callLeaf(long x) {
            return x + 5;
        }
    }

    static final class Line implements Shape {
        public long callLeaf(long x) {
            return x ^ 7;
        }
    }

    static final class Point implements Shape {
        public long callLeaf(long x) {
            return x - 11;
        }
    }

    static class Blob implements Shape {
        public long callLeaf(long x) {
            return x << 1;
        }
    }

    static final class Hole extends Blob {
        public long callLeaf(long x) {
            return ~x;
        }
    }

    static final Shape[] SHAPES = {new Circle(), new Square(), new Line(), new Point(), new Blob(), new Hole()};

    static void callTop() {
        long x = sink;
        for (int i = 0; i < 200; i++) {
            x += callMiddle(SHAPES[i % SHAPES.length], x);
        }
        sink = x;
    }

    static long callMiddle(Shape shape, long x) {
        return shape.callLeaf(x) + 1;
    }

    // --- throw

    static void throwTop() {
        try {
            throwMiddle(THROW);
        } catch (IllegalStateException e) {
            sink += e.getStackTrace().length;
        }
    }

    static void throwMiddle(int n) {
        if (n > 1) {
            throwMiddle(n - 1);
        } else {
            throwLeaf();
        }
        sink++;
    }

    static void throwLeaf() {
        throw new IllegalStateException("known");
    }

    // --- zip

    static void zipTop() {
        zipMiddle(new CRC32(), new Deflater());
    }

    static void zipMiddle(CRC32 crc, Deflater deflater) {
        zipLeaf(crc, deflater);
        deflater.end();
    }

    static void zipLeaf(CRC32 crc, Deflater deflater) {
        byte[] in = new byte[5_000];
        new Random(1).nextBytes(in);
        deflater.setInput(in);
        deflater.finish();
        sink += deflater.deflate(new byte[30_000]);
        for (int i = 0; i < 20; i++) {
            crc.update(in);
        }
        sink += crc.getValue();
    }

    // --- text

    static final String TEXT;

    static {
        StringBuilder b = new StringBuilder();
        for (int i = 0; i < 300; i++) {
            b.append(i).append("abc").append((char) ('a' + i % 26));
        }
        TEXT = b.toString();
    }

    static void textTop() {
        for (int i = 0; i < 2; i++) {
            textMiddle("" + i);
        }
    }

    static void textMiddle(String s) {
        textLeaf(s);
    }

    static void textLeaf(String s) {
        sink += TEXT.indexOf("299" + s) + TEXT.indexOf("zz") + TEXT.compareTo(TEXT + s);
        sink += TEXT.toUpperCase().hashCode() + (TEXT.equals(new String(TEXT.toCharArray())) ? 1 : 0);
    }

    // --- math

    static void mathTop() {
        double x = 0.5;
        for (int i = 1; i < 100; i++) {
            x = mathMiddle(x, i);
        }
        sink += (long) x;
    }

    static double mathMiddle(double x, int i) {
        return mathLeaf(x, i);
    }

    static double mathLeaf(double x, int i) {
        return Math.sin(x * i) + Math.log(i) + Math.pow(i, 0.3) + Math.exp(-i) + Math.tan(x);
    }

    // --- digest

    static void digestTop() throws Exception {
        digestMiddle(new byte[1_000]);
    }

    static void digestMiddle(byte[] in) throws Exception {
        digestLeaf(in);
    }

    static void digestLeaf(byte[] in) throws Exception {
        sink += java.security.MessageDigest.getInstance("MD5").digest(in)[0];
        sink += java.security.MessageDigest.getInstance("SHA-256").digest(in)[0];
        javax.crypto.Cipher cipher = javax.crypto.Cipher.getInstance("AES/CBC/PKCS5Padding");
        cipher.init(javax.crypto.Cipher.ENCRYPT_MODE,
            new javax.crypto.spec.SecretKeySpec(new byte[16], "AES"));
        sink += cipher.doFinal(in)[0];
    }

    // --- reflect

    static void reflectTop() throws Exception {
        Method leaf = Walks.class.getDeclaredMethod("reflectLeaf", long.class);
        for (int i = 0; i < 10; i++) {
            reflectMiddle(leaf);
        }
    }

    static void reflectMiddle(Method leaf) throws Exception {
        leaf.invoke(null, sink);
    }

    static void reflectLeaf(long x) {
        for (int i = 0; i < 2_000; i++) {
            x = x * 31 + i;
        }
        sink = x;
    }

    // --- alloc

    static void allocTop() {
        for (int i = 0; i < 200; i++) {
            allocMiddle(i);
        }
    }

    static void allocMiddle(int i) {
        sink += allocLeaf(i).length;
    }

    static Object[] allocLeaf(int i) {
        Object[] a = new Object[i & 15];
        sink += new int[2][i & 3].length;
        return i % 100 == 0 ? new Object[10_000] : a;
    }

    // --- lock

    static void lockTop() {
        for (int i = 0; i < 100; i++) {
            lockMiddle(BYTES);
        }
    }

    static synchronized void lockMiddle(Object lock) {
        synchronized (lock) {
            lockLeaf(lock);
        }
    }

    static void lockLeaf(Object lock) {
        synchronized (lock) {
            sink += lock.hashCode();
        }
    }

    // --- virtual

    static void virtualTop() {
        virtualMiddle(VIRTUAL);
    }

    static void virtualMiddle(int n) {
        if (n > 1) {
            virtualMiddle(n - 1);
        } else {
            virtualLeaf();
        }
        sink += deepLess(n);
    }

    /** Called on the way out, when the frames below are still in the heap; no part of the chain. */
    private static long deepLess(long x) {
        for (int i = 0; i < 3_000; i++) {
            x = x * 31 + i;
        }
        return x;
    }

    static void virtualLeaf() {
        sink += deepLess(1);
        LockSupport.parkNanos(10_000);
        sink += deepLess(2);
    }

    // --- abyss

    static void abyssTop() {
        sink += abyssMiddle(ABYSS, sink);
    }

    static long abyssMiddle(int n, long x) {
        return n > 1 ? abyssMiddle(n - 1, x * 31 + n) + 1 : abyssLeaf(x);
    }

    static long abyssLeaf(long x) {
        for (int i = 0; i < 100_000; i++) {
            x = x * 31 + i;
        }
        return x;
    }

    // --- unload

    /** Copies of it are loaded by loaders of their own. */
    public static final class Copy implements Runnable {
        private static volatile long sum;

        public void run() {
            unloadTop();
        }

        static void unloadTop() {
            sum += unloadMiddle(sum);
        }

        static long unloadMiddle(long x) {
            return unloadLeaf(x) + 1;
        }

        static long unloadLeaf(long x) {
            for (int i = 0; i < 10_000; i++) {
                x = x * 31 + i;
            }
            return x;
        }
    }

    static final class Throwaway extends ClassLoader {
        private static final byte[] CODE = code();

        Throwaway() {
            super(Walks.class.getClassLoader());
        }

        private static byte[] code() {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            try (InputStream in = Walks.class.getResourceAsStream("Walks$Copy.class")) {
                for (int c = in.read(); c >= 0; c = in.read()) {
                    bytes.write(c);
                }
            } catch (java.io.IOException e) {
                throw new IllegalStateException(e);
            }
            return bytes.toByteArray();
        }

        Runnable copy() throws Exception {
            return (Runnable) defineClass("Walks$Copy", CODE, 0, CODE.length).getDeclaredConstructor()
                .newInstance();
        }
    }

    // --- births

    static void birthsTop() {
        sink += birthsMiddle(sink);
    }

    static long birthsMiddle(long x) {
        return birthsLeaf(x) + 1;
    }

    static long birthsLeaf(long x) {
        for (int i = 0; i < 6_000_000; i++) {
            x = x * 31 + i;
        }
        return x;
    }

    /** For as long as one thread takes, at most 200 a second. */
    static void births(Body body) throws Exception {
        for (int i = 0;; i++) {
            int turn = i;
            Thread thread = new Thread(() -> run(body, turn), "births");
            long start = System.nanoTime();
            thread.start();
            thread.join();
            LockSupport.parkNanos(5_000_000 - (System.nanoTime() - start));
        }
    }

    // --- all

    interface Body {
        void once() throws Exception;
    }

    /** In the order in which they start if none is named. */
    private static final Map<String, Body> BODIES = new LinkedHashMap<>();

    static {
        BODIES.put("deep", () -> deepTop());
        BODIES.put("inline", () -> inlineTop());
        BODIES.put("copy", () -> copyTop());
        BODIES.put("call", () -> callTop());
        BODIES.put("throw", () -> throwTop());
        BODIES.put("zip", () -> zipTop());
        BODIES.put("text", () -> textTop());
        BODIES.put("math", () -> mathTop());
        BODIES.put("digest", () -> digestTop());
        BODIES.put("reflect", () -> reflectTop());
        BODIES.put("alloc", () -> allocTop());
        BODIES.put("lock", () -> lockTop());
        BODIES.put("virtual", () -> virtualTop());
        BODIES.put("abyss", () -> abyssTop());
        BODIES.put("unload", () -> new Throwaway().copy().run());
        BODIES.put("births", () -> birthsTop());
    }

    static void sixty(Body body) throws Exception {
        body.once();
    }

    static void thirty(Body body) throws Exception {
        body.once();
    }

    static void ten(Body body) throws Exception {
        body.once();
    }

    /** Mixed, so that a part of ten turns is shared like the whole of them. */
    static void run(Body body, int turn) {
        try {
            switch ("6363616366".charAt(turn % 10)) {
                case '6': sixty(body); break;
                case '3': thirty(body); break;
                default: ten(body); break;
            }
        } catch (Exception e) {
            e.printStackTrace();
            System.exit(1);
        }
    }

    static void forever(Body body) {
        for (int i = 0;; i = (i + 1) % 10) {
            run(body, i);
        }
    }

    public static void main(String[] args) throws Exception {
        Set<String> modes = new LinkedHashSet<>(args.length > 0 ? Arrays.asList(args) : BODIES.keySet());
        if (args.length == 0) {
            modes.remove("births");
        }
        for (String mode : modes) {
            Body body = BODIES.get(mode);
            if (mode.equals("virtual")) {
                startVirtual(() -> forever(body));
                continue;
            }
            if (!mode.equals("abyss")) {
                body.once(); // whatever happens once only has no share
            }
            Thread thread = new Thread(null, () -> {
                if (!mode.equals("births")) {
                    forever(body);
                }
                try {
                    births(body);
                } catch (Exception e) {
                    e.printStackTrace();
                }
            }, mode, 16 << 20);
            thread.setDaemon(true);
            thread.start();
        }
        System.out.println("ready");
        while (System.in.read() != 'q') {
        }
    }

    /** This file is compiled for Java 8. */
    static void startVirtual(Runnable run) throws Exception {
        try {
            Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
            for (int i = 0; i < 3; i++) {
                start.invoke(null, run);
            }
        } catch (NoSuchMethodException e) {
            System.out.println("no virtual threads");
        }
    }
}
