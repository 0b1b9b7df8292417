// SPDX-License-Identifier: Apache-2.0
// One thing on sale.
package org.example.shop;

final class Product {
    final int sku;
    final String title;
    final long cents;
    final double weightKg;

    Product(int sku, String title, long cents, double weightKg) {
        this.sku = sku;
        this.title = title;
        this.cents = cents;
        this.weightKg = weightKg;
    }
}
