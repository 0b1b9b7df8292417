// SPDX-License-Identifier: Apache-2.0
// A simulated customer: makes requests, waits a little, never leaves.
package org.example.shop;

import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

final class Customer implements Runnable {
    private final int number;
    private final Gateway gateway;
    private final Metrics metrics;
    private final ExecutorService http;
    private final int products;
    private final Random random;

    Customer(int number, Gateway gateway, Metrics metrics, ExecutorService http, int products) {
        this.number = number;
        this.gateway = gateway;
        this.metrics = metrics;
        this.http = http;
        this.products = products;
        this.random = new Random(number);
    }

    @Override
    public void run() {
        try {
            while (true) {
                String body = random.nextInt(100) < 40 ? searchBody() : cartBody();
                long start = System.nanoTime();
                http.submit(() -> gateway.handle(body)).get();
                metrics.record(System.nanoTime() - start);
                TimeUnit.MICROSECONDS.sleep(200 + random.nextInt(1600));
            }
        } catch (InterruptedException | RejectedExecutionException e) {
            Thread.currentThread().interrupt();
        } catch (java.util.concurrent.ExecutionException e) {
            throw new IllegalStateException("a request failed", e);
        }
    }

    private String searchBody() {
        return "{\"path\": \"/search\", \"day\": " + random.nextInt(365)
            + ", \"query\": \"" + Catalog.someQuery(random) + "\"}";
    }

    private String cartBody() {
        StringBuilder body = new StringBuilder(200)
            .append("{\"path\": \"/cart\", \"day\": ").append(random.nextInt(365))
            .append(", \"customer\": ").append(number)
            .append(", \"note\": \"leave at the \\u0022red\\u0022 door\\n\", \"lines\": [");
        int lines = 1 + random.nextInt(12);
        for (int i = 0; i < lines; i++) {
            body.append(i == 0 ? "" : ", ")
                .append("{\"sku\": ").append(random.nextInt(products))
                .append(", \"quantity\": ").append(1 + random.nextInt(5)).append('}');
        }
        return body.append("]}").toString();
    }
}
