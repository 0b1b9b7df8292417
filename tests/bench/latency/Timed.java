// SPDX-License-Identifier: Apache-2.0
// Programs that time each call of Timed.handle: the reference for `jhot slow Timed.handle PID`. See Timed's comment.
import java.io.*;
import java.lang.management.*;
import java.net.*;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.concurrent.locks.*;
import java.util.function.LongUnaryOperator;

/**
 * Timed FAMILY runs one of the programs of Family.of until stdin is closed. Prints "ready", then one line of JSON for each command.
 * Times are in ns of CLOCK_MONOTONIC, which System.nanoTime() reads on Linux.
 *
 *   window FROM TO  statistics of the calls that began in the window. Waits until they have returned.
 *                   "states": time-weighted shares of all calls and of the slowest 1 %; "cause": the state that makes these slow;
 *                   "overrun": true if the log no longer has every call of the window
 *   calls FROM TO   [thread, begin, duration] of each call that overlaps the window
 *
 * An instance belongs to one thread. Parameters of the next call and times of the current one are in its fields: handle has no
 * arguments, and the caller's frame has the same contents at each call. Only gcmiddle's caller refers to a new object in each.
 */
public class Timed {
    static final String[] STATES = {"cpu", "runnable", "lock", "io", "sleep", "park", "wait", "gc"};
    static final int CPU = 0, RUNNABLE = 1, LOCK = 2, IO = 3, SLEEP = 4, PARK = 5, WAIT = 6, GC = 7;
    // What a call does.
    static final int MIX = 0, SPIN = 1, SLEEPING = 2, WAITING = 3, PARKED = 4, MONITOR = 5, REENTRANT = 6, SOCKET = 7, FILE = 8,
        ALLOCATE = 9, LOOP = 10, RECURSE = 11, THROW = 12, CONTEND = 13;
    static final long MS = 1000000;
    static final long OVERSLEEP_NS = 200000; // timer slack and wake-up: still part of the sleep
    static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    static final List<Timed> ALL = new CopyOnWriteArrayList<>();
    static final ByteBuffer BLOCK = ByteBuffer.allocateDirect(1 << 20);
    static volatile long sink;
    static volatile Object kept;

    // ---- families
    static final class Family {
        String name;
        int threads = 1, kind = MIX;
        double ms = 20, spread = 0.2;              // duration of a call, +- spread
        double spin = 0.3;                         // share of it that MIX computes; it sleeps for the rest, in whole ms
        double pauseMs = -1;                       // mean pause between calls; 0: none
        int every = 0, slowKind = MIX;             // each every-th call of a thread is of slowKind, and takes slowMs
        double slowMs = 90, slowSpread = 0.33;
        int rest = CPU;                            // the state of time that no step expected
        int calls = 1 << 18;                       // size of the log, of all threads together
        int cause = -1;                            // why the slowest 1 % are slow; -1: the state that most of their time is in

