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
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;

/** Prints "first PORT", "second PORT" and "udp PORT", then "ready", and goes on until its input ends, or says q. */
public final class Peers {
    private static volatile long sum;

    interface Body {
        void run() throws IOException;
    }

    static void start(String name, Body body) {
        Thread t = new Thread(() -> {
            try {
                body.run();
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }, name);
        t.setDaemon(true);
        t.start();
    }

    static void nap(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    // --- who is asked -------------------------------------------------------------------------------

    static final int SLOW_MS = 15;

    static int serve(Socket s) throws IOException {
        return s.getInputStream().read();
    }

    static void answer(Socket s) throws IOException {
        for (int asked = serve(s); asked >= 0; asked = serve(s)) {
            nap(SLOW_MS);
            s.getOutputStream().write(asked);
        }
        s.close();
    }

    static Socket listen(ServerSocket listener) throws IOException {
        return listener.accept();
    }

    static int peer(String name) throws IOException {
        ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        start(name, () -> {
            for (;;) {
                Socket s = listen(listener);
                start(name + "-connection", () -> answer(s));
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

    static void askFirst(InputStream in) throws IOException {
        sum += in.read();
    }

    static void askSecond(InputStream in) throws IOException {
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

    /** Two peers in turns, each by a new socket, which gets the descriptor of the one before. */
    static void turns(int first, int second) throws IOException {
        for (int n = 0;; n++) {
            try (Socket s = connect(n % 2 == 0 ? first : second)) {
                s.getOutputStream().write(1);
                if (n % 2 == 0) {
                    askFirst(s.getInputStream());
                } else {
                    askSecond(s.getInputStream());
                }
            }
        }
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

    public static void main(String[] args) throws Exception {
        int first = peer("first"), second = peer("second");
        DatagramSocket socket = new DatagramSocket(0, InetAddress.getLoopbackAddress());
        System.out.println("udp " + socket.getLocalPort());
        start("plain", () -> plain(first, 0));
        start("timed", () -> plain(first, 60000));
        start("channel", () -> channel(second));
        start("turns", () -> turns(first, second));
        start("datagrams", () -> receive(socket));
        start("selector", () -> select(Selector.open()));
        start("fifo", () -> readFifo(new FileInputStream(args[0])));
        start("sleeper", () -> nap(1000000));
        nap(200);
        System.out.println("ready");
        for (int c = System.in.read(); c >= 0 && c != 'q'; c = System.in.read()) {
            continue;
        }
    }
}
