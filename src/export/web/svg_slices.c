/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples over time, after the data of svg_data.c. Numbers have digits of five bits, the lowest
 * first (svg_number).
 *
 *   slices N STEP START          N slices of STEP seconds or more. START: ms since 1970 of second 0; 0: unknown
 *   slice slice ...              one line of N slices
 *
 *   slice = gap span entries { entry }     gap: seconds since the end of the previous slice
 *   entry = node-and-flag [ count ] [ weight ]
 *           node-and-flag: 2 * (node - node of the previous entry) + flag. flag: a count follows; without one it is 1.
 *           weight: present only where "each" is 0
 *
 *   pulse N PARTS                N seconds, each in PARTS parts; absent if the query does not select all samples
 *   second second ...            one line of N
 *
 *   second = gap all part...     gap: seconds since the end of the previous one. all: its samples, or their weight where boxes
 *                                are as wide as their weight and "each" is 0. part: one digit, relative to the largest part, 63
 */
#include "export/export.h"
#include "export/ids.h"
#include "export/seconds.h"
#include "export/web/svg.h"
#include "profile/history.h"

#include <inttypes.h>
#include <stdlib.h>

#define PARTS_MOST 63 /* the largest part of a pulse */

/* --- nodes of stacks ---------------------------------------------------------------------------------- */

/* Finds the node of a stack by following its names from the root. For graphs that are not reversed. */
struct flame_index {
	const struct profile *p;
	struct flame *f;
	bool threads;
	struct ids children;    /* keys: parent and name */
	uint32_t *child;        /* by id: its node */
	struct ids stacks;      /* keys: thread and stack */
	uint32_t *end, end_cap; /* by id: its node */
	uint32_t *method_name;  /* by method: index in names + 1, 0: none yet */
};

/* Narrow frames have the key UINT32_MAX, which is not the index of a name. */
static uint64_t flame_index_key(uint32_t parent, uint32_t name)
{
	return (uint64_t)parent << 32 | name;
}

static struct flame_index *flame_index_new(const struct profile *p, struct flame *f, bool threads)
{
	struct flame_index *ix = xcalloc(1, sizeof(*ix));
	uint32_t *above = xcalloc(f->levels + 1u, sizeof(*above));
	bool is_new;

	*ix = (struct flame_index){.p = p, .f = f, .threads = threads};
	ix->child = xreallocarray(NULL, f->count + 1u, sizeof(*ix->child));
	ix->method_name = xcalloc(profile_method_count(p) + 1, sizeof(*ix->method_name));
	for (uint32_t i = 0; i < f->count; i++) {
		const struct flame_node *n = &f->nodes[i];

		above[n->level] = i;
		if (!i)
			continue;
		uint32_t id = ids_of_u64(&ix->children,
			flame_index_key(above[n->level - 1],
				n->type == FLAME_NARROW ? UINT32_MAX : n->name),
			&is_new);
		if (is_new)
			ix->child[id] = i;
	}
	free(above);
	return ix;
}

/* The child of this name, else the narrow frames, else the node itself. */
static uint32_t flame_index_child(const struct flame_index *ix, uint32_t parent, uint32_t name)
{
	if (ix->f->nodes[parent].type == FLAME_NARROW)
		return parent;
	uint32_t at = ids_find_u64(&ix->children, flame_index_key(parent, name));
	if (at == IDS_NONE)
		at = ids_find_u64(&ix->children, flame_index_key(parent, UINT32_MAX));
	return at == IDS_NONE ? parent : ix->child[at];
}

/* The index of a text in names, or an index that no name has. */
static uint32_t flame_index_name(const struct flame_index *ix, uint32_t text)
{
	return text < ix->f->name_count ? ix->f->rank[text] : UINT32_MAX - 1;
}

/*
 * The node in which a stack ends, or the narrow frames that contain it. O(1) for a known stack,
 * else O(depth); recurses at most 2,048 times, the maximum depth of a stack.
 */
static uint32_t flame_index_find(struct flame_index *ix, uint32_t stack, uint32_t thread)
{
	uint64_t key = (uint64_t)(ix->threads ? thread : 0) << 32 | stack;
	uint32_t end;
	bool is_new;
	uint32_t id = ids_of_u64(&ix->stacks, key, &is_new);

	if (!is_new)
		return ix->end[id];
	if (stack == PROFILE_ROOT_STACK) {
		end = !ix->threads ? 0
				   : flame_index_child(ix, 0,
					     flame_index_name(ix,
						     flame_thread_text(ix->f,
							     profile_get_thread(ix->p, thread))));
	} else {
		struct profile_stack s = profile_get_stack(ix->p, stack);
		end = flame_index_find(ix, s.parent, thread);
		uint32_t method = profile_get_frame(ix->p, s.frame)->method;
		if (!ix->method_name[method])
			ix->method_name[method] =
				flame_index_name(
					ix, flame_text(ix->f,
						    profile_get_method(ix->p, method)->full)) +
				1;
		end = flame_index_child(ix, end, ix->method_name[method] - 1);
	}
	while (ix->end_cap < ix->stacks.count)
		ix->end = xgrow(ix->end, ix->end_cap, &ix->end_cap, sizeof(*ix->end));
	ix->end[id] = end;
	return end;
}

static void flame_index_free(struct flame_index *ix)
{
	ids_done(&ix->children);
	ids_done(&ix->stacks);
	free(ix->child);
	free(ix->end);
	free(ix->method_name);
	free(ix);
}

/* --- slices ------------------------------------------------------------------------------------------- */