        static Family of(String name) {
            Family f = new Family();
            f.name = name;
            if (name.matches("d\\d+")) {
                f.ms = Double.parseDouble(name.startsWith("d0") ? "0." + name.substring(2) : name.substring(1));
            } else if (name.matches("backtoback\\d+")) {
                f.ms = Double.parseDouble(name.substring(10));
                f.pauseMs = 0;
            } else if (name.startsWith("slow")) {
                // 2 % slow calls: with 1 % the 99th percentile would be either duration by chance.
                f.threads = 4; f.ms = 6; f.spin = 0.15; f.pauseMs = 10; f.every = 50;
                f.slow(name);
            } else {
                f.other(name);
            }
            f.pauseMs = f.pauseMs < 0 ? f.ms / 2 : f.pauseMs;
            return f;
        }
        void slow(String name) {
            switch (name) {
            case "slowspin": slow(SPIN, CPU); break;
            case "slowsleep": slow(SLEEPING, SLEEP); break;
            case "slowwait": slow(WAITING, WAIT); break;
            case "slowpark": slow(PARKED, PARK); break;
            case "slowmonitor": slow(MONITOR, LOCK); break;
            case "slowlock": slow(REENTRANT, LOCK); break;
            case "slowsocket": slow(SOCKET, IO); break;
            case "slowfile": slow(FILE, IO); break;
            case "slowcpu": slow(CONTEND, RUNNABLE); threads = 2; slowMs = 15; break; // ms of CPU time
            case "slowgc": cause = rest = GC; every = 0; ms = 12; calls = 1 << 14; break;
            default: throw new IllegalArgumentException(name);
            }
        }
        void slow(int kind, int cause) {
            slowKind = kind;
            this.cause = cause;
        }
        void other(String name) {
            switch (name) {
            case "bimodal":
                threads = 8; ms = 3; spin = 0.1; pauseMs = 20;
                every = 20; slowMs = 300; slowSpread = spread;
                break;
            case "equalpool": threads = 8; ms = 50; spread = 0; spin = 0.05; break;
            case "recursion": kind = RECURSE; ms = 30; break;
            case "exceptions": kind = THROW; break;
            case "interpreted": case "c1": case "inlined": break;
            case "osr": kind = LOOP; ms = 300; break;
            case "fresh": ms = 200; break; // with a core that needs 1 ns for an iteration
            case "gcmiddle": kind = ALLOCATE; ms = 200; rest = GC; calls = 1 << 11; break;
            case "virtual": threads = 50; ms = 100; spin = 0.05; pauseMs = 400; break;
            case "virtualspin": threads = 4; ms = 2; spin = 1; pauseMs = 10; break; // never unmounted in a call
            case "virtualpark": threads = 20; kind = PARKED; ms = 40; spread = 0.5; pauseMs = 100; break;
            case "virtualmany": threads = 10000; kind = SLEEPING; ms = 2000; spread = 0.8; pauseMs = 8000; calls = 1 << 19; break;
            case "virtualeach": threads = 100; kind = SLEEPING; ms = 60; spread = 0.5; pauseMs = 200; break; // a thread per call
            case "threadeach": threads = 16; kind = SLEEPING; ms = 5; spread = 0.5; pauseMs = 20; break; // the same, platform threads
            case "manythreads": threads = 500; ms = 2000; spread = 0.5; spin = 0.001; break;
            default: throw new IllegalArgumentException(name);
            }
        }
    }

    // ---- the log: records of begin, end, ns in each state
    static final int RECORD = 2 + STATES.length;
    final Family family;
    final String thread;
    final int capacity;
    final long[] log;
    final long[] spent = new long[STATES.length]; // of the current call
    volatile int begun, ended;                    // equal if no call is in progress
    final byte[] digits = new byte[80];
    RandomAccessFile schedstat;
    long cpuBefore, delayBefore;                  // of the current step

