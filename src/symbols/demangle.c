/* SPDX-License-Identifier: Apache-2.0 */
/* C++ names, demangled by the C++ runtime, without parameters and return types; Rust's legacy mangling (v0: rust_v0.c). */
#include "symbols/demangle.h"

#include "base/buf.h"
#include "base/utf8.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MANGLED_MAX   4096        /* longer names stay mangled */
#define DEMANGLED_MAX (16u << 20) /* bytes, far more than any real name has */
#define PLT           "@plt"

/* From the C++ runtime (cxxabi.h is a C++ header). */
char *__cxa_demangle(const char *mangled, char *out, size_t *size, int *status);

static bool demangle_is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* The length of "operator()", "operator<<" etc. at s, else 0. */
static size_t demangle_operator_len(const char *s, const char *begin)
{
	size_t len = strlen("operator");

	if (strncmp(s, "operator", len) || demangle_is_word(s[len]) ||
		(s > begin && demangle_is_word(s[-1])))
		return 0;
	if (!strncmp(s + len, "()", 2) || !strncmp(s + len, "[]", 2))
		return len + 2;
	if (s[len] == ' ') /* a conversion: "operator unsigned long" ends at its parameters */
		return len + strcspn(s + len, "(");
	return len + strspn(s + len, "<>=!+-*/%^&|~,");
}

/* The position after the bracket that closes the one at s, or the end of the text. */
static const char *demangle_skip(const char *s, const char *begin)
{
	int depth = 0;

	while (*s) {
		size_t op = demangle_operator_len(s, begin);

		if (op) {
			s += op;
			continue;
		}
		if (strchr("(<[{", *s))
			depth++;
		else if (strchr(")]}", *s) || (*s == '>' && s[-1] != '-'))
			depth--;
		s++;
		if (depth <= 0)
			break;
	}
	return s;
}

/*
 * Shortens "void ns::Class<T>::method<U>(int) const [clone .isra.0]" to "ns::Class<T>::method<U>": the text between the last space
 * outside of brackets and the parameter list.
 */
static char *demangle_cut(const char *name)
{
	const char *begin = name, *s = name;

	while (*s) {
		size_t op = demangle_operator_len(s, name);

		if (op) {
			s += op;
		} else if (*s == '(') {
			const char *end = demangle_skip(s, name);

			if (!strstr(end, "::") && !strchr(end, '('))
				break; /* the parameters; "f(int)::local::g" goes on */
			s = end;
		} else if (strchr("<[{", *s)) {
			s = demangle_skip(s, name);
		} else {
			if (*s == ' ' && s > name &&
				s[-1] != ')') /* not the const of "f() const" */
				begin = s + 1;
			s++;
		}
	}
	return xstrndup(begin, (size_t)(s - begin));
}

/* Removes suffixes of function clones ("f.isra.0", "f.cold") and versions ("f@@V1"). */
static char *demangle_plain(const char *name)
{
	static const char *const pieces[] = {
		".isra.", ".part.", ".constprop.", ".cold", ".lto_priv.", ".llvm.", "@@"};
	size_t len = strlen(name);

	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		const char *at = strstr(name, pieces[i]);

		if (at && at > name && (size_t)(at - name) < len)
			len = (size_t)(at - name);
	}
	return xstrndup(name, len);
}

/*
 * True if the result may be too large. Each back reference may repeat everything before it, so names grow exponentially: a few
 * hundred bytes become terabytes. n references yield at most 3^(n/3) times the length. Names with about 25 of them stay
 * mangled: of 61,000 in libjvm none, of 29,000 in libclang 8.
 */
static bool demangle_explodes(const char *mangled, size_t len)
{
	uint64_t most = len, part = 2;

	for (const char *s = mangled; s < mangled + len && most <= DEMANGLED_MAX; s++) {
		bool reference = *s == 'S' || *s == 'T';

		if (!reference || !(s[1] == '_' || (s[1] >= '0' && s[1] <= '9') ||
					  (*s == 'S' && s[1] >= 'A' && s[1] <= 'Z')))
			continue;
		part++;
		if (part % 3 == 0)
			most *= 3;
	}
	return most > DEMANGLED_MAX;
}

/* The C++ name with return type and parameters. NULL: not a C++ name, or too expensive. */
static char *demangle_whole(const char *mangled, size_t len)
{
	int status = 0;

	if (strncmp(mangled, "_Z", 2) || len > MANGLED_MAX || demangle_explodes(mangled, len))
		return NULL;
	char *text = xstrndup(mangled, len);
	char *whole = __cxa_demangle(text, NULL, NULL, &status);
	free(text);
	return whole;
}

