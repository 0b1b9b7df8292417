// SPDX-License-Identifier: Apache-2.0
// A big real program under load: javac, compiling generated sources in memory over and over.

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.CRC32;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * usage: Compile [CLASSES] [THREADS]
 *
 * Prints "ready" when every thread has compiled everything once, and "sum HEX ROUNDS" when it reads a "q" or the
 * end of its input. The same sources give the same class files, so each round's sum must be the first one's;
 * a difference is printed as WRONG.
 */
public final class Compile {
    private static final class Source extends SimpleJavaFileObject {
        private final String text;

        Source(String name, String text) {
            super(URI.create("string:///gen/" + name + ".java"), Kind.SOURCE);
            this.text = text;
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return text;
        }
    }

    private static final class ClassFile extends SimpleJavaFileObject {
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

        ClassFile(String name) {
            super(URI.create("mem:///" + name.replace('.', '/') + ".class"), Kind.CLASS);
        }

        @Override
        public OutputStream openOutputStream() {
            return bytes;
        }
    }

    private static final class Memory extends ForwardingJavaFileManager<JavaFileManager> {
        private final Map<String, ClassFile> classes = new TreeMap<>();

        Memory(StandardJavaFileManager under) {
            super(under);
        }

        @Override
        public JavaFileObject getJavaFileForOutput(Location where, String name, JavaFileObject.Kind kind,
            FileObject sibling) {
            ClassFile file = new ClassFile(name);
            classes.put(name, file);
            return file;
        }

        long checksum() {
            CRC32 crc = new CRC32();
            for (Map.Entry<String, ClassFile> entry : classes.entrySet()) {
                crc.update(entry.getKey().getBytes());
                crc.update(entry.getValue().bytes.toByteArray());
            }
            return crc.getValue();
        }
    }

    private static String body(int n) {
        StringBuilder s = new StringBuilder("package gen;\nimport java.util.*;\nimport java.util.function.*;\n");
        s.append("public class C").append(n).append("<T extends Comparable<T>> {\n");
        s.append("  private final Map<String, List<T>> seen = new TreeMap<>();\n");
        for (int m = 0; m < 12; m++) {
            s.append("  public Optional<T> find").append(m).append("(Collection<? extends T> all, int limit) {\n")
                .append("    List<T> kept = new ArrayList<>();\n")
                .append("    for (T t : all) { if (kept.size() < limit + ").append(m * n % 7)
                .append(") kept.add(t); else break; }\n")
                .append("    Function<T, String> key = t -> String.valueOf(t) + ").append(m).append(";\n")
                .append("    kept.forEach(t -> seen.computeIfAbsent(key.apply(t), k -> new ArrayList<>()).add(t));\n")
                .append("    return kept.stream().filter(t -> t.compareTo(kept.get(0)) >= 0)")
                .append(".max(Comparator.naturalOrder());\n  }\n");
            s.append("  static int pick").append(m).append("(String word) {\n    switch (word) {\n");
            for (int c = 0; c < 8; c++) {
                s.append("    case \"w").append(c * 31 + n).append("\": return ").append(c + m).append(";\n");
            }
            s.append("    default: return C").append(n / 2).append(".<String>pickAny().length();\n    }\n  }\n");
        }
        return s.append("  static <S> String pickAny() { return new Object() { int x = ").append(n)
            .append("; }.x + \"\"; }\n}\n").toString();
    }

    private static long compileOnce(JavaCompiler javac, List<Source> sources) throws IOException {
        Memory memory = new Memory(javac.getStandardFileManager(null, null, null));
        List<String> options = new ArrayList<>();
        options.add("-proc:none");
        options.add("-nowarn");
        if (!javac.getTask(null, memory, null, options, null, sources).call()) {
            throw new IllegalStateException("the sources did not compile");
        }
        memory.close();
        return memory.checksum();
    }

    public static void main(String[] args) throws Exception {
        int count = args.length > 0 ? Integer.parseInt(args[0]) : 40;
        int width = args.length > 1 ? Integer.parseInt(args[1]) : 1;
        List<Source> sources = new ArrayList<>();
        for (int n = 0; n < count; n++) {
            sources.add(new Source("C" + n, body(n)));
        }
        JavaCompiler javac = ToolProvider.getSystemJavaCompiler();
        Rounds.run("compile", width, () -> compileOnce(javac, sources));
    }
}
