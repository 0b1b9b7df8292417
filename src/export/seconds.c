/* SPDX-License-Identifier: Apache-2.0 */
/* One query per span. */
#include "export/seconds.h"

#include "profile/history.h"

#define STEP_S 10 /* of merged history */

struct seconds {
	const struct profile *p;
	struct profile_query q; /* narrowed to the span */
	struct seconds_span span;
	seconds_fn *fn;
	void *ctx;
};

static void seconds_part(void *ctx, const struct profile_part *part)
{
	const struct seconds *s = ctx;

	s->fn(s->ctx, &s->span, part);
}

/* Visits the samples stored in [from, to), which cover `seconds` seconds. */
static void seconds_span(struct seconds *s, uint32_t from, uint32_t to, uint32_t seconds)
{
	s->q.from = from;
	s->q.to = to;
	s->span = (struct seconds_span){from, seconds};
	profile_each(s->p, &s->q, seconds_part, s);
}

void seconds_each(const struct profile *p, const struct profile_query *q, seconds_fn *fn, void *ctx)
{
	struct seconds s = {.p = p, .q = *q, .fn = fn, .ctx = ctx};
	struct profile_info info = profile_info(p);
	uint32_t end = q->to <= info.now ? q->to : info.now + 1;
	uint32_t at = info.oldest > q->from ? info.oldest : q->from + 1;

	if (q->snapshot || at >= end) {
		seconds_span(&s, q->from, q->to, end > q->from ? end - q->from : 1);
		return;
	}
	seconds_span(&s, q->from, at, at - q->from);
	while ((at = profile_next_retained(p, at)) < end) {
		seconds_span(&s, at, at + 1, at < info.merged_before ? STEP_S : 1);
		at++;
	}
}
