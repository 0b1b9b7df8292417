// SPDX-License-Identifier: Apache-2.0
// Operations that are dangerous for a profiler in the process, as often as possible; ends when it reads a "q" or the end of its input.

import java.lang.reflect.Proxy;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * usage: Hammer LIBRARY MODE...
 *
 * Prints "ready" when its threads run and "sum HEX" when it is asked to end; the sum is 0 when every round of
 * every mode had the right result. Modes, each in two threads of its own:
 *
 *   malloc     allocations of all sizes in native code
 *   dlopen     a library loaded, used (dynamic TLS included) and unloaded
 *   pthread    native threads, some of which become Java threads for a moment
 *   blocked    native code that blocks the signals of profilers
 *   sections   native code that blocks all signals most of the time, as pthread_create does
 *   faults     null checks and stack overflows, which HotSpot sees as SIGSEGV
 *   exec       child processes, by fork and exec from native code and by ProcessBuilder
 *   threads    Java threads that live for about a millisecond
 *   classes    class loaders that are dropped, with their methods compiled or not
 *   deep       a thousand frames, interpreted and compiled
 *   throwing   exceptions with stack traces
 *
 * and of signals (storm.c):
 *
 *   segv       the handlers of SIGSEGV and SIGBUS that were there first are put back
 *   trap       those of SIGTRAP, SIGILL and SIGFPE
 *   ours       those of signals without a handler at that time
 *   takeurg    SIGURG is taken for good while a profiler uses it
 *   takewinch  SIGWINCH likewise
 *   collectwinch  threads that block SIGWINCH
 *   probe      a handler of SIGSEGV of its own, for a moment
 *   cancel     native threads that are cancelled wherever they are
 *   jump       a native thread that leaves what it does by siglongjmp
 *   painted    Java threads with an alternate stack; prints how many bytes of it were used
 */
public final class Hammer {
    private static volatile boolean stop;
    private static final AtomicLong wrong = new AtomicLong();
    private static final AtomicLong rounds = new AtomicLong();
    private static Object nothing;

    interface Round {
        boolean run(int n) throws Exception;
    }

    static native boolean mallocRound(int n);

    static native boolean dlopenRound(String library);

    static native boolean pthreadRound(int n);

    static native boolean forkRound(int n);

    static native boolean blockedRound(int n);

    static native boolean sectionsRound(int n);

    static native boolean faultHandlersRound(int n);

    static native boolean takeUrgRound(int n);

    static native boolean takeWinchRound(int n);

    static native boolean collectWinchRound(int n);

    static native boolean trapHandlersRound(int n);

    static native boolean ourHandlersRound(int n);

    static native boolean probeRound(int n);

    static native boolean cancelRound(int n);

    static native boolean jumpRound(int n);

    static native long paint();

    static native int painted(long stack);


    /** Called from native threads that have attached themselves. */
    static int called(int n) {
        return n * 7 + 1;
    }

    static int overflow(int n) {
        return overflow(n + 1) + 1;
    }

    static boolean faultsRound(int n) {
        int caught = 0;
        for (int i = 0; i < 200; i++) {
            try {
                nothing.hashCode();
            } catch (NullPointerException e) {
                caught++;
            }
        }
        if (n % 50 == 0) {
            try {
                overflow(0);
            } catch (StackOverflowError e) {
                caught++;
            }
        } else {
            caught++;
        }
        return caught == 201;
    }

    static boolean execRound(int n) throws Exception {
        if (n % 8 != 0) {
            return forkRound(n);
        }
        return new ProcessBuilder("true").start().waitFor() == 0;
    }

    static boolean threadsRound(int n) throws Exception {
        long[] result = new long[1];
        Thread thread = new Thread(() -> {
            Thread.currentThread().setName("hammer " + n);
            for (int i = 0; i < 20_000; i++) {
                result[0] += i ^ n;
            }
        });
        thread.start();
        thread.join();
        long want = 0;
        for (int i = 0; i < 20_000; i++) {
            want += i ^ n;
        }
        return result[0] == want;
    }

    /** The payload of class loaders that come and go. */
    public static final class Payload implements java.util.function.IntUnaryOperator {
        @Override
        public int applyAsInt(int x) {
            int y = x;
            for (int i = 0; i < 300; i++) {
                y = y * 31 + i;
            }
            return y;
        }
    }

