/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies and queries of requests. */
#include "base/clock.h"
#include "base/json.h"
#include "base/zip.h"
#include "push/push.h"

#include <ctype.h>
#include <string.h>

#define SERVICE "service.name"

/* Pyroscope's names of profile types. */
static const struct {
	const char *event, *type;
} types[] = {{"cpu", "process_cpu"}, {"alloc", "memory"}, {"lock", "mutex"}, {"wall", "wall"}};

void push_body_gzip(struct buf *out, const struct buf *plain)
{
	struct zip_out *zip = zip_out_new();

	zip_out_add(zip, out, plain, ZIP_LAST);
	zip_out_free(zip);
}

static void base64(struct buf *out, const struct buf *bytes)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *b = (const unsigned char *)bytes->data;

	buf_reserve(out, bytes->len / 3 * 4 + 4);
	for (size_t i = 0; i < bytes->len; i += 3) {
		size_t have = bytes->len - i;
		uint32_t v = (uint32_t)b[i] << 16 | (have > 1 ? (uint32_t)b[i + 1] << 8 : 0) |
			     (have > 2 ? b[i + 2] : 0);
		char four[4] = {digits[v >> 18], digits[v >> 12 & 63],
			have > 1 ? digits[v >> 6 & 63] : '=', have > 2 ? digits[v & 63] : '='};

		buf_add(out, four, sizeof(four));
	}
}

/* --- labels -------------------------------------------------------------------------------------------- */

/* Appends a name up to a "=". Pyroscope accepts letters, digits and "_" in names of labels; others become "_". */
static void label_name(struct buf *out, const char *label)
{
	for (; *label && *label != '='; label++)
		buf_addc(out, isalnum((unsigned char)*label) ? *label : '_');
}

/* True if this label can be pushed: its name is not reserved, and no earlier label has it. */
static bool label_is_sent(const struct push_profile *p, int i, const char *name)
{
	if (!*name || isdigit((unsigned char)*name) || !strncmp(name, "__", 2) ||
		!strcmp(name, "service_name") || !strcmp(name, "host") ||
		!strchr(p->labels[i], '='))
		return false;
	for (int k = 0; k < i; k++) {
		struct buf text = {0};

		label_name(&text, p->labels[k]);
		bool same = !strcmp(buf_str(&text), name);
		buf_done(&text);
		if (same)
			return false;
	}
	return true;
}

/* Calls fn for the host and each label that can be pushed. */
static void each_label(const struct push_profile *p,
	void (*fn)(void *ctx, const char *name, const char *value), void *ctx)
{
	if (p->host && *p->host)
		fn(ctx, "host", p->host);
	for (int i = 0; i < p->label_count; i++) {
		struct buf name = {0};

		label_name(&name, p->labels[i]);
		if (label_is_sent(p, i, buf_str(&name)))
			fn(ctx, name.data, strchr(p->labels[i], '=') + 1);
		buf_done(&name);
	}
}

/* The name of the service: the label service.name, else the program. */
static const char *service(const struct push_profile *p)
{
	for (int i = 0; i < p->label_count; i++)
		if (!strncmp(p->labels[i], SERVICE "=", strlen(SERVICE "=")))
			return p->labels[i] + strlen(SERVICE "=");
	return p->program && *p->program ? p->program : "unknown";
}

/* --- PUSH_SERIES --------------------------------------------------------------------------------------- */

static void series_label(void *ctx, const char *name, const char *value)
{
	struct json *j = ctx;

	json_begin(j, NULL, '{');
	json_str(j, "name", name);
	json_str(j, "value", value);
	json_end(j, '}');
}

/* The type of a profile: Pyroscope's name of the event, else the event's own. */
static void series_type(struct json *j, const char *event)
{
	struct buf name = {0};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(types[i].event, event)) {
			series_label(j, "__name__", types[i].type);
			return;
		}
	for (; *event; event++)
		buf_addc(&name, isalnum((unsigned char)*event) ? *event : '_');
	series_label(j, "__name__", buf_str(&name));
	buf_done(&name);
}

void push_body_series(struct buf *out, const struct push_profile *list, int count)
{
	struct json j = {.out = out};

	json_begin(&j, NULL, '{');
	json_begin(&j, "series", '[');
	for (int i = 0; i < count; i++) {
		struct buf text = {0};

		json_begin(&j, NULL, '{');
		json_begin(&j, "labels", '[');
		series_type(&j, list[i].event);
		series_label(&j, "service_name", service(&list[i]));
		each_label(&list[i], series_label, &j);
		json_end(&j, ']');
		json_begin(&j, "samples", '[');
		json_begin(&j, NULL, '{');
		base64(&text, &list[i].pprof);
		json_str(&j, "rawProfile", buf_str(&text));
		json_end(&j, '}');
		json_end(&j, ']');
		json_end(&j, '}');
		buf_done(&text);
	}
	json_end(&j, ']');
	json_end(&j, '}');
}

/* --- PUSH_INGEST --------------------------------------------------------------------------------------- */

/* Percent-encodes a text. Characters that separate labels in "app{a=b,c=d}" become "_". */
static void query_word(struct buf *out, const char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c < ' ' || strchr("{}=,\"", c))
			c = '_';
		if (isalnum(c) || strchr("-._", c))
			buf_addc(out, (char)c);
		else
			buf_printf(out, "%%%02X", c);
	}
}

struct query_labels {
	struct buf *out;
	bool any;
};

static void query_label(void *ctx, const char *name, const char *value)
{
	struct query_labels *q = ctx;

	buf_adds(q->out, q->any ? "%2C" : "%7B");
	q->any = true;
	query_word(q->out, name);
	buf_adds(q->out, "%3D");
	query_word(q->out, value);
}

void push_query(struct buf *out, const struct push_profile *p)
{
	struct query_labels labels = {.out = out};

	buf_adds(out, "name=");
	query_word(out, service(p));
	each_label(p, query_label, &labels);
	if (labels.any)
		buf_adds(out, "%7D");
	buf_printf(out, "&from=%llu&until=%llu&format=pprof&spyName=jhot", p->start_ns / NS_PER_S,
		(p->start_ns + p->duration_ns + NS_PER_S - 1) / NS_PER_S);
}
