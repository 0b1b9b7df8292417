// SPDX-License-Identifier: Apache-2.0
// Programs with one planted problem each, and healthy ones (ok_*): Shop MODE [PORT]. They print "ready" to stderr when they run.
// "db MS" and "httpd MS" are the servers in another process that some modes need; they print their port and answer after MS ms.
import java.io.*;
import java.lang.reflect.*;
import java.net.*;
import java.nio.*;
import java.nio.channels.*;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.concurrent.locks.*;
import java.util.function.*;
import java.util.stream.*;

public class Shop {
    static volatile long sink;
    static volatile Object kept;

    // ---- helpers
    static void nap(long ms) {
        try {
            TimeUnit.MILLISECONDS.sleep(ms);
        } catch (InterruptedException e) { throw new RuntimeException(e); }
    }
    static void burn(long us) {
        long end = System.nanoTime() + us * 1000, x = end;
        while (System.nanoTime() < end)
            for (int i = 0; i < 500; i++) x = x * 6364136223846793005L + 1442695040888963407L;
        sink = x;
    }
    interface Body {
        void run() throws Exception;
    }
    static Runnable quiet(Body b) {
        return () -> {
            try {
                b.run();
            } catch (Exception e) { throw new RuntimeException(e); }
        };
    }
    static Runnable forever(Body b) {
        return () -> {
            try {
                for (;;) b.run();
            } catch (Exception e) { e.printStackTrace(); }
        };
    }
    static Thread go(String name, Runnable r) {
        Thread t = new Thread(r, name);
        t.setDaemon(true);
        t.start();
        return t;
    }
    static ThreadFactory named(String p) {
        AtomicInteger n = new AtomicInteger();
        return r -> {
            Thread t = new Thread(r, p + n.incrementAndGet());
            t.setDaemon(true);
            return t;
        };
    }
    static void vthread(String name, Runnable r) {
        try {
            Object b = Thread.class.getMethod("ofVirtual").invoke(null);
            Class<?> c = Class.forName("java.lang.Thread$Builder");
            b = c.getMethod("name", String.class).invoke(b, name);
            c.getMethod("start", Runnable.class).invoke(b, r);
        } catch (ReflectiveOperationException e) { throw new RuntimeException(e); }
    }
    /** A request loop on an executor: each request submits its successor, as a server with constant load does. */
    static void load(Executor pool, int clients, Body request) {
        for (int i = 0; i < clients; i++) next(pool, request);
    }
    static void next(Executor pool, Body request) {
        pool.execute(() -> {
            Dispatcher.dispatch(request);
            next(pool, request);
        });
    }
    static final class Dispatcher {
        static void dispatch(Body request) {
            try {
                invokeHandler(request);
            } catch (Exception e) { e.printStackTrace(); }
        }
        static void invokeHandler(Body request) throws Exception { request.run(); }
    }
    static ExecutorService http(int n) { return Executors.newFixedThreadPool(n, named("http-")); }

    // ---- collide: keys whose hash codes are equal
    static final class GeoKey {
        final int lat, lon;
        GeoKey(int lat, int lon) {
            this.lat = lat;
            this.lon = lon;
        }
        @Override
        public int hashCode() {
            return lat + lon;
        }
        @Override
        public boolean equals(Object o) {
            return o instanceof GeoKey && ((GeoKey) o).lat == lat && ((GeoKey) o).lon == lon;
        }
    }
    static final class TileIndex {
        final Map<GeoKey, Integer> tiles = new HashMap<>();
        void fill() {
            for (int a = 0; a < 300; a++)
                for (int b = 0; b < 300; b++) tiles.put(new GeoKey(a, b), a);
        }
        int tileAt(int a, int b) {
            Integer t = tiles.get(new GeoKey(a, b));
            return t == null ? 0 : t;
        }
    }
    static void collide() {
        TileIndex index = new TileIndex();
        index.fill();
        Random r = new Random(1);
        load(http(2), 2, () -> {
            int s = 0;
            for (int i = 0; i < 100; i++) s += index.tileAt(r.nextInt(300), r.nextInt(300));
            sink = s;
            nap(1);
        });
    }

    // ---- debuglog: strings made for a log level that is off
    static final class Order {
        final List<String> lines = new ArrayList<>();
        Order() {
            for (int i = 0; i < 40; i++) lines.add("item-" + i);
        }
        @Override
        public String toString() {
            return String.format("Order%s of %d", lines, lines.size());
        }
    }
    static final java.util.logging.Logger LOG = java.util.logging.Logger.getLogger("shop");
    static void priceOrder(Order o) {
        LOG.fine("pricing " + o);
        sink += o.lines.size();
    }
    static void debuglog() {
        Order o = new Order();
        load(http(2), 2, () -> {
            for (int i = 0; i < 50; i++) priceOrder(o);
            nap(1);
        });
    }

    // ---- nplus1: a query per line to a database in another process
    static final class DbConnection {
        final Socket s;
        final DataInputStream in;
        final OutputStream out;
        DbConnection(int port) throws IOException {
            s = new Socket("127.0.0.1", port);
            s.setTcpNoDelay(true);
            in = new DataInputStream(s.getInputStream());
            out = s.getOutputStream();
        }
        int execute(int id) throws IOException {
            out.write(new byte[] {1, 2, 3, (byte) id});
            return in.readInt();
        }
    }
    static final class ProductDao {
        final DbConnection db;
        ProductDao(DbConnection db) { this.db = db; }
        int findById(int id) throws IOException { return db.execute(id); }
    }
    static void renderCart(ProductDao dao) throws IOException {
        int total = 0;
        for (int i = 0; i < 200; i++) total += dao.findById(i);
        sink = total;
    }
    static void nplus1(int port) throws Exception {
        ExecutorService http = http(4);
        BlockingQueue<ProductDao> daos = new LinkedBlockingQueue<>();
        for (int i = 0; i < 4; i++) daos.add(new ProductDao(new DbConnection(port)));
        load(http, 4, () -> {
            ProductDao d = daos.take();
            try {
                renderCart(d);
            } finally { daos.add(d); }
        });
    }
    /** The database of nplus1 and slowdb: answers after this time in ms. */
    static void db(long ms) throws Exception {
        ServerSocket ss = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        System.out.println("port " + ss.getLocalPort());
        for (;;) {
            Socket s = ss.accept();
            s.setTcpNoDelay(true);
            go("db", quiet(() -> {
                InputStream in = s.getInputStream();
                OutputStream out = s.getOutputStream();
                byte[] b = new byte[4];
                while (in.read(b) > 0) {
                    if (ms > 0)
                        nap(ms);
                    out.write(new byte[4]);
                }
            }));
        }
    }
    static void slowhttp(int port) throws Exception { // each request makes one HTTP call
        load(http(8), 8, () -> callPricing(port));
    }
    static void callPricing(int port) throws IOException {
        HttpURLConnection c = (HttpURLConnection) new URL("http://127.0.0.1:" + port + "/price").openConnection();
        try (InputStream in = c.getInputStream()) {
            while (in.read() >= 0) {}
        }
    }
    static void httpd(long ms) throws Exception {
        ServerSocket ss = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        System.out.println("port " + ss.getLocalPort());
        for (;;) {
            Socket s = ss.accept();
            go("h", quiet(() -> {
                BufferedReader r = new BufferedReader(new InputStreamReader(s.getInputStream()));
                for (;;) {
                    String l;
                    while ((l = r.readLine()) != null && !l.isEmpty()) {}
                    if (l == null)
                        return;
                    nap(ms);
                    s.getOutputStream().write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".getBytes());
                }
            }));
        }
    }

