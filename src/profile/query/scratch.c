/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept from one question to the next, and what the model must keep for that: snapshots, the folded view. */
#include "profile/query/query.h"

#include "profile/model/fit.h"

static void scratch_keep(void *ctx, enum profile_kind kind, bool leaving)
{
	const struct profile *p = ctx;
	struct scratch *s = p->scratch;
	const struct model_stacks *view = fold_view(p, s->fold);

	if (leaving && kind != PROFILE_THREADS && kind != PROFILE_POOLS) {
		/* What was made of numbers that may be given again is made again. */
		fold_free(s->fold);
		s->fold = NULL;
		return;
	}
	if (kind == PROFILE_FRAMES)
		for (uint32_t i = 1; i < view->trie.count; i++)
			profile_keep(p, model_frame(view, i));
	if (kind == PROFILE_STACKS || kind == PROFILE_THREADS)
		for (const struct profile_snapshot *at = s->snapshots; at; at = at->next)
			for (uint32_t i = 0; i < at->count; i++)
				profile_keep(p, kind == PROFILE_STACKS ? at->rows[i].stack
								       : at->rows[i].thread);
}

struct profile *profile_new(void)
{
	struct profile *p = model_new();

	p->scratch = xcalloc(1, sizeof(*p->scratch));
	profile_keeper_add(p, scratch_keep, p);
	return p;
}

void scratch_fit(const struct profile *p, const struct model_stacks *view)
{
	struct scratch *s = p->scratch;
	uint32_t stacks = view->trie.count, paths = view->paths.count, pairs = 0, ids;

	for (int i = 0; i < MODEL_SLICES; i++)
		pairs = p->events[i].pairs.count > pairs ? p->events[i].pairs.count : pairs;
	ids = pairs > stacks ? pairs : stacks;
	tally_reserve(&s->pairs, ids);
	tally_reserve(&s->stacks, stacks);
	s->squares = fit_zeroed(s->squares, &s->squares_cap, s->stacks.cap, sizeof(*s->squares));
	s->ids = fit_zeroed(s->ids, &s->ids_cap, ids, sizeof(*s->ids));
	s->touched = fit_zeroed(s->touched, &s->touched_cap, stacks, sizeof(*s->touched));
	s->node = fit_zeroed(s->node, &s->node_cap, stacks, sizeof(*s->node));
	s->slot = fit_zeroed(s->slot, &s->slot_cap, paths, sizeof(*s->slot));
	s->path_sum = fit_zeroed(s->path_sum, &s->path_sum_cap, paths, sizeof(*s->path_sum));
	p->readers->scratch_bytes =
		tally_bytes(&s->pairs) + tally_bytes(&s->stacks) + fold_bytes(s->fold) +
		((size_t)s->all.cap + s->chosen.cap + s->ends.cap + s->summed.cap) *
			sizeof(*s->all.list) +
		((size_t)s->ids_cap + s->touched_cap + s->node_cap + s->slot_cap) *
			sizeof(*s->ids) +
		s->squares_cap * sizeof(*s->squares) + s->path_sum_cap * sizeof(*s->path_sum) +
		s->by_method.sums_cap * (sizeof(*s->by_method.sums) + sizeof(*s->by_method.votes));
}

static void scratch_free(struct scratch *s)
{
	void *const lists[] = {s->ids, s->touched, s->squares, s->node, s->slot, s->path_sum,
		s->all.list, s->chosen.list, s->ends.list, s->summed.list};

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		free(lists[i]);
	tally_done(&s->pairs);
	tally_done(&s->stacks);
	by_method_done(&s->by_method);
	fold_free(s->fold);
	for (struct profile_snapshot *at = s->snapshots; at; at = at->next)
		at->of = NULL;
	free(s);
}

void profile_free(struct profile *p)
{
	if (!p)
		return;
	scratch_free(p->scratch);
	model_free(p);
}
