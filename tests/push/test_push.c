/* SPDX-License-Identifier: Apache-2.0 */
/* push: URLs, headers and tokens that are refused, back-off, bodies, and the meaning of answers. */
#include "base/clock.h"
#include "push/push.h"
#include "tests/tap.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- URLs ---------------------------------------------------------------------------------------------- */

static void test_urls_accepted(void)
{
	static const struct {
		const char *url;
		enum push_protocol protocol;
		const char *sent, *shown;
		bool plain;
	} rows[] = {
		{"http://a", PUSH_OTLP, "http://a/v1development/profiles", NULL, true},
		{"http://a/", PUSH_OTLP, "http://a/v1development/profiles", NULL, true},
		{"HTTPS://a:4318/v1/profiles", PUSH_OTLP, "HTTPS://a:4318/v1/profiles", NULL,
			false},
		{"https://a/otlp/v1development/profiles", PUSH_OTLP,
			"https://a/otlp/v1development/profiles", NULL, false},
		{"http://localhost:4040/ingest", PUSH_INGEST, "http://localhost:4040/ingest", NULL,
			false},
		{"http://127.0.0.1:4040/push.v1.PusherService/Push", PUSH_SERIES,
			"http://127.0.0.1:4040/push.v1.PusherService/Push", NULL, false},
		{"http://[::1]:1/ingest", PUSH_INGEST, "http://[::1]:1/ingest", NULL, false},
		{"http://localhost.example/ingest", PUSH_INGEST, "http://localhost.example/ingest",
			NULL, true},
		{"https://a/ingest?key=secret", PUSH_INGEST, "https://a/ingest?key=secret",
			"https://a/ingest", false},
		{"https://a?key=secret", PUSH_OTLP, "https://a/v1development/profiles?key=secret",
			"https://a/v1development/profiles", false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct push_target t;
		struct err err = {0};
		bool parsed = !push_target_parse(&t, rows[i].url, &err);

		ok(parsed && t.protocol == rows[i].protocol && t.plain == rows[i].plain &&
				!strcmp(t.url, rows[i].sent) &&
				!strcmp(t.shown, rows[i].shown ? rows[i].shown : rows[i].sent),
			"%s is accepted", rows[i].url);
		if (!parsed)
			diag("%s", err.what);
		push_target_done(&t);
	}
}

static void test_urls_refused(void)
{
	static const struct {
		const char *url, *why;
	} rows[] = {
		{"", "does not begin"},
		{"a", "does not begin"},
		{"//a/ingest", "does not begin"},
		{"ftp://a/ingest", "does not begin"},
		{"file:///etc/passwd", "does not begin"},
		{"gopher://a/ingest", "does not begin"},
		{"https:/a/ingest", "does not begin"},
		{" http://a/ingest", "does not begin"},
		{"http://", "no host"},
		{"http:///ingest", "no host"},
		{"http://:80/ingest", "no host"},
		{"http://user:pw@a/ingest", "user name or password"},
		{"http://trusted@evil/ingest", "user name or password"},
		{"http://evil\\@a/ingest", "%XX"},
		{"http://a\r\nX-Evil: 1/ingest", "%XX"},
		{"http://a/in gest", "%XX"},
		{"http://a/\x01ingest", "%XX"},
		{"http://b\xc3\xbc\x63her/ingest", "%XX"},
		{"http://a\"/ingest", "%XX"},
		{"http://a;b/ingest", "host names do not have"},
		{"http://a%2eb/ingest", "host names do not have"},
		{"http://a,b/ingest", "host names do not have"},
		{"http://a:0/ingest", "port"},
		{"http://a:/ingest", "port"},
		{"http://a:65536/ingest", "port"},
		{"http://a:99999999999/ingest", "port"},
		{"http://a:8x/ingest", "port"},
		{"http://a:1:2/ingest", "port"},
		{"http://[::1/ingest", "IPv6"},
		{"http://[]/ingest", "IPv6"},
		{"http://[::1]x/ingest", "port"},
		{"http://[fe80::1%25eth0]/ingest", "IPv6"},
		{"http://a/ingest#x", "fragment"},
		{"http://a/ingest/", "no protocol"},
		{"http://a/v1/traces", "no protocol"},
		{"http://a//", "no protocol"},
		{"http://a/INGEST", "no protocol"},
		{"http://a/x?/ingest", "no protocol"},
	};
	struct push_target t;
	char longest[2100] = "http://a/";

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct err err = {0};

		ok(push_target_parse(&t, rows[i].url, &err) && err.kind == ERR_USAGE &&
				strstr(err.what, rows[i].why) && !t.url,
			"URL %zu is refused: %s", i, rows[i].why);
		if (!strstr(err.what, rows[i].why))
			diag("%s", err.what);
		ok(!strstr(err.what, "pw") && !strstr(err.hint, "pw"), "without quoting it");
	}
	memset(longest + 9, 'a', 2050);
	strcpy(longest + 2059, "/ingest");
	ok(push_target_parse(&t, longest, NULL), "a URL of more than 2000 bytes is refused");
}

