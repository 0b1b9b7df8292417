// SPDX-License-Identifier: Apache-2.0
// One thread that is mostly in native code without frame pointers; ends when it reads a "q" or the end of its input.

import java.io.File;
import java.util.zip.Deflater;
import java.util.zip.Inflater;

/**
 * Prints "ready" when its thread "native-tops" has run all it does. Everything that thread runs is called by
 * nativeTop, and within it by nativeZip (libz), nativeRemainder (libm up to JDK 20), nativeFiles (libc).
 */
public final class Native {
    private static volatile boolean stop;
    private static volatile double sink;

    private static void nativeZip(byte[] in, byte[] out) throws Exception {
        Deflater deflater = new Deflater(6);
        deflater.setInput(in);
        deflater.finish();
        int n = deflater.deflate(out);
        deflater.end();
        Inflater inflater = new Inflater();
        inflater.setInput(out, 0, n);
        inflater.inflate(in);
        inflater.end();
    }

    private static void nativeRemainder() {
        double x = 0;
        for (int i = 1; i < 30_000; i++) {
            x += i * 1e9 % 77.3;
        }
        sink += x;
    }

    private static void nativeFiles() {
        for (int i = 0; i < 300; i++) {
            sink += new File("/proc/self/no-such-file-" + i).exists() ? 1 : 0;
        }
    }

    private static void nativeTop() throws Exception {
        byte[] in = new byte[100_000];
        byte[] out = new byte[200_000];
        for (int i = 0; i < in.length; i++) {
            in[i] = (byte) (i * 31 % 97 + i / 1000);
        }
        nativeZip(in, out);
        nativeRemainder();
        nativeFiles();
    }

    private static void run() {
        try {
            for (int i = 0; i < 50; i++) {
                nativeTop();
            }
            System.out.println("ready");
            while (!stop) {
                nativeTop();
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        Thread thread = new Thread(Native::run, "native-tops");
        thread.start();
        int c;
        do {
            c = System.in.read();
        } while (c >= 0 && c != 'q');
        stop = true;
        thread.join();
    }
}