    // ---- compute: computeIfAbsent with a slow loader, neighbours wait
    static final ConcurrentHashMap<Integer, String> rates = new ConcurrentHashMap<>();
    static String loadRate(int k) {
        nap(300);
        return "r" + k;
    }
    static String rateOf(int currency) { return rates.computeIfAbsent(currency, Shop::loadRate); }
    static void compute() {
        load(http(10), 10, () -> {
            sink += rateOf(7).length();
            rates.remove(7);
        });
    }

    // ---- pinned
    static final class LegacyDriver {
        synchronized void roundTrip() { nap(20); }
    }
    static void pinned() {
        for (int i = 0; i < 200; i++) {
            LegacyDriver d = new LegacyDriver();
            vthread("req-" + i, forever(() -> {
                d.roundTrip();
                nap(1);
            }));
        }
    }

    // ---- vhog: virtual threads that compute keep all carriers
    static void resize() { burn(300000); }
    static void vhog() {
        for (int i = 0; i < 4; i++)
            vthread("image-" + i, forever(() -> {
                resize();
                Thread.yield();
            }));
        for (int i = 0; i < 100; i++) vthread("req-" + i, forever(() -> nap(5)));
    }

    // ---- perreq: a thread for each request
    static void acceptOne() throws Exception {
        Thread t = new Thread(() -> burn(300), "request");
        t.start();
        t.join();
    }
    static void perreq() {
        for (int i = 0; i < 3; i++) go("acceptor-" + i, forever(Shop::acceptOne));
    }

    // ---- humongous
    static byte[] readUpload() {
        byte[] b = new byte[3 << 20];
        b[1] = 1;
        return b;
    }
    static void humongous() {
        go("upload", forever(() -> {
            kept = readUpload();
            nap(2);
        }));
    }

    // ---- direct: direct buffers that are never freed
    static final List<ByteBuffer> frames = new ArrayList<>();
    static void decodeFrame() {
        ByteBuffer b = ByteBuffer.allocateDirect(1 << 20);
        for (int i = 0; i < b.capacity(); i += 4096) b.put(i, (byte) 1);
        synchronized (frames) { frames.add(b); }
    }
    static void direct() {
        load(http(2), 1, () -> {
            decodeFrame();
            nap(25);
        });
    }

    // ---- finalizers
    static final class NativeImage {
        @Override
        protected void finalize() {
            nap(4);
        }
    }
    static void finalizers() {
        go("thumbs", forever(() -> {
            for (int i = 0; i < 100; i++) kept = new NativeImage();
            kept = new byte[200 << 10];
            nap(20);
        }));
    }

    // ---- commonpool: CompletableFuture tasks block the common pool
    static int slowLookup(int i) {
        nap(400);
        return i;
    }
    static void answer(int i) { sink += CompletableFuture.supplyAsync(() -> slowLookup(i)).join(); }
    static void commonpool() { load(http(8), 8, () -> answer(1)); }

    // ---- parallel: a parallel stream whose elements block
    static void importAll() { sink += IntStream.range(0, 64).parallel().map(Shop::slowLookup).sum(); }
    static void parallel() { load(http(6), 6, Shop::importAll); }

    // ---- reload: a periodic lock
    static final class PriceTable {
        private final Map<Integer, Integer> map = new HashMap<>();
        synchronized void refresh() {
            nap(60);
            map.put(map.size() % 100, 1);
        }
        synchronized int price(int id) {
            Integer p = map.get(id);
            return p == null ? 0 : p;
        }
    }
    static void reload() {
        PriceTable t = new PriceTable();
        Executors.newScheduledThreadPool(1, named("price-refresh-"))
            .scheduleWithFixedDelay(t::refresh, 10, 140, TimeUnit.MILLISECONDS);
        ExecutorService h = http(8);
        load(h, 8, () -> {
            sink += t.price(3);
            nap(5);
        });
    }

    // ---- classes: a class for each request
    public static final class Template {}
    static void renderTemplate() throws Exception {
        byte[] code;
        try (InputStream in = Shop.class.getResourceAsStream("Shop$Template.class")) {
            ByteArrayOutputStream o = new ByteArrayOutputStream();
            for (int c; (c = in.read()) >= 0;) o.write(c);
            code = o.toByteArray();
        }
        new ClassLoader(null) {
            Class<?> c() { return defineClass("Shop$Template", code, 0, code.length); }
        }.c()
            .getDeclaredConstructor()
            .newInstance();
    }
    static void classes() {
        load(http(2), 1, () -> {
            renderTemplate();
            nap(4);
        });
    }
    static final List<Object> loaders = new ArrayList<>();
    static void metaspace() { // keeps the loaders: metaspace fills to its limit and then each load collects
        load(http(2), 1, () -> {
            if (loaders.size() < 2400) {
                byte[] code;
                try (InputStream in = Shop.class.getResourceAsStream("Shop$Template.class")) {
                    ByteArrayOutputStream o = new ByteArrayOutputStream();
                    for (int c; (c = in.read()) >= 0;) o.write(c);
                    code = o.toByteArray();
                }
                try {
                    loaders.add(new ClassLoader(null) {
                        Class<?> c() { return defineClass("Shop$Template", code, 0, code.length); }
                    }.c());
                } catch (OutOfMemoryError e) { nap(20); }
            } else
                nap(100);
        });
    }