    Timed(Family family, String thread) throws IOException {
        this.family = family;
        this.thread = thread;
        random = new SplittableRandom(thread.hashCode());
        ordinal = family.every > 0 ? random.nextInt(family.every) : 0;
        capacity = Math.max(family.threads > 1000 ? 16 : 256, family.calls / family.threads);
        log = new long[capacity * RECORD];
        holder = family.slowKind == MONITOR || family.slowKind == REENTRANT ? new Holder(family.slowKind) : null;
        peer = family.slowKind == SOCKET ? new Peer() : null;
        file = family.slowKind == FILE ? temporary() : null;
        ALL.add(this);
    }
    void begin() {
        Arrays.fill(spent, 0);
        log[begun % capacity * RECORD] = System.nanoTime();
        begun = begun + 1;
    }
    void end() {
        long now = System.nanoTime();
        int at = ended % capacity * RECORD;
        log[at + 1] = now;
        long left = now - log[at];
        for (int s = 0; s < STATES.length; s++) {
            log[at + 2 + s] = spent[s];
            left -= spent[s];
        }
        log[at + 2 + family.rest] += Math.max(0, left);
        ended = ended + 1;
    }
    /** -1 in a virtual thread. */
    static long cpuTime() {
        try {
            return THREADS.getCurrentThreadCpuTime();
        } catch (UnsupportedOperationException e) { return -1; }
    }
    /**
     * Total time for which the kernel had no core for this thread; always 0 in virtual threads, where reading takes too long, and where each
     * call has a thread: the open file is that of the first one.
     */
    long delay() {
        if (family.ms < 2 || family.name.startsWith("virtual") || family.name.endsWith("each")) return 0;
        try {
            if (schedstat == null) schedstat = new RandomAccessFile("/proc/thread-self/schedstat", "r");
            schedstat.seek(0);
            int size = schedstat.read(digits), i = 0;
            while (i < size && digits[i] != ' ') i++;
            long ns = 0;
            for (i++; i < size && digits[i] != ' '; i++) ns = 10 * ns + digits[i] - '0';
            return ns;
        } catch (IOException e) { throw new UncheckedIOException(e); }
    }
    /** Begins a step, and returns the time. */
    long step() {
        cpuBefore = cpuTime();
        delayBefore = delay();
        return System.nanoTime();
    }
    /** Ends a step: the time that its thread neither ran nor waited for a core was in this state. Returns that time. */
    long account(long from, int state) {
        long wall = System.nanoTime() - from, ran = cpuBefore < 0 ? 0 : Math.min(wall, cpuTime() - cpuBefore);
        long delayed = Math.min(wall - ran, delay() - delayBefore), left = wall - ran - delayed;
        spent[CPU] += ran;
        spent[RUNNABLE] += delayed;
        spent[state] += left;
        return left;
    }
    /** Ends a wait. What exceeds the planned time was a collection, in families that have those. */
    void waited(long from, long planned, int state) {
        long excess = Math.max(0, account(from, state) - planned - OVERSLEEP_NS);
        spent[state] -= excess;
        spent[family.rest == GC ? GC : state] += excess;
    }

    // ---- calls
    final SplittableRandom random;
    final Holder holder;
    final Peer peer;
    final FileChannel file;
    final Object monitor = new Object();
    final byte[][] live = new byte[128][];
    int ordinal, depth, kind;
    long planned; // ns

