/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One request by libcurl, which is loaded here and not linked: it has 28 libraries of its own, which would cost every start of jhot
 * 14 ms and 6 MB.
 */
#include "push/push.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define NAMES "libcurl.so.4 or libcurl-gnutls.so.4"

struct push_http {
	void *library;
	CURL *easy;
	CURLcode (*global_init)(long);
	CURL *(*easy_init)(void);
	void (*easy_reset)(CURL *);
	CURLcode (*easy_setopt)(CURL *, CURLoption, ...);
	CURLcode (*easy_perform)(CURL *);
	CURLcode (*easy_getinfo)(CURL *, CURLINFO, ...);
	void (*easy_cleanup)(CURL *);
	const char *(*easy_strerror)(CURLcode);
	struct curl_slist *(*slist_append)(struct curl_slist *, const char *);
	void (*slist_free_all)(struct curl_slist *);
};

/* Finds the functions; false if the library lacks one. */
static bool http_symbols(struct push_http *h)
{
	const struct {
		const char *name;
		void *at;
	} needed[] = {
		{"curl_global_init", &h->global_init},
		{"curl_easy_init", &h->easy_init},
		{"curl_easy_reset", &h->easy_reset},
		{"curl_easy_setopt", &h->easy_setopt},
		{"curl_easy_perform", &h->easy_perform},
		{"curl_easy_getinfo", &h->easy_getinfo},
		{"curl_easy_cleanup", &h->easy_cleanup},
		{"curl_easy_strerror", &h->easy_strerror},
		{"curl_slist_append", &h->slist_append},
		{"curl_slist_free_all", &h->slist_free_all},
	};

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		void *symbol = dlsym(h->library, needed[i].name);

		if (!symbol)
			return false;
		memcpy(needed[i].at, &symbol, sizeof(symbol));
	}
	return true;
}

struct push_http *push_http_open(struct err *err)
{
	struct push_http *h = xcalloc(1, sizeof(*h));

	h->library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
	if (!h->library)
		h->library = dlopen("libcurl-gnutls.so.4", RTLD_NOW | RTLD_LOCAL);
	if (h->library && http_symbols(h) && !h->global_init(CURL_GLOBAL_DEFAULT))
		h->easy = h->easy_init();
	if (h->easy)
		return h;
	err_set(err, ERR_FAILED, "Pushing needs libcurl, and %s cannot be loaded.", NAMES);
	err_hint(err, "install it (Debian package: libcurl4)");
	push_http_close(h);
	return NULL;
}

/* libcurl stays loaded: it cannot be unloaded safely. */
void push_http_close(struct push_http *h)
{
	if (!h)
		return;
	if (h->easy)
		h->easy_cleanup(h->easy);
	free(h);
}

/* --- callbacks ----------------------------------------------------------------------------------------- */

static size_t on_body(char *bytes, size_t one, size_t count, void *ctx)
{
	struct push_reply *r = ctx;
	size_t space = PUSH_BODY_MAX - r->body.len;

	(void)one;
	buf_add(&r->body, bytes, count < space ? count : space);
	r->received += count;
	return r->received > PUSH_RECEIVED_MAX ? 0 : count;
}

static int on_progress(void *ctx, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	const struct push_options *o = ctx;

	(void)a;
	(void)b;
	(void)c;
	(void)d;
	return !o->tick(o->ctx);
}

/* --- a request ----------------------------------------------------------------------------------------- */

static void add_header(struct push_http *h, struct curl_slist **list, const char *header)
{
	struct curl_slist *longer = h->slist_append(*list, header);

	if (!longer)
		xmalloc(SIZE_MAX / 2); /* fails, which ends the program */
	*list = longer;
}

/* NULL with an error: the token cannot be read. */
static struct curl_slist *http_headers(struct push_http *h, const struct push_options *o,
	const struct push_request *request, struct err *err)
{
	struct curl_slist *list = NULL;
	struct buf line = {0};

	buf_printf(&line, "Content-Type: %s", request->type);
	add_header(h, &list, line.data);
	add_header(h, &list, "Expect:"); /* none: it would cost a round trip */
	if (request->gzip)
		add_header(h, &list, "Content-Encoding: gzip");
	for (int i = 0; i < o->header_count; i++)
		add_header(h, &list, o->headers[i]);
	buf_clear(&line);
	buf_adds(&line, "Authorization: ");
	if (o->token_file && push_token_read(&line, o->token_file, err)) {
		h->slist_free_all(list);
		list = NULL;
	} else if (o->token_file) {
		add_header(h, &list, line.data);
	}
	explicit_bzero(line.data, line.len);
	buf_done(&line);
	return list;
}

