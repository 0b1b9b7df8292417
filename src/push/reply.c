/* SPDX-License-Identifier: Apache-2.0 */
/* Judges the answer of a receiver, whose bytes are not trusted, and decides when to try again. */
#include "base/clock.h"
#include "import/message.h"
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

/* --- OTLP ---------------------------------------------------------------------------------------------- */

/* Reads the rejected profiles and the receiver's reason. False: not such a message. */
static bool otlp_response(struct message m, uint64_t *rejected, char *why, size_t why_bytes)
{
	struct message_field f, inner;

	while (message_next(&m, &f)) {
		if (f.number != RESPONSE_PARTIAL || !f.is_bytes)
			continue;
		while (message_next(&f.bytes, &inner)) {
			if (inner.number == PARTIAL_REJECTED && !inner.is_bytes)
				*rejected = inner.value;
			if (inner.number == PARTIAL_MESSAGE && inner.is_bytes)
				snprintf(why, why_bytes, "%.*s", (int)message_left(&inner.bytes),
					(const char *)inner.bytes.at);
		}
		if (f.bytes.bad)
			return false;
	}
	return !m.bad;
}

/* --- the meaning --------------------------------------------------------------------------------------- */

static bool has_type(const struct push_reply *r, const char *type)
{
	return !strncasecmp(r->type, type, strlen(type));
}

/* The answer is not one of a receiver of profiles. */
static enum push_outcome not_a_receiver(
	const struct push_target *t, const struct push_reply *r, struct err *err)
{
	err_set(err, ERR_PUSH,
		"%s answered %ld, but not as a receiver of profiles (%zu bytes of \"%s\").",
		t->shown, r->status, r->body.len, r->type);
	err_hint(err, "check host, port and path of the URL");
	return PUSH_LATER;
}

enum push_outcome push_judge(const struct push_target *t, struct push_reply *r, struct err *err)
{
	size_t line = strcspn(buf_str(&r->body), "\r\n");

	r->rejected = 0;
	if (r->status >= 200 && r->status < 300) {
		const unsigned char *body = (const unsigned char *)buf_str(&r->body);
		char why[200] = "";

		if (has_type(r, "text/html"))
			return not_a_receiver(t, r, err);
		if (t->protocol == PUSH_SERIES && r->body.len && *body != '{')
			return not_a_receiver(t, r, err);
		if (t->protocol != PUSH_OTLP || has_type(r, "application/json"))
			return PUSH_DONE;
		if (r->body.len >= PUSH_BODY_MAX || !otlp_response(message_of(body, r->body.len),
							    &r->rejected, why, sizeof(why)))
			return not_a_receiver(t, r, err);
		if (r->rejected)
			err_set(err, ERR_PUSH, "%s rejected %" PRIu64 " profile%s: %s", t->shown,
				r->rejected, plural(r->rejected), *why ? why : "no reason given");
		return PUSH_DONE;
	}
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

/* --- back-off --------------------------------------------------------------------------------------------- */

#define FIRST_NS   (1 * NS_PER_S)
#define MAX_NS     (300 * NS_PER_S)
#define RETRY_MAX  3600u /* s: a receiver cannot silence jhot for longer */
#define DOUBLE_MAX 16u

uint64_t push_wait_ns(unsigned failures, uint64_t retry_after_s, uint64_t random)
{
	unsigned doubles = failures > DOUBLE_MAX ? DOUBLE_MAX : failures ? failures - 1 : 0;
	uint64_t wait = FIRST_NS << doubles;

	if (wait > MAX_NS)
		wait = MAX_NS;
	wait = wait / 2 + random % (wait / 2 + 1);
	uint64_t least = (retry_after_s < RETRY_MAX ? retry_after_s : RETRY_MAX) * NS_PER_S;
	return wait > least ? wait : least;
}