    static double around(double mean, double spread, SplittableRandom random) {
        return mean * (1 + spread * (2 * random.nextDouble() - 1));
    }
    void prepare() {
        boolean slow = family.every > 0 && ++ordinal % family.every == 0;
        kind = slow ? family.slowKind : family.kind;
        planned = (long) (MS * (slow ? around(family.slowMs, family.slowSpread, random) : around(family.ms, family.spread, random)));
        if (kind == MONITOR || kind == REENTRANT) holder.acquire(planned);
        if (kind == CONTEND) Hog.wake();
    }
    /** Nothing inlines it: it has more bytecode than FreqInlineSize (325). */
    void handle() throws Exception {
        long from = step();
        switch (kind) {
        case MIX: mix(from, planned); break;
        case SPIN: spin(planned); break;
        case SLEEPING: sleep(planned / MS); break;
        case WAITING:
            synchronized (monitor) { monitor.wait(planned / MS); }
            waited(from, planned, WAIT);
            break;
        case PARKED:
            park(monitor, planned);
            waited(from, planned, PARK);
            break;
        case MONITOR:
            synchronized (holder.monitor) { account(from, LOCK); }
            break;
        case REENTRANT:
            holder.lock.lock();
            account(from, LOCK);
            holder.lock.unlock();
            break;
        case SOCKET:
            peer.ask((int) (planned / MS));
            account(from, IO);
            break;
        case FILE:
            while (System.nanoTime() - from < planned) {
                file.write(BLOCK.duplicate(), 0);
                file.force(true);
            }
            account(from, IO);
            break;
        case ALLOCATE:
            for (int i = 0; System.nanoTime() - from < planned; i++) {
                for (int j = 0; j < 4; j++) live[4 * i + j & live.length - 1] = new byte[2048];
                spin(40000);
            }
            break;
        case LOOP: {
            long x = from;
            for (int i = 1; (i & 127) != 0 || System.nanoTime() - from < planned; i++) x = x * 6364136223846793005L + i;
            sink = x;
            account(from, family.rest);
            break;
        }
        case RECURSE:
            mix(from, planned / 6);
            depth++;
            if (depth < 3) handle();
            depth--;
            mix(System.nanoTime(), planned / 6);
            break;
        case THROW:
            mix(from, planned);
            throw new Exception("planned");
        case CONTEND:
            while (cpuTime() - cpuBefore < planned) sink++;
            account(from, RUNNABLE);
            break;
        }
    }
    /** C2 inlines it into inlinedCall. */
    static long handle(long iterations) {
        long x = iterations;
        for (long i = 0; i < iterations; i++) x = x * 6364136223846793005L + i;
        return x;
    }
    /** Computes for its share of the time in pieces, until the planned end. */
    void mix(long from, long ns) throws InterruptedException {
        long pieces = Math.max(1, Math.min(20, ns / (10 * MS))), computes = (long) (family.spin * ns / pieces);
        for (long piece = 1; piece <= pieces; piece++) {
            long until = from + ns * piece / pieces;
            sleep((until - computes - System.nanoTime()) / MS);
            spin(piece < pieces ? computes : until - System.nanoTime());
        }
    }
    void sleep(long ms) throws InterruptedException {
        if (ms <= 0) return;
        long from = step();
        Thread.sleep(ms);
        waited(from, ms * MS, SLEEP);
    }
    void spin(long ns) {
        if (ns <= 0) return;
        long from = step(), x = from;
        while (System.nanoTime() - from < ns)
            for (int i = 0; i < 100; i++) x = x * 6364136223846793005L + 1442695040888963407L;
        sink = x;
        account(from, family.rest);
    }

    // ---- callers
    static void park(Object blocker, long ns) {
        long from = System.nanoTime();
        for (long left = ns; left > 0; left = ns - (System.nanoTime() - from)) LockSupport.parkNanos(blocker, left);
    }
    void pause() { park(this, (long) (random.nextDouble() * 2 * family.pauseMs * MS)); }
    void loop() {
        for (;;) {
            pause();
            call();
        }
    }
    void backToBack() throws Exception {
        for (;;) {
            prepare();
            begin();
            handle();
            end();
        }
    }
    /** A new thread for each call. */
    void threadEach() {
        for (;;) {
            pause();
            try {
                if (family.name.startsWith("virtual")) virtual(thread, this::call).join();
                else daemon(thread, this::call).join();
            } catch (Exception e) { e.printStackTrace(); }
        }
    }
    void call() {
        Object mine = family.kind == ALLOCATE ? new int[8] : null; // moves while the call runs
        prepare();
        begin();
        try {
            handle();
        } catch (Exception e) { kept = e; }
        end();
        if (kind == CONTEND) Hog.quiet();
        kept = mine;
    }
    /** Compiled by on-stack replacement, as is handle in the first calls. */
    void osrLoop() throws Exception {
        for (;;) {
            prepare();
            begin();
            handle();
            end();
            long x = planned;
            int rounds = random.nextInt(200000000);
            for (int i = 0; i < rounds; i++) x = x * 6364136223846793005L + i;
            sink = x;
        }
    }
    void inlinedLoop() {
        for (int i = 0; i < 30000; i++) inlinedCall(200);
        long from = System.nanoTime();
        inlinedCall(50000000);
        double perNs = 50000000.0 / (System.nanoTime() - from);
        for (;;) {
            pause();
            inlinedCall((long) (perNs * MS * around(family.ms, family.spread, random)));
        }
    }
    void inlinedCall(long iterations) {
        begin();
        long from = step();
        sink = handle(iterations);
        account(from, family.rest);
        end();
    }
    public static LongUnaryOperator fresh() { return Timed::handle; }
    /** A new class for each call: handle begins interpreted, and its frame is replaced twice. */
    void freshLoop() throws Exception {
        URL[] here = {Timed.class.getProtectionDomain().getCodeSource().getLocation()};
        for (;;) {
            pause();
            Class<?> loaded = new URLClassLoader(here, null).loadClass("Timed");
            LongUnaryOperator handle = (LongUnaryOperator) loaded.getMethod("fresh").invoke(null);
            begin();
            long from = step();
            sink = handle.applyAsLong((long) (MS * around(family.ms, family.spread, random)));
            account(from, family.rest);
            end();
        }
    }
    /** A task of the pool, which submits its successor. */
    static void task(ExecutorService pool, ThreadLocal<Timed> own) {
        pool.execute(() -> {
            own.get().call();
            task(pool, own);
        });
    }

