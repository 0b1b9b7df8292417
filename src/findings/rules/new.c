/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A method that has much of the CPU time, and had next to none when the baseline was set. Rows of several methods rise
 * together: callers with what they call. The program's own that does most of it itself is the one that is named.
 */
#include "findings/rules.h"
#include "findings/scene.h"
#include "profile/table/flat.h"

#include <math.h>

#define MUCH  0.10 /* of the CPU time more than then */
#define TIMES 4    /* as much of it as then */
#define ERRORS \
	2 /* of the two half widths together: so many methods are asked, one is always far off */
#define NEARLY  0.9 /* of the most that one has gained: it may be the same calls */
#define SAMPLES 100 /* of either */

struct change {
	const struct flat_row *row;
	double now, then, gained, error;
	bool sure;
};

static double share_of(const struct flat *f, const struct flat_row *row)
{
	return row && f->sum ? (double)row->total / (double)f->sum : 0;
}

static double error_of(const struct flat *f, const struct flat_row *row)
{
	return flat_half_width(row ? row->total_count : 0, f->sum_count) / 100;
}

static struct change change_of(
	const struct flat *now, const struct flat *then, const struct flat_row *row)
{
	const struct flat_row *before = flat_find(then, row->method);
	struct change c = {.row = row, .now = share_of(now, row), .then = share_of(then, before)};

	c.gained = c.now - c.then;
	c.error = error_of(now, row) + error_of(then, before);
	c.sure = c.gained >= MUCH && c.now >= TIMES * c.then && c.gained > ERRORS * c.error;
	return c;
}

/* Of those that have gained nearly as much as any: the program's own before others, then who does most itself. */
static bool change_leads(const struct change *a, const struct change *b)
{
	if (!b->row || a->row->own != b->row->own)
		return !b->row || a->row->own;
	return a->row->self > b->row->self;
}

static struct change change_most(const struct flat *now, const struct flat *then)
{
	struct change most = {0};
	double gained = 0;

	for (uint32_t i = 0; i < now->count; i++) {
		struct change c = change_of(now, then, &now->rows[i]);

		gained = c.sure ? fmax(gained, c.gained) : gained;
	}
	for (uint32_t i = 0; i < now->count; i++) {
		struct change c = change_of(now, then, &now->rows[i]);

		if (c.sure && c.gained >= NEARLY * gained && change_leads(&c, &most))
			most = c;
	}
	return most;
}

static unsigned has_method(
	const struct scene *scene, const struct profile_part *part, uint32_t method)
{
	uint32_t stack = part->stack;

	while (stack != PROFILE_ROOT_STACK) {
		if (scene_frame(scene, stack)->method == method)
			return 1;
		stack = profile_get_stack(scene->profile, stack).parent;
	}
	return 0;
}

static void tell(const struct scene *scene, const struct change *c)
{
	uint32_t method = c->row->method;
	struct finding *f = scene_found(scene, FINDING_WORTH_KNOWING, c->gained, method);
	struct scene_most most =
		scene_most(scene, EVENT_CPU, PROFILE_ANY_THREAD, has_method, method);

	if (!f)
		return;
	f->error = c->error;
	f->event = EVENT_CPU;
	f->method = method;
	snprintf(f->what, sizeof(f->what),
		"%.0f %% of the CPU time is in %s; it was %.*f %% when the baseline was set",
		100 * c->now, scene_method(scene, method), c->then > 0 && c->then < 0.01,
		100 * c->then);
	if (most.rank)
		scene_proof_stack(scene, f, most.part.stack, 4);
	snprintf(f->look, sizeof(f->look),
		"what else has changed since then is shown beside each row (D)");
}

static void look(const struct scene *scene)
{
	struct profile_query q = scene_query(scene, EVENT_CPU);
	struct flat *now, *then;
	struct change most;

	if (!scene->baseline)
		return;
	now = flat_new(scene->profile, &q);
	q.snapshot = scene->baseline;
	then = flat_new(scene->profile, &q);
	if (now->sum_count >= SAMPLES && then->sum_count >= SAMPLES) {
		most = change_most(now, then);
		if (most.row)
			tell(scene, &most);
	}
	flat_free(then);
	flat_free(now);
}

const struct finding_rule rule_new = {
	.name = "new",
	.title = "NEW",
	.what = "methods that have a tenth of the CPU time and had next to none when a baseline "
		"was set",
	.events = 1u << EVENT_CPU,
	.look = look,
};
