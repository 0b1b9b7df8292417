// SPDX-License-Identifier: Apache-2.0
// Programs whose threads wait for something, where that is a problem and where it is none: Waiting NAME, or several: A+B.

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;

/** Each name is a problem; "NAME-not" is what only looks like it. */
public final class Waiting extends Program {
    // --- locks that many want -----------------------------------------------------------------------

    static final class Repo {
        synchronized void save(long holdMs) {
            if (holdMs > 0) {
                sleep(holdMs);
            }
            sum++;
        }
    }

    /** Workers behind one lock: held all the time, or for a moment now and then. */
    static void behindOne(int workers, long holdMs, long workMs) {
        Repo repo = new Repo();
        for (int i = 0; i < workers; i++) {
            start("worker-" + i, () -> {
                for (;;) {
                    repo.save(holdMs);
                    if (workMs > 0) {
                        spin(workMs);
                        sleep(2 * workMs);
                    }
                }
            });
        }
    }

    static void flush(ReentrantLock inner) {
        inner.lock();
        try {
            sum++;
        } finally {
            inner.unlock();
        }
    }

    static void compact() {
        sleep(100000);
    }

    /** Who holds what they wait for waits itself, for one that sleeps. */
    static void chain() {
        Object outer = new Object();
        ReentrantLock inner = new ReentrantLock();
        start("compactor", () -> {
            inner.lock();
            compact();
        });
        sleep(200);
        start("flusher", () -> {
            synchronized (outer) {
                flush(inner);
            }
        });
        sleep(200);
        for (int i = 0; i < 4; i++) {
            start("worker-" + i, () -> {
                synchronized (outer) {
                    sum++;
                }
            });
        }
    }

    // --- pools whose threads wait for something limited ---------------------------------------------

    static ThreadFactory named(String name) {
        AtomicInteger next = new AtomicInteger();
        return body -> thread(name + next.incrementAndGet(), body);
    }

    static final class ConnectionPool {
        private final BlockingQueue<Integer> free = new ArrayBlockingQueue<>(100);

        ConnectionPool(int size) {
            for (int i = 0; i < size; i++) {
                free.add(i);
            }
        }

        int borrow() {
            try {
                return free.take();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }

        void giveBack(int connection) {
            free.add(connection);
        }
    }

    static void query(long ms) {
        sleep(ms);
    }

    static void handle(ConnectionPool pool, long ms) {
        int connection = pool.borrow();
        try {
            query(ms);
        } finally {
            pool.giveBack(connection);
        }
    }

    /** Requests that each take a connection of few for a while. */
    static void requests(int connections, long ms) {
        ConnectionPool pool = new ConnectionPool(connections);
        ExecutorService http = Executors.newFixedThreadPool(40, named("http-"));
        for (int i = 0; i < 40; i++) {
            request(http, pool, ms);
        }
    }

    static void request(ExecutorService http, ConnectionPool pool, long ms) {
        http.execute(() -> {
            handle(pool, ms);
            request(http, pool, ms);
        });
    }

    static void limited(int permits, long ms) {
        Semaphore limit = new Semaphore(permits);
        for (int i = 0; i < 12; i++) {
            start("caller-" + i, () -> {
                for (;;) {
                    search(limit, ms);
                }
            });
        }
    }

    static void search(Semaphore limit, long ms) {
        callLimited(limit, ms);
        sum++;
    }

    static void callLimited(Semaphore limit, long ms) {
        limit.acquireUninterruptibly();
        try {
            query(ms);
        } finally {
            limit.release();
        }
    }

