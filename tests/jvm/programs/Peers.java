// SPDX-License-Identifier: Apache-2.0
// Threads that wait for peers and files, each in a method of its own: Peers FIFO.

import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;

/**
 * Prints "first PORT" and the like for each peer, then "ready", and goes on until its input ends, or says q. With
 * -Dvirtual=true its threads are virtual.
 */
public final class Peers {
    private static volatile long sum;

    interface Body {
        void run() throws IOException;
    }

    static void start(String name, Body body) {
        Program.start(name, () -> {
            try {
                body.run();
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
    }

    static void nap(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    // --- who is asked -------------------------------------------------------------------------------

    static int serve(Socket s) throws IOException {
        return s.getInputStream().read();
    }

    static void answer(Socket s, long ms) {
        try {
            for (int asked = serve(s); asked >= 0; asked = serve(s)) {
                nap(ms);
                s.getOutputStream().write(asked);
            }
            s.close();
        } catch (IOException e) {
            sum++; // the client has gone
        }
    }

    static Socket listen(ServerSocket listener) throws IOException {
        return listener.accept();
    }

    static int peer(String name, long ms) throws IOException {
        ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        start(name, () -> {
            for (;;) {
                Socket s = listen(listener);
                start(name + "-connection", () -> answer(s, ms));
            }
        });
        System.out.println(name + " " + listener.getLocalPort());
        return listener.getLocalPort();
    }

    // --- who asks: a method for each way ------------------------------------------------------------

    static Socket connect(int port) throws IOException {
        return new Socket(InetAddress.getLoopbackAddress(), port);
    }

    static void askPlain(InputStream in) throws IOException {
        sum += in.read();
    }

    static void askTimed(InputStream in) throws IOException {
        sum += in.read();
    }

    static void askThird(InputStream in) throws IOException {
        sum += in.read();
    }

    static void askFourth(InputStream in) throws IOException {
        sum += in.read();
    }

    static void askChannel(SocketChannel channel, ByteBuffer answer) throws IOException {
        answer.clear();
        sum += channel.read(answer);
    }

    static void plain(int port, int timeoutMs) throws IOException {
        Socket s = connect(port);
        s.setSoTimeout(timeoutMs);
        for (;;) {
            s.getOutputStream().write(1);
            if (timeoutMs == 0) {
                askPlain(s.getInputStream());
            } else {
                askTimed(s.getInputStream());
            }
        }
    }

    static void channel(int port) throws IOException {
        SocketChannel channel =
            SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        ByteBuffer answer = ByteBuffer.allocate(1);
        for (;;) {
            channel.write(ByteBuffer.wrap(new byte[1]));
            askChannel(channel, answer);
        }
    }

    /** Alternates between two quick peers, each time by a new socket, which often reuses a descriptor. */
    static void turns(int third, int fourth) throws IOException {
        for (int n = 0;; n++) {
            try (Socket s = connect(n % 2 == 0 ? third : fourth)) {
                s.setSoLinger(true, 0); // its port is free at once
                s.getOutputStream().write(1);
                if (n % 2 == 0) {
                    askThird(s.getInputStream());
                } else {
                    askFourth(s.getInputStream());
                }
            }
        }
    }

    /** As often as the backlog of connections has space; then it waits for space. */
    static void connectTo(int port) throws IOException {
        Socket[] all = new Socket[100];
        for (int i = 0; i < all.length; i++) {
            all[i] = new Socket();
            all[i].connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 60000);
        }
        sum += all.length;
    }

    static void readFifo(InputStream in) throws IOException {
        sum += in.read();
    }

    static void receive(DatagramSocket socket) throws IOException {
        socket.receive(new DatagramPacket(new byte[10], 10));
    }

    static void select(Selector selector) throws IOException {
        selector.select();
    }

    static void loop(Selector selector) throws IOException {
        selector.select();
    }

    /** Three connections to one peer, which sends nothing. */
    static void loops(int port) throws IOException {
        Selector selector = Selector.open();
        for (int i = 0; i < 3; i++) {
            SocketChannel channel =
                SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
            channel.configureBlocking(false);
            channel.register(selector, SelectionKey.OP_READ);
        }
        loop(selector);
    }

    public static void main(String[] args) throws Exception {
        int first = peer("first", 15), second = peer("second", 15);
        int third = peer("third", 1), fourth = peer("fourth", 1);
        ServerSocket full = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        System.out.println("full " + full.getLocalPort());
        DatagramSocket socket = new DatagramSocket(0, InetAddress.getLoopbackAddress());
        System.out.println("udp " + socket.getLocalPort());
        start("plain", () -> plain(first, 0));
        start("timed", () -> plain(first, 60000));
        start("channel", () -> channel(second));
        for (int i = 0; i < 3; i++) {
            start("turns-" + i, () -> turns(third, fourth));
        }
        start("connecting", () -> connectTo(full.getLocalPort()));
        start("datagrams", () -> receive(socket));
        start("selector", () -> select(Selector.open()));
        start("loop", () -> loops(second));
        start("fifo", () -> readFifo(new FileInputStream(args[0])));
        start("sleeper", () -> nap(1000000));
        nap(200);
        System.out.println("ready");
        for (int c = System.in.read(); c >= 0 && c != 'q'; c = System.in.read()) {
            continue;
        }
    }
}
