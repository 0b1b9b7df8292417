/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks deeper than the limit. The root is known only at the end of a walk, so the walk goes on, and whenever the buffer is
 * full the frames between the leaf end and the root end are dropped:
 *
 *   top                | cut | root
 *   leaf ...           |  1  | the outermost so far ...      more
 */
#include "walk/frames/walker.h"

#define STEP_FRAMES 300u       /* upper bound of frames that one step adds */
#define LEFT_OUT    (1u << 16) /* frames dropped at most: a handler must end */

void cut_begin(struct walker *w, uint32_t max)
{
	const struct walk_cut *cut = w->thread->cut;

	w->max = max;
	w->cut = cut && cut->root ? cut : NULL;
	if (cut)
		w->max = cut->root ? cut->limit + WALK_CUT_SPARE : cut->limit;
}

static void squeeze(struct walker *w)
{
	uint32_t to = w->cut->top + 1, kept = to + w->cut->root, from = w->count - w->cut->root;
	struct frame_cache_walk *cache = w->thread->cache;

	for (uint32_t i = 0; i < w->cut->root; i++)
		w->frames[to + i] = w->frames[from + i];
	/* The cut's slot held a frame until the first squeeze. */
	w->left_out += w->count - kept + (w->left_out ? 0 : 1);
	w->count = kept;
	if (cache)
		frame_cache_forget(cache, w->cut->top);
}

bool walker_has_space(struct walker *w)
{
	if (!w->cut)
		return w->count < w->max;
	if (w->max - w->count < STEP_FRAMES && w->left_out < LEFT_OUT)
		squeeze(w);
	return w->max - w->count >= STEP_FRAMES;
}

/* Two significant digits: otherwise a recursion of varying depth would make a distinct stack per frame. */
static uint32_t rounded(uint32_t n)
{
	uint32_t unit = 1;

	while (n / unit >= 100)
		unit *= 10;
	return n - n % unit;
}

void cut_end(struct walker *w, struct walk_result *result)
{
	const struct walk_cut *cut = w->thread->cut;

	if (!cut)
		return;
	if (result->truncated) {
		w->count = w->count < cut->top ? w->count : cut->top;
	} else if (w->cut && (w->left_out || w->count > cut->limit)) {
		squeeze(w);
		w->frames[cut->top] =
			(struct walk_frame){.value = rounded(w->left_out), .type = WALK_CUT};
	}
}
