/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How an event lies in each second, behind the slices of svg_slices.c:
 *
 *   pulse N PARTS                N seconds, each in so many parts
 *   second second ...            one line of N
 *
 *   second = gap all part...     gap: seconds between the one before and this one; all: samples of it, or their weight where
 *                                boxes are as wide as that and "each" is 0; a part: one digit, of the largest one's 63
 */
#include "export/export.h"
#include "export/web/svg.h"
#include "profile/whole.h"

#define PARTS_MOST 63

static bool pulse_is_whole(const struct profile_query *q)
{
	return q->thread == PROFILE_ANY_THREAD && !q->pool && !q->states && !q->filter &&
	       !q->snapshot && !q->holders;
}

void svg_pulse(struct buf *out, const struct profile *p, const struct flame *f,
	const struct export_options *o)
{
	struct profile_info info = profile_info(p);
	struct profile_query q = o->query;
	uint32_t end = q.to <= info.now ? q.to : info.now + 1, count = 0, next = 0;
	bool weights = q.by_weight && !flame_each(f);
	uint8_t parts[PROFILE_PULSE];
	struct buf line = {0};
	struct profile_sum sum;

	if (!pulse_is_whole(&q))
		return;
	for (uint32_t s = info.oldest > q.from ? info.oldest : o->query.from;
		(s = profile_next_retained(p, s)) < end; s++) {
		if (!profile_pulse(p, q.event, s, parts))
			continue;
		q.from = s;
		q.to = s + 1;
		sum = profile_sum(p, &q);
		svg_number(&line, s - next);
		svg_number(&line, weights ? sum.weight : sum.count);
		for (int i = 0; i < PROFILE_PULSE; i++)
			buf_addc(
				&line, svg_digits[(parts[i] * PARTS_MOST + PROFILE_PULSE_MOST / 2) /
						  PROFILE_PULSE_MOST]);
		next = s + 1;
		count++;
	}
	if (count)
		buf_printf(out, "pulse %u %u\n%s\n", count, PROFILE_PULSE, buf_str(&line));
	buf_done(&line);
}
