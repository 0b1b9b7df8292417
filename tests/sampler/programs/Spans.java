// SPDX-License-Identifier: Apache-2.0
// Threads that work for spans which they publish by jhot.Request, beside work without one and, if the JDK has them, virtual threads.

import jhot.Request;

/** usage: Spans; prints whether the names were published, then "ready", and works until the end of its input. */
public final class Spans {
    private static volatile long sink;

    static void workCart(long x) {
        sink = Requests.mix(x, 400_000);
    }

    static void workPay(long x) {
        sink = Requests.mix(x + 1, 200_000);
    }

    static void workNone(long x) {
        sink = Requests.mix(x + 2, 200_000);
    }

    static void workVirtual(long x) {
        sink = Requests.mix(x + 3, 200_000);
    }

    /** Trace and span id begin with the route: 0x10 or 0x11. */
    private static void serve(long thread) {
        for (long request = 0; ; request++) {
            long route = request % 2, id = (0x10 + route) << 56 | request << 8 | thread;
            Request.begin(id, id, id, route == 0 ? "/cart" : "/pay", null, "user-" + thread);
            try {
                if (route == 0) {
                    workCart(request);
                } else {
                    workPay(request);
                }
            } finally {
                Request.end();
            }
            workNone(request);
        }
    }

    private static void serveVirtual() {
        for (long request = 0; ; request++) {
            Request.begin(request + 1, request + 1, request + 1, "/virtual");
            workVirtual(request);
            Request.end();
            Thread.yield();
        }
    }

    public static void main(String[] args) throws Exception {
        System.out.println(Request.names("http.route", "http.method", "user") + " " + Request.names("again"));
        for (int i = 0; i < 3; i++) {
            int thread = i;
            new Thread(() -> serve(thread), "worker-" + i).start();
        }
        try {
            Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, (Runnable) Spans::serveVirtual);
        } catch (NoSuchMethodException e) {
            // before JDK 21
        }
        System.out.println("ready");
        System.in.read();
        System.exit(0);
    }
}
