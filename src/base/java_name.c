/* SPDX-License-Identifier: Apache-2.0 */
/* One pass over a name: at each position, rules determine how many bytes a "*" replaces. */
#include "base/java_name.h"

#include <ctype.h>
#include <string.h>

#define LAMBDA "$$Lambda"

/*
 * Prefixes of generated numbers. hex: the number is hexadecimal and contains a digit, or is at least eight letters long, so
 * that "$auxiliary$face" is not matched; otherwise it is decimal.
 */
static const struct number_prefix {
	const char *text;
	bool hex;
} number_prefixes[] = {
	{"$Proxy", false}, {"GeneratedMethodAccessor", false},
	{"GeneratedConstructorAccessor", false},
	{"GeneratedSerializationConstructorAccessor", false}, {"LambdaForm$MH", false},
	{"LambdaForm$DMH", false}, {"LambdaForm$BMH", false}, {"LambdaForm$VH", false},
	{"CGLIB$$", true}, {"$HibernateProxy$", true}, {"$HibernateInstantiator$", true},
	{"$MockitoMock$", true}, {"$ByteBuddy$", true}, {"$auxiliary$", true}, {"_$$_jvst", true},
	{"jdk.proxy", false}, {"_closure", false},
	{"$", false}, /* javac: anonymous and local classes, lambdas, accessors */
};

static bool is_hex(char c)
{
	return isxdigit((unsigned char)c) != 0;
}

static size_t digits(const char *text)
{
	return strspn(text, "0123456789");
}

static size_t hex_digits(const char *text)
{
	size_t len = 0;
	bool number = false;

	for (; is_hex(text[len]); len++)
		number |= isdigit((unsigned char)text[len]) != 0;
	return number || len >= 8 ? len : 0;
}

/* Length of a hidden class's number: "/0x00007f2c", "+0x...", ".0x...", up to JDK 8 "/1234567"; 0: none. */
static size_t hidden_number(const char *text)
{
	size_t len;

	if (*text != '/' && *text != '+' && *text != '.')
		return 0;
	if (text[1] == '0' && text[2] == 'x') {
		for (len = 3; is_hex(text[len]);)
			len++;
		return len > 3 ? len : 0;
	}
	len = *text == '/' ? digits(text + 1) : 0;
	return len ? len + 1 : 0;
}

/* Length of the number at `text` if one of number_prefixes[] ends there; 0: none. */
static size_t prefixed_number(const char *name, const char *text)
{
	size_t before = (size_t)(text - name);

	if (!is_hex(*text))
		return 0;
	for (size_t i = 0; i < sizeof(number_prefixes) / sizeof(number_prefixes[0]); i++) {
		size_t len = strlen(number_prefixes[i].text);
		if (len > before || strncmp(text - len, number_prefixes[i].text, len) != 0)
			continue;
		len = number_prefixes[i].hex ? hex_digits(text) : digits(text);
		if (len)
			return len;
	}
	return 0;
}

/* Length of the numbers that end a lambda's class: "$$Lambda$14/0x...", "$$Lambda/0x...", "$$Lambda$14"; 0: none. */
static size_t lambda_numbers(const char *text)
{
	size_t len = *text == '$' && digits(text + 1) ? 1 + digits(text + 1) : 0;

	len += hidden_number(text + len);
	return len ? len : *text == '*'; /* "*": already normalized */
}

void java_name_fold(struct buf *out, const char *name)
{
	size_t lambda = strlen(LAMBDA), len;

	for (const char *at = name; *at; at += len) {
		bool is_lambda = *at == '$' && !strncmp(at, LAMBDA, lambda);

		len = is_lambda           ? lambda + lambda_numbers(at + lambda)
		      : hidden_number(at) ? hidden_number(at)
					  : prefixed_number(name, at);
		if (is_lambda)
			buf_adds(out, LAMBDA);
		if (!len)
			buf_addc(out, *at);
		else if (buf_str(out)[out->len - 1] != '*')
			buf_addc(out, '*');
		len += !len;
	}
}

void native_name_fold(struct buf *out, const char *name)
{
	static const char *const clones[] = {
		".constprop.", ".isra.", ".part.", ".lto_priv.", ".llvm."};
	size_t len;

	for (const char *at = name; *at; at += len) {
		len = 1;
		for (size_t i = 0; *at == '.' && i < sizeof(clones) / sizeof(clones[0]); i++)
			if (!strncmp(at, clones[i], strlen(clones[i])) &&
				digits(at + strlen(clones[i])))
				len = strlen(clones[i]);
		buf_add(out, at, len);
		if (len == 1)
			continue;
		buf_addc(out, '*');
		len += digits(at + len);
	}
}

const char *java_name_simple(const char *class_name)
{
	const char *slash = strchr(class_name, '/'), *simple = class_name;

	for (const char *p = class_name; *p && p != slash; p++)
		if (*p == '.')
			simple = p + 1;
	return simple;
}

void java_name_parts(const char *name, size_t *class_at, size_t *method_at)
{
	*class_at = *method_at = 0;
	for (size_t i = 0; name[i] && name[i] != '('; i++) {
		if (name[i] == '.' && !isdigit((unsigned char)name[i + 1])) {
			*class_at = *method_at;
			*method_at = i + 1;
		}
	}
}

bool java_name_is_lambda(const char *class_name)
{
	return strstr(class_name, LAMBDA) != NULL;
}

bool java_name_matches(const char *text, const char *pattern)
{
	const char *star = strchr(pattern, '*');
	size_t len = strlen(text);

	if (!star)
		return !strcmp(text, pattern);
	size_t before = (size_t)(star - pattern);
	size_t after = strlen(star + 1);
	return len >= before + after && !memcmp(text, pattern, before) &&
	       !strcmp(text + len - after, star + 1);
}

bool name_begins_with_any(const char *name, const char *const *prefixes)
{
	while (*prefixes && strncmp(name, *prefixes, strlen(*prefixes)) != 0)
		prefixes++;
	return *prefixes != NULL;
}
