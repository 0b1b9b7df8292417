// SPDX-License-Identifier: Apache-2.0
// A JVM that stops at a safepoint about every millisecond, so that anything that delays one shows.

import java.util.Map;

/** Prints "ready" after the first hundred; ends when its input does. */
public final class Stops {
    public static void main(String[] args) throws Exception {
        Thread stopper = new Thread(() -> {
            for (int n = 0;; n++) {
                Map<Thread, StackTraceElement[]> stacks = Thread.getAllStackTraces(); // a VM operation
                if (n == 100)
                    System.out.println("ready");
                if (stacks.isEmpty())
                    throw new AssertionError("no threads");
                try {
                    Thread.sleep(1);
                } catch (InterruptedException e) {
                    return;
                }
            }
        }, "stopper");
        stopper.setDaemon(true);
        stopper.start();
        for (int c = 0; c >= 0 && c != 'q'; c = System.in.read())
            ;
    }
}
