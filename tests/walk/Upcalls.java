// SPDX-License-Identifier: Apache-2.0
// Java that is called back by C through the foreign-function API; ends when it reads a "q".

import java.lang.foreign.AddressLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * usage: Upcalls LIBRARY [MODE...]   LIBRARY: tests/walk/upcalls.c; all modes if none is given
 *
 * Every thread runs KINDTop, which has C call KINDLeaf, for ever:
 *
 *   call     c_call calls callLeaf                    large    c_large, whose frame is larger than a page
 *   sort     libc's qsort calls sortLeaf              wide     c_wide passes and gets structs by value
 *   nest     nestMiddle calls c_call, which calls nestMiddle, 20 times; then nestLeaf
 *   throw    throwMiddle is called, throws 20 frames deep in throwLeaf, and catches it
 *   critical c_call calls criticalLeaf, which calls c_spin without a change of the thread's state
 *   birth    c_thread, in threads that C has made, calls c_call, which calls birthLeaf
 *   virtual  virtual threads; c_call calls virtualLeaf, which yields now and then (and cannot leave its carrier)
 */
public final class Upcalls {
    static volatile long sink;
    static volatile boolean stop;
    static final int NEST = 20;
    static final int THROW = 20;
    static final Linker LINKER = Linker.nativeLinker();
    static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
    static final AddressLayout ADDRESS = ValueLayout.ADDRESS;
    static final MemoryLayout WIDE = MemoryLayout.structLayout(LONG, LONG, LONG);
    static final Arena ARENA = Arena.global();
    static final MemorySegment ARRAY = ARENA.allocate(16384, 8);
    static SymbolLookup library;

    static MethodHandle down(String name, FunctionDescriptor type, Linker.Option... options) {
        MemorySegment at = library.find(name).or(() -> LINKER.defaultLookup().find(name)).get();
        return LINKER.downcallHandle(at, type, options);
    }

