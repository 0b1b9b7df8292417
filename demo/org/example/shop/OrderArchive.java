// SPDX-License-Identifier: Apache-2.0
// Writes answered requests to a compressed archive in memory: native code through java.util.zip.
package org.example.shop;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.zip.CRC32;
import java.util.zip.Deflater;

final class OrderArchive implements Runnable {
    private static final int BLOCK = 64 << 10;
    private final BlockingQueue<String> queue = new ArrayBlockingQueue<>(4096);
    private volatile long archivedBytes;

    /** Never waits: an archive that lags drops lines, as access logs do. */
    void offer(String line) {
        queue.offer(line);
    }

    long archivedBytes() {
        return archivedBytes;
    }

    @Override
    public void run() {
        byte[] block = new byte[BLOCK];
        int used = 0;
        try {
            while (true) {
                byte[] line = queue.take().getBytes(StandardCharsets.UTF_8);
                if (used + line.length > BLOCK) {
                    archivedBytes += compress(block, used);
                    used = 0;
                }
                System.arraycopy(line, 0, block, used, Math.min(line.length, BLOCK));
                used += Math.min(line.length, BLOCK);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static int compress(byte[] block, int used) {
        CRC32 crc = new CRC32();
        crc.update(block, 0, used);
        Deflater deflater = new Deflater(Deflater.BEST_COMPRESSION);
        deflater.setInput(block, 0, used);
        deflater.finish();
        byte[] out = new byte[8 << 10];
        int size = 0;
        while (!deflater.finished()) {
            size += deflater.deflate(out);
        }
        deflater.end();
        return size + (int) (crc.getValue() & 3);
    }
}