    // ---- those that make calls slow
    static Thread daemon(String name, Runnable body) {
        Thread t = new Thread(body, name);
        t.setDaemon(true);
        t.start();
        return t;
    }
    static FileChannel temporary() throws IOException {
        Path path = Files.createTempFile("timed", null);
        FileChannel channel = FileChannel.open(path, StandardOpenOption.WRITE);
        Files.delete(path);
        return channel;
    }
    /** Allocates small objects that survive: each young collection copies what was allocated since the last one. */
    static void allocate() {
        Object[] chunks = new Object[300];
        for (int i = 0;; i++) {
            Object[] chain = null;
            for (int j = 0; j < 10000; j++) chain = new Object[] {chain, null};
            chunks[i % chunks.length] = chain;
            park(chunks, 5 * MS);
        }
    }

    // ---- truth
    /** Calls f of the log's records, oldest first. Leaves out those that may be overwritten while it reads. */
    interface Reader { void read(Timed t, int at); }
    static boolean read(long from, Reader f) {
        boolean all = true;
        for (Timed t : ALL) {
            int until = t.ended, first = Math.max(0, until - t.capacity + t.capacity / 8);
            if (first > 0 && t.log[first % t.capacity * RECORD] > from) all = false;
            for (int i = first; i < until; i++) f.read(t, i % t.capacity * RECORD);
        }
        return all;
    }
    static boolean isOpen(Timed t, long to) { return t.begun > t.ended && t.log[(t.begun - 1) % t.capacity * RECORD] <= to; }
    static String window(String family, long from, long to) {
        for (Timed t : ALL)
            while (isOpen(t, to)) park(t, 2 * MS);
        List<long[]> calls = new ArrayList<>();
        boolean all = read(from, (t, at) -> {
            if (t.log[at] < from || t.log[at] > to) return;
            long[] call = Arrays.copyOfRange(t.log, at, at + RECORD + 1);
            call[1] -= call[0];
            call[RECORD] = ALL.indexOf(t);
            calls.add(call);
        });
        calls.sort(Comparator.comparingLong(call -> -call[1]));
        int n = calls.size();
        List<long[]> slowest = calls.subList(0, (n + 99) / 100);
        StringBuilder s = new StringBuilder();
        s.append(String.format("{\"family\": \"%s\", \"count\": %d, \"overrun\": %b", family, n, !all));
        for (int permille : new int[] {500, 900, 990, 999, 1000}) {
            int rank = (int) (((long) n * permille + 999) / 1000);
            String name = permille == 1000 ? "max" : "p" + (permille % 10 == 0 ? permille / 10 : permille);
            s.append(String.format(", \"%s\": %s", name, n == 0 ? null : calls.get(n - rank)[1]));
        }
        s.append(", \"slowest\": [");
        for (int i = 0; i < Math.min(10, n); i++) {
            long[] call = calls.get(i);
            s.append(String.format("%s[\"%s\", %d, %d]", i > 0 ? ", " : "", ALL.get((int) call[RECORD]).thread, call[0], call[1]));
        }
        int cause = Family.of(family).cause;
        return s.append(String.format("], \"cause\": \"%s\", \"states\": {\"all\": %s, \"slowest\": %s}}",
            STATES[cause >= 0 ? cause : leading(slowest)], shares(calls), shares(slowest))).toString();
    }
    static long total(List<long[]> calls, int column) { return calls.stream().mapToLong(call -> call[column]).sum(); }
    static int leading(List<long[]> calls) {
        int most = 0;
        for (int s = 1; s < STATES.length; s++) most = total(calls, 2 + s) > total(calls, 2 + most) ? s : most;
        return most;
    }
    static String shares(List<long[]> calls) {
        StringJoiner s = new StringJoiner(", ", "{", "}");
        for (int i = 0; i < STATES.length; i++)
            s.add(String.format(Locale.ROOT, "\"%s\": %.4f", STATES[i], (double) total(calls, 2 + i) / Math.max(1, total(calls, 1))));
        return s.toString();
    }
    static String calls(long from, long to) {
        StringJoiner s = new StringJoiner(", ", "{\"calls\": [", "]}");
        read(from, (t, at) -> {
            long begin = t.log[at], end = t.log[at + 1];
            if (end > from && begin < to) s.add("[\"" + t.thread + "\", " + begin + ", " + (end - begin) + "]");
        });
        return s.toString();
    }

