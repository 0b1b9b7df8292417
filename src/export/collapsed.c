/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collapsed stacks, one "frame;frame;leaf COUNT" per line, in the notation of async-profiler.
 *
 * Frames are pkg/Class.method (--dot: pkg.Class.method); native frames are their symbol alone.
 * Suffixes: _[k] on kernel frames, _[i] on classes (not with --dot); with -a also how Java frames
 * ran, and _[k] on classes that were allocated outside of a TLAB.
 */
#include "export/export.h"
#include "export/text.h"
#include "profile/table/calltree.h"

#include <inttypes.h>
#include <stdlib.h>

static const char *const suffixes[FRAME_TYPES] = {
	[FRAME_COMPILED] = "_[j]",
	[FRAME_C1] = "_[1]",
	[FRAME_INLINED] = "_[i]",
	[FRAME_NO_INLINING] = "_[j]",
	[FRAME_C1_NO_INLINING] = "_[1]",
	[FRAME_INTERPRETED] = "_[0]",
};

struct collapsed {
	const struct profile *p;
	const struct export_options *o;
	struct buf *out;
	struct buf line; /* the frames down to the current node */
	struct buf name;
	uint64_t rest;           /* remainder of the division by o->each */
	double left[DIFF_SIDES]; /* the same for both sides of a diff */
};

/* Writes a line for the samples that end in this node, if there are any. */
static void collapsed_self(struct collapsed *c, const char *line, const struct calltree_node *n)
{
	uint64_t value = n->self;

	if (c->o->diff) {
		/* The differential format has the values of A and B after each stack. */
		const struct diff *d = c->o->diff;
		double scale = d->graph_scale;
		double of[] = {
			(double)n->self_count / scale, (double)(n->self - n->self_count) / scale};
		uint64_t values[DIFF_SIDES];

		for (int side = 0; side < DIFF_SIDES; side++) {
			c->left[side] += of[side];
			values[side] = (uint64_t)c->left[side];
			c->left[side] -= (double)values[side];
		}
		if (values[DIFF_A] || values[DIFF_B])
			buf_printf(c->out, "%s %" PRIu64 " %" PRIu64 "\n", line, values[DIFF_A],
				values[DIFF_B]);
		return;
	}
	/* the remainder goes to the next line, so that the sum is exact */
	if (value && c->o->each) {
		value += c->rest;
		c->rest = value % c->o->each;
		value /= c->o->each;
	}
	if (value)
		buf_printf(c->out, "%s %" PRIu64 "\n", line, value);
}

bool export_collapsed(struct buf *out, const struct profile *p, const struct export_options *o)
{
	struct calltree_options options = {
		.by_type = o->annotate, .threads = o->threads, .root_method = PROFILE_NONE};
	struct calltree *t = calltree_new(p, &o->query, &options);
	struct collapsed c = {.p = p, .o = o, .out = out, .rest = o->each / 2, .left = {0.5, 0.5}};
	size_t *len = xreallocarray(NULL, t->count, sizeof(*len)); /* of the line at each node */

	len[0] = 0;
	for (uint32_t at = 0;
		out->len < EXPORT_BYTES_MAX && (at = calltree_next(t, at)) != PROFILE_NONE;) {
		const struct calltree_node *n = &t->nodes[at];

		c.line.len = len[n->parent];
		if (c.line.data)
			c.line.data[c.line.len] = '\0';
		buf_clear(&c.name);
		if (n->thread != PROFILE_NONE) {
			export_thread_name(&c.name, profile_get_thread(c.p, n->thread));
		} else {
			export_frame_name(
				&c.name, profile_get_method(c.p, n->method), n->type, !c.o->dot);
			if (n->type == FRAME_KERNEL)
				buf_adds(&c.name, "_[k]");
			else if (n->type == FRAME_CLASS_OUTSIDE && c.o->annotate)
				buf_adds(&c.name, "_[k]");
			else if (frame_is_class(n->type) && !c.o->dot)
				buf_adds(&c.name, "_[i]");
			else if (c.o->annotate && suffixes[n->type])
				buf_adds(&c.name, suffixes[n->type]);
		}
		if (c.line.len)
			buf_addc(&c.line, ';');
		export_clean(&c.line, buf_str(&c.name), ';', ',');
		collapsed_self(&c, buf_str(&c.line), n);
		len[at] = c.line.len;
	}
	collapsed_self(&c, "[unknown]", &t->nodes[0]);
	free(len);
	buf_done(&c.line);
	buf_done(&c.name);
	calltree_free(t);
	return out->len < EXPORT_BYTES_MAX;
}
