// SPDX-License-Identifier: Apache-2.0
// One request, from its JSON text to its JSON answer.
package org.example.shop;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

final class Gateway {
    private final Catalog catalog;
    private final PriceEngine prices;
    private final CartService carts;
    private final OrderArchive archive;

    Gateway(Catalog catalog, PriceEngine prices, CartService carts, OrderArchive archive) {
        this.catalog = catalog;
        this.prices = prices;
        this.carts = carts;
        this.archive = archive;
    }

    String handle(String body) {
        Map<String, Object> request = Json.readObject(body);
        String path = (String) request.get("path");
        String answer = Json.write(path.equals("/search") ? search(request) : addToCart(request));
        archive.offer(answer);
        return answer;
    }

    private Map<String, Object> search(Map<String, Object> request) {
        List<Object> rows = new ArrayList<>();
        for (Product product : catalog.search((String) request.get("query"), 10)) {
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("sku", product.sku);
            row.put("title", product.title);
            row.put("price", prices.quote(product, 1, day(request)));
            rows.add(row);
        }
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("results", rows);
        return answer;
    }

    private Map<String, Object> addToCart(Map<String, Object> request) {
        BigDecimal total = BigDecimal.ZERO;
        int customer = ((Long) request.get("customer")).intValue();
        for (Object line : (List<?>) request.get("lines")) {
            Map<?, ?> fields = (Map<?, ?>) line;
            Product product = catalog.find(((Long) fields.get("sku")).intValue());
            int quantity = ((Long) fields.get("quantity")).intValue();
            total = carts.add(customer, prices.quote(product, quantity, day(request)));
        }
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("customer", customer);
        answer.put("total", total);
        return answer;
    }

    private static int day(Map<String, Object> request) {
        return ((Long) request.get("day")).intValue();
    }
}
