/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A text report: metadata, methods by self weight, their callers, the heaviest stacks. Shares are
 * shares of the weight.
 */
#include "base/buf.h"
#include "export/export.h"
#include "export/facts.h"
#include "export/text.h"
#include "profile/table/calltree.h"
#include "profile/table/flat.h"

#include <inttypes.h>
#include <stdlib.h>

#define PLAIN_STACKS 50   /* stacks printed */
#define PLAIN_SHARE  0.01 /* callers below this share of the total are left out */

struct plain {
	struct buf *out;
	const struct profile *p;
	const struct export_options *o;
	struct profile_query q; /* by weight */
	const char *unit;
	uint64_t all;
};

static void plain_fact(void *ctx, const char *key, const char *value)
{
	buf_printf(ctx, "%-14s %s\n", key, value);
}

static void plain_percent(struct buf *out, uint64_t part, uint64_t all)
{
	struct buf text = {0};

	export_decimal(&text, flat_percent(part, all), 1);
	buf_printf(out, "%6s", text.data);
	buf_done(&text);
}

static void plain_value(const struct plain *w, uint64_t value)
{
	struct buf text = {0};

	export_value(&text, w->unit, value);
	buf_printf(w->out, "%13s", text.data);
	buf_done(&text);
}

static void plain_name(const struct plain *w, uint32_t method, uint32_t thread, unsigned type)
{
	struct buf name = {0};

	if (method != PROFILE_NONE)
		export_frame_name(&name, profile_get_method(w->p, method), type, false);
	else
		export_thread_name(&name, profile_get_thread(w->p, thread));
	export_clean(w->out, buf_str(&name), 0, 0);
	buf_addc(w->out, '\n');
	buf_done(&name);
}

static void plain_methods(const struct plain *w)
{
	struct flat *flat = flat_new(w->p, &w->q);

	qsort(flat->rows, flat->count, sizeof(*flat->rows), flat_compare);
	buf_adds(w->out, "\nMETHODS\n SELF%  TOTAL%         SELF  METHOD\n");
	for (uint32_t i = 0; i < flat->count && flat->rows[i].self; i++) {
		const struct flat_row *row = &flat->rows[i];

		plain_percent(w->out, row->self, w->all);
		buf_adds(w->out, "  ");
		plain_percent(w->out, row->total, w->all);
		plain_value(w, row->self);
		buf_adds(w->out, "  ");
		plain_name(w, row->method, PROFILE_NONE, row->type);
	}
	flat_free(flat);
}

/* --- callers ----------------------------------------------------------------------------------------- */

static void plain_callers(const struct plain *w)
{
	struct calltree_options options = {
		.inverted = true, .root_method = PROFILE_NONE, .min_share = PLAIN_SHARE};
	struct calltree *t = calltree_new(w->p, &w->q, &options);

	buf_adds(w->out,
		"\nCALLERS (1 % or more)\n TOTAL%       TOTAL  METHOD, ITS CALLERS BELOW\n");
	for (uint32_t at = 0; (at = calltree_next(t, at)) != PROFILE_NONE;) {
		const struct calltree_node *n = &t->nodes[at];

		plain_percent(w->out, n->total, w->all);
		plain_value(w, n->total);
		buf_printf(w->out, "%*s", 2 * n->depth, "");
		plain_name(w, n->method, n->thread, n->type);
	}
	calltree_free(t);
}

/* --- stacks ------------------------------------------------------------------------------------------ */

static int plain_compare(const void *a, const void *b, void *ctx)
{
	const struct calltree_node *nodes = ctx;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (nodes[x].self != nodes[y].self)
		return nodes[x].self > nodes[y].self ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void plain_stacks(const struct plain *w)
{
	struct calltree_options options = {.threads = w->o->threads, .root_method = PROFILE_NONE};
	struct calltree *t = calltree_new(w->p, &w->q, &options);
	uint32_t *ends = xreallocarray(NULL, t->count, sizeof(*ends)), n = 0;

	for (uint32_t i = 1; i < t->count; i++)
		if (t->nodes[i].self)
			ends[n++] = i;
	qsort_r(ends, n, sizeof(*ends), plain_compare, t->nodes);
	buf_printf(w->out, "\nSTACKS (leaf first; %u of %u)\n", n < PLAIN_STACKS ? n : PLAIN_STACKS,
		n);
	for (uint32_t i = 0; i < n && i < PLAIN_STACKS; i++) {
		uint32_t at = ends[i];
		buf_addc(w->out, '\n');
		plain_percent(w->out, t->nodes[at].self, w->all);
		buf_adds(w->out, " %");
		plain_value(w, t->nodes[at].self);
		buf_printf(w->out, "%13" PRIu64 " sample%s\n", t->nodes[at].self_count,
			plural(t->nodes[at].self_count));
		for (; at; at = t->nodes[at].parent) {
			buf_adds(w->out, "    ");
			plain_name(w, t->nodes[at].method, t->nodes[at].thread, t->nodes[at].type);
		}
	}
	free(ends);
	calltree_free(t);
}

bool export_plain(struct buf *out, const struct profile *p, const struct export_options *o)
{
	struct plain w = {.out = out,
		.p = p,
		.o = o,
		.q = o->query,
		.unit = profile_get_event(p, o->query.event)->unit};

	w.q.by_weight = true;
	w.all = profile_sum(p, &w.q).weight;
	export_facts(o, plain_fact, out);
	export_event_facts(p, o, o->query.event, plain_fact, out);
	plain_methods(&w);
	plain_callers(&w);
	plain_stacks(&w);
	return true;
}
