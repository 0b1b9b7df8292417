// SPDX-License-Identifier: Apache-2.0
// Allocates and waits for locks at known places on request, and prints its own totals.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Prints "ready", then executes each line of its input and prints "done":
 *
 *   alloc MB     each site, in a thread of its own, allocates MB megabytes: "site NAME CLASS BYTES"
 *   mix BYTES MB one thread allocates arrays of BYTES, 2 GB in all, after each of them one First, and MB megabytes
 *                of two other small classes: "site siteMix CLASS BYTES" of each, and "total BYTES" as the thread has it
 *   keep N       N objects of a class Kept stay reachable, the same number of a class Dropped does not, then
 *                collections: "kept BYTES"
 *   retain BYTES N  N rounds of 550 MB, each with a collection at its end: two sites retain arrays of 3,056 and of 1,016
 *                bytes, a third wastes ten times as much in arrays of BYTES: "site NAME CLASS BYTES" of each
 *   monitor MS   two threads take turns with one monitor: "blocked NS stood NS", in all; stood: what the machine kept
 *                a thread that does nothing but sleep from running
 *   lock MS      the same with a ReentrantLock
 *   semaphore MS the same with a Semaphore of one
 *   calm MS      the same work, each thread with a lock of its own; and threads that wait for work
 *   hold MS      thread "holder" holds a class's monitor and a ReentrantLock, "waiter-1" and "waiter-2" want them
 *   stuck MS     thread "keeper" holds a monitor and a ReentrantLock until "free"; "stuck-1" and "stuck-2" want the
 *                monitor, "stuck-3" the lock; says "blocked NAME FROM TO", System.nanoTime() before and after each
 *                began to wait, and is done MS later
 *   later MS     the same, but each sleeps for so long before it wants anything
 *   free 0       lets them go
 *   inherit N    N times: "holder" has a lock for long, then "heir" shortly, then "waiter-N"
 *   q            it ends
 */
public final class Sites {
    interface Site {
        Object allocate();
    }

    static final class Node {
        long a, b, c, d;
    }

    static final class First {
        long a;
    }

    static final class Large {
        long a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w;
    }

    static final class Kept {
        long a, b, c, d, e, f, g, h;
    }

    static final class Dropped {
        long a, b, c, d, e, f, g, h;
    }

    private static final long MIX_BYTES = 2L << 30;
    private static final long STOOD_NS = 20_000_000;
    private static volatile Object sink;
    private static final ArrayList<Object> kept = new ArrayList<>();

    static Object siteBytes() {
        return new byte[1000];
    }

    static Object siteNodes() {
        return new Node();
    }

    static Object siteNames() {
        return new String[100];
    }

    static Object siteMiddle() {
        return new byte[100_000];
    }

    static Object siteHuge() {
        return new long[500_000];
    }