/* --- headers and tokens -------------------------------------------------------------------------------- */

static void test_headers(void)
{
	static const char *const refused[] = {"", ":", "X", "X:", "X: ", ": v", "X Y: v", "X\n: v",
		"X: v\r\nY: w", "X: \x80", "X\x80: v", "Content-Type: a", "content-length: 1",
		"Host: a", "Transfer-Encoding: chunked", "Connection: close"};
	struct err err = {0};

	ok(!push_header_check("X-Scope-OrgID: a", NULL), "a header is accepted");
	ok(!push_header_check("X:a b\tc", NULL), "and without a space");
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		ok(push_header_check(refused[i], NULL), "header %zu is refused", i);
	ok(push_header_check("AUTHORIZATION: Bearer secret", &err), "a token in it is refused");
	ok(strstr(err.hint, "--token-file") && !strstr(err.what, "secret"), "with the remedy");
}

static const char *path;

static void put(const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (write(fd, text, strlen(text)) < 0)
		diag("cannot write %s", path);
	close(fd);
}

static void test_tokens(void)
{
	static const struct {
		const char *file, *header;
	} rows[] = {
		{"abc", "Bearer abc"},
		{"abc\n", "Bearer abc"},
		{"abc \r\n\n", "Bearer abc"},
		{"Basic dTpw\n", "Basic dTpw"},
		{"", NULL},
		{"\n", NULL},
		{"abc\ndef\n", NULL},
		{"abc\r\nX-Evil: 1", NULL},
		{"ab\x7f", NULL},
		{"ab\xc3\xa9", NULL},
	};
	struct buf out = {0};
	struct err err;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bool got;

		put(rows[i].file);
		err = (struct err){0};
		buf_clear(&out);
		got = !push_token_read(&out, path, &err);
		ok(got == !!rows[i].header && !strcmp(buf_str(&out), got ? rows[i].header : ""),
			"token file %zu", i);
		ok(!strstr(err.what, "abc") && !strstr(err.what, "Evil"),
			"errors do not quote the token");
	}
	unlink(path);
	ok(push_token_read(&out, path, NULL), "a missing token file is an error");
	ok(!mkfifo(path, 0600) && push_token_read(&out, path, NULL),
		"a pipe is refused, and not waited for");
	unlink(path);
	ok(push_token_read(&out, "/dev/zero", NULL), "so is a device");
	buf_done(&out);
}

/* --- back-off ------------------------------------------------------------------------------------------ */