    static void run(Timed t) {
        try {
            if (t.family.name.startsWith("backtoback")) t.backToBack();
            else if (t.family.name.equals("osr")) t.osrLoop();
            else if (t.family.name.equals("inlined")) t.inlinedLoop();
            else if (t.family.name.equals("fresh")) t.freshLoop();
            else t.loop();
        } catch (Exception e) { e.printStackTrace(); }
    }
    static Timed timed(Family family, String thread) {
        try {
            return new Timed(family, thread);
        } catch (IOException e) { throw new UncheckedIOException(e); }
    }
    /** Needs JDK 21. */
    static Thread virtual(String name, Runnable body) throws ReflectiveOperationException {
        Class<?> c = Class.forName("java.lang.Thread$Builder");
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        return (Thread) c.getMethod("start", Runnable.class).invoke(c.getMethod("name", String.class).invoke(builder, name), body);
    }
    static void start(Family family) throws ReflectiveOperationException {
        if (family.name.equals("slowcpu")) Hog.start();
        if (family.name.equals("slowgc")) daemon("allocator", Timed::allocate);
        if (family.name.equals("equalpool")) {
            ThreadLocal<Timed> own = ThreadLocal.withInitial(() -> timed(family, Thread.currentThread().getName()));
            AtomicInteger n = new AtomicInteger();
            ExecutorService pool = Executors.newFixedThreadPool(family.threads, r -> new Thread(r, "pool-" + n.getAndIncrement()));
            for (int i = 0; i < 2 * family.threads; i++) task(pool, own);
            return;
        }
        for (int i = 0; i < family.threads; i++) {
            Timed t = timed(family, "h-" + i);
            if (family.name.endsWith("each")) daemon("starter-" + i, () -> t.threadEach());
            else if (family.name.startsWith("virtual")) virtual(t.thread, () -> run(t));
            else daemon(t.thread, () -> run(t));
        }
    }
    public static void main(String[] args) throws Exception {
        start(Family.of(args[0]));
        System.out.println("ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null;) {
            String[] word = line.split(" ");
            long from = Long.parseLong(word[1]), to = Long.parseLong(word[2]);
            System.out.println(word[0].equals("window") ? window(args[0], from, to) : calls(from, to));
        }
        System.exit(0);
    }
}
