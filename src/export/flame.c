/* SPDX-License-Identifier: Apache-2.0 */
/* From a call tree to boxes in drawing order. */
#include "export/flame.h"

#include "base/buf.h"
#include "export/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Familiar hues (Java green, inlined teal, native red, VM yellow, kernel orange), all of one quiet weight. */
const struct flame_type flame_types[FLAME_TYPES] = {
	[FRAME_COMPILED] = {'A', "compiled", 128, 38, 73},
	[FRAME_C1] = {'B', "C1", 92, 40, 74},
	[FRAME_INLINED] = {'C', "inlined", 178, 38, 74},
	[FRAME_COARSE] = {'N', "compiled, coarse", 128, 18, 82},
	[FRAME_INTERPRETED] = {'D', "interpreted", 66, 44, 74},
	[FRAME_JAVA] = {'E', "Java", 140, 34, 76},
	[FRAME_NATIVE] = {'F', "native", 6, 62, 82},
	[FRAME_VM] = {'G', "JVM", 46, 68, 75},
	[FRAME_KERNEL] = {'H', "kernel", 26, 70, 78},
	[FRAME_CLASS] = {'I', "class", 268, 44, 83},
	[FRAME_BREAK] = {'J', "broken stack", 0, 0, 80},
	[FRAME_CLASS_OUTSIDE] = {'M', "class outside", 292, 44, 80},
	[FRAME_WAITS] = {'O', "waits", 236, 34, 84},
	[FLAME_THREAD] = {'K', "thread", 216, 36, 83},
	[FLAME_ALL] = {'L', "all", 220, 10, 86},
};

struct flame_build {
	const struct profile *p;
	bool by_weight; /* is a box as wide as its weight? */
	const struct calltree *t;
	struct flame *f;
	uint32_t *method_name; /* per method: its text in the pool + 1 */
	uint32_t *rank;        /* per text in the pool: its place in names */
	uint32_t *name;        /* per tree node */
};

static uint32_t flame_text(struct flame_build *b, const char *text)
{
	struct buf clean = {0};
	uint32_t id;

	export_clean(&clean, text, 0, 0);
	id = intern_put(&b->f->pool, buf_str(&clean), clean.len);
	buf_done(&clean);
	return id;
}

static uint32_t flame_node_text(struct flame_build *b, const struct calltree_node *n)
{
	const struct profile_thread *t;
	struct buf text = {0};
	char mark[PROFILE_MARK];
	uint32_t id;

	if (n->method != PROFILE_NONE) {
		if (!b->method_name[n->method])
			b->method_name[n->method] =
				flame_text(b, profile_get_method(b->p, n->method)->full) + 1;
		return b->method_name[n->method] - 1;
	}
	if (n->thread == PROFILE_NONE)
		return flame_text(b, "all");
	t = profile_get_thread(b->p, n->thread);
	if (*profile_thread_mark(t, "tid ", mark))
		buf_printf(&text, "%s%s[%s]", t->name, *t->name ? " " : "", mark);
	else
		buf_adds(&text, t->name);
	id = flame_text(b, text.data);
	buf_done(&text);
	return id;
}

static int flame_compare_texts(const void *a, const void *b, void *ctx)
{
	const struct intern *pool = ctx;

	return strcmp(
		intern_text(pool, *(const uint32_t *)a), intern_text(pool, *(const uint32_t *)b));
}

static void flame_name_nodes(struct flame_build *b)
{
	struct flame *f = b->f;
	uint32_t *order;

	b->method_name = xcalloc(profile_method_count(b->p) + 1, sizeof(*b->method_name));
	b->name = xreallocarray(NULL, b->t->count, sizeof(*b->name));
	for (uint32_t i = 0; i < b->t->count; i++)
		b->name[i] = flame_node_text(b, &b->t->nodes[i]);
	f->name_count = f->pool.count;
	order = xreallocarray(NULL, f->name_count, sizeof(*order));
	for (uint32_t i = 0; i < f->name_count; i++)
		order[i] = i;
	qsort_r(order, f->name_count, sizeof(*order), flame_compare_texts, &f->pool);
	b->rank = xreallocarray(NULL, f->name_count, sizeof(*b->rank));
	f->names = xreallocarray(NULL, f->name_count, sizeof(*f->names));
	for (uint32_t i = 0; i < f->name_count; i++) {
		b->rank[order[i]] = i;
		f->names[i] = intern_text(&f->pool, order[i]);
	}
	for (uint32_t i = 0; i < b->t->count; i++)
		b->name[i] = b->rank[b->name[i]];
	free(order);
}

