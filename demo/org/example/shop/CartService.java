// SPDX-License-Identifier: Apache-2.0
// Carts of all customers behind one lock: the contention that a profile should show.
package org.example.shop;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

final class CartService {
    private static final int KEEP = 40;
    private final Map<Integer, List<BigDecimal>> carts = new HashMap<>();
    private long orders;

    /** Adds a line to a customer's cart; returns the new total. */
    synchronized BigDecimal add(int customer, BigDecimal price) {
        List<BigDecimal> lines = carts.computeIfAbsent(customer, c -> new ArrayList<>());
        if (lines.size() == KEEP) {
            lines.clear();
            orders++;
        }
        lines.add(price);
        return total(lines);
    }

    synchronized long orders() {
        return orders;
    }

    private static BigDecimal total(List<BigDecimal> lines) {
        BigDecimal sum = BigDecimal.ZERO;
        for (BigDecimal line : lines) {
            sum = sum.add(line);
        }
        return sum;
    }
}
