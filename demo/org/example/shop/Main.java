// SPDX-License-Identifier: Apache-2.0
// The demo: a small shop service under steady load, for watching with jhot.
package org.example.shop;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * usage: Main [MINUTES]    how long the shop stays open, 60 unless told
 *
 * http-* answer requests, customer-* make them, order-archive compresses, metrics sorts; db-pool-* and
 * mail-sender wait, as most threads of a service do. It uses a good part of one core, whatever the machine.
 */
public final class Main {
    private static final int WORKERS = 4;
    private static final int CUSTOMERS = 8;

    private Main() {
    }

    public static void main(String[] args) throws InterruptedException {
        long minutes = args.length > 0 ? Long.parseLong(args[0]) : 60;
        Catalog catalog = new Catalog(4000, 7);
        OrderArchive archive = new OrderArchive();
        Metrics metrics = new Metrics();
        CartService carts = new CartService();
        Gateway gateway = new Gateway(catalog, new PriceEngine(), carts, archive);

        AtomicInteger worker = new AtomicInteger();
        ExecutorService http = Executors.newFixedThreadPool(WORKERS,
            task -> daemon("http-" + worker.incrementAndGet(), task));
        daemon("order-archive", archive).start();
        daemon("metrics", metrics).start();
        startIdle("db-pool-", 3);
        startIdle("mail-sender-", 1);
        for (int i = 1; i <= CUSTOMERS; i++) {
            daemon("customer-" + i, new Customer(i, gateway, metrics, http, catalog.size())).start();
        }

        System.out.println("shop: open");
        Thread.sleep(minutes * 60_000);
        System.out.println("shop: closed after " + carts.orders() + " orders, "
            + archive.archivedBytes() + " bytes archived; " + metrics.summary());
    }

    private static Thread daemon(String name, Runnable task) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        return thread;
    }

    /** Threads that wait for work which never comes. */
    private static void startIdle(String prefix, int count) {
        LinkedBlockingQueue<Runnable> work = new LinkedBlockingQueue<>();
        for (int i = 1; i <= count; i++) {
            daemon(prefix + i, () -> {
                try {
                    while (true) {
                        work.take().run();
                    }
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }).start();
        }
    }
}
