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
import java.util.concurrent.CompletableFuture;
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

    static void compileScript() throws Exception {
        byte[] code;
        try (InputStream in = Planted.class.getResourceAsStream("Planted$Script.class")) {
            java.io.ByteArrayOutputStream bytes = new java.io.ByteArrayOutputStream();
            for (int c = in.read(); c >= 0; c = in.read()) {
                bytes.write(c);
            }
            code = bytes.toByteArray();
        }
        new ClassLoader(null) {
            Class<?> script() {
                return defineClass("Planted$Script", code, 0, code.length);
            }
        }.script().getDeclaredConstructor().newInstance();
    }

    public static final class Script {
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
            case "starts": starts(); break;
            case "storm": storm(); break;
            case "descriptors": descriptors(); break;
            case "humongous": humongous(); break;
            case "healthy": healthy(); break;
            default: throw new IllegalArgumentException(args[0]);
        }
        ready();
    }
}