    // ---- timer: one thread for all timers, and one task that is slow
    static void buildReport() { nap(700); }
    static void heartbeat() { burn(1000); }
    static void timer() {
        ScheduledExecutorService t = Executors.newScheduledThreadPool(1, named("timer-"));
        t.scheduleAtFixedRate(Shop::buildReport, 0, 700, TimeUnit.MILLISECONDS);
        for (int i = 0; i < 10; i++) t.scheduleAtFixedRate(Shop::heartbeat, 0, 100, TimeUnit.MILLISECONDS);
    }

    static class Report extends TimerTask { @Override public void run() { buildReport(); } }
    static class ShortReport extends TimerTask { @Override public void run() { nap(300); } }
    static class Heartbeat extends TimerTask { @Override public void run() { heartbeat(); } }
    static void oldtimer() { // the same with a java.util.Timer
        java.util.Timer t = new java.util.Timer("timer-0");
        t.scheduleAtFixedRate(new Report(), 0, 700);
        for (int i = 0; i < 10; i++) t.scheduleAtFixedRate(new Heartbeat(), 0, 100);
    }

    // ---- fsync
    static void commit(FileChannel f) throws IOException {
        f.write(ByteBuffer.wrap(new byte[100]), 0);
        f.force(true);
    }
    static void fsync() throws Exception {
        FileChannel f = FileChannel.open(
            Files.createTempFile("shop", ".wal"), StandardOpenOption.WRITE, StandardOpenOption.DELETE_ON_CLOSE);
        load(http(4), 4, () -> { commit(f); });
    }

    // ---- deopt (needs -XX:-OmitStackTraceInFastThrow)
    static int lengthOf(String s) {
        try {
            return s.length();
        } catch (NullPointerException e) { return 0; }
    }
    static void deopt() {
        load(http(1), 1, () -> {
            for (int i = 0; i < 1000; i++) sink += lengthOf(i % 5 == 0 ? null : "abc");
        });
    }

    // ---- reflect: looks a method up for each call
    public static final class Bean {
        private int a, b, c, d;
        public int getA() { return a; }
        public int getB() { return b; }
        public int getC() { return c; }
        public int getD() { return d; }
    }
    static Object readProperty(Object o, String p) throws Exception {
        return o.getClass().getMethod("get" + p).invoke(o);
    }
    static void reflect() {
        Bean b = new Bean();
        load(http(1), 1, () -> {
            for (int i = 0; i < 100; i++) kept = readProperty(b, "D");
        });
    }

    // ---- exceptions
    static int parseQuantity(String s, int depth) {
        if (depth > 0)
            return parseQuantity(s, depth - 1);
        try {
            return Integer.parseInt(s);
        } catch (NumberFormatException e) { return 0; }
    }
    static void exceptions() {
        load(http(1), 1, () -> {
            for (int i = 0; i < 100; i++) sink += parseQuantity("n/a", 40);
        });
    }

    // ---- fds
    static void readSettings(List<Object> o) throws IOException {
        FileInputStream in = new FileInputStream("/dev/null");
        sink += in.read();
        o.add(in);
    }
    static void fds() {
        List<Object> o = Collections.synchronizedList(new ArrayList<>());
        load(http(1), 1, () -> {
            try {
                readSettings(o);
            } catch (IOException e) { nap(500); }
            nap(20);
        });
    }

    // ---- connpool: three connections, forty threads
    static final class ConnPool {
        final Deque<Integer> idle = new ArrayDeque<>();
        ConnPool(int n) {
            for (int i = 0; i < n; i++) idle.add(i);
        }
        synchronized int getConnection() throws InterruptedException {
            while (idle.isEmpty()) wait();
            return idle.poll();
        }
        synchronized void release(int c) {
            idle.add(c);
            notify();
        }
    }
    static void runQuery() { nap(100); }
    static void listOrders(ConnPool p) throws Exception {
        int c = p.getConnection();
        try {
            runQuery();
        } finally { p.release(c); }
    }
    static void connpool() {
        ConnPool p = new ConnPool(3);
        load(http(40), 40, () -> listOrders(p));
    }
    /** The same with all connections leaked. */
    static void connleak() {
        ConnPool p = new ConnPool(3);
        load(http(20), 20, () -> leakyList(p));
    }
    static void leakyList(ConnPool p) throws Exception {
        int c = p.getConnection();
        runQuery();
    }
    static void semleak() {
        Semaphore s = new Semaphore(3);
        load(http(12), 12, () -> checkout(s));
    }
    static void checkout(Semaphore s) throws Exception {
        payOnce(s);
        burn(100);
    }
    static void payOnce(Semaphore s) throws Exception {
        s.acquire();
        nap(50);
    }

    // ---- rrw: a writer that blocks readers
    static void rrw() {
        ReentrantReadWriteLock l = new ReentrantReadWriteLock();
        Map<Integer, Integer> m = new HashMap<>();
        go("index-writer", forever(() -> {
            rebuildIndex(l, m);
            nap(40);
        }));
        load(http(8), 8, () -> {
            sink += search(l, m);
            nap(3);
        });
    }
    static void rebuildIndex(ReentrantReadWriteLock l, Map<Integer, Integer> m) {
        l.writeLock().lock();
        try {
            nap(80);
            m.put(1, 1);
        } finally { l.writeLock().unlock(); }
    }
    static int search(ReentrantReadWriteLock l, Map<Integer, Integer> m) {
        l.readLock().lock();
        try {
            return m.size();
        } finally { l.readLock().unlock(); }
    }

    // ---- log: a synchronized logger on a slow disk
    static final class FileLogger {
        synchronized void write(String s) { append(s); }
        void append(String s) { nap(3); }
    }
    static void handleLogged(FileLogger l) {
        burn(500);
        l.write("x");
    }
    static void log() {
        FileLogger l = new FileLogger();
        load(http(8), 8, () -> handleLogged(l));
    }
    // ---- retry: tasks that sleep until something is there
    static void waitUntilReady() {
        for (int i = 0; i < 20; i++) {
            if (sink < 0)
                return;
            nap(100);
        }
    }
    static void placeOrder() {
        waitUntilReady();
        burn(1000);
    }
    static void retry() { load(http(8), 8, Shop::placeOrder); }

