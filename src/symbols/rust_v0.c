/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rust's v0 mangling (RFC 2603), without hashes: _RNvNtCsbDqzXfLQacH_4core3fmt5write.
 *
 * Names are hostile and may refer back to their own parts: nesting, steps and the length of the result are limited. A name that
 * exceeds a limit, or does not follow the grammar, is not demangled. Identifiers in Punycode are not decoded.
 */
#include "symbols/demangle.h"

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define RESULT_MAX  4096
#define NESTING_MAX 100
#define STEPS_MAX   10000

struct v0 {
	const char *s; /* after "_R" */
	size_t at, len;
	struct buf out;
	unsigned depth, steps;
	unsigned silent;    /* > 0: parsed, not printed */
	uint64_t lifetimes; /* bound by enclosing binders */
	bool failed;
};

static void path(struct v0 *v, bool in_value);
static void type(struct v0 *v);

static void fail(struct v0 *v)
{
	v->failed = true;
	v->at = v->len; /* ends every loop */
}

static void print_bytes(struct v0 *v, const char *bytes, size_t len)
{
	if (v->silent || v->failed)
		return;
	if (v->out.len + len > RESULT_MAX)
		fail(v);
	else
		buf_add(&v->out, bytes, len);
}

static void print(struct v0 *v, const char *text)
{
	print_bytes(v, text, strlen(text));
}

static void print_number(struct v0 *v, uint64_t n)
{
	char text[24];

	print_bytes(v, text, (size_t)snprintf(text, sizeof(text), "%llu", (unsigned long long)n));
}

static char peek(const struct v0 *v)
{
	return v->at < v->len ? v->s[v->at] : '\0';
}

/* Consumes the next character if it is c. */
static bool eat(struct v0 *v, char c)
{
	if (peek(v) != c)
		return false;
	v->at++;
	return true;
}

/* False, and failed, if the name is nested too deeply or takes too long. */
static bool enter(struct v0 *v)
{
	if (++v->depth > NESTING_MAX || ++v->steps > STEPS_MAX)
		fail(v);
	return !v->failed;
}

/* A base-62 number: "_" is 0, "0_" is 1. */
static uint64_t base_62(struct v0 *v)
{
	uint64_t n = 0;

	if (eat(v, '_'))
		return 0;
	while (!eat(v, '_')) {
		char c = peek(v);
		unsigned digit = demangle_is_digit(c)   ? (unsigned)(c - '0')
				 : c >= 'a' && c <= 'z' ? (unsigned)(c - 'a') + 10
				 : c >= 'A' && c <= 'Z' ? (unsigned)(c - 'A') + 36
							: 62;

		if (digit == 62 || n > (UINT64_MAX - 62) / 62 - 1) {
			fail(v);
			return 0;
		}
		n = n * 62 + digit;
		v->at++;
	}
	return n + 1;
}

/* An optional number after a tag: 0 if the tag is absent, else the number plus 1. */
static uint64_t optional_62(struct v0 *v, char tag)
{
	return eat(v, tag) ? base_62(v) + 1 : 0;
}

struct identifier {
	const char *bytes;
	size_t len;
	bool punycode;
};

/* An identifier without its disambiguator: its length, an optional "_", its bytes. */
static struct identifier undisambiguated(struct v0 *v)
{
	struct identifier id = {.punycode = eat(v, 'u')};

	if (!demangle_is_digit(peek(v)))
		fail(v);
	if (!eat(v, '0'))
		while (demangle_is_digit(peek(v)) && id.len <= v->len)
			id.len = id.len * 10 + (size_t)(v->s[v->at++] - '0');
	eat(v, '_');
	if (id.len > v->len - v->at) {
		fail(v);
		id.len = 0;
	}
	id.bytes = v->s + v->at;
	v->at += id.len;
	return id;
}

static void print_identifier(struct v0 *v, const struct identifier *id)
{
	print(v, id->punycode ? "punycode{" : "");
	print_bytes(v, id->bytes, id->len);
	print(v, id->punycode ? "}" : "");
}

/* A back reference: parses an earlier part again. Not followed while nothing is printed. */
static void back_reference(struct v0 *v, void (*read)(struct v0 *v, bool in_value), bool in_value)
{
	size_t begin = v->at - 1;
	uint64_t to = base_62(v);

	if (to >= begin)
		fail(v);
	if (v->failed || v->silent)
		return;
	size_t behind = v->at;
	v->at = (size_t)to;
	read(v, in_value);
	if (!v->failed)
		v->at = behind;
}

