/* SPDX-License-Identifier: Apache-2.0 */
/* URLs of receivers. Accepts less than libcurl, so that both cannot disagree about the host. */
#include "push/push.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define URL_MAX      2000u
#define OTLP_DEFAULT "/v1development/profiles"

static const struct push_path {
	const char *path;
	enum push_protocol protocol;
	const char *what;
} paths[] = {
	{OTLP_DEFAULT, PUSH_OTLP, "OTLP profiles"},
	{"/v1/profiles", PUSH_OTLP, "OTLP profiles"},
	{"/ingest", PUSH_INGEST, "Pyroscope"},
	{"/push.v1.PusherService/Push", PUSH_SERIES, "Pyroscope"},
};
#define PATHS (sizeof(paths) / sizeof(paths[0]))

/* Does not quote the URL, which may contain a password. */
static int url_refused(const char *why, struct err *err)
{
	err_set(err, ERR_USAGE, "This URL cannot be used: %s.", why);
	for (size_t i = 0; i < PATHS; i++)
		err_hint(err, "http://HOST:PORT%s     %s", paths[i].path, paths[i].what);
	return -1;
}

/* Returns NULL if HOST[:PORT] is well-formed, otherwise a clause that describes the error. */
static const char *url_authority(const char *text, size_t len)
{
	size_t host = 0;

	if (memchr(text, '@', len))
		return "it contains a user name or password, which other users could see; use "
		       "--token-file";
	if (len && text[0] == '[') {
		host = 1 + strspn(text + 1, "0123456789abcdefABCDEF:.");
		if (host == 1 || host >= len || text[host] != ']')
			return "the IPv6 address in it is not well-formed";
		host++;
	} else {
		while (host < len && text[host] != ':')
			host++;
		for (size_t i = 0; i < host; i++)
			if (!strchr("0123456789abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ-._",
				    text[i]))
				return "its host contains a character that host names do not have";
	}
	if (!host)
		return "it has no host";
	if (host == len)
		return NULL;
	const char *port = text + host + 1;
	size_t digits = strspn(port, "0123456789");
	if (text[host] != ':' || !digits || digits > 5 || host + 1 + digits != len ||
		atoi(port) < 1 || atoi(port) > 65535)
		return "its port is not a number from 1 to 65535";
	return NULL;
}

/* The row whose path this one ends with; NULL: none. */
static const struct push_path *url_path(const char *path, size_t len)
{
	for (size_t i = 0; i < PATHS; i++) {
		size_t known = strlen(paths[i].path);

		if (len >= known && !memcmp(path + len - known, paths[i].path, known))
			return &paths[i];
	}
	return NULL;
}

/* True if the host is this one. */
static bool url_is_local(const char *authority, size_t len)
{
	static const char *const local[] = {"localhost", "127.0.0.1", "[::1]"};

	for (size_t i = 0; i < sizeof(local) / sizeof(local[0]); i++) {
		size_t n = strlen(local[i]);

		if (len >= n && !strncasecmp(authority, local[i], n) &&
			(len == n || authority[n] == ':'))
			return true;
	}
	return false;
}

int push_target_parse(struct push_target *t, const char *url, struct err *err)
{
	size_t scheme = !strncasecmp(url, "http://", 7)    ? 7
			: !strncasecmp(url, "https://", 8) ? 8
							   : 0;
	struct buf text = {0};

	*t = (struct push_target){0};
	if (!scheme)
		return url_refused("it does not begin with http:// or https://", err);
	if (strlen(url) > URL_MAX)
		return url_refused("it is longer than 2000 bytes", err);
	for (const char *c = url; *c; c++)
		if (*c <= ' ' || *c >= 0x7f || strchr("\\\"<>^`{|}", *c))
			return url_refused(
				"it contains a character that must be written as %XX", err);
	if (strchr(url, '#'))
		return url_refused("it contains a fragment (#)", err);
	size_t authority = strcspn(url + scheme, "/?");
	const char *fault = url_authority(url + scheme, authority);
	if (fault)
		return url_refused(fault, err);
	const char *rest = url + scheme + authority;
	size_t path = strcspn(rest, "?");
	const struct push_path *known = path > 1 ? url_path(rest, path) : &paths[0];
	if (!known)
		return url_refused("jhot knows no protocol for its path", err);
	t->protocol = known->protocol;
	t->plain = scheme == 7 && !url_is_local(url + scheme, authority);
	buf_add(&text, url, scheme + authority);
	if (path > 1)
		buf_add(&text, rest, path);
	else
		buf_adds(&text, OTLP_DEFAULT);
	t->shown = xstrdup(buf_str(&text));
	buf_adds(&text, rest + path);
	t->url = buf_steal(&text);
	return 0;
}

void push_target_done(struct push_target *t)
{
	free(t->url);
	free(t->shown);
	*t = (struct push_target){0};
}