    // ---- spin: waits for a flag in a loop
    static volatile boolean ready;
    static void awaitReady() {
        while (!ready) {}
    }
    static void spin() { go("dispatcher", quiet(Shop::awaitReady)); }
    static void spinyield() {
        go("dispatcher", quiet(() -> {
            while (!ready) Thread.yield();
        }));
    }

    // ---- thrash: a nearly full heap
    static final List<byte[]> cache = new ArrayList<>();
    static void thrash() {
        long max = Runtime.getRuntime().maxMemory();
        for (long i = 0; i < max * 0.9 / 10240; i++) {
            try {
                cache.add(new byte[10240]);
            } catch (OutOfMemoryError e) {
                for (int k = 0; k < 200; k++) cache.remove(cache.size() - 1);
                break;
            }
        }
        load(http(2), 2, () -> {
            try {
                kept = new byte[2000];
            } catch (OutOfMemoryError e) {}
            burn(20);
        });
    }
    // ---- leak: heap fills slowly
    static void remember(long start) {
        while (cache.size() * 10240L < (System.nanoTime() - start) / 250) cache.add(new byte[10240]); // 4 MB a second
    }
    // ---- sysgc: calls System.gc() for each request
    static void closeSession() { System.gc(); }
    static void sysgc() {
        load(http(2), 1, () -> {
            closeSession();
            nap(20);
        });
    }

    // ---- slowconsumer: producers wait for a full queue
    static void emit(BlockingQueue<String> q) throws Exception { q.put("event"); }
    static void slowconsumer() {
        BlockingQueue<String> q = new ArrayBlockingQueue<>(100);
        go("indexer", forever(() -> {
            q.take();
            indexDocument();
        }));
        load(http(8), 8, () -> emit(q));
    }
    static void indexDocument() { nap(30); }
    static void slowconsumercpu() {
        BlockingQueue<String> q = new ArrayBlockingQueue<>(100);
        go("indexer", forever(() -> {
            q.take();
            parseDocument();
        }));
        load(http(8), 8, () -> emit(q));
    }
    static void parseDocument() { burn(30000); }

    // ---- deadlock
    static void transfer(Object a, Object b) {
        synchronized (a) {
            nap(50);
            synchronized (b) { sink++; }
        }
    }
    static void deadlock() {
        Object a = new Object(), b = new Object();
        ExecutorService h = http(4);
        h.execute(() -> transfer(a, b));
        h.execute(() -> transfer(b, a));
    }
    // ---- pooldead: tasks wait for subtasks in the same executor
    static int subtask() { return 1; }
    static void pooldead() {
        ExecutorService w = Executors.newFixedThreadPool(4, named("worker-"));
        CyclicBarrier all = new CyclicBarrier(4);
        for (int i = 0; i < 4; i++)
            w.execute(quiet(() -> {
                all.await();
                fanOut(w);
            }));
    }
    static void fanOut(ExecutorService w) throws Exception { sink += w.submit(Shop::subtask).get(); }
    // ---- chain: http threads wait for futures of an executor whose threads wait for a database
    static void chain(int port) throws Exception {
        BlockingQueue<DbConnection> c = new LinkedBlockingQueue<>();
        for (int i = 0; i < 2; i++) c.add(new DbConnection(port));
        ExecutorService q = Executors.newFixedThreadPool(2, named("db-exec-"));
        load(http(10), 10, () -> { sink += awaitRow(q, c); });
    }
    static int awaitRow(ExecutorService q, BlockingQueue<DbConnection> c) throws Exception {
        return q
            .submit(() -> {
                DbConnection d = c.take();
                try {
                    return readRow(d);
                } finally { c.add(d); }
            })
            .get();
    }
    static int readRow(DbConnection d) throws IOException { return d.execute(1); }
    // ---- clinit: threads wait for a slow static initializer
    static final class Config {
        static final int VALUE;
        static {
            nap(60000);
            VALUE = 7;
        }
        static int get() { return VALUE + (int) sink; }
    }
    static void clinit() {
        load(http(8), 8, () -> { readConfig(); });
    }
    static void readConfig() { sink += Config.get(); }
    // ---- clinitdead: two static initializers need each other's class
    static final class Left {
        static {
            nap(500);
            Right.touch();
        }
        static void touch() {}
    }
    static final class Right {
        static {
            nap(500);
            Left.touch();
        }
        static void touch() {}
    }
    static void clinitdead() {
        ExecutorService h = http(4);
        h.execute(Left::touch);
        h.execute(Right::touch);
    }
    // ---- process: each request starts a process and waits
    static void convert() throws Exception { new ProcessBuilder("sleep", "0.5").start().waitFor(); }
    static void process() { load(http(4), 4, Shop::convert); }
    // ---- slowclients: writes to clients that do not read
    static void slowclients() throws Exception {
        ServerSocket ss = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        ExecutorService h = http(8);
        go("acceptor", forever(() -> {
            Socket s = ss.accept();
            h.execute(quiet(() -> {
                for (;;) sendPage(s);
            }));
        }));
        Process p = new ProcessBuilder("python3", "-c",
            "import socket,time,sys\nl=[socket.create_connection(('127.0.0.1'," + ss.getLocalPort()
                + ")) for i in range(8)]\ntime.sleep(600)")
                        .start();
        Runtime.getRuntime().addShutdownHook(new Thread(p::destroy));
    }
    static void sendPage(Socket s) throws IOException { s.getOutputStream().write(new byte[65536]); }
    // ---- regex: catastrophic backtracking
    static void regex() {
        java.util.regex.Pattern p = java.util.regex.Pattern.compile("(a+)+b");
        load(http(1), 1, () -> { validate(p); });
    }
    static void validate(java.util.regex.Pattern p) { sink += p.matcher("aaaaaaaaaaaaaaaaaaaa").matches() ? 1 : 0; }
    // ---- dumps: a watchdog that dumps all threads
    static void dumps() {
        for (int i = 0; i < 200; i++) go("w" + i, forever(() -> nap(1000)));
        go("watchdog", forever(() -> {
            kept = Thread.getAllStackTraces();
            nap(1);
        }));
    }
    // ---- sumall: counted loop
    static final class Big { static final int[] big = new int[1 << 24]; }
    static int sumAll() {
        int s = 0;
        int[] b = Big.big;
        for (int i = 0; i < b.length; i++) s = s * 31 + b[i]; // each step needs the last one: tens of ms without a poll
        return s;
    }
    // ---- vlock: virtual threads behind one ReentrantLock
    static final ReentrantLock vl = new ReentrantLock();
    static void vsave() {
        vl.lock();
        try {
            nap(5);
        } finally { vl.unlock(); }
    }
    static void vlock() {
        for (int i = 0; i < 50; i++)
            vthread("req-" + i, forever(() -> {
                vsave();
                nap(2);
            }));
    }
    // ---- vsem: virtual threads behind a semaphore
    static void vsem() {
        Semaphore s = new Semaphore(4);
        for (int i = 0; i < 60; i++) vthread("req-" + i, forever(() -> vcall(s)));
    }
    static void vcall(Semaphore s) throws Exception {
        s.acquire();
        try {
            nap(50);
        } finally { s.release(); }
    }

