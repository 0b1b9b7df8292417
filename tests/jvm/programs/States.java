// SPDX-License-Identifier: Apache-2.0
// Threads that stay in one known state each, for tests of the wall clock. Ends as Known does.

import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/**
 * usage: States [IDLE]
 *
 * Threads: "st-busy" computes; "st-sleeper" sleeps; "st-waiter" is in Object.wait; "st-parked" is parked;
 * "st-blocked" waits for a monitor that "st-sleeper" holds, and so does "st-notified", in Object.wait; "st-reader" reads from a socket that is silent;
 * "st-accept" accepts; "st-idle-N", IDLE of them, are parked.
 */
public final class States {
    private static volatile boolean stop;
    private static volatile long sum;
    private static final Object held = new Object();
    private static final Object never = new Object();

    static void knownBusy() {
        long x = 42;
        while (!stop) {
            for (int i = 0; i < 10_000; i++) {
                x ^= x >>> 33;
                x *= 0xff51afd7ed558ccdL;
            }
            sum = x;
        }
    }

    static void knownSleeper(CountDownLatch holds) throws Exception {
        synchronized (held) {
            held.notify();
            holds.countDown();
            Thread.sleep(10_000_000);
        }
    }

    static void knownWaiter() throws Exception {
        synchronized (never) {
            while (!stop) {
                never.wait();
            }
        }
    }

    static void knownNotified() throws Exception {
        synchronized (held) {
            held.wait();
        }
    }

    static void knownParked() {
        while (!stop) {
            LockSupport.park(never);
        }
    }

    static void knownBlocked() {
        synchronized (held) {
            sum++;
        }
    }

    private interface Body {
        void run() throws Exception;
    }

    private static Thread start(String name, Body body) {
        Thread thread = new Thread(null, () -> {
            try {
                body.run();
            } catch (Exception e) {
                System.out.println("WRONG: " + e);
            }
        }, name, 256 << 10);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private static void await(Thread thread, Thread.State state) throws Exception {
        while (thread.getState() != state) {
            Thread.sleep(1);
        }
    }

    public static void main(String[] args) throws Exception {
        int idle = args.length > 0 ? Integer.parseInt(args[0]) : 0;
        CountDownLatch holds = new CountDownLatch(1);
        ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        Socket ours = new Socket(server.getInetAddress(), server.getLocalPort());
        Socket theirs = server.accept();

        start("st-busy", States::knownBusy);
        Thread notified = start("st-notified", States::knownNotified);
        await(notified, Thread.State.WAITING);
        Thread sleeper = start("st-sleeper", () -> knownSleeper(holds));
        holds.await();
        Thread waiter = start("st-waiter", States::knownWaiter);
        Thread parked = start("st-parked", States::knownParked);
        Thread blocked = start("st-blocked", States::knownBlocked);
        start("st-reader", () -> ours.getInputStream().read());
        start("st-accept", () -> server.accept());
        for (int i = 0; i < idle; i++) {
            start("st-idle-" + i, States::knownParked);
        }
        await(sleeper, Thread.State.TIMED_WAITING);
        await(waiter, Thread.State.WAITING);
        await(parked, Thread.State.WAITING);
        await(blocked, Thread.State.BLOCKED);
        await(notified, Thread.State.BLOCKED);
        System.out.println("ready");
        for (int c = 0; c >= 0 && c != 'q'; c = System.in.read()) {
        }
        stop = true;
        theirs.close();
        System.out.println("sum");
        Runtime.getRuntime().halt(0); /* the sleeper holds the monitor for ever */
    }
}
