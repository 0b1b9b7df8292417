// SPDX-License-Identifier: Apache-2.0
// Keeps the collector busy: a third of a heap of 64 MB lives, and is replaced piece by piece.

/** Prints "ready" and runs until it reads "x" or the end of its input. */
public final class Garbage {
    private static final int PIECES = 200_000;
    private static volatile boolean stop;

    public static void main(String[] args) throws Exception {
        byte[][] live = new byte[PIECES][];
        for (int i = 0; i < PIECES; i++) {
            live[i] = new byte[96];
        }
        Thread reader = new Thread(() -> {
            try {
                System.in.read();
            } catch (java.io.IOException e) {
                // it ends, too
            }
            stop = true;
        });
        reader.setDaemon(true);
        reader.start();
        System.out.println("ready");
        for (long x = 1; !stop;) {
            x = x * 6364136223846793005L + 1442695040888963407L;
            live[(int) ((x >>> 33) % PIECES)] = new byte[96 + (int) (x >>> 60)];
        }
        System.out.println("done " + live.length);
    }
}