    // ---- async: each request waits for the future of an asynchronous client whose answers take long
    static final ScheduledExecutorService wire = Executors.newScheduledThreadPool(1, named("wire-"));
    static CompletableFuture<Integer> sendAsync() {
        CompletableFuture<Integer> f = new CompletableFuture<>();
        wire.schedule(() -> f.complete(1), 300, TimeUnit.MILLISECONDS);
        return f;
    }
    static void fetchQuote() { sink += sendAsync().join(); }
    static void async() {
        load(http(8), 8, () -> {
            fetchQuote();
            burn(200);
        });
    }
    /** The same where it is an own pool with blocking work: 2 threads for 10 requests. */
    static void report2() { nap(80); }
    static void ownpool() {
        ExecutorService w = Executors.newFixedThreadPool(2, named("report-"));
        load(http(10), 10, () -> { awaitReport(w); });
    }
    static void awaitReport(ExecutorService w) throws Exception { w.submit(Shop::report2).get(); }
    static void ownpoolcpu() {
        ExecutorService w = Executors.newFixedThreadPool(1, named("report-"));
        load(http(10), 10, () -> { awaitChart(w); });
    }
    static void awaitChart(ExecutorService w) throws Exception { w.submit(Shop::drawChart).get(); }
    static void drawChart() { burn(20000); }
    // ---- intern: an interned string as a lock
    static void intern() {
        load(http(6), 6, () -> { updateUser("user-" + 7); });
    }
    static void updateUser(String id) {
        synchronized (id.intern()) { nap(30); }
    }
    // ---- date: a shared SimpleDateFormat behind a lock, on CPU
    static final java.text.SimpleDateFormat FORMAT = new java.text.SimpleDateFormat("yyyy-MM-dd HH:mm:ss zzz");
    static String stamp() {
        synchronized (FORMAT) { return FORMAT.format(new Date()); }
    }
    static void date() {
        load(http(6), 6, () -> {
            for (int i = 0; i < 2000; i++) kept = stamp();
            nap(1);
        });
    }
    // ---- listscan: contains on a list
    static final List<Integer> seen = new ArrayList<>();
    static boolean isDuplicate(int id) { return seen.contains(id); }
    static void listscan() {
        for (int i = 0; i < 20000; i++) seen.add(i);
        load(http(2), 2, () -> {
            sink += isDuplicate(-1) ? 1 : 0;
            nap(1);
        });
    }

    // ---- reserve: a header and a body in two writes, to a peer that acknowledges after 40 ms
    static final class StockClient {
        final Socket s;
        StockClient(Socket s) { this.s = s; }
        int reserve(int id) throws IOException {
            s.getOutputStream().write(new byte[4]);
            s.getOutputStream().write(new byte[60]);
            return s.getInputStream().read();
        }
    }
    static void reserve(int port) throws Exception {
        BlockingQueue<StockClient> clients = new LinkedBlockingQueue<>();
        for (int i = 0; i < 4; i++) clients.add(new StockClient(new Socket("127.0.0.1", port)));
        load(http(4), 4, () -> {
            StockClient c = clients.take();
            sink += c.reserve(7);
            clients.add(c);
        });
    }
    /** The peer of reserve: answers each 64 bytes. */
    static void stock() throws Exception {
        ServerSocket ss = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        System.out.println("port " + ss.getLocalPort());
        for (;;) {
            Socket s = ss.accept();
            go("stock", quiet(() -> {
                for (DataInputStream in = new DataInputStream(s.getInputStream());;) {
                    in.readFully(new byte[64]);
                    s.getOutputStream().write(1);
                }
            }));
        }
    }
    // ---- httpclient: the same as slowhttp with java.net.http, whose own thread reads the answers
    static void httpclient(int port) throws Exception {
        String http = "java.net.http.Http";
        Class<?> client = Class.forName(http + "Client"), request = Class.forName(http + "Request");
        Object builder = request.getMethod("newBuilder", URI.class).invoke(null, URI.create("http://127.0.0.1:" + port + "/price"));
        Object get = Class.forName(http + "Request$Builder").getMethod("build").invoke(builder);
        Object text = Class.forName(http + "Response$BodyHandlers").getMethod("ofString").invoke(null);
        Method send = client.getMethod("send", request, Class.forName(http + "Response$BodyHandler"));
        Object one = client.getMethod("newHttpClient").invoke(null);
        load(http(8), 8, () -> priceOf(send, one, get, text));
    }
    static void priceOf(Method send, Object client, Object get, Object text) throws Exception { kept = send.invoke(client, get, text); }
    // ---- payment: a semaphore in a method whose name may be that of a loop
    static final class PaymentService {
        final Semaphore slots = new Semaphore(2);
        void processPayment() throws Exception {
            slots.acquire();
            try {
                callBank();
            } finally { slots.release(); }
        }
        void callBank() { nap(150); }
    }
    static void payment() {
        PaymentService p = new PaymentService();
        load(http(10), 10, p::processPayment);
    }
    // ---- cleaner: cleaning actions that take longer than objects live
    static void freeTexture() { nap(3); }
    static void cleaner() throws Exception {
        Object c = Class.forName("java.lang.ref.Cleaner").getMethod("create").invoke(null);
        Method register = c.getClass().getMethod("register", Object.class, Runnable.class);
        go("render", forever(() -> {
            for (int i = 0; i < 20; i++) register.invoke(c, new byte[2000], (Runnable) Shop::freeTexture);
            kept = new byte[300 << 10];
            nap(20);
        }));
    }

