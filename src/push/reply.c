/* SPDX-License-Identifier: Apache-2.0 */
/* What an answer means. The bytes are the receiver's and are not trusted. */
#include "push/push.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Fields of ExportProfilesServiceResponse and ExportProfilesPartialSuccess. */
enum { RESPONSE_PARTIAL = 1 };
enum { PARTIAL_REJECTED = 1, PARTIAL_MESSAGE };

void push_reply_clear(struct push_reply *r)
{
	buf_done(&r->body);
	*r = (struct push_reply){0};
}

/* --- protobuf ------------------------------------------------------------------------------------------ */

struct bytes {
	const unsigned char *at, *end;
};

static bool read_varint(struct bytes *b, uint64_t *value)
{
	*value = 0;
	for (unsigned shift = 0; b->at < b->end && shift < 64; shift += 7) {
		*value |= (uint64_t)(*b->at & 127) << shift;
		if (*b->at++ < 128)
			return true;
	}
	return false;
}

struct field {
	uint64_t id, value;
	struct bytes bytes; /* of a length-delimited field */
};

/* False at the end, and with *broken if the bytes are not protobuf. */
static bool read_field(struct bytes *b, struct field *f, bool *broken)
{
	uint64_t key, skip;

	if (b->at == b->end)
		return false;
	*broken = true;
	if (!read_varint(b, &key) || !(key >> 3))
		return false;
	*f = (struct field){.id = key >> 3};
	switch (key & 7) {
	case 0: skip = 0; break;
	case 1: skip = 8; break;
	case 2: skip = 1; break;
	case 5: skip = 4; break;
	default: return false;
	}
	if (skip <= 1 && !read_varint(b, &f->value))
		return false;
	if (skip == 1) {
		skip = f->value;
		f->bytes.at = b->at;
	}
	if ((uint64_t)(b->end - b->at) < skip)
		return false;
	b->at += skip;
	if (f->bytes.at)
		f->bytes.end = b->at;
	*broken = false;
	return true;
}

/* Reads the rejected profiles and the receiver's reason. False: not such a message. */
static bool otlp_response(struct bytes b, uint64_t *rejected, char *why, size_t why_bytes)
{
	struct field f, inner;
	bool broken = false;

	while (read_field(&b, &f, &broken)) {
		if (f.id != RESPONSE_PARTIAL || !f.bytes.at)
			continue;
		while (read_field(&f.bytes, &inner, &broken)) {
			if (inner.id == PARTIAL_REJECTED)
				*rejected = inner.value;
			if (inner.id == PARTIAL_MESSAGE && inner.bytes.at)
				snprintf(why, why_bytes, "%.*s",
					(int)(inner.bytes.end - inner.bytes.at),
					(const char *)inner.bytes.at);
		}
		if (broken)
			break;
	}
	return !broken;
}

/* --- the meaning --------------------------------------------------------------------------------------- */

static bool has_type(const struct push_reply *r, const char *type)
{
	return !strncasecmp(r->type, type, strlen(type));
}

static enum push_outcome garbage(
	const struct push_target *t, const struct push_reply *r, struct err *err)
{
	err_set(err, ERR_PUSH,
		"%s answered %ld, but not as a receiver of profiles (%zu bytes of \"%s\").",
		t->shown, r->status, r->body.len, r->type);
	err_hint(err, "check host, port and path of the URL");
	return PUSH_LATER;
}

static enum push_outcome accepted(
	const struct push_target *t, struct push_reply *r, struct err *err)
{
	const unsigned char *body = (const unsigned char *)buf_str(&r->body);
	char why[200] = "";

	if (has_type(r, "text/html"))
		return garbage(t, r, err);
	if (t->protocol == PUSH_SERIES && r->body.len && *body != '{')
		return garbage(t, r, err);
	if (t->protocol != PUSH_OTLP || has_type(r, "application/json"))
		return PUSH_DONE;
	if (r->body.len >= PUSH_REPLY || !otlp_response((struct bytes){body, body + r->body.len},
						 &r->rejected, why, sizeof(why)))
		return garbage(t, r, err);
	if (r->rejected)
		err_set(err, ERR_PUSH, "%s rejected %" PRIu64 " profile%s: %s", t->shown,
			r->rejected, plural(r->rejected), *why ? why : "no reason given");
	return PUSH_DONE;
}

enum push_outcome push_judge(const struct push_target *t, struct push_reply *r, struct err *err)
{
	size_t line = strcspn(buf_str(&r->body), "\r\n");

	r->rejected = 0;
	if (r->status >= 200 && r->status < 300)
		return accepted(t, r, err);
	if (r->status >= 300 && r->status < 400) {
		err_set(err, ERR_PUSH, "%s answered %ld: it redirects to \"%s\".", t->shown,
			r->status, r->location);
		err_hint(err, "jhot follows no redirects: give the final URL");
		return PUSH_DENIED;
	}
	err_set(err, ERR_PUSH, "%s answered %ld%s%.*s", t->shown, r->status, line ? ": " : ".",
		(int)(line < 200 ? line : 200), buf_str(&r->body));
	if (r->status == 401 || r->status == 403 || r->status == 407) {
		err_hint(err, "check the token: --token-file FILE");
		return PUSH_DENIED;
	}
	if (r->status == 404 || r->status == 405)
		err_hint(err, "check the path of the URL");
	return r->status >= 400 && r->status < 500 && r->status != 408 && r->status != 429
		       ? PUSH_REFUSED
		       : PUSH_LATER;
}
