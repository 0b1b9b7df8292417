// SPDX-License-Identifier: Apache-2.0
// Products and a word index over their titles: hashing, string and allocation work.
package org.example.shop;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;

final class Catalog {
    private static final String[] COLOURS = {"red", "green", "blue", "black", "white", "amber"};
    private static final String[] KINDS = {
        "kettle", "lamp", "chair", "table", "bicycle", "tent", "jacket", "rope", "stove", "compass",
        "bottle", "backpack", "boots", "map", "torch", "hammock",
    };
    private static final String[] LINES = {"Alpine", "Harbour", "Studio", "Meadow", "Northern", "City"};

    private final Map<Integer, Product> bySku = new HashMap<>();
    private final Map<String, List<Product>> byWord = new HashMap<>();

    Catalog(int size, long seed) {
        Random random = new Random(seed);
        for (int sku = 0; sku < size; sku++) {
            String title = pick(LINES, random) + " " + pick(COLOURS, random) + " " + pick(KINDS, random)
                + " No. " + (sku % 40);
            Product product = new Product(sku, title, 500 + random.nextInt(50_000), random.nextDouble() * 9);
            bySku.put(sku, product);
            for (String word : Tokenizer.words(title)) {
                byWord.computeIfAbsent(word, w -> new ArrayList<>()).add(product);
            }
        }
    }

    private static String pick(String[] of, Random random) {
        return of[random.nextInt(of.length)];
    }

    /** A query as a customer would type it. */
    static String someQuery(Random random) {
        return pick(COLOURS, random) + " " + pick(KINDS, random).toUpperCase(Locale.ROOT) + "!";
    }

    Product find(int sku) {
        return bySku.get(sku);
    }

    int size() {
        return bySku.size();
    }

    /** The best matches: products that share most words with the query, cheap ones first. */
    List<Product> search(String query, int limit) {
        Map<Product, Integer> hits = new HashMap<>();
        for (String word : Tokenizer.words(query)) {
            for (Product product : byWord.getOrDefault(word, List.of())) {
                hits.merge(product, 1, Integer::sum);
            }
        }
        List<Map.Entry<Product, Integer>> ranked = new ArrayList<>(hits.entrySet());
        ranked.sort((a, b) -> {
            int byHits = b.getValue() - a.getValue();
            return byHits != 0 ? byHits : Long.compare(a.getKey().cents, b.getKey().cents);
        });
        List<Product> best = new ArrayList<>();
        for (Map.Entry<Product, Integer> entry : ranked.subList(0, Math.min(limit, ranked.size()))) {
            best.add(entry.getKey());
        }
        return best;
    }

    /** Words of a text: lower case, letters and digits. */
    static final class Tokenizer {
        private Tokenizer() {
        }

        static List<String> words(String text) {
            List<String> words = new ArrayList<>();
            int from = -1;
            for (int i = 0; i <= text.length(); i++) {
                boolean inside = i < text.length() && Character.isLetterOrDigit(text.charAt(i));
                if (inside && from < 0) {
                    from = i;
                } else if (!inside && from >= 0) {
                    words.add(text.substring(from, i).toLowerCase(Locale.ROOT));
                    from = -1;
                }
            }
            return words;
        }
    }
}