static void test_wait(void)
{
	bool within = true, grows = true, spread = false;
	uint64_t most;

	for (unsigned n = 1; n < 100; n++) {
		most = n < 10 ? NS_PER_S << (n - 1) : 300 * NS_PER_S;
		if (most > 300 * NS_PER_S)
			most = 300 * NS_PER_S;
		for (uint64_t r = 0; r < 1000; r++) {
			uint64_t ns = push_wait_ns(n, 0, r * 0x9e3779b97f4a7c15ull);

			within &= ns >= most / 2 && ns <= most;
			spread |= ns != push_wait_ns(n, 0, 0);
		}
		grows &= push_wait_ns(n + 1, 0, 0) >= push_wait_ns(n, 0, 0);
	}
	ok(within, "waits double from 1 s to 5 min, with up to a half less");
	ok(grows && spread, "they grow, and are random");
	is_int(push_wait_ns(1, 120, 7), 120 * NS_PER_S, "Retry-After is honoured");
	ok(push_wait_ns(12, 1, 0) >= 150 * NS_PER_S, "but does not shorten the wait");
	is_int(push_wait_ns(1, UINT64_MAX, 7), 3600 * NS_PER_S, "and is an hour at most");
	ok(push_wait_ns(0, 0, 0) && push_wait_ns(UINT32_MAX, 0, UINT64_MAX),
		"extremes are waits, too");
}

/* --- bodies -------------------------------------------------------------------------------------------- */

static void test_bodies(void)
{
	static const char *const labels[] = {"service.name=shop", "k8s.pod.name=a,b}=\"c",
		"k8s/pod_name=again", "host=other", "1x=digit", "__name__=evil", "=none", "empty="};
	struct push_profile p[2] = {
		{.event = "cpu",
			.program = "org.Main",
			.host = "h 1&x",
			.labels = labels,
			.label_count = 8,
			.start_ns = 1700000000 * NS_PER_S,
			.duration_ns = 1500 * NS_PER_MS,
			.pprof = {(char *)"abcd", 4, 0}},
		{.event = "cache-misses", .program = "", .pprof = {(char *)"abcde", 5, 0}},
	};
	struct buf out = {0};

	push_query(&out, &p[0]);
	is_str(buf_str(&out),
		"name=shop%7Bhost%3Dh%201%26x%2Ck8s_pod_name%3Da_b___c%2Cempty%3D%7D"
		"&from=1700000000&until=1700000002&format=pprof&spyName=jhot",
		"the query of /ingest: labels are cleaned and unique");
	buf_clear(&out);
	push_query(&out, &p[1]);
	ok(!strncmp(buf_str(&out), "name=unknown&from=0", 19), "without labels");
	buf_clear(&out);
	push_body_series(&out, p, 2);
	is_str(buf_str(&out),
		"{\"series\":[{\"labels\":[{\"name\":\"__name__\",\"value\":\"process_cpu\"},"
		"{\"name\":\"service_name\",\"value\":\"shop\"},{\"name\":\"host\",\"value\":\"h "
		"1&x\"},"
		"{\"name\":\"k8s_pod_name\",\"value\":\"a,b}=\\\"c\"},{\"name\":\"empty\","
		"\"value\":\"\"}],"
		"\"samples\":[{\"rawProfile\":\"YWJjZA==\"}]},"
		"{\"labels\":[{\"name\":\"__name__\",\"value\":\"cache_misses\"},"
		"{\"name\":\"service_name\",\"value\":\"unknown\"}],"
		"\"samples\":[{\"rawProfile\":\"YWJjZGU=\"}]}]}",
		"the JSON of Push");
	buf_done(&out);
}

/* --- answers ------------------------------------------------------------------------------------------- */