    // ================= healthy
    static void ok_candidates() { // threads that try to become the leader, with a timeout
        ReentrantLock leader = new ReentrantLock();
        go("leader", quiet(() -> {
            leader.lock();
            for (;;) nap(1000);
        }));
        nap(100);
        for (int i = 0; i < 3; i++)
            go("candidate-" + i, forever(() -> {
                if (leader.tryLock(2, TimeUnit.SECONDS))
                    sink++;
                nap(50);
            }));
    }
    static void ok_bot(int port) throws Exception { // one thread of an executor that polls for rare news
        DbConnection c = new DbConnection(port);
        http(1).execute(forever(() -> { getUpdates(c); }));
        load(http(4), 4, () -> {
            burn(400);
            nap(10);
        });
    }
    static void getUpdates(DbConnection c) throws IOException { sink += c.execute(1); }
    static void ok_accept() throws Exception { // threads that accept connections in turn, of which there are few
        ServerSocket ss = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        for (int i = 0; i < 6; i++)
            go("worker-" + i, forever(() -> {
                try (Socket s = ss.accept()) { sink += s.getInputStream().read(); }
            }));
        Process p = new ProcessBuilder("python3", "-c",
            "import socket,time\nwhile 1: s=socket.create_connection(('127.0.0.1'," + ss.getLocalPort()
                + ")); s.sendall(b'x'); s.close(); time.sleep(0.05)")
                        .start();
        Runtime.getRuntime().addShutdownHook(new Thread(p::destroy));
    }
    static void ok_gobble() throws Exception { // two threads of an executor that copy what a child process writes
        Process p = new ProcessBuilder("sh", "-c", "while sleep 1; do echo x; done").start();
        Runtime.getRuntime().addShutdownHook(new Thread(p::destroy));
        ExecutorService e = Executors.newCachedThreadPool(named("copy-"));
        e.execute(quiet(() -> copy(p.getInputStream())));
        e.execute(quiet(() -> copy(p.getErrorStream())));
    }
    static void copy(InputStream in) throws IOException { pump(in); }
    /** Workers that wait for a signal in a class of its own. */
    static final class Tiles {
        final Semaphore items = new Semaphore(0);
        void renderForever() throws Exception {
            for (;;) renderOne();
        }
        void renderOne() throws Exception {
            Signal.obtain(items);
            burn(700);
        }
    }
    static final class Signal {
        static void obtain(Semaphore s) throws Exception { s.acquire(); }
    }
    static void ok_signal() {
        Tiles t = new Tiles();
        ExecutorService e = Executors.newFixedThreadPool(6, named("render-"));
        for (int i = 0; i < 6; i++) e.execute(quiet(t::renderForever));
        go("producer", forever(() -> {
            t.items.release();
            nap(10);
        }));
    }
    /** Long polls beside requests that compute. */
    static final class Room {
        long last;
        synchronized void post() {
            last++;
            notifyAll();
        }
        synchronized void newer() throws Exception {
            long at = last, end = System.nanoTime() + 3000000000L;
            while (last == at && System.nanoTime() < end) wait(3000);
        }
    }
    static void ok_chat() {
        Room r = new Room();
        AtomicInteger n = new AtomicInteger();
        go("speaker", forever(() -> {
            nap(700);
            r.post();
        }));
        load(http(24), 24, () -> {
            if (n.incrementAndGet() % 12 == 0)
                burn(400000);
            else
                r.newer();
        });
    }
    static void ok_vtask() {
        ExecutorService v;
        try {
            v = (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        } catch (ReflectiveOperationException e) { throw new RuntimeException(e); }
        load(http(8), 8, () -> {
            Future<?> a = v.submit(() -> nap(30)), b = v.submit(() -> nap(40));
            a.get();
            b.get();
            burn(300);
        });
    }
    static void ok_cached() {
        ExecutorService c = Executors.newCachedThreadPool(named("io-"));
        load(http(8), 8, () -> {
            Future<?> a = c.submit(() -> nap(30)), b = c.submit(() -> nap(40));
            a.get();
            b.get();
            burn(300);
        });
    }
    /** Asynchronous answers beside an executor whose tasks are endless. */
    static void ok_loops() {
        ok_async();
        ok_sleepers();
        ExecutorService e = Executors.newFixedThreadPool(3, named("tail-"));
        for (int i = 0; i < 3; i++)
            e.submit(forever(() -> {
                pollMailbox();
                nap(100);
            }));
    }
    /** A poll in a task with a fixed delay. */
    static void ok_fixeddelay() {
        Executors.newScheduledThreadPool(1, named("poll-"))
            .scheduleWithFixedDelay(() -> nap(1000), 0, 1, TimeUnit.MILLISECONDS);
    }
    /** One writer, four readers of a file: the queue between them is full now and then. */
    static void ok_pipeline() {
        BlockingQueue<byte[]> q = new ArrayBlockingQueue<>(10);
        go("writer", forever(() -> {
            q.take();
            burn(900);
        }));
        for (int i = 0; i < 2; i++)
            go("reader-" + i, forever(() -> {
                burn(500);
                q.put(new byte[10]);
            }));
    }
    static void ok_async() {
        load(http(8), 8, () -> {
            sink += sendAsync().join();
            burn(200);
        });
    }
    static int accept1() throws Exception {
        ServerSocket ss = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        ExecutorService h = http(20);
        go("acceptor", forever(() -> {
            Socket s = ss.accept();
            h.execute(quiet(() -> {
                BufferedReader r = new BufferedReader(new InputStreamReader(s.getInputStream()));
                String l;
                while ((l = r.readLine()) != null) {
                    burn(300);
                    s.getOutputStream().write((l + "\n").getBytes());
                }
            }));
        }));
        return ss.getLocalPort();
    }
    static void ok_idle() throws Exception {
        accept1();
        ExecutorService e = http(20);
        for (int i = 0; i < 20; i++) e.execute(() -> sink++);
        Executors.newScheduledThreadPool(2, named("timer-"))
            .scheduleAtFixedRate(() -> burn(500), 0, 1, TimeUnit.SECONDS);
    }
    static void ok_keepalive(int clients) throws Exception { // connections from another process, mostly idle
        int port = accept1();
        Process p = new ProcessBuilder("python3", "-c",
            "import socket,time\nl=[socket.create_connection(('127.0.0.1'," + port
                + ")) for i in range(15)]\nwhile 1:\n for s in l:\n  s.sendall(b'hello\\n'); s.recv(100); time.sleep(0.05)")
                        .start();
        Runtime.getRuntime().addShutdownHook(new Thread(p::destroy));
    }
    static void ok_workers() {
        BlockingQueue<Integer> q = new LinkedBlockingQueue<>();
        ExecutorService e = Executors.newFixedThreadPool(4, named("worker-"));
        go("feeder", forever(() -> {
            e.execute(() -> burn(800));
            nap(4);
        }));
    }
    static void ok_batch() {
        for (int i = 0; i < 2; i++)
            go("batch-" + i, forever(() -> {
                Map<String, Integer> m = new HashMap<>();
                for (int k = 0; k < 2000; k++) m.merge("k" + k % 300, 1, Integer::sum);
                sink += m.size();
            }));
    }
    static void ok_timers() {
        ScheduledExecutorService t = Executors.newScheduledThreadPool(4, named("timer-"));
        for (int i = 0; i < 6; i++) t.scheduleAtFixedRate(() -> burn(2000), 7 * i, 60, TimeUnit.MILLISECONDS);
        Timer tt = new Timer("cleanup", true);
        tt.schedule(new TimerTask() {
            public void run() { burn(200); }
        }, 0, 50);
    }
    static void ok_prodcons() {
        BlockingQueue<byte[]> q = new ArrayBlockingQueue<>(50);
        for (int i = 0; i < 3; i++)
            go("producer-" + i, forever(() -> {
                burn(500);
                q.put(new byte[100]);
                nap(3);
            }));
        for (int i = 0; i < 3; i++)
            go("consumer-" + i, forever(() -> {
                byte[] b = q.take();
                burn(500);
                sink += b.length;
            }));
    }
    static void ok_longpoll() { // clients wait for a change up to 5 s
        Object board = new Object();
        AtomicInteger version = new AtomicInteger();
        go("publisher", forever(() -> {
            nap(800);
            version.incrementAndGet();
            synchronized (board) { board.notifyAll(); }
        }));
        load(http(20), 20, () -> longPoll(board, version));
    }
    static void longPoll(Object b, AtomicInteger v) throws Exception {
        sink += new Feed().changesSince(b, v, v.get());
        burn(300);
    }
    static final class Feed {
        int changesSince(Object b, AtomicInteger v, int last) throws Exception {
            synchronized (b) {
                long end = System.nanoTime() + 5000000000L;
                while (v.get() == last && System.nanoTime() < end) b.wait(5000);
            }
            return v.get();
        }
    }
    static void ok_subscriber(int port) throws Exception { // four connections that wait for rare messages of a broker
        for (int i = 0; i < 4; i++) {
            Socket s = new Socket("127.0.0.1", port);
            s.getOutputStream().write(1);
            DataInputStream in = new DataInputStream(s.getInputStream());
            go("stream-" + i, quiet(() -> new Stream1(in).follow()));
        }
    }
    static final class Stream1 {
        final DataInputStream in;
        Stream1(DataInputStream in) { this.in = in; }
        void follow() throws IOException {
            for (;;) dispatch(nextLine());
        }
        int nextLine() throws IOException { return decode(); }
        int decode() throws IOException { return in.readInt(); }
        void dispatch(int m) { burn(200); }
    }
    static void ok_nio() throws Exception {
        Selector sel = Selector.open();
        ServerSocketChannel ss = ServerSocketChannel.open();
        ss.bind(new InetSocketAddress("127.0.0.1", 0));
        ss.configureBlocking(false);
        ss.register(sel, SelectionKey.OP_ACCEPT);
        go("event-loop", forever(() -> {
            sel.select();
            Iterator<SelectionKey> it = sel.selectedKeys().iterator();
            while (it.hasNext()) {
                SelectionKey k = it.next();
                it.remove();
                if (k.isAcceptable()) {
                    SocketChannel c = ss.accept();
                    c.configureBlocking(false);
                    c.register(sel, SelectionKey.OP_READ);
                } else {
                    ByteBuffer b = ByteBuffer.allocate(100);
                    SocketChannel c = (SocketChannel) k.channel();
                    if (c.read(b) < 0)
                        c.close();
                    else {
                        burn(100);
                        b.flip();
                        c.write(b);
                    }
                }
            }
        }));
        int port = ((InetSocketAddress) ss.getLocalAddress()).getPort();
        Process p = new ProcessBuilder("python3", "-c",
            "import socket,time\nl=[socket.create_connection(('127.0.0.1'," + port
                + ")) for i in range(15)]\nwhile 1:\n for s in l:\n  s.sendall(b'hello\\n'); s.recv(100); time.sleep(0.01)")
                        .start();
        Runtime.getRuntime().addShutdownHook(new Thread(p::destroy));
    }
    static void ok_barrier() {
        CyclicBarrier b = new CyclicBarrier(4);
        for (int i = 0; i < 4; i++) {
            int k = i;
            go("sim-" + i, forever(() -> {
                burn(2000 + 300 * k);
                nap(4);
                b.await();
            }));
        }
    }
    static void ok_process() throws Exception {
        Process p = new ProcessBuilder("sh", "-c", "while sleep 2; do echo x; done").start();
        Runtime.getRuntime().addShutdownHook(new Thread(p::destroy));
        go("out-pump", quiet(() -> pump(p.getInputStream())));
        go("err-pump", quiet(() -> pump(p.getErrorStream())));
        go("waiter", quiet(() -> p.waitFor()));
    }
    static void pump(InputStream in) throws IOException {
        BufferedReader r = new BufferedReader(new InputStreamReader(in));
        String l;
        while ((l = r.readLine()) != null) sink += l.length();
    }
    static void ok_sleepers() {
        ExecutorService e = Executors.newFixedThreadPool(6, named("poller-"));
        for (int i = 0; i < 6; i++)
            e.execute(forever(() -> {
                pollMailbox();
                nap(200);
            }));
    }
    static void pollMailbox() { burn(300); }
    static void ok_virtual() {
        for (int i = 0; i < 1000; i++)
            vthread("session-" + i, forever(() -> {
                nap(500);
                burn(50);
            }));
    }
    static void ok_standby() {
        ReentrantLock leader = new ReentrantLock();
        go("leader", quiet(() -> {
            leader.lock();
            for (;;) {
                nap(100);
                burn(100);
            }
        }));
        nap(100);
        go("standby", quiet(() -> {
            leader.lock();
            sink++;
        }));
    }
    static void ok_forkjoin() {
        go("batch", forever(() -> {
            sink += IntStream.range(0, 4000)
                        .parallel()
                        .map(x -> {
                            int s = x;
                            for (int k = 0; k < 2000; k++) s = s * 31 + k;
                            return s;
                        })
                        .sum();
            nap(20);
        }));
    }
    static void ok_alloc() {
        load(http(2), 2, () -> {
            List<String> l = new ArrayList<>();
            for (int i = 0; i < 500; i++) l.add("line " + i);
            kept = l;
            nap(2);
        });
    }
    static void ok_locks() {
        Object m = new Object();
        load(http(8), 8, () -> {
            burn(300);
            synchronized (m) { sink++; }
            nap(4);
        });
    }
    static void ok_files() {
        load(http(2), 2, () -> {
            Path t = Files.createTempFile("shop", ".tmp");
            Files.write(t, new byte[2000]);
            sink += Files.readAllBytes(t).length;
            Files.delete(t);
            nap(5);
        });
    }
    static void ok_warm() throws Exception {
        for (int i = 0; i < 3; i++) load(http(1), 1, () -> nap(50));
        go("startup", quiet(() -> {
            for (int i = 0; i < 3000; i++) {
                renderTemplate();
                nap(3);
            }
        }));
    }
    static void ok_futures() { // short async stages on the common pool
        load(http(4), 4, () -> {
            CompletableFuture<Integer> a = CompletableFuture.supplyAsync(() -> {
                burn(300);
                return 1;
            }),
                                       b = CompletableFuture.supplyAsync(() -> {
                                           burn(300);
                                           return 2;
                                       });
            sink += a.thenCombine(b, Integer::sum).get();
            nap(8);
        });
    }
    static void ok_direct() { // direct buffers that are freed by collections, and some that are reused
        go("churn", forever(() -> {
            kept = new byte[1 << 16];
            nap(1);
        }));
        ByteBuffer reused = ByteBuffer.allocateDirect(1 << 20);
        load(http(2), 1, () -> {
            ByteBuffer b = ByteBuffer.allocateDirect(1 << 20);
            for (int i = 0; i < b.capacity(); i += 4096) b.put(i, reused.get(i));
            nap(25);
        });
    }
    static void ok_growing() { // a heap that grows beside direct buffers that do not
        ok_direct();
        go("sessions", forever(() -> {
            if (cache.size() < 9000)
                cache.add(new byte[10240]);
            nap(1);
        }));
    }
    static void ok_ratetimer() { // periodic tasks of one thread that end in time
        ScheduledExecutorService t = Executors.newScheduledThreadPool(1, named("timer-"));
        t.scheduleAtFixedRate(() -> nap(300), 0, 700, TimeUnit.MILLISECONDS);
        for (int i = 0; i < 4; i++) t.scheduleAtFixedRate(Shop::heartbeat, 0, 100, TimeUnit.MILLISECONDS);
    }
    static void ok_oldtimer() {
        java.util.Timer t = new java.util.Timer("timer-0");
        t.scheduleAtFixedRate(new ShortReport(), 0, 700);
        for (int i = 0; i < 4; i++) t.scheduleAtFixedRate(new Heartbeat(), 0, 100);
    }
    static void ok_job() throws Exception { // executors that each run one long process
        ExecutorService e = Executors.newFixedThreadPool(2, named("job-"));
        for (int i = 0; i < 2; i++)
            e.submit(() -> runJob());
    }
    static int runJob() throws Exception { return new ProcessBuilder("sleep", "60").start().waitFor(); }
    static void ok_import() { // one caller of a parallel stream that waits
        go("import", forever(Shop::importAll));
    }
    static final class Settings { // one slow static initializer at the start
        static {
            nap(1500);
        }
        static void touch() {}
    }
    static void ok_clinit() {
        load(http(3), 3, () -> {
            Settings.touch();
            burn(200);
            nap(5);
        });
    }
    static void ok_stdin() {
        go("console", quiet(() -> {
            BufferedReader r = new BufferedReader(new InputStreamReader(System.in));
            for (;;)
                if (readCommandLine(r) == null)
                    return;
        }));
    }
    static String readCommandLine(BufferedReader r) throws IOException { return r.readLine(); }
    static void ok_cache() throws Exception { // a load now and then by one thread, others seldom need it
        ConcurrentHashMap<Integer, String> c = new ConcurrentHashMap<>();
        AtomicInteger k = new AtomicInteger();
        load(http(6), 6, () -> {
            sink += c.computeIfAbsent(k.incrementAndGet() / 100, x -> {
                         nap(5);
                         return "v";
                     }).length();
            if (c.size() > 1000)
                c.clear();
            nap(10);
        });
    }

    public static void main(String[] a) throws Exception {
        String mode = a[0];
        int arg = a.length > 1 ? Integer.parseInt(a[1]) : 0;
        if (mode.equals("db")) {
            db(arg);
            return;
        }
        if (mode.equals("stock")) {
            stock();
            return;
        }
        if (mode.equals("httpd")) {
            httpd(arg);
            return;
        }
        if (mode.equals("sumall")) {
            go("report", forever(() -> { sink += sumAll(); }));
            go("alloc", forever(() -> {
                kept = new byte[1 << 16];
                nap(0);
            }));
        } else if (mode.equals("leak")) {
            long start = System.nanoTime();
            go("sessions", forever(() -> {
                remember(start);
                nap(1);
            }));
        } else
            try {
                Shop.class.getDeclaredMethod(mode).invoke(null);
            } catch (NoSuchMethodException e) { Shop.class.getDeclaredMethod(mode, int.class).invoke(null, arg); }
        System.err.println("ready");
        Thread.sleep(3600000);
    }
}
