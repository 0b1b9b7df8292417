/* SPDX-License-Identifier: Apache-2.0 */
/* A sorted array of links, in which those of a sample are adjacent. */
#include "export/links.h"

#include "base/buf.h"
#include "profile/query/filter.h"

#include <stdlib.h>
#include <string.h>

struct links {
	struct profile_link *list;
	uint32_t count;
};

bool links_attribute(const struct profile *p, uint32_t frame, const char **key, const char **value)
{
	const struct profile_frame *f = profile_get_frame(p, frame);
	const struct profile_method *m = profile_get_method(p, f->method);

	*key = m->module;
	*value = m->name;
	return f->type == FRAME_CONTEXT && *m->module;
}

/* By sample first: stack, thread and state. */
static int sample_compare(const struct profile_link *a, const struct profile_link *b)
{
	if (a->stack != b->stack)
		return a->stack < b->stack ? -1 : 1;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return a->state < b->state ? -1 : a->state > b->state;
}

static int link_compare(const void *x, const void *y)
{
	const struct profile_link *a = x, *b = y;
	int order = sample_compare(a, b);

	if (!order)
		order = memcmp(a->trace_id, b->trace_id, sizeof(a->trace_id));
	return order ? order : memcmp(a->span_id, b->span_id, sizeof(a->span_id));
}

struct links *links_new(const struct profile *p, const struct profile_query *q)
{
	struct links *l = xcalloc(1, sizeof(*l));
	uint64_t first, end = profile_links(p, &first);
	uint32_t n = 0;

	l->list = xcalloc((size_t)(end - first) + 1, sizeof(*l->list));
	for (; first < end && !q->holders; first++) {
		struct profile_link link = *profile_get_link(p, first);

		if (link.event != (uint32_t)q->event || link.second < q->from ||
			link.second >= q->to)
			continue;
		if (q->filter)
			link.stack = filter_map_stack(q->filter, p, link.stack);
		l->list[l->count++] = link;
	}
	qsort(l->list, l->count, sizeof(*l->list), link_compare);
	for (uint32_t i = 1; i < l->count; i++) {
		if (link_compare(&l->list[n], &l->list[i])) {
			l->list[++n] = l->list[i];
			continue;
		}
		l->list[n].count += l->list[i].count;
		l->list[n].weight += l->list[i].weight;
	}
	l->count = l->count ? n + 1 : 0;
	return l;
}

void links_free(struct links *l)
{
	if (!l)
		return;
	free(l->list);
	free(l);
}

/* The first link of the sample, or where it would be. */
static uint32_t links_find(const struct links *l, const struct profile_link *key)
{
	uint32_t low = 0, high = l->count;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (sample_compare(&l->list[mid], key) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

void links_split(const struct links *l, const struct profile_part *part, links_fn *fn, void *ctx)
{
	const struct profile_link key = {
		.stack = part->stack, .thread = part->thread, .state = part->state};
	struct profile_part rest = *part, of_span = *part;

	for (uint32_t i = links_find(l, &key);
		i < l->count && !sample_compare(&l->list[i], &key) && rest.count; i++) {
		const struct profile_link *link = &l->list[i];

		of_span.count = link->count < rest.count ? link->count : rest.count;
		of_span.weight = link->weight < rest.weight ? link->weight : rest.weight;
		rest.count -= of_span.count;
		rest.weight -= of_span.weight;
		fn(ctx, &of_span, link);
	}
	if (rest.count || rest.weight)
		fn(ctx, &rest, NULL);
}

const char *links_hex(char out[LINKS_HEX], const uint8_t *id, unsigned bytes)
{
	static const char digits[] = "0123456789abcdef";

	for (unsigned i = 0; i < bytes; i++) {
		out[2 * i] = digits[id[i] >> 4];
		out[2 * i + 1] = digits[id[i] & 15];
	}
	out[2 * bytes] = '\0';
	return out;
}