static int flame_compare_nodes(const void *a, const void *b, void *ctx)
{
	const struct flame_build *build = ctx;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (build->name[x] != build->name[y])
		return build->name[x] > build->name[y] ? -1
						       : 1; /* the first name on top of the stack */
	return x > y ? -1 : x < y;
}

static uint8_t flame_node_type(const struct calltree_node *n)
{
	if (n->method != PROFILE_NONE)
		return n->type;
	return n->thread == PROFILE_NONE ? FLAME_ALL : FLAME_THREAD;
}

/* Pre-order with an explicit stack; a child begins where the ones before it ended. */
static void flame_place_nodes(struct flame_build *b)
{
	const struct calltree_node *nodes = b->t->nodes;
	uint32_t *stack = xreallocarray(NULL, b->t->count, sizeof(*stack)), depth = 1, first;
	uint64_t *next = xreallocarray(
		NULL, b->t->count, sizeof(*next)); /* per node: its next child's start */
	struct flame *f = b->f;

	stack[0] = 0;
	while (depth) {
		uint32_t at = stack[--depth];
		const struct calltree_node *n = &nodes[at];
		struct flame_node *out = &f->nodes[f->count++];

		*out = (struct flame_node){.name = b->name[at],
			.level = n->depth,
			.type = flame_node_type(n),
			.start = at ? next[n->parent] : 0,
			.total = b->by_weight ? n->total : n->total_count,
			.count = n->total_count,
			.weight = n->total};
		next[at] = out->start;
		if (at)
			next[n->parent] += out->total;
		if (n->depth >= f->levels)
			f->levels = (uint16_t)(n->depth + 1);
		first = depth;
		for (uint32_t c = n->first_child; c != PROFILE_NONE; c = nodes[c].next_sibling)
			stack[depth++] = c;
		qsort_r(stack + first, depth - first, sizeof(*stack), flame_compare_nodes, b);
	}
	free(stack);
	free(next);
}

struct flame *flame_new(const struct profile *p, const struct profile_query *q, bool threads)
{
	struct calltree_options options = {.threads = threads, .root_method = PROFILE_NONE};
	struct profile_query by_weight = *q; /* trees by weight know the samples, too */
	struct flame_build b = {.p = p, .by_weight = q->by_weight, .f = xcalloc(1, sizeof(*b.f))};
	struct calltree *t;

	by_weight.by_weight = true;
	b.t = t = calltree_new(p, &by_weight, &options);
	b.f->nodes = xreallocarray(NULL, t->count, sizeof(*b.f->nodes));
	flame_name_nodes(&b);
	flame_place_nodes(&b);
	free(b.method_name);
	free(b.rank);
	free(b.name);
	calltree_free(t);
	return b.f;
}

void flame_free(struct flame *f)
{
	if (!f)
		return;
	free(f->nodes);
	free(f->names);
	intern_done(&f->pool);
	free(f);
}

/* --- colours: flame.js computes the same ones -------------------------------------------------------- */

static double flame_channel(int n, double hue, double saturation, double lightness)
{
	double k = fmod(n + hue / 30, 12);
	double m = fmin(fmin(k - 3, 9 - k), 1);

	return lightness - saturation * fmin(lightness, 1 - lightness) * fmax(m, -1);
}

uint32_t flame_color(uint8_t type, const char *name)
{
	const struct flame_type *t = &flame_types[type];
	uint32_t hash = 2166136261u, color = 0;
	double hue, lightness;

	for (const char *s = name; *s; s++)
		hash = (hash ^ (unsigned char)*s) * 16777619u;
	hue = fmod(360 + t->hue + (t->saturation ? (int)(hash >> 8 & 3) * 4 - 6 : 0), 360);
	lightness = t->lightness + (int)(hash >> 16 & 3) * 2 - 3;
	for (int i = 0; i < 3; i++) {
		double c = flame_channel(
			(const int[]){0, 8, 4}[i], hue, t->saturation / 100.0, lightness / 100);

		color = color << 8 | (uint32_t)(c * 255 + 0.5);
	}
	return color;
}
