// SPDX-License-Identifier: Apache-2.0
// A small JSON reader and writer: the service's parsing work.
package org.example.shop;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads objects, arrays, strings, numbers, true, false and null; writes the same. */
final class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    static Map<String, Object> readObject(String text) {
        Json json = new Json(text);
        json.skipSpace();
        return json.object();
    }

    private Map<String, Object> object() {
        Map<String, Object> map = new LinkedHashMap<>();
        expect('{');
        if (peek() == '}') {
            at++;
            return map;
        }
        do {
            String key = string();
            expect(':');
            map.put(key, value());
        } while (more('}'));
        return map;
    }

    private List<Object> array() {
        List<Object> list = new ArrayList<>();
        expect('[');
        if (peek() == ']') {
            at++;
            return list;
        }
        do {
            list.add(value());
        } while (more(']'));
        return list;
    }

    private Object value() {
        switch (peek()) {
        case '{':
            return object();
        case '[':
            return array();
        case '"':
            return string();
        case 't':
            at += 4;
            return Boolean.TRUE;
        case 'f':
            at += 5;
            return Boolean.FALSE;
        case 'n':
            at += 4;
            return null;
        default:
            return number();
        }
    }

    private String string() {
        expect('"');
        StringBuilder out = new StringBuilder(24);
        char c;
        while ((c = text.charAt(at++)) != '"') {
            out.append(c == '\\' ? escape() : c);
        }
        return out.toString();
    }

    private char escape() {
        char c = text.charAt(at++);
        switch (c) {
        case 'n':
            return '\n';
        case 't':
            return '\t';
        case 'u':
            at += 4;
            return (char) Integer.parseInt(text.substring(at - 4, at), 16);
        default:
            return c;
        }
    }

    private Object number() {
        int from = at;
        while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        String digits = text.substring(from, at);
        return digits.indexOf('.') < 0 ? (Object) Long.valueOf(digits) : Double.valueOf(digits);
    }

    private boolean more(char end) {
        char c = peek();
        if (c != ',' && c != end) {
            throw new IllegalArgumentException("expected , or " + end + " at " + at);
        }
        at++;
        return c == ',';
    }

    private char peek() {
        skipSpace();
        return text.charAt(at);
    }

    private void expect(char c) {
        if (peek() != c) {
            throw new IllegalArgumentException("expected " + c + " at " + at);
        }
        at++;
    }

    private void skipSpace() {
        while (at < text.length() && text.charAt(at) <= ' ') {
            at++;
        }
    }

    static String write(Object value) {
        StringBuilder out = new StringBuilder(256);
        writeTo(out, value);
        return out.toString();
    }

    private static void writeTo(StringBuilder out, Object value) {
        if (value instanceof Map) {
            String comma = "{";
            for (Map.Entry<?, ?> entry : ((Map<?, ?>) value).entrySet()) {
                out.append(comma);
                quote(out, entry.getKey().toString());
                out.append(':');
                writeTo(out, entry.getValue());
                comma = ",";
            }
            out.append(comma.equals("{") ? "{}" : "}");
        } else if (value instanceof List) {
            String comma = "[";
            for (Object element : (List<?>) value) {
                out.append(comma);
                writeTo(out, element);
                comma = ",";
            }
            out.append(comma.equals("[") ? "[]" : "]");
        } else if (value instanceof String) {
            quote(out, (String) value);
        } else {
            out.append(value);
        }
    }

    private static void quote(StringBuilder out, String text) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\');
            }
            out.append(c < ' ' ? ' ' : c);
        }
        out.append('"');
    }
}
