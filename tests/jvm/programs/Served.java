// SPDX-License-Identifier: Apache-2.0
// An HTTP server and its clients in one process, for the rule about slow requests; ends when it reads a "q".

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URL;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * usage: Served lock|peer|report|poll|even
 *
 * About 150 requests a second take 4 ms each. Some are slow: lock: a flusher holds a lock for 250 ms, once a second; peer: one in 40
 * waits 300 ms for a peer's answer. These are the problems. Not to be reported: report: one in 40 computes for 300 ms; poll: one in
 * 40 waits 300 ms for an event, as long polls do; even: none is slow. Prints "requests N slow M" at the end.
 */
public final class Served {
    private static final AtomicInteger COUNT = new AtomicInteger();
    private static final AtomicInteger SLOW = new AtomicInteger();
    private static volatile boolean ends;
    private static volatile long sink;
    private final String kind;
    private final Repo repo = new Repo();
    private int peerPort;

    static final class Repo {
        private long saved;

        synchronized void save() {
            saved++;
        }

        synchronized void flush() throws InterruptedException {
            Thread.sleep(250);
            saved = 0;
        }
    }

    private Served(String kind) {
        this.kind = kind;
    }

    private static void compute(long ms) {
        long until = System.nanoTime() + ms * 1000000;
        while (System.nanoTime() < until) {
            sink++;
        }
    }

    private final ThreadLocal<Socket> peer = ThreadLocal.withInitial(() -> {
        try {
            return new Socket(InetAddress.getLoopbackAddress(), peerPort);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    });

    private void ask(boolean slow) throws IOException {
        Socket socket = peer.get();
        socket.getOutputStream().write(slow ? 1 : 0);
        if (socket.getInputStream().read() < 0) {
            throw new IOException("the peer is gone");
        }
    }

    private void serve(HttpExchange exchange) throws IOException {
        int number = COUNT.incrementAndGet();
        boolean slow = number % 40 == 0;
        long begin = System.nanoTime();
        try {
            Thread.sleep(3);
            compute(1);
            if (kind.equals("lock")) {
                repo.save();
            } else if (kind.equals("peer")) {
                ask(slow);
            } else if (kind.equals("report") && slow) {
                compute(300);
            } else if (kind.equals("poll") && slow) {
                Object event = new Object();
                synchronized (event) {
                    event.wait(300);
                }
            }
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
        if (System.nanoTime() - begin > 100000000) {
            SLOW.incrementAndGet();
        }
        exchange.sendResponseHeaders(200, 2);
        exchange.getResponseBody().write("ok".getBytes());
        exchange.close();
    }

    private static void answer(Socket socket) {
        try {
            for (int slow; (slow = socket.getInputStream().read()) >= 0;) {
                if (slow == 1) {
                    Thread.sleep(300);
                }
                socket.getOutputStream().write(0);
            }
        } catch (IOException | InterruptedException e) {
            if (!ends) {
                System.out.println("WRONG: " + e);
            }
        }
    }

    private static void daemon(String name, Runnable run) {
        Thread thread = new Thread(run, name);
        thread.setDaemon(true);
        thread.start();
    }

    private static void request(URL url) {
        byte[] answer = new byte[16];
        try {
            while (!ends) {
                try (InputStream in = url.openStream()) {
                    while (in.read(answer) >= 0) {
                        continue;
                    }
                }
                Thread.sleep(20);
            }
        } catch (IOException | InterruptedException e) {
            if (!ends) {
                System.out.println("WRONG: " + e);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Served served = new Served(args[0]);
        ServerSocket peers = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 50);
        served.peerPort = peers.getLocalPort();
        daemon("peers", () -> {
            try {
                for (;;) {
                    Socket socket = peers.accept();
                    daemon("peer", () -> answer(socket));
                }
            } catch (IOException e) {
                System.out.println("WRONG: " + e);
            }
        });
        if (args[0].equals("lock")) {
            daemon("flusher", () -> {
                try {
                    for (;;) {
                        Thread.sleep(750);
                        served.repo.flush();
                    }
                } catch (InterruptedException e) {
                    System.out.println("WRONG: " + e);
                }
            });
        }
        server.createContext("/", served::serve);
        server.setExecutor(Executors.newFixedThreadPool(6));
        server.start();
        URL url = new URL("http://127.0.0.1:" + server.getAddress().getPort() + "/");
        for (int i = 0; i < 4; i++) {
            daemon("client-" + i, () -> request(url));
        }
        System.out.println("ready");
        while (System.in.read() != 'q') {
            continue;
        }
        ends = true;
        System.out.println("requests " + COUNT + " slow " + SLOW);
        System.exit(0);
    }
}