static const struct {
	const char *url;
	long status;
	const char *type, *body;
	size_t len;
	enum push_outcome outcome;
	uint64_t rejected;
} answers[] = {
	{"http://a", 200, "application/x-protobuf", "", 0, PUSH_DONE, 0},
	{"http://a", 200, "", "", 0, PUSH_DONE, 0},
	{"http://a", 202, "application/json", "{}", 2, PUSH_DONE, 0},
	{"http://a", 200, "application/x-protobuf", "\x0a\x02\x08\x03", 4, PUSH_DONE, 3},
	{"http://a", 200, "application/x-protobuf", "\x0a\x06\x08\x03\x12\x02no", 8, PUSH_DONE, 3},
	{"http://a", 200, "application/x-protobuf", "\x0a\x04\x12\x02no", 6, PUSH_DONE, 0},
	{"http://a", 200, "application/x-protobuf", "\x1a\x00", 2, PUSH_DONE, 0},
	{"http://a", 200, "application/x-protobuf", "\x0a\x05\x08\x03", 4, PUSH_LATER, 0},
	{"http://a", 200, "application/x-protobuf", "\x0a\x02\x08\xff", 4, PUSH_LATER, 0},
	{"http://a", 200, "application/x-protobuf", "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
		11, PUSH_LATER, 0},
	{"http://a", 200, "application/x-protobuf", "\xff\xff", 2, PUSH_LATER, 0},
	{"http://a", 200, "application/x-protobuf", "\x09\x01\x02", 3, PUSH_LATER, 0},
	{"http://a", 200, "application/x-protobuf", "\x00\x00", 2, PUSH_LATER, 0},
	{"http://a", 200, "text/plain", "hello", 5, PUSH_LATER, 0},
	{"http://a/ingest", 200, "text/plain", "hello", 5, PUSH_DONE, 0},
	{"http://a/ingest", 200, "text/html; charset=utf-8", "<html>", 6, PUSH_LATER, 0},
	{"http://a/push.v1.PusherService/Push", 200, "application/json", "{}", 2, PUSH_DONE, 0},
	{"http://a/push.v1.PusherService/Push", 200, "", "", 0, PUSH_DONE, 0},
	{"http://a/push.v1.PusherService/Push", 200, "text/plain", "hello", 5, PUSH_LATER, 0},
	{"http://a", 0, "", "", 0, PUSH_LATER, 0},
	{"http://a", 101, "", "", 0, PUSH_LATER, 0},
	{"http://a", 301, "", "", 0, PUSH_DENIED, 0},
	{"http://a", 307, "", "", 0, PUSH_DENIED, 0},
	{"http://a", 400, "", "bad", 3, PUSH_REFUSED, 0},
	{"http://a", 401, "", "", 0, PUSH_DENIED, 0},
	{"http://a", 403, "", "", 0, PUSH_DENIED, 0},
	{"http://a", 404, "", "", 0, PUSH_REFUSED, 0},
	{"http://a", 408, "", "", 0, PUSH_LATER, 0},
	{"http://a", 413, "", "", 0, PUSH_REFUSED, 0},
	{"http://a", 422, "", "", 0, PUSH_REFUSED, 0},
	{"http://a", 429, "", "", 0, PUSH_LATER, 0},
	{"http://a", 500, "", "", 0, PUSH_LATER, 0},
	{"http://a", 503, "", "", 0, PUSH_LATER, 0},
	{"http://a", 999, "", "", 0, PUSH_LATER, 0},
};

static void test_answers(void)
{
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		struct push_reply r = {.status = answers[i].status};
		struct push_target t;
		struct err err = {0};
		enum push_outcome outcome;

		push_target_parse(&t, answers[i].url, NULL);
		snprintf(r.type, sizeof(r.type), "%s", answers[i].type);
		buf_add(&r.body, answers[i].body, answers[i].len);
		outcome = push_judge(&t, &r, &err);
		ok(outcome == answers[i].outcome && r.rejected == answers[i].rejected &&
				(err.kind == ERR_NONE) == (outcome == PUSH_DONE && !r.rejected),
			"answer %zu: %ld %s", i, answers[i].status, answers[i].type);
		push_reply_clear(&r);
		push_target_done(&t);
	}
}

int main(void)
{
	struct err err = {0};
	char name[] = "/tmp/test_push.XXXXXX";
	int fd = mkstemp(name);

	path = name;
	close(fd);
	test_urls_accepted();
	test_urls_refused();
	test_headers();
	test_tokens();
	test_wait();
	test_bodies();
	test_answers();
	ok(!push_http_open(&err) && strstr(err.what, "libcurl"),
		"a build without libcurl says that it cannot push");
	unlink(name);
	return tap_done();
}
