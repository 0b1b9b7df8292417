// SPDX-License-Identifier: Apache-2.0
// Programs with one planted problem each, of kinds that people report: Planted NAME

import java.io.FileInputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** The cause of each is a method of this class; the expected finding is documented beside it. */
public final class Planted extends Program {
    private static volatile Object kept;

    // --- pinned: a virtual thread that sleeps in a synchronized block keeps its carrier ---------------

    static final class LegacyClient {
        void call() {
            synchronized (this) {
                Program.sleep(20);
            }
        }
    }

    static void pinned() {
        for (int i = 0; i < 200; i++) {
            LegacyClient client = new LegacyClient();
            start("request-" + i, () -> {
                for (;;) {
                    client.call();
                    sleep(1);
                }
            });
        }
    }

    // --- reload: a scheduled task sleeps while it holds the lock of a map that requests read -----------

    static final class Catalog {
        private final Map<Integer, Integer> map = new HashMap<>();

        synchronized void reload() {
            Program.sleep(60);
            map.put(map.size() % 100, 1);
        }

        synchronized int price(int id) {
            Integer price = map.get(id);
            return price == null ? 0 : price;
        }
    }

    static void reload() {
        Catalog catalog = new Catalog();
        ScheduledExecutorService refresh = Executors.newScheduledThreadPool(1, r -> thread("catalog-refresh", r));
        refresh.scheduleWithFixedDelay(catalog::reload, 10, 140, TimeUnit.MILLISECONDS);
        for (int i = 0; i < 8; i++) {
            int id = i;
            start("http-" + i, () -> {
                for (;;) {
                    sum += catalog.price(id);
                    sleep(5);
                }
            });
        }
    }

    // --- finalizers: objects with a slow finalizer are made faster than they are finalized -------------

    static final class Handle {
        @Override
        protected void finalize() {
            Program.sleep(5);
        }
    }

    static void openHandles() {
        for (int i = 0; i < 100; i++) {
            kept = new Handle();
        }
        kept = new byte[100 << 10];
    }

    static void finalizers() {
        start("opener", () -> {
            for (;;) {
                openHandles();
                sleep(20);
            }
        });
    }

    // --- self: eight callers wait for a slow server in the same JVM ----------------------------------

    static void serve(Socket s) {
        try {
            InputStream in = s.getInputStream();
            OutputStream out = s.getOutputStream();
            while (in.read() >= 0) {
                sleep(700);
                out.write(1);
            }
        } catch (java.io.IOException e) {
            throw new IllegalStateException(e);
        }
    }

    static final class BrokerClient {
        private final Socket socket;

        BrokerClient(int port) throws java.io.IOException {
            socket = new Socket(InetAddress.getLoopbackAddress(), port);
        }

        int fetch() throws java.io.IOException {
            socket.getOutputStream().write(1);
            return socket.getInputStream().read();
        }
    }

    static void placeOrder(BrokerClient client) throws java.io.IOException {
        sum += client.fetch();
    }

    static void self() throws java.io.IOException {
        ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        start("broker-accept", () -> {
            for (int i = 0;; i++) {
                try {
                    Socket s = server.accept();
                    start("broker-" + i, () -> serve(s));
                } catch (java.io.IOException e) {
                    throw new IllegalStateException(e);
                }
            }
        });
        for (int i = 0; i < 8; i++) {
            BrokerClient client = new BrokerClient(server.getLocalPort());
            start("caller-" + i, () -> {
                for (;;) {
                    try {
                        placeOrder(client);
                    } catch (java.io.IOException e) {
                        throw new IllegalStateException(e);
                    }
                }
            });
        }
    }

    // --- starved: tasks of the common pool wait for tasks that have no thread left ---------------------

    static int lookUp(int id) {
        sleep(400);
        return id;
    }

    static void answer(int id) {
        sum += CompletableFuture.supplyAsync(() -> lookUp(id)).join();
    }

