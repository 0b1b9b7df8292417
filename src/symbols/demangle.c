/* SPDX-License-Identifier: Apache-2.0 */
/* C++ names, demangled by the C++ runtime, without parameters and return types. Rust: rust_*.c. */
#include "symbols/demangle.h"

#include "base/buf.h"

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

/* With return type and parameters. NULL: not a C++ name. */
static char *demangle_whole(const char *mangled, size_t len)
{
	char *text, *whole;
	int status = 0;

	if (strncmp(mangled, "_Z", 2) || len > MANGLED_MAX || demangle_explodes(mangled, len))
		return NULL;
	text = xstrndup(mangled, len);
	whole = __cxa_demangle(text, NULL, NULL, &status);
	free(text);
	return whole;
}

static char *demangle_rust(const char *mangled, size_t len)
{
	char *name = len <= MANGLED_MAX ? demangle_rust_v0(mangled, len) : NULL;

	return name || len > MANGLED_MAX ? name : demangle_rust_legacy(mangled, len);
}

bool demangle_is_mangled(const char *name)
{
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
}

char *demangle_name(const char *mangled)
{
	char *plain = demangle_plain(mangled), *whole, *cut;
	size_t len = strlen(plain), plt = strlen(PLT);
	struct buf name = {0};

	plt = len > plt && !strcmp(plain + len - plt, PLT) ? plt : 0;
	cut = demangle_rust(plain, len - plt);
	whole = cut ? NULL : demangle_whole(plain, len - plt);
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