    static MemorySegment up(String name, FunctionDescriptor type) {
        try {
            MethodHandle target = MethodHandles.lookup().findStatic(Upcalls.class, name, type.toMethodType());
            return LINKER.upcallStub(target, type, ARENA);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    static MethodHandle calling(String name) {
        return down(name, FunctionDescriptor.of(LONG, ADDRESS, LONG));
    }

    static MemorySegment leaf(String name) {
        return up(name, FunctionDescriptor.of(LONG, LONG));
    }

    static long spin(long x, int times) {
        for (int i = 0; i < times; i++) {
            x = x * 31 + i;
        }
        return x;
    }

    /** Downcalls. They are constants: compilers inline only those. */
    static final class To {
        static final MethodHandle CALL = calling("c_call");
        static final MethodHandle LARGE = calling("c_large");
        static final MethodHandle WIDE = calling("c_wide");
        static final MethodHandle BIRTH = calling("c_birth");
        static final MethodHandle SORT = down("qsort", FunctionDescriptor.ofVoid(ADDRESS, LONG, LONG, ADDRESS));
        static final MethodHandle CRITICAL = down("c_spin", FunctionDescriptor.of(LONG, LONG), criticalOption());
    }

    /** Function pointers for C, each with an upcall stub of its own. */
    static final class Up {
        static final MemorySegment CALL = leaf("callLeaf");
        static final MemorySegment LARGE = leaf("largeLeaf");
        static final MemorySegment SORT = up("sortLeaf", FunctionDescriptor.of(ValueLayout.JAVA_INT,
                ADDRESS.withTargetLayout(LONG), ADDRESS.withTargetLayout(LONG)));
        static final MemorySegment WIDE =
                up("wideLeaf", FunctionDescriptor.of(Upcalls.WIDE, ValueLayout.JAVA_DOUBLE, LONG, Upcalls.WIDE));
        static final MemorySegment NEST = leaf("nestMiddle");
        static final MemorySegment THROW = leaf("throwMiddle");
        static final MemorySegment CRITICAL = leaf("criticalLeaf");
        static final MemorySegment BIRTH = leaf("birthLeaf");
        static final MemorySegment VIRTUAL = leaf("virtualLeaf");
    }

    // --- call, large

    static void callTop() throws Throwable {
        sink += (long) To.CALL.invokeExact(Up.CALL, sink);
    }

    static long callLeaf(long x) {
        return spin(x, 300);
    }

    static void largeTop() throws Throwable {
        sink += (long) To.LARGE.invokeExact(Up.LARGE, sink);
    }

    static long largeLeaf(long x) {
        return spin(x, 300);
    }

    // --- sort

    static void sortTop() throws Throwable {
        long x = 88172645463325252L;
        for (int i = 0; i < 300; i++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
            ARRAY.setAtIndex(LONG, i, x);
        }
        To.SORT.invokeExact(ARRAY, 300L, 8L, Up.SORT);
    }

    static int sortLeaf(MemorySegment a, MemorySegment b) {
        sink = spin(a.get(LONG, 0), 20);
        return Long.compare(a.get(LONG, 0), b.get(LONG, 0));
    }

    // --- wide

    static void wideTop() throws Throwable {
        sink += (long) To.WIDE.invokeExact(Up.WIDE, sink);
    }

    static MemorySegment wideLeaf(double d, long x, MemorySegment in) {
        ARRAY.set(LONG, 8000, spin(x, 300) + (long) d + in.get(LONG, 16));
        return ARRAY.asSlice(8000, 24);
    }

    // --- nest

    static void nestTop() throws Throwable {
        sink += (long) To.CALL.invokeExact(Up.NEST, (long) NEST);
    }

    static long nestMiddle(long n) {
        try {
            return n > 1 ? (long) To.CALL.invokeExact(Up.NEST, n - 1) + 1 : nestLeaf(n);
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
    }

    static long nestLeaf(long x) {
        return spin(x, 3000);
    }

    // --- throw

    static void throwTop() throws Throwable {
        sink += (long) To.CALL.invokeExact(Up.THROW, sink);
    }

    static long throwMiddle(long x) {
        try {
            return throwLeaf(x, THROW);
        } catch (IllegalStateException e) {
            return e.getMessage().length();
        }
    }

    static long throwLeaf(long x, int n) {
        if (n == 1) {
            throw new IllegalStateException("thrown " + x);
        }
        return throwLeaf(x, n - 1) + 1;
    }

    // --- critical

    static void criticalTop() throws Throwable {
        sink += (long) To.CALL.invokeExact(Up.CRITICAL, sink);
    }

    static long criticalLeaf(long x) {
        try {
            return (long) To.CRITICAL.invokeExact(x);
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
    }

    static Linker.Option criticalOption() {
        try {
            for (Method method : Linker.Option.class.getMethods()) {
                if (method.getName().equals("critical")) {
                    return (Linker.Option) method.invoke(null, false);
                }
            }
            return (Linker.Option) Linker.Option.class.getMethod("isTrivial").invoke(null); // JDK 21
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    // --- birth

    /** Calls of each thread that C makes: how long it lives. */
    private static final long BIRTHS = Long.getLong("births", 10_000);

    static void birthTop() throws Throwable {
        sink += (long) To.BIRTH.invokeExact(Up.BIRTH, BIRTHS);
    }

    static long birthLeaf(long x) {
        return spin(x, 2_000);
    }

    // --- virtual

    static void virtualTop() throws Throwable {
        sink += (long) To.CALL.invokeExact(Up.VIRTUAL, sink);
    }

    static long virtualLeaf(long x) {
        if ((x & 63) == 0) {
            Thread.yield();
        }
        return spin(x, 300);
    }

    // --- all

    interface Mode {
        void run() throws Throwable;
    }

    static final Map<String, Mode> MODES = new LinkedHashMap<>();

    static void forever(Mode mode) {
        try {
            while (!stop) {
                mode.run();
            }
        } catch (Throwable t) {
            t.printStackTrace();
            System.exit(1);
        }
    }

    public static void main(String[] args) throws Throwable {
        library = SymbolLookup.libraryLookup(Path.of(args[0]), ARENA);
        MODES.put("call", Upcalls::callTop);
        MODES.put("large", Upcalls::largeTop);
        MODES.put("sort", Upcalls::sortTop);
        MODES.put("wide", Upcalls::wideTop);
        MODES.put("nest", Upcalls::nestTop);
        MODES.put("throw", Upcalls::throwTop);
        MODES.put("critical", Upcalls::criticalTop);
        MODES.put("birth", Upcalls::birthTop);
        MODES.put("virtual", Upcalls::virtualTop);
        if (args.length > 1) {
            MODES.keySet().retainAll(Arrays.asList(args));
        }
        for (String name : MODES.keySet()) {
            Mode mode = MODES.get(name);
            mode.run();
            Thread.Builder builder = name.equals("virtual") ? Thread.ofVirtual() : Thread.ofPlatform().daemon();
            builder.name(name).start(() -> forever(mode));
        }
        System.out.println("ready");
        int c;
        do {
            c = System.in.read();
        } while (c >= 0 && c != 'q');
        stop = true;
    }
}