    static void starved() {
        System.setProperty("java.util.concurrent.ForkJoinPool.common.parallelism", "3");
        for (int i = 0; i < 8; i++) {
            int id = i;
            start("request-" + i, () -> {
                for (;;) {
                    answer(id);
                }
            });
        }
    }

    // --- served: the same, and those that wait are threads of an executor, too -----------------------------

    static void serve(Executor http, Runnable request) {
        http.execute(() -> {
            request.run();
            serve(http, request);
        });
    }

    /** An executor whose eight threads always have a request. */
    static void serve(Runnable request) {
        Executor http = Executors.newFixedThreadPool(8, Waiting.named("http-"));
        for (int i = 0; i < 8; i++) {
            serve(http, request);
        }
    }

    static void served() {
        System.setProperty("java.util.concurrent.ForkJoinPool.common.parallelism", "3");
        serve(() -> answer(1));
    }

    // --- served-not: answers of an asynchronous client, beside an executor whose tasks have no end -----------

    static void ask(ScheduledExecutorService wire) {
        CompletableFuture<Integer> answer = new CompletableFuture<>();
        wire.schedule(() -> answer.complete(1), 300, TimeUnit.MILLISECONDS);
        sum += answer.join();
    }

    static void watchMails() {
        for (;;) {
            sleep(200);
        }
    }

    static void servedNot() {
        ScheduledExecutorService wire = Executors.newScheduledThreadPool(1, r -> thread("wire", r));
        ExecutorService mails = Executors.newFixedThreadPool(3, Waiting.named("mail-"));
        for (int i = 0; i < 3; i++) {
            mails.submit(Planted::watchMails);
        }
        serve(() -> ask(wire));
    }

    // --- itself: tasks wait for tasks of their own executor -------------------------------------------------