static void print_lifetime(struct v0 *v, uint64_t index)
{
	uint64_t depth = v->lifetimes - index;
	char letter[] = "a";

	if (v->silent)
		return;
	print(v, "'");
	if (!index) {
		print(v, "_");
	} else if (index > v->lifetimes) {
		fail(v);
	} else if (depth < 26) {
		letter[0] = (char)('a' + depth);
		print(v, letter);
	} else {
		print(v, "_");
		print_number(v, depth);
	}
}

/* "for<'a, 'b> ". Returns the number of lifetimes bound, which the caller subtracts at the end of their scope. */
static uint64_t binder(struct v0 *v)
{
	uint64_t bound = optional_62(v, 'G');

	if (bound > v->len) {
		fail(v);
		return 0;
	}
	if (!bound || v->silent)
		return 0;
	print(v, "for<");
	for (uint64_t i = 0; i < bound && !v->failed; i++) {
		print(v, i ? ", " : "");
		v->lifetimes++;
		print_lifetime(v, 1);
	}
	print(v, "> ");
	return v->failed ? 0 : bound;
}

/* --- constants */

static void print_char(struct v0 *v, uint64_t c)
{
	char text[16];

	if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) {
		fail(v);
	} else if (c < ' ' || c > '~' || c == '\'' || c == '\\') {
		snprintf(text, sizeof(text), "'\\u{%x}'", (unsigned)c);
		print(v, text);
	} else {
		snprintf(text, sizeof(text), "'%c'", (char)c);
		print(v, text);
	}
}

static void constant_data(struct v0 *v, char kind)
{
	size_t begin = v->at;
	uint64_t n = 0;

	while (demangle_hex_digit(peek(v)) >= 0)
		n = n << 4 | (uint64_t)demangle_hex_digit(v->s[v->at++]);
	size_t digits = v->at - begin;
	if (!eat(v, '_'))
		fail(v);
	else if (kind == 'b' && n < 2)
		print(v, n ? "true" : "false");
	else if (kind == 'c')
		print_char(v, n);
	else if (kind == 'b')
		fail(v);
	else if (digits > 16) {
		print(v, "0x");
		print_bytes(v, v->s + begin, digits);
	} else
		print_number(v, n);
}

static void constant(struct v0 *v, bool unused)
{
	char kind = peek(v);

	(void)unused;
	if (!enter(v))
		return;
	v->at++;
	if (kind == 'B') {
		back_reference(v, constant, false);
	} else if (kind == 'p') {
		print(v, "_");
	} else if (kind && strchr("hjtmyobcaslxni", kind)) {
		if (strchr("aslxni", kind) && eat(v, 'n'))
			print(v, "-");
		constant_data(v, kind);
	} else {
		fail(v);
	}
	v->depth--;
}

/* --- types */

static void generic_arguments(struct v0 *v)
{
	for (unsigned i = 0; !v->failed && !eat(v, 'E'); i++) {
		print(v, i ? ", " : "");
		if (eat(v, 'L'))
			print_lifetime(v, base_62(v));
		else if (eat(v, 'K'))
			constant(v, false);
		else
			type(v);
	}
}

static void type_reference(struct v0 *v, const char *text)
{
	uint64_t lifetime;

	print(v, "&");
	if (eat(v, 'L') && (lifetime = base_62(v))) {
		print_lifetime(v, lifetime);
		print(v, " ");
	}
	print(v, text);
	type(v);
}

static void type_function(struct v0 *v)
{
	uint64_t bound = binder(v);
	struct identifier abi;

	print(v, eat(v, 'U') ? "unsafe " : "");
	if (eat(v, 'K')) {
		print(v, "extern \"");
		if (eat(v, 'C')) {
			print(v, "C");
		} else {
			abi = undisambiguated(v);
			for (size_t i = 0; i < abi.len; i++)
				print_bytes(v, abi.bytes[i] == '_' ? "-" : &abi.bytes[i], 1);
		}
		print(v, "\" ");
	}
	print(v, "fn(");
	for (unsigned i = 0; !v->failed && !eat(v, 'E'); i++) {
		print(v, i ? ", " : "");
		type(v);
	}
	print(v, ")");
	if (!eat(v, 'u')) {
		print(v, " -> ");
		type(v);
	}
	v->lifetimes -= bound;
}