/* --- Rust's legacy mangling ---------------------------------------------------------------------------- */

#define HASH_BYTES 17 /* "h" and 16 hexadecimal digits */

/* True for the last part of a legacy name, e.g. "h0123456789abcdef". */
static bool is_hash(const char *s, size_t len)
{
	if (len != HASH_BYTES || *s != 'h')
		return false;
	for (size_t i = 1; i < len; i++)
		if (demangle_hex_digit(s[i]) < 0)
			return false;
	return true;
}

/* An escape "$LT$" at s. Its length, 0 if it is none. */
static size_t add_escape(struct buf *out, const char *s, size_t len)
{
	static const struct {
		const char *name;
		char c;
	} names[] = {{"SP", '@'}, {"BP", '*'}, {"RF", '&'}, {"LT", '<'}, {"GT", '>'}, {"LP", '('},
		{"RP", ')'}, {"C", ','}};
	const char *end = len > 1 ? memchr(s + 1, '$', len - 1) : NULL;
	size_t inside = end ? (size_t)(end - s) - 1 : 0;
	uint32_t c = 0;
	char text[5];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (inside == strlen(names[i].name) && !memcmp(s + 1, names[i].name, inside)) {
			buf_addc(out, names[i].c);
			return inside + 2;
		}
	if (inside < 2 || inside > 6 || s[1] != 'u')
		return 0;
	for (size_t i = 2; i <= inside; i++) {
		if (demangle_hex_digit(s[i]) < 0)
			return 0;
		c = c << 4 | (uint32_t)demangle_hex_digit(s[i]);
	}
	if (c < ' ' || c == 0x7f || c > 0x10ffff)
		return 0;
	buf_add(out, text, utf8_put(c, text));
	return inside + 2;
}

/* Appends an identifier of the legacy mangling, with its escapes decoded and ".." printed as "::". */
static void add_legacy(struct buf *out, const char *s, size_t len)
{
	size_t at = len > 1 && s[0] == '_' && s[1] == '$', step;

	for (; at < len; at += step) {
		step = s[at] == '$' ? add_escape(out, s + at, len - at) : 0;
		if (step)
			continue;
		step = len - at > 1 && s[at] == '.' && s[at + 1] == '.' ? 2 : 1;
		buf_add(out, step == 2 ? "::" : s + at, step);
	}
}

/*
 * _ZN4core3fmt5write17h0123456789abcdefE: C++'s mangling of nested names, with escapes and a hash at the end, which is not printed.
 * NULL: not such a name.
 */
static char *demangle_rust_legacy(const char *s, size_t len)
{
	struct buf out = {0};
	bool hash = false;
	size_t at = 3;

	if (len <= 3 || strncmp(s, "_ZN", 3) != 0)
		return NULL;
	while (!hash && at < len && demangle_is_digit(s[at])) {
		size_t bytes = 0;

		for (; at < len && demangle_is_digit(s[at]) && bytes < len; at++)
			bytes = bytes * 10 + (size_t)(s[at] - '0');
		if (!bytes || bytes >= len - at)
			break;
		hash = s[at + bytes] == 'E' && at + bytes + 1 == len && is_hash(s + at, bytes);
		if (!hash) {
			buf_adds(&out, out.len ? "::" : "");
			add_legacy(&out, s + at, bytes);
		}
		at += bytes;
	}
	if (hash && out.len)
		return buf_steal(&out);
	buf_done(&out);
	return NULL;
}

/* --- all names ----------------------------------------------------------------------------------------- */

bool demangle_is_mangled(const char *name)
{
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
}

char *demangle_name(const char *mangled)
{
	char *plain = demangle_plain(mangled);
	size_t len = strlen(plain), plt = strlen(PLT);
	struct buf name = {0};

	plt = len > plt && !strcmp(plain + len - plt, PLT) ? plt : 0;
	char *cut = len - plt <= MANGLED_MAX ? demangle_rust_v0(plain, len - plt) : NULL;
	if (!cut && len - plt <= MANGLED_MAX)
		cut = demangle_rust_legacy(plain, len - plt);
	char *whole = cut ? NULL : demangle_whole(plain, len - plt);
	if (!cut && !whole)
		return plain;
	if (!cut)
		cut = demangle_cut(whole);
	buf_printf(&name, "%s%s", cut, plt ? PLT : "");
	free(cut);
	free(whole);
	free(plain);
	return buf_steal(&name);
}
