// SPDX-License-Identifier: Apache-2.0
// Page faults and context switches that are counted by the program itself; ends when it reads a "q".

import java.io.BufferedReader;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;

/**
 * usage: Counts; then a line per order on its input: "touch PAGES", "sleep TIMES", "write TIMES", "start TIMES"
 *
 * A thread "counter" does it in knownTouch, knownSleep or knownWrite and answers "done"; "start" has a new thread write, and
 * does not wait for it.
 */
public final class Counts {
    private static volatile long sum;

    /** Each page of new memory is a fault (where huge pages are off for it). */
    static void knownTouch(int pages) {
        ByteBuffer memory = ByteBuffer.allocateDirect(pages * 4096);
        for (int i = 0; i < pages; i++) {
            memory.put(i * 4096, (byte) 1);
        }
        sum += memory.get(0);
    }

    static void knownSleep(int times) throws InterruptedException {
        for (int i = 0; i < times; i++) {
            Thread.sleep(1);
        }
    }

    /** Each is a call of libjava's Java_java_io_FileOutputStream_writeBytes. */
    static void knownWrite(int times) throws IOException {
        byte[] data = new byte[64];
        try (FileOutputStream out = new FileOutputStream("/dev/null")) {
            for (int i = 0; i < times; i++) {
                out.write(data);
            }
        }
    }

    private static void obey(String[] order) throws Exception {
        int number = Integer.parseInt(order[1]);
        switch (order[0]) {
        case "touch":
            knownTouch(number);
            break;
        case "sleep":
            knownSleep(number);
            break;
        case "start":
            Thread writer = new Thread(null, () -> {
                try {
                    knownWrite(number);
                } catch (IOException e) {
                    System.out.println("WRONG: " + e);
                }
            }, "writer");
            writer.setDaemon(true);
            writer.start();
            break;
        default:
            knownWrite(number);
        }
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        Thread counter = new Thread(null, () -> {
            try {
                for (String line = in.readLine(); line != null && !line.equals("q"); line = in.readLine()) {
                    obey(line.split(" "));
                    System.out.println("done");
                }
            } catch (Exception e) {
                System.out.println("WRONG: " + e);
            }
        }, "counter");
        counter.start();
        System.out.println("ready");
        counter.join();
        System.out.println("sum");
    }
}
