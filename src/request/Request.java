// SPDX-License-Identifier: Apache-2.0
// Publishes which request each thread works for.
package jhot;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;

/**
 * Tells profilers which request the calling thread works for, as OpenTelemetry's thread context (OTEP 4947). Samples of jhot then
 * have its attributes, its trace id and its span id. For JDK 8 and later, on Linux; copy this file into your program.
 *
 * <pre>
 *   static { Request.names("http.route", "tenant"); }
 *
 *   Request.begin(0, 0, spanId, "/cart", tenant);
 *   try {
 *       ...
 *   } finally {
 *       Request.end();
 *   }
 * </pre>
 *
 * Requires libjhotrequest.so: in java.library.path, or named by -Djhot.request=/path/libjhotrequest.so. Without it, and in virtual
 * threads, all methods do nothing. No method throws.
 *
 * <p>There should be few different values, such as routes: jhot keeps at most 512 combinations per minute apart.
 */
public final class Request {
    private static final int ATTRIBUTE_BYTES = 612; // as in request.c
    private static final int VALUE_BYTES = 255;
    private static final int NAMES_MOST = 256;

    private static final Class<?> virtual = virtualThread();
    private static final boolean available = load();
    private static boolean named;

    private Request() {}

    /**
     * Names the attributes whose values begin() gets, in their order. Only once in a process: returns false if they, or those of
     * another library, are named already, or if the native library is missing.
     */
    public static synchronized boolean names(String... names) {
        if (!available || named || names.length > NAMES_MOST || isPublished()) {
            return false;
        }
        named = publish(processContext(names), System.nanoTime());
        return named;
    }

    /**
     * The calling thread works for this request until end(), or until it begins another one. An id of 0 is none; an attribute
     * without a value is null. Values are truncated to 255 bytes, and omitted when there are more than 612 bytes in all.
     */
    public static void begin(long traceIdHigh, long traceIdLow, long spanId, String... values) {
        if (!available || Thread.currentThread().getClass() == virtual) {
            return;
        }
        byte[] attributes = new byte[ATTRIBUTE_BYTES];
        int bytes = 0;
        for (int key = 0; key < values.length && key < NAMES_MOST; key++) {
            if (values[key] == null) {
                continue;
            }
            byte[] value = values[key].getBytes(StandardCharsets.UTF_8);
            int length = Math.min(value.length, VALUE_BYTES);
            if (bytes + 2 + length > ATTRIBUTE_BYTES) {
                break;
            }
            attributes[bytes++] = (byte) key;
            attributes[bytes++] = (byte) length;
            System.arraycopy(value, 0, attributes, bytes, length);
            bytes += length;
        }
        set(traceIdHigh, traceIdLow, spanId, attributes, bytes);
    }

    /** The calling thread works for no request. */
    public static void end() {
        if (available && Thread.currentThread().getClass() != virtual) {
            clear();
        }
    }

    private static native void set(long traceIdHigh, long traceIdLow, long spanId, byte[] attributes, int bytes);

    private static native void clear();

    private static native boolean publish(byte[] payload, long now);

    private static boolean load() {
        String path = System.getProperty("jhot.request");
        try {
            if (path != null) {
                System.load(path);
            } else {
                System.loadLibrary("jhotrequest");
            }
            return true;
        } catch (UnsatisfiedLinkError | SecurityException e) {
            return false;
        }
    }

    /** A virtual thread would leave its request to the next one on the same carrier. */
    private static Class<?> virtualThread() {
        try {
            return Class.forName("java.lang.VirtualThread", false, null);
        } catch (ClassNotFoundException e) {
            return null;
        }
    }

    private static boolean isPublished() {
        try {
            return new String(Files.readAllBytes(Paths.get("/proc/self/maps")), StandardCharsets.ISO_8859_1).contains("OTEL_CTX");
        } catch (IOException e) {
            return false;
        }
    }

    // A protobuf ProcessContext: attributes = 2 { key = 1, value = 2 }; a value is a text = 1, or an array = 5 { value = 1 }.

    private static byte[] processContext(String[] names) {
        ByteArrayOutputStream array = new ByteArrayOutputStream();
        for (String name : names) {
            field(array, 1, text(name));
        }
        ByteArrayOutputStream map = new ByteArrayOutputStream();
        field(map, 5, array.toByteArray());
        ByteArrayOutputStream context = new ByteArrayOutputStream();
        field(context, 2, attribute("threadlocal.schema_version", text("tlsdesc_v1_dev")));
        field(context, 2, attribute("threadlocal.attribute_key_map", map.toByteArray()));
        return context.toByteArray();
    }

    private static byte[] attribute(String key, byte[] value) {
        ByteArrayOutputStream to = new ByteArrayOutputStream();
        field(to, 1, key.getBytes(StandardCharsets.UTF_8));
        field(to, 2, value);
        return to.toByteArray();
    }

    private static byte[] text(String text) {
        ByteArrayOutputStream to = new ByteArrayOutputStream();
        field(to, 1, text.getBytes(StandardCharsets.UTF_8));
        return to.toByteArray();
    }

    private static void field(ByteArrayOutputStream to, int number, byte[] bytes) {
        to.write(number << 3 | 2);
        int length = bytes.length;
        for (; length >= 0x80; length >>>= 7) {
            to.write(length | 0x80);
        }
        to.write(length);
        to.write(bytes, 0, bytes.length);
    }
}