static void type_dyn(struct v0 *v)
{
	print(v, "dyn ");
	uint64_t bound = binder(v);
	for (unsigned i = 0; !v->failed && !eat(v, 'E'); i++) {
		/* Generic arguments stay open for bindings: "Iterator<Item = u8>". */
		bool open = eat(v, 'I');

		print(v, i ? " + " : "");
		path(v, false);
		if (open) {
			print(v, "<");
			generic_arguments(v);
		}
		while (eat(v, 'p')) {
			struct identifier id = undisambiguated(v);

			print(v, open ? ", " : "<");
			open = true;
			print_identifier(v, &id);
			print(v, " = ");
			type(v);
		}
		print(v, open ? ">" : "");
	}
	v->lifetimes -= bound;
	if (!eat(v, 'L'))
		fail(v);
	uint64_t lifetime = base_62(v);
	if (lifetime && !v->failed) {
		print(v, " + ");
		print_lifetime(v, lifetime);
	}
}

static void type_again(struct v0 *v, bool unused)
{
	(void)unused;
	type(v);
}

static void type(struct v0 *v)
{
	static const char *const basic_types[26] = {"i8", "bool", "char", "f64", "str", "f32", NULL,
		"u8", "isize", "usize", NULL, "i32", "u32", "i128", "u128", "_", NULL, NULL, "i16",
		"u16", "()", "...", NULL, "i64", "u64", "!"};
	char kind = peek(v);
	const char *basic = kind >= 'a' && kind <= 'z' ? basic_types[kind - 'a'] : NULL;
	unsigned count = 0;

	if (!enter(v))
		return;
	v->at++;
	switch (basic ? 'b' : kind) {
	case 'b': print(v, basic); break;
	case 'R': type_reference(v, ""); break;
	case 'Q': type_reference(v, "mut "); break;
	case 'P':
	case 'O':
		print(v, kind == 'P' ? "*const " : "*mut ");
		type(v);
		break;
	case 'A':
	case 'S':
		print(v, "[");
		type(v);
		if (kind == 'A') {
			print(v, "; ");
			constant(v, false);
		}
		print(v, "]");
		break;
	case 'T':
		print(v, "(");
		for (; !v->failed && !eat(v, 'E'); count++) {
			print(v, count ? ", " : "");
			type(v);
		}
		print(v, count == 1 ? ",)" : ")");
		break;
	case 'F': type_function(v); break;
	case 'D': type_dyn(v); break;
	case 'B': back_reference(v, type_again, false); break;
	default: v->at--; path(v, false);
	}
	v->depth--;
}

/* --- paths */

static void path_nested(struct v0 *v, bool in_value)
{
	char space = peek(v);
	bool special = space >= 'A' && space <= 'Z';

	if (!special && (space < 'a' || space > 'z')) {
		fail(v);
		return;
	}
	v->at++;
	path(v, in_value);
	uint64_t number = optional_62(v, 's');
	struct identifier id = undisambiguated(v);
	if (special) {
		print(v, "::{");
		if (space == 'C' || space == 'S')
			print(v, space == 'C' ? "closure" : "shim");
		else
			print_bytes(v, &space, 1);
		print(v, id.len ? ":" : "");
		print_identifier(v, &id);
		print(v, "#");
		print_number(v, number);
		print(v, "}");
	} else if (id.len) {
		print(v, "::");
		print_identifier(v, &id);
	}
}

/* "<T>", "<T as Trait>". The path of an impl is not printed: it is the place where the impl is defined. */
static void path_of_type(struct v0 *v, char kind)
{
	if (kind != 'Y') {
		optional_62(v, 's');
		v->silent++;
		path(v, false);
		v->silent--;
	}
	print(v, "<");
	type(v);
	if (kind != 'M') {
		print(v, " as ");
		path(v, false);
	}
	print(v, ">");
}

static void path(struct v0 *v, bool in_value)
{
	char kind = peek(v);
	struct identifier id;

	if (!enter(v))
		return;
	v->at++;
	switch (kind) {
	case 'C':
		optional_62(v, 's');
		id = undisambiguated(v);
		print_identifier(v, &id);
		break;
	case 'N': path_nested(v, in_value); break;
	case 'M':
	case 'X':
	case 'Y': path_of_type(v, kind); break;
	case 'I':
		path(v, in_value);
		print(v, in_value ? "::<" : "<");
		generic_arguments(v);
		print(v, ">");
		break;
	case 'B': back_reference(v, path, in_value); break;
	default: fail(v);
	}
	v->depth--;
}

char *demangle_rust_v0(const char *s, size_t len)
{
	struct v0 v = {0};

	if (len <= 3 || strncmp(s, "_R", 2) != 0)
		return NULL;
	v.s = s + 2;
	v.len = len - 2;
	path(&v, true);
	if (!v.failed && peek(&v) >= 'A' && peek(&v) <= 'Z') { /* the crate that instantiates it */
		v.silent++;
		path(&v, false);
	}
	if (!v.failed && v.at == v.len && v.out.len)
		return buf_steal(&v.out);
	buf_done(&v.out);
	return NULL;
}