    static void fanOut(ExecutorService workers) {
        try {
            sum += workers.submit(() -> lookUp(1)).get();
        } catch (InterruptedException | ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    static void itself() {
        ExecutorService workers = Executors.newFixedThreadPool(4, Waiting.named("worker-"));
        CountDownLatch all = new CountDownLatch(4);
        for (int i = 0; i < 4; i++) {
            workers.execute(() -> {
                all.countDown();
                while (all.getCount() > 0) {
                    sleep(1);
                }
                fanOut(workers);
            });
        }
    }

    // --- full: requests wait for space in a queue whose only consumer is slow -------------------------------

    static final class Trail {
        private final BlockingQueue<Integer> queue = new ArrayBlockingQueue<>(10);

        void add() {
            try {
                queue.put(1);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }

        void drain() throws InterruptedException {
            for (;;) {
                sum += queue.take();
                Program.sleep(50);
            }
        }
    }

    static void checkOut(Trail trail) {
        record(trail);
    }

    static void record(Trail trail) {
        trail.add();
    }

    static void full() {
        Trail trail = new Trail();
        start("trail", () -> {
            try {
                trail.drain();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        serve(() -> checkOut(trail));
    }

    // --- collide: a map whose keys have few hash codes ------------------------------------------------------

    static final class Tile {
        private final int x;
        private final int y;

        Tile(int x, int y) {
            this.x = x;
            this.y = y;
        }

        @Override
        public int hashCode() {
            return x + y;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Tile && ((Tile) other).x == x && ((Tile) other).y == y;
        }
    }

    static int height(Map<Tile, Integer> tiles, int n) {
        return tiles.get(new Tile(n % 200, n / 200 % 200));
    }

    static void collide() {
        Map<Tile, Integer> tiles = new HashMap<>();
        for (int n = 0; n < 40000; n++) {
            tiles.put(new Tile(n % 200, n / 200), n);
        }
        start("terrain", () -> {
            for (int n = 0;; n += 7919) {
                sum += height(tiles, n % 40000);
                if (n > 1 << 30) {
                    n = 0;
                }
            }
        });
    }

    // --- explicit: collections that the program requests ----------------------------------------------------

    static void closeSession() {
        System.gc();
    }

    static void explicit() {
        List<Object> session = new ArrayList<>();
        for (int i = 0; i < 200000; i++) {
            session.add(new Object[4]);
        }
        start("sessions", () -> {
            for (;;) {
                closeSession();
                kept = session;
                sleep(10);
            }
        });
    }

    // --- starts: a thread per request ------------------------------------------------------------------

    static void perRequest() {
        Thread t = thread("request", () -> spin(1));
        t.start();
        try {
            t.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void starts() {
        for (int i = 0; i < 4; i++) {
            start("acceptor-" + i, () -> {
                for (;;) {
                    perRequest();
                }
            });
        }
    }

    // --- storm: classes are reloaded for each request -----------------------------------------------

    static Object compileScript() throws Exception {
        byte[] code;
        try (InputStream in = Planted.class.getResourceAsStream("Planted$Script.class")) {
            java.io.ByteArrayOutputStream bytes = new java.io.ByteArrayOutputStream();
            for (int c = in.read(); c >= 0; c = in.read()) {
                bytes.write(c);
            }
            code = bytes.toByteArray();
        }
        return new ClassLoader(null) {
            Class<?> script() {
                return defineClass("Planted$Script", code, 0, code.length);
            }
        }.script().getDeclaredConstructor().newInstance();
    }

    public static final class Script {
    }

    // --- metaspace: classes whose loaders are kept, until it is full -----------------------------------------

    static void metaspace() {
        List<Object> scripts = new ArrayList<>();
        start("scripts", () -> {
            for (;;) {
                try {
                    scripts.add(compileScript());
                } catch (Exception | OutOfMemoryError e) {
                    sleep(10);
                }
            }
        });
    }

    static void storm() {
        start("scripts", () -> {
            for (;;) {
                try {
                    compileScript();
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
                sleep(5);
            }
        });
    }

    // --- descriptors: files that are never closed ------------------------------------------------------

    static void readConfig(List<Object> open) throws java.io.IOException {
        FileInputStream in = new FileInputStream("/dev/null");
        sum += in.read();
        open.add(in);
    }

    static void descriptors() {
        List<Object> open = new ArrayList<>();
        start("config", () -> {
            for (;;) {
                try {
                    readConfig(open);
                } catch (java.io.IOException e) {
                    sleep(1000);
                }
                sleep(20);
            }
        });
    }

    // --- humongous: arrays of more than half a region --------------------------------------------------

    static byte[] readBody() {
        byte[] body = new byte[3 << 20];
        body[0] = 1;
        return body;
    }

    static void humongous() {
        start("uploads", () -> {
            for (;;) {
                kept = readBody();
                sleep(2);
            }
        });
    }

    // --- healthy: a server that has nothing to do now and then -------------------------------------------

    static void healthy() {
        ScheduledExecutorService timer = Executors.newScheduledThreadPool(4, r -> thread("timer", r));
        for (int i = 0; i < 4; i++) {
            timer.scheduleAtFixedRate(() -> spin(2), 10 * i, 50, TimeUnit.MILLISECONDS);
        }
    }

    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "pinned": pinned(); break;
            case "reload": reload(); break;
            case "finalizers": finalizers(); break;
            case "self": self(); break;
            case "starved": starved(); break;
            case "served": served(); break;
            case "served-not": servedNot(); break;
            case "itself": itself(); break;
            case "full": full(); break;
            case "collide": collide(); break;
            case "explicit": explicit(); break;
            case "starts": starts(); break;
            case "metaspace": metaspace(); break;
            case "storm": storm(); break;
            case "descriptors": descriptors(); break;
            case "humongous": humongous(); break;
            case "healthy": healthy(); break;
            default: throw new IllegalArgumentException(args[0]);
        }
        ready();
    }
}