    static boolean classesRound(int n) throws Exception {
        URL here = Hammer.class.getProtectionDomain().getCodeSource().getLocation();
        int want = new Payload().applyAsInt(n), got = 0;
        try (URLClassLoader loader = new URLClassLoader(new URL[] {here}, null)) {
            Object payload = loader.loadClass("Hammer$Payload").getDeclaredConstructor().newInstance();
            java.util.function.IntUnaryOperator f = (java.util.function.IntUnaryOperator) payload;
            for (int i = 0; i < 300; i++) {
                got = f.applyAsInt(n);
            }
        }
        Runnable proxy = (Runnable) Proxy.newProxyInstance(new ClassLoader() { },
            new Class<?>[] {Runnable.class}, (p, m, a) -> null);
        proxy.run();
        if (n % 100 == 0) {
            System.gc();
        }
        return got == want;
    }

    private static final ThreadLocal<Long> paintedStack = ThreadLocal.withInitial(Hammer::paint);
    private static final AtomicInteger mostPainted = new AtomicInteger(-1);

    static boolean paintedRound(int n) throws Exception {
        long stack = paintedStack.get();
        boolean right = deepRound(n) && throwingRound(n) && mallocRound(n) && (n % 8 != 0 || classesRound(n + 1));
        mostPainted.accumulateAndGet(painted(stack), Math::max);
        return right;
    }

    static int deep(int n) {
        return n == 0 ? 0 : deep(n - 1) + 1;
    }

    static boolean deepRound(int n) {
        int depth = 1000 + n % 1000;
        return deep(depth) == depth;
    }

    static int thrower(int n) throws Exception {
        if (n == 0) {
            throw new Exception("here");
        }
        return thrower(n - 1);
    }

    static boolean throwingRound(int n) {
        try {
            return thrower(40) < 0;
        } catch (Exception e) {
            return e.getStackTrace().length > 40;
        }
    }

    private static Round round(String mode, String library) {
        switch (mode) {
            case "malloc": return Hammer::mallocRound;
            case "dlopen": return n -> dlopenRound(library);
            case "pthread": return Hammer::pthreadRound;
            case "blocked": return Hammer::blockedRound;
            case "sections": return Hammer::sectionsRound;
            case "faults": return Hammer::faultsRound;
            case "exec": return Hammer::execRound;
            case "threads": return Hammer::threadsRound;
            case "classes": return Hammer::classesRound;
            case "deep": return Hammer::deepRound;
            case "throwing": return Hammer::throwingRound;
            case "segv": return Hammer::faultHandlersRound;
            case "trap": return Hammer::trapHandlersRound;
            case "ours": return Hammer::ourHandlersRound;
            case "takeurg": return Hammer::takeUrgRound;
            case "takewinch": return Hammer::takeWinchRound;
            case "collectwinch": return Hammer::collectWinchRound;
            case "probe": return Hammer::probeRound;
            case "cancel": return Hammer::cancelRound;
            case "jump": return Hammer::jumpRound;
            case "painted": return Hammer::paintedRound;
            default: throw new IllegalArgumentException(mode);
        }
    }

    private static void work(Round round) {
        try {
            for (int n = 0; !stop; n++) {
                if (!round.run(n)) {
                    wrong.incrementAndGet();
                }
                rounds.incrementAndGet();
            }
        } catch (Throwable e) {
            e.printStackTrace();
            wrong.incrementAndGet();
        }
    }

    public static void main(String[] args) throws Exception {
        System.load(args[0]);
        List<Thread> threads = new ArrayList<>();
        for (int i = 1; i < args.length; i++) {
            Round round = round(args[i], args[0].replace("libhammer.so", "libplugin.so"));
            for (int k = 0; k < 2; k++) {
                threads.add(new Thread(() -> work(round), args[i] + "-" + k));
            }
        }
        for (Thread thread : threads) {
            thread.start();
        }
        System.out.println("ready");
        int c;
        do {
            c = System.in.read();
        } while (c >= 0 && c != 'q');
        stop = true;
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.printf("sum %x%n", wrong.get());
        System.out.println("rounds " + rounds.get());
        if (mostPainted.get() >= 0) {
            System.out.println("painted " + mostPainted.get());
        }
    }
}