    private static void allocate(String name, String type, Site site, long bytes) {
        com.sun.management.ThreadMXBean threads =
            (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        long id = Thread.currentThread().getId();
        long start = threads.getThreadAllocatedBytes(id), now = start;
        while (now - start < bytes) {
            for (int i = 0; i < 50; i++) {
                sink = site.allocate();
            }
            now = threads.getThreadAllocatedBytes(id);
        }
        synchronized (Sites.class) {
            System.out.println("site " + name + " " + type + " " + (now - start));
        }
    }

    private static void alloc(long bytes) throws Exception {
        together(
            () -> allocate("siteBytes", "[B", Sites::siteBytes, bytes),
            () -> allocate("siteNodes", "Sites$Node", Sites::siteNodes, bytes),
            () -> allocate("siteNames", "[Ljava/lang/String;", Sites::siteNames, bytes),
            () -> allocate("siteMiddle", "[B", Sites::siteMiddle, bytes),
            () -> allocate("siteHuge", "[J", Sites::siteHuge, bytes));
    }

    private static Object mixed(int of, int bytes) {
        switch (of) {
            case 0: return new long[bytes / 8 - 2];
            case 1: return new First();
            case 2: return new Node();
            default: return new Large();
        }
    }

    static Object siteMix(int of, int bytes) {
        return mixed(of, bytes);
    }

    private static void mix(int bytes, long small) {
        com.sun.management.ThreadMXBean threads =
            (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        String[] names = {"[J", "Sites$First", "Sites$Node", "Sites$Large"};
        long id = Thread.currentThread().getId(), start = 0;
        long[] size = new long[names.length], count = new long[names.length];
        for (int of = 0; of < 2 * names.length; of++) { // twice: what is done once allocates, too
            start = threads.getThreadAllocatedBytes(id);
            sink = mixed(of % names.length, bytes);
            size[of % names.length] = threads.getThreadAllocatedBytes(id) - start;
        }
        long turns = MIX_BYTES / size[0];
        start = threads.getThreadAllocatedBytes(id);
        for (long turn = 1; turn <= turns; turn++) {
            for (int of = 0; of < names.length; of++) {
                long until = of < 2 ? turn : turn * small / turns / (size[2] + size[3]);
                for (; count[of] < until; count[of]++) {
                    sink = siteMix(of, bytes);
                }
            }
        }
        long all = threads.getThreadAllocatedBytes(id) - start;
        for (int of = 0; of < names.length; of++) {
            System.out.println("site siteMix " + names[of] + " " + size[of] * count[of]);
        }
        System.out.println("total " + all);
    }

    private static void keep(int n) throws Exception {
        com.sun.management.ThreadMXBean threads =
            (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        long id = Thread.currentThread().getId();
        kept.ensureCapacity(n);
        long start = threads.getThreadAllocatedBytes(id);
        for (int i = 0; i < n; i++) {
            kept.add(new Kept());
        }
        long bytes = threads.getThreadAllocatedBytes(id) - start;
        for (int i = 0; i < n; i++) {
            sink = new Dropped();
        }
        sink = null;
        for (int i = 0; i < 6; i++) {
            System.gc();
            Thread.sleep(300);
        }
        System.out.println("kept " + bytes);
        kept.clear();
    }

    private static final long ROUND_RETAINS = 50L << 20;
    private static List<byte[]> retained = new ArrayList<>(), retainedBefore;

    static void retainLarge() {
        retained.add(new byte[3056 - 16]);
    }

    static void retainSmall() {
        retained.add(new byte[1016 - 16]);
    }

    static void wasteArray(int bytes) {
        sink = new byte[bytes - 16];
    }

    /** What a round retains is dropped after the collection that ends the next round. */
    private static void retain(int bytes, long rounds) throws Exception {
        long pairs = ROUND_RETAINS / (3056 + 1016), due = 0, wasted = 0;
        for (long round = 0; round < rounds; round++) {
            retainedBefore = retained;
            retained = new ArrayList<>((int) (2 * pairs));
            for (long pair = 0; pair < pairs; pair++) {
                retainLarge();
                retainSmall();
                for (due += 10 * (3056 + 1016); wasted < due; wasted += bytes) {
                    wasteArray(bytes);
                }
            }
            sink = null;
            System.gc();
            Thread.sleep(300);
        }
        System.gc();
        Thread.sleep(600);
        retained = retainedBefore = new ArrayList<>();
        System.out.println("site retainLarge [B " + rounds * pairs * 3056);
        System.out.println("site retainSmall [B " + rounds * pairs * 1016);
        System.out.println("site wasteArray [B " + wasted);
    }

    // --- locks ---------------------------------------------------------------------------------------

    private static long spin(long ns) {
        long end = System.nanoTime() + ns, x = end;
        while (System.nanoTime() < end) {
            x = x * 31 + 1;
        }
        return x;
    }

    interface Turn {
        /** Takes the lock, holds it for so long, gives it back; returns how long it waited for it. */
        long take(long holdNs) throws Exception;
    }

    static long turnMonitor(Object lock, long holdNs) throws Exception {
        long start = System.nanoTime(), waited;
        synchronized (lock) {
            waited = System.nanoTime() - start;
            Thread.sleep(holdNs / 1_000_000);
        }
        return waited;
    }

    static long turnLock(ReentrantLock lock, long holdNs) throws Exception {
        long start = System.nanoTime(), waited;
        lock.lock();
        try {
            waited = System.nanoTime() - start;
            Thread.sleep(holdNs / 1_000_000);
        } finally {
            lock.unlock();
        }
        return waited;
    }

    static long turnSemaphore(Semaphore semaphore, long holdNs) throws Exception {
        long start = System.nanoTime(), waited;
        semaphore.acquire();
        try {
            waited = System.nanoTime() - start;
            Thread.sleep(holdNs / 1_000_000);
        } finally {
            semaphore.release();
        }
        return waited;
    }

    /** How much too late a thread was woken in all, where it was by more than a busy machine needs. */
    private static long stood(long end) throws Exception {
        long sum = 0;
        for (long now = System.nanoTime(), before; now < end; ) {
            before = now;
            Thread.sleep(1);
            now = System.nanoTime();
            if (now - before > STOOD_NS) {
                sum += now - before;
            }
        }
        return sum;
    }

    private static void turns(long ms, Turn... turns) throws Exception {
        AtomicLong blocked = new AtomicLong(), stood = new AtomicLong();
        long end = System.nanoTime() + ms * 1_000_000;
        Task[] tasks = new Task[turns.length + 1];
        tasks[turns.length] = () -> stood.set(stood(end));
        for (int i = 0; i < turns.length; i++) {
            Turn turn = turns[i];
            tasks[i] = () -> {
                long sum = 0;
                for (int n = 0; System.nanoTime() < end; n++) {
                    sum += turn.take((2 + n % 5) * 1_000_000L);
                    spin(1_000_000);
                }
                blocked.addAndGet(sum);
            };
        }
        together(tasks);
        System.out.println("blocked " + blocked.get() + " stood " + stood.get());
    }

    private static void calm(long ms) throws Exception {
        ReentrantLock a = new ReentrantLock(), b = new ReentrantLock();
        Object c = new Object(), d = new Object();
        LinkedBlockingQueue<Integer> work = new LinkedBlockingQueue<>();
        CountDownLatch latch = new CountDownLatch(1);
        Thread idle = new Thread(() -> {
            try {
                work.take();
            } catch (InterruptedException e) {
                sink = e;
            }
        });
        Thread waits = new Thread(() -> {
            try {
                latch.await();
            } catch (InterruptedException e) {
                sink = e;
            }
        });
        idle.start();
        waits.start();
        turns(ms, h -> turnLock(a, h), h -> turnLock(b, h), h -> turnMonitor(c, h),
            h -> turnMonitor(d, h));
        work.add(1);
        latch.countDown();
        idle.join();
        waits.join();
    }

    private static void hold(long ms) throws Exception {
        Class<?> monitor = Node.class;
        ReentrantLock lock = new ReentrantLock();
        CountDownLatch held = new CountDownLatch(1);
        Thread holder = new Thread(() -> {
            lock.lock();
            synchronized (monitor) {
                held.countDown();
                long end = System.nanoTime() + ms * 1_000_000;
                while (System.nanoTime() < end) {
                    LockSupport.parkNanos(1_000_000);
                }
            }
            lock.unlock();
        }, "holder");
        Thread one = new Thread(() -> {
            synchronized (monitor) {
                sink = monitor;
            }
        }, "waiter-1");
        Thread two = new Thread(() -> {
            lock.lock();
            lock.unlock();
        }, "waiter-2");
        holder.start();
        held.await();
        one.start();
        two.start();
        holder.join();
        one.join();
        two.join();
    }

    private static CountDownLatch free;

    private static void nap(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void stuck(long napMs, long ms) throws Exception {
        Object monitor = new Object();
        ReentrantLock lock = new ReentrantLock();
        CountDownLatch held = new CountDownLatch(1);
        free = new CountDownLatch(1);
        CountDownLatch until = free;
        new Thread(() -> {
            lock.lock();
            synchronized (monitor) {
                held.countDown();
                try {
                    until.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
            lock.unlock();
        }, "keeper").start();
        held.await();
        for (int i = 1; i <= 3; i++) {
            Thread thread = new Thread(i == 3 ? () -> {
                nap(napMs);
                lock.lock();
                lock.unlock();
            } : () -> {
                nap(napMs);
                synchronized (monitor) {
                    sink = monitor;
                }
            }, "stuck-" + i);
            long from = System.nanoTime();
            thread.start();
            while (thread.getState() != (i == 3 ? Thread.State.WAITING : Thread.State.BLOCKED)) {
                Thread.sleep(1);
            }
            Thread.sleep(20); // it says so a little before it sleeps
            System.out.println("blocked " + thread.getName() + " " + from + " " + System.nanoTime());
        }
        Thread.sleep(ms);
    }

    private static Thread queued(ReentrantLock lock, long ms, String name) throws Exception {
        int before = lock.getQueueLength() + (lock.isLocked() ? 1 : 0);
        Thread thread = new Thread(() -> {
            lock.lock();
            try {
                Thread.sleep(ms);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            } finally {
                lock.unlock();
            }
        }, name);
        thread.start();
        while (lock.getQueueLength() + (lock.isLocked() ? 1 : 0) == before) {
            Thread.sleep(1);
        }
        return thread;
    }

    /** The heirs but the last have it so shortly that a new owner and the end of a wait come together. */
    private static void inherit(long times) throws Exception {
        for (long i = 1; i <= times; i++) {
            ReentrantLock fair = new ReentrantLock(true);
            Thread holder = queued(fair, 250, "holder");
            Thread heir = queued(fair, i == times ? 250 : 45, "heir");
            Thread waiter = queued(fair, 1, "waiter-" + i);
            holder.join();
            heir.join();
            waiter.join();
        }
    }

    // --- all -----------------------------------------------------------------------------------------

    interface Task {
        void run() throws Exception;
    }

    private static void together(Task... tasks) throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (Task task : tasks) {
            Thread thread = new Thread(() -> {
                try {
                    task.run();
                } catch (Exception e) {
                    e.printStackTrace();
                }
            }, "sites-" + threads.size());
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        Object monitor = new Object();
        ReentrantLock lock = new ReentrantLock();
        Semaphore semaphore = new Semaphore(1);
        System.out.println("ready");
        for (String line = in.readLine(); line != null && !line.equals("q"); line = in.readLine()) {
            String[] words = line.split(" ");
            int n = Integer.parseInt(words[1]);
            switch (words[0]) {
                case "alloc": alloc((long) n << 20); break;
                case "mix": together(() -> mix(n, Long.parseLong(words[2]) << 20)); break;
                case "keep": keep(n); break;
                case "retain": together(() -> retain(n, Long.parseLong(words[2]))); break;
                case "monitor":
                    turns(n, h -> turnMonitor(monitor, h), h -> turnMonitor(monitor, h));
                    break;
                case "lock": turns(n, h -> turnLock(lock, h), h -> turnLock(lock, h)); break;
                case "semaphore":
                    turns(n, h -> turnSemaphore(semaphore, h), h -> turnSemaphore(semaphore, h));
                    break;
                case "calm": calm(n); break;
                case "hold": hold(n); break;
                case "stuck": stuck(0, n); break;
                case "later": stuck(n, 500); break;
                case "free": free.countDown(); break;
                case "inherit": inherit(n); break;
                default: throw new IllegalArgumentException(line);
            }
            System.out.println("done");
        }
    }
}