/* Sets all options; the first error, CURLE_OK if there is none. */
static CURLcode http_options(struct push_http *h, const struct push_options *o,
	const struct push_request *request, struct push_reply *reply)
{
	const long total_s = o->timeout_s ? (long)o->timeout_s : PUSH_TOTAL_S;
	const struct {
		CURLoption option;
		long value;
	} numbers[] = {
		{CURLOPT_NOSIGNAL, 1},
		{CURLOPT_POST, 1},
		{CURLOPT_FOLLOWLOCATION, 0},
		{CURLOPT_SSL_VERIFYPEER, 1},
		{CURLOPT_SSL_VERIFYHOST, 2},
		{CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2},
		{CURLOPT_CONNECTTIMEOUT, total_s < PUSH_CONNECT_S ? total_s : PUSH_CONNECT_S},
		{CURLOPT_TIMEOUT, total_s},
		{CURLOPT_NOPROGRESS, !o->tick},
	};
	CURLcode rc = CURLE_OK;

	h->easy_reset(h->easy);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]) && !rc; i++)
		rc = h->easy_setopt(h->easy, numbers[i].option, numbers[i].value);
#if LIBCURL_VERSION_NUM >= 0x075500
	rc = rc ? rc : h->easy_setopt(h->easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
	rc = rc ? rc
		: h->easy_setopt(
			  h->easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
	rc = rc ? rc : h->easy_setopt(h->easy, CURLOPT_USERAGENT, "jhot/" JHOT_VERSION);
	rc = rc ? rc : h->easy_setopt(h->easy, CURLOPT_POSTFIELDS, buf_str(request->body));
	rc = rc ? rc
		: h->easy_setopt(
			  h->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body->len);
	rc = rc ? rc : h->easy_setopt(h->easy, CURLOPT_WRITEFUNCTION, on_body);
	rc = rc ? rc : h->easy_setopt(h->easy, CURLOPT_WRITEDATA, reply);
	rc = rc ? rc : h->easy_setopt(h->easy, CURLOPT_XFERINFOFUNCTION, on_progress);
	rc = rc ? rc : h->easy_setopt(h->easy, CURLOPT_XFERINFODATA, o);
	if (o->ca_file)
		rc = rc ? rc : h->easy_setopt(h->easy, CURLOPT_CAINFO, o->ca_file);
	return rc;
}

enum push_outcome push_http_send(struct push_http *h, const struct push_target *t,
	const struct push_options *o, const struct push_request *request, struct push_reply *reply,
	struct err *err)
{
	char why[CURL_ERROR_SIZE] = "";
	struct buf url = {0};

	push_reply_clear(reply);
	struct curl_slist *headers = http_headers(h, o, request, err);
	if (!headers)
		return PUSH_DENIED;
	buf_adds(&url, t->url);
	if (request->query)
		buf_printf(&url, "%c%s", strchr(t->url, '?') ? '&' : '?', request->query);
	CURLcode rc = http_options(h, o, request, reply);
	rc = rc ? rc : h->easy_setopt(h->easy, CURLOPT_URL, url.data);
	rc = rc ? rc : h->easy_setopt(h->easy, CURLOPT_HTTPHEADER, headers);
	rc = rc ? rc : h->easy_setopt(h->easy, CURLOPT_ERRORBUFFER, why);
	rc = rc ? rc : h->easy_perform(h->easy);
	if (!rc) {
		const char *type = NULL, *location = NULL;
		curl_off_t retry_after = 0;

		h->easy_getinfo(h->easy, CURLINFO_RESPONSE_CODE, &reply->status);
		h->easy_getinfo(h->easy, CURLINFO_CONTENT_TYPE, &type);
		h->easy_getinfo(h->easy, CURLINFO_REDIRECT_URL, &location);
		h->easy_getinfo(h->easy, CURLINFO_RETRY_AFTER, &retry_after);
		snprintf(reply->type, sizeof(reply->type), "%s", type ? type : "");
		if (location) /* without its query, as of other URLs */
			snprintf(reply->location, sizeof(reply->location), "%.*s",
				(int)strcspn(location, "?"), location);
		reply->retry_after_s = retry_after > 0 ? (uint64_t)retry_after : 0;
	}
	/* Drops the pointers to this call's memory; the connection stays open. */
	h->easy_reset(h->easy);
	h->slist_free_all(headers);
	buf_done(&url);
	if (!rc)
		return push_judge(t, reply, err);
	err_set(err, ERR_PUSH, "Cannot push to %s: %s.", t->shown,
		rc == CURLE_ABORTED_BY_CALLBACK ? "there was no answer in time"
		: rc == CURLE_WRITE_ERROR       ? "the answer is longer than 1 MiB"
		: strstr(why, "HTTP/0.9")       ? "the answer is not HTTP"
		: *why                          ? why
						: h->easy_strerror(rc));
	if (rc == CURLE_PEER_FAILED_VERIFICATION)
		err_hint(err, "--ca-file FILE     trust the certificates in this file");
	return PUSH_LATER;
}