struct slices_entry {
	uint32_t node;
	uint64_t count, weight;
};
struct slices_span {
	uint32_t from, seconds;
	uint32_t first; /* of its entries */
};
struct slices {
	struct flame_index *index;
	struct slices_entry *entries;
	uint32_t entry_count, entry_cap;
	struct slices_span *spans;
	uint32_t span_count, span_cap;
};

static void slices_part(void *ctx, const struct seconds_span *span, const struct profile_part *part)
{
	struct slices *s = ctx;

	if (!part->count && !part->weight)
		return;
	if (!s->span_count || s->spans[s->span_count - 1].from != span->from) {
		s->spans = xgrow(s->spans, s->span_count, &s->span_cap, sizeof(*s->spans));
		s->spans[s->span_count++] =
			(struct slices_span){span->from, span->seconds, s->entry_count};
	}
	s->entries = xgrow(s->entries, s->entry_count, &s->entry_cap, sizeof(*s->entries));
	s->entries[s->entry_count++] =
		(struct slices_entry){.node = flame_index_find(s->index, part->stack, part->thread),
			.count = part->count,
			.weight = part->weight};
}

static int slices_compare(const void *a, const void *b)
{
	const struct slices_entry *x = a, *y = b;

	return x->node < y->node ? -1 : x->node > y->node;
}

/* Sorts entries and merges those of one node. Returns how many remain. */
static uint32_t slices_join(struct slices_entry *e, uint32_t count)
{
	uint32_t n = 0;

	qsort(e, count, sizeof(*e), slices_compare);
	for (uint32_t i = 0; i < count; i++) {
		if (n && e[n - 1].node == e[i].node) {
			e[n - 1].count += e[i].count;
			e[n - 1].weight += e[i].weight;
		} else {
			e[n++] = e[i];
		}
	}
	return n;
}

/* Merges spans that begin in the same step. The samples that precede the history stay a span of their own. */
static void slices_merge(struct slices *s, uint32_t step)
{
	uint32_t spans = 0, entries = 0, end;

	for (uint32_t i = 0; i < s->span_count; i = end) {
		struct slices_span span = s->spans[i];
		uint32_t first = span.first, bin = span.from / step, to = span.from;

		for (end = i; end < s->span_count && s->spans[end].from / step == bin; end++)
			to = s->spans[end].from + s->spans[end].seconds;
		uint32_t last = end < s->span_count ? s->spans[end].first : s->entry_count;
		span.seconds = to - span.from;
		span.first = entries;
		last = slices_join(s->entries + first, last - first);
		for (uint32_t k = 0; k < last; k++)
			s->entries[entries++] = s->entries[first + k];
		s->spans[spans++] = span;
	}
	s->span_count = spans;
	s->entry_count = entries;
}

const char svg_digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";

static void svg_number(struct buf *out, uint64_t n)
{
	for (; n >= 32; n >>= 5)
		buf_addc(out, svg_digits[32 + (n & 31)]);
	buf_addc(out, svg_digits[n]);
}

static void slices_write(struct buf *out, const struct slices *s, bool weights)
{
	uint32_t end = 0;

	for (uint32_t i = 0; i < s->span_count; i++) {
		uint32_t last = i + 1 < s->span_count ? s->spans[i + 1].first : s->entry_count;
		uint32_t node = 0;

		svg_number(out, s->spans[i].from - end);
		svg_number(out, s->spans[i].seconds);
		svg_number(out, last - s->spans[i].first);
		end = s->spans[i].from + s->spans[i].seconds;
		for (uint32_t k = s->spans[i].first; k < last; k++) {
			const struct slices_entry *e = &s->entries[k];

			svg_number(out, (uint64_t)(e->node - node) * 2 + (e->count != 1));
			if (e->count != 1)
				svg_number(out, e->count);
			if (weights)
				svg_number(out, e->weight);
			node = e->node;
		}
	}
}

void svg_slices(
	struct buf *out, const struct profile *p, struct flame *f, const struct export_options *o)
{
	/* Each is a multiple of the one before, so that merged spans are equally long. */
	static const uint32_t steps[] = {1, 10, 30, 60, 300, 600, 1800, 3600};
	struct slices s = {.index = flame_index_new(p, f, o->threads)};
	size_t most = SLICES_BYTES / (size_t)(o->meta.event_count ? o->meta.event_count : 1);
	bool weights = !flame_each(f);
	struct buf line = {0};
	size_t at = 0;

	seconds_each(p, &o->query, slices_part, &s);
	do {
		slices_merge(&s, steps[at]);
		buf_clear(&line);
		slices_write(&line, &s, weights);
	} while (line.len > most && ++at < sizeof(steps) / sizeof(*steps));
	buf_printf(out, "slices %u %u %" PRIu64 "\n", s.span_count,
		steps[at < sizeof(steps) / sizeof(*steps) ? at : at - 1],
		profile_info(p).start_wall_ns / 1000000);
	buf_add(out, buf_str(&line), line.len);
	buf_addc(out, '\n');
	buf_done(&line);
	flame_index_free(s.index);
	free(s.entries);
	free(s.spans);
}

/* --- the pulse --------------------------------------------------------------------------------------- */

/* True if the query selects all samples of its seconds, as the pulse of the model does. */
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

	if (!pulse_is_whole(&q))
		return;
	for (uint32_t s = info.oldest > q.from ? info.oldest : o->query.from;
		(s = profile_next_retained(p, s)) < end; s++) {
		if (!profile_pulse(p, q.event, s, parts))
			continue;
		q.from = s;
		q.to = s + 1;
		struct profile_sum sum = profile_sum(p, &q);
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
