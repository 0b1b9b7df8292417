// SPDX-License-Identifier: Apache-2.0
// Keeps code busy that is not a Java method: stubs of the JVM, calls through tables, collectors.

import java.util.HashMap;
import java.util.Map;
import java.util.zip.CRC32;
import javax.crypto.Cipher;
import javax.crypto.spec.SecretKeySpec;

/**
 * Stubs WORK...: a thread for each, of that name, until stdin ends. "ready" once all have begun.
 *   copy      System.arraycopy            crc     CRC32 over bytes        aes   AES blocks
 *   virtual   calls of three classes      iface   the same by an interface
 *   garbage   objects, half of which live for a while
 *   links     young objects put into old ones, by a method that C1 inlines beside one that is never called
 *   casts     of one object to four interfaces, which the JVM remembers one of
 */
public class Stubs {
    interface Face {
        int number(int x);
    }

    abstract static class Base implements Face {
        abstract int other(int x);
    }

    static final class One extends Base {
        public int number(int x) {
            return x + 1;
        }

        int other(int x) {
            return x ^ 1;
        }
    }

    static final class Two extends Base {
        public int number(int x) {
            return x + 2;
        }

        int other(int x) {
            return x ^ 2;
        }
    }

    static final class Three extends Base {
        public int number(int x) {
            return x + 3;
        }

        int other(int x) {
            return x ^ 3;
        }
    }

    static final Base[] ALL = {new One(), new Two(), new Three(), new Two(), new One()};
    static final byte[] FROM = new byte[40000], TO = new byte[40000];
    static volatile int sink;
    static Object[] kept = new Object[20000];

    static int copy(int x) {
        System.arraycopy(FROM, 1 + (x & 7), TO, 3, 20000);
        return TO[x & 0xfff];
    }

    static int crc(int x) {
        CRC32 crc = new CRC32();
        crc.update(FROM, x & 7, 30000);
        return (int) crc.getValue();
    }

    static Cipher cipher;

    static int aes(int x) {
        try {
            return cipher.update(FROM, x & 7, 16000, TO, 0);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    static int virtual(int x) {
        int sum = x;
        for (int i = 0; i < 1000; i++) {
            sum = ALL[i % 5].other(sum);
        }
        return sum;
    }

    static int iface(int x) {
        int sum = x;
        for (int i = 0; i < 1000; i++) {
            Face face = ALL[i % 5];
            sum = face.number(sum);
        }
        return sum;
    }

    static int garbage(int x) {
        for (int i = 0; i < 100; i++) {
            kept[(x * 100 + i) % kept.length] = new int[40 + i];
        }
        return kept.length;
    }

    interface Named {
    }

    interface Sized {
    }

    interface Dated {
    }

    static final class Box implements Face, Named, Sized, Dated {
        Object value;
        int times;

        public int number(int x) {
            return x;
        }

        void set(Object to) {
            value = to;
        }

        void count() {
            if (++times < 0) {
                fail();
            }
        }

        void fail() {
            times = 0;
        }
    }

    static final Box[] OLD = new Box[1 << 16];

    static int links(int x) {
        for (int i = 0; i < 100; i++) {
            Box box = OLD[(x * 100 + i) * 7919 & OLD.length - 1];
            box.set(new Object());
            box.count();
        }
        return OLD.length;
    }

    static Object[] unknown = OLD; // to the compiler, which would know what a Box is

    static int casts(int x) {
        int sum = 0;
        for (int i = 0; i < 100; i++) {
            Object box = unknown[x + i & 1023];
            Face face = (Face) box;
            Named named = (Named) box;
            Sized sized = (Sized) box;
            Dated dated = (Dated) box;
            sum += (Object) face == named && (Object) sized == dated ? 1 : 0;
        }
        return sum;
    }

    interface Work {
        int run(int x);
    }

    private static final Map<String, Work> WORKS = new HashMap<>();

    static {
        WORKS.put("copy", Stubs::copy);
        WORKS.put("crc", Stubs::crc);
        WORKS.put("aes", Stubs::aes);
        WORKS.put("virtual", Stubs::virtual);
        WORKS.put("iface", Stubs::iface);
        WORKS.put("garbage", Stubs::garbage);
        WORKS.put("links", Stubs::links);
        WORKS.put("casts", Stubs::casts);
        for (int i = 0; i < OLD.length; i++) {
            OLD[i] = new Box();
        }
    }

    static void start(String name, Work work) {
        Thread thread = new Thread(() -> {
            for (int x = 0;; x++) {
                sink += work.run(x);
            }
        }, name);
        thread.setDaemon(true);
        thread.start();
    }

    public static void main(String[] args) throws Exception {
        System.gc(); // what there is becomes old
        cipher = Cipher.getInstance("AES/ECB/NoPadding");
        cipher.init(Cipher.ENCRYPT_MODE, new SecretKeySpec(new byte[16], "AES"));
        for (String name : args) {
            start(name, WORKS.get(name));
        }
        System.out.println("ready");
        for (int c = 0; c >= 0 && c != 'q'; c = System.in.read()) {
        }
    }
}