    static void consume(BlockingQueue<Integer> queue) {
        try {
            for (;;) {
                sum += queue.take();
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Idle workers of an executor, consumers in its tasks that loop over a queue, and threads that sleep in tasks. */
    static void idlers() {
        ExecutorService idle = Executors.newFixedThreadPool(10, named("idle-"));
        ExecutorService consumers = Executors.newFixedThreadPool(10, named("consumer-"));
        ExecutorService sleepers = Executors.newFixedThreadPool(10, named("sleeper-"));
        BlockingQueue<Integer> queue = new LinkedBlockingQueue<>();
        for (int i = 0; i < 10; i++) {
            idle.execute(() -> sum++);
            consumers.execute(() -> consume(queue));
            sleepers.execute(() -> {
                for (;;) {
                    query(1000);
                }
            });
        }
        start("producer", () -> {
            for (int i = 0;; i++) {
                queue.add(i);
                sleep(10);
            }
        });
    }

    // --- peers --------------------------------------------------------------------------------------

    /** Answers each byte with one, after a while. */
    static final class Peer {
        final ServerSocket listener;
        final long ms;

        Peer(long ms) throws IOException {
            this.ms = ms;
            listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
            ExecutorService connections = Executors.newCachedThreadPool(named("peer-"));
            start("peer-acceptor", () -> listen(connections));
        }

        void listen(ExecutorService connections) {
            try {
                for (;;) {
                    Socket s = listener.accept();
                    connections.execute(() -> answer(s));
                }
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }

        int next(Socket s) throws IOException {
            return s.getInputStream().read();
        }

        void answer(Socket s) {
            try {
                for (int asked = next(s); asked >= 0; asked = next(s)) {
                    if (ms > 0) {
                        sleep(ms);
                    }
                    s.getOutputStream().write(asked);
                }
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    static final class PaymentClient {
        private final InputStream in;
        private final OutputStream out;

        PaymentClient(int port) throws IOException {
            Socket s = new Socket(InetAddress.getLoopbackAddress(), port);
            in = s.getInputStream();
            out = s.getOutputStream();
        }

        int charge() {
            try {
                out.write(1);
                return in.read();
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    static void placeOrder(PaymentClient client, long workMs) {
        sum += client.charge();
        if (workMs > 0) {
            spin(workMs);
        }
    }

    static void orders(int threads, long peerMs, long workMs) throws IOException {
        Peer peer = new Peer(peerMs);
        ExecutorService orders = Executors.newFixedThreadPool(threads, named("order-"));
        for (int i = 0; i < threads; i++) {
            PaymentClient client = new PaymentClient(peer.listener.getLocalPort());
            orders.execute(() -> {
                for (;;) {
                    placeOrder(client, workMs);
                }
            });
        }
    }

    /** Reads what is asked by a name that says nothing. */
    static final class Session {
        private final Socket socket;

        Session(Socket socket) {
            this.socket = socket;
        }

        int decode() throws IOException {
            return socket.getInputStream().read();
        }

        void go() {
            try {
                for (int asked = decode(); asked >= 0; asked = decode()) {
                    socket.getOutputStream().write(asked);
                }
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** Connections that are kept open, whose clients ask now and then. */
    static void keptOpen() throws IOException {
        ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        ExecutorService sessions = Executors.newCachedThreadPool(named("session-"));
        Peer peer = new Peer(0);
        start("acceptor", () -> {
            try {
                for (;;) {
                    Session s = new Session(listener.accept());
                    sessions.execute(() -> s.go());
                }
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
        for (int i = 0; i < 12; i++) {
            int port = (i % 2 == 0 ? listener : peer.listener).getLocalPort();
            PaymentClient client = new PaymentClient(port);
            start("client-" + i, () -> {
                for (;;) {
                    sum += client.charge();
                    sleep(500);
                }
            });
        }
    }

    // --- cores --------------------------------------------------------------------------------------

    static void spinners(int threads) {
        for (int i = 0; i < threads; i++) {
            start("spinner-" + i, () -> {
                for (;;) {
                    spin(1000);
                }
            });
        }
    }

    private static final Map<String, Task> TASKS = new HashMap<>();

    static {
        TASKS.put("locks", () -> behindOne(8, 5, 0));
        TASKS.put("locks-chain", () -> chain());
        TASKS.put("locks-not", () -> behindOne(2, 1, 50));
        TASKS.put("pool", () -> requests(3, 50));
        TASKS.put("pool-limit", () -> limited(2, 50));
        TASKS.put("pool-enough", () -> requests(30, 50));
        TASKS.put("pool-not", () -> idlers());
        TASKS.put("io", () -> orders(6, 50, 0));
        TASKS.put("io-not", () -> orders(3, 4, 20));
        TASKS.put("io-idle", () -> keptOpen());
        TASKS.put("cores", () -> spinners(4));
        TASKS.put("cores-not", () -> spinners(2));
    }

    public static void main(String[] args) throws Exception {
        run(TASKS, args[0]);
    }
}
