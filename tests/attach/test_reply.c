/* SPDX-License-Identifier: Apache-2.0 */
/* Replies of the attach listener: those of JDKs 8 to 28, and malformed ones. */
#include "attach/protocol.h"

#include "tests/tap.h"

#define FUZZ_ROUNDS 200000

static const struct {
	const char *reply;
	int rc, result;
	const char *says; /* in the error */
} loads[] = {
	{"0\nreturn code: 0\n", 0, 0, ""},
	{"0\nreturn code: 7\n", 0, 7, ""},
	{"0\n0\n", 0, 0, ""},     /* 8 */
	{"0\n201\n", 0, 201, ""}, /* 8 */
	{"0\nreturn code: 0", 0, 0, ""},
	{"0\nreturn code: -1\n", -1, 0, "code -1"},
	{"0\nreturn code: 0x\n", -1, 0, "did not load"},
	{"0\nreturn code: \n", -1, 0, "did not load"},
	{"0\nreturn code: 99999999999999\n", -1, 0, "did not load"},
	{"0\nreturn  code: 0\n", -1, 0, "did not load"},
	{"-1\n", -1, 0, "gave no reason"},
	{"0\n", -1, 0, "gave no reason"},
	{"0\n/tmp/x.so was not loaded.\n/tmp/x.so: cannot open shared object file\n", -1, 0,
		"/tmp/x.so was not loaded. /tmp/x.so: cannot open"},
	{"1\nDynamic agent loading is not enabled. Use -XX:+EnableDynamicAgentLoading to launch "
	 "target VM.\n",
		-1, 0, "refuses agents at run time"},
	{"0\nDynamic agent loading is not enabled.\n", -1, 0, "refuses agents at run time"},
	{"0\nx.so was not loaded.\nDynamic agent loading is only permitted in the live phase\n", -1,
		0, "still starting"},
	{"0\nx.so: failed to map segment from shared object\n", -1, 0, "noexec"},
	{"0\nversion `GLIBC_2.38' not found\n", -1, 0, "newer glibc"},
	{"0\nx.so was not loaded.\n/lib/x86_64-linux-gnu/libc.so: invalid ELF header\n", -1, 0,
		"built with musl"},
	{"0\nlibc.so: cannot open shared object file: No such file or directory\n", -1, 0,
		"built with musl"},
	{"101\nprotocol\n", -1, 0, "protocol"},
	{"", -1, 0, "without an answer"},
	{"HTTP/1.1 400 Bad Request\n", -1, 0, "not in HotSpot's format: HTTP/1.1 400"},
	{"return code: 0\n", -1, 0, "not in HotSpot's format"},
	{"0 \nreturn code: 0\n", -1, 0, "not in HotSpot's format"},
	{"\n\n\n", -1, 0, "not in HotSpot's format"},
	{"0", -1, 0, "not in HotSpot's format"},
	{"1\nreturn code: 0\n", -1, 0, "did not load"},
};

static void test_loads(void)
{
	for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
		struct err err = {0};
		int result = 0,
		    rc = reply_load(loads[i].reply, strlen(loads[i].reply), &result, &err);

		ok(rc == loads[i].rc && (rc || result == loads[i].result) &&
				strstr(err.what, loads[i].says),
			"reply %zu gives the right status, result and error: %d %d %s", i, rc,
			result, err.what);
	}
}

static void test_starting(void)
{
	ok(reply_is_starting("0\nDynamic agent loading is only permitted in the live phase\n"),
		"a reply of a JVM that is still starting is recognized");
	ok(!reply_is_starting("0\nreturn code: 0\n"),
		"a success reply is not taken for a starting JVM");
	ok(!reply_is_starting("0\nDynamic agent loading is not enabled.\n"),
		"a refusal of dynamic agents is not taken for a starting JVM");
}

static void test_texts(void)
{
	struct err err = {0};

	is_str(reply_text("0\nhello\nworld\n", 14, &err), "hello\nworld\n",
		"reply_text returns the text after the result line");
	is_str(reply_text("0\n", 2, &err), "",
		"reply_text returns an empty text for a success without output");
	ok(!reply_text("-1\nOperation x not recognized!\n", 31, &err) &&
			strstr(err.what, "Operation x not recognized!"),
		"a refusal is reported as an error: %s", err.what);
	ok(!reply_text("0\na\0b\n", 6, &err), "a reply with a NUL byte is rejected");
	ok(!reply_text("1\n\033[31mred\033[0m\n", 15, &err) && !strchr(err.what, '\033'),
		"control characters are removed from error messages: %s", err.what);
	reply_text("1\n\302\233"
		   "31mred \233"
		   "0m\342\200\256 \377",
		19, &err);
	is_str(err.what, "The JVM refused with code 1: ?31mred ?0m? ?",
		"C1 control characters, direction marks and invalid UTF-8 become '?' in error "
		"messages");
	ok(!reply_text("\033]0;title\a\302\2332J\n", 16, &err) && !strpbrk(err.what, "\033\a\302"),
		"control characters of a malformed reply are removed, too: %s", err.what);
}

static void test_any_bytes(void)
{
	uint64_t random = 88172645463325252ull;
	int answered = 0, unexplained = 0;

	for (int round = 0; round < FUZZ_ROUNDS; round++) {
		static const char letters[] = "0017-\n\n reurncod:\0\xff";
		char text[40];
		size_t len = (size_t)round % (sizeof(text) - 1);
		struct err err = {0};
		int result;

		for (size_t i = 0; i < len; i++) {
			random ^= random << 13, random ^= random >> 7, random ^= random << 17;
			text[i] = letters[random % sizeof(letters)];
		}
		text[len] = '\0';
		if (!reply_load(text, len, &result, &err))
			answered++;
		else
			unexplained += !err.what[0];
	}
	is_int(unexplained, 0, "each random reply that is not a result has an error message");
	ok(answered > 0 && answered < FUZZ_ROUNDS / 2, "few random replies parse as results");
}

int main(void)
{
	test_loads();
	test_starting();
	test_texts();
	test_any_bytes();
	return tap_done();
}
