// SPDX-License-Identifier: Apache-2.0
// Prices: floating-point work in tight loops, and exact money at the end.
package org.example.shop;

import java.math.BigDecimal;
import java.math.RoundingMode;

final class PriceEngine {
    private static final BigDecimal TAX = new BigDecimal("1.19");
    private final double[] demand = new double[365];

    PriceEngine() {
        for (int day = 0; day < demand.length; day++) {
            demand[day] = 1.0 + 0.3 * Math.sin(2 * Math.PI * day / 7) + 0.1 * Math.cos(2 * Math.PI * day / 365);
        }
    }

    /** What a customer pays for so many of a product, tax and shipping included. */
    BigDecimal quote(Product product, int quantity, int day) {
        double factor = demandFactor(product, day) * volumeDiscount(quantity);
        BigDecimal net = BigDecimal.valueOf(product.cents, 2)
            .multiply(BigDecimal.valueOf(factor * quantity));
        return net.multiply(TAX).add(shipping(product.weightKg * quantity)).setScale(2, RoundingMode.HALF_EVEN);
    }

    /** Smoothed demand of the coming weeks, as this product's season sees it. */
    private double demandFactor(Product product, int day) {
        double level = 1;
        double trend = 0;
        for (int i = 0; i < demand.length; i++) {
            double seen = demand[(day + product.sku + i) % demand.length];
            double before = level;
            level = 0.2 * seen + 0.8 * (level + trend);
            trend = 0.1 * (level - before) + 0.9 * trend;
        }
        return Math.max(0.8, Math.min(1.2, level));
    }

    private static double volumeDiscount(int quantity) {
        return Math.max(0.7, 1 - Math.log1p(quantity - 1) / 12);
    }

    private static BigDecimal shipping(double kilograms) {
        return new BigDecimal("4.90").add(BigDecimal.valueOf(Math.sqrt(kilograms)).movePointLeft(1));
    }
}
