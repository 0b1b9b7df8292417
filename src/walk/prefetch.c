/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks the CPU for what the walk is about to look up: most of its time a walk waits for cold lines, one after the other.
 *
 * What it looks at first does not depend on what it finds. Later each frame is found by the one before; but of
 * interpreted frames the places are known ahead, by the chain of their frame pointers, and so are the Methods: the
 * memo's rows of the next ones are on their way at once. (Return addresses of compiled frames could be found ahead by
 * looking at each word of the stack; that costs more than it saves.)
 */
#include "walk/walker.h"

#define PREFETCH_FRAMES 10 /* a walk of -Xint's stacks: with 4 a tenth less, with 10 a fifth */

#define LINE            64

static void ask(const void *at, uint32_t lines)
{
	for (uint32_t i = 0; i < lines; i++)
		__builtin_prefetch((const char *)at + i * LINE);
}

static void ask_field(const struct walk_field *field, uint64_t base)
{
	ask((const void *)(uintptr_t)(base + (uint64_t)field->offset), 1);
}

/* What a short trail takes; the CPU finds the rest of longer ones by itself. */
static void ask_trail(const struct trail *t)
{
	ask(t, 2);
	ask(t->offsets, 1);
	ask(t->words, 2);
	ask(t->frames, 2);
	ask(t->codes, 1);
	ask(t->marks, 1);
}

void walk_ahead(const struct walk_layout *layout, const struct memo *memo, uint64_t pc,
	uint64_t java_thread, const struct trail *trail)
{
	if (trail)
		ask_trail(trail);
	if (!layout)
		return;
	ask(layout, sizeof(*layout) / LINE);
	if (pc >= layout->code_low && pc < layout->code_high)
		memo_prefetch_interrupted(memo, pc);
	if (java_thread) {
		ask_field(&layout->thread_anchor, java_thread);
		ask_field(&layout->thread_stack_base, java_thread);
	}
}

void prefetch_interpreted(struct walker *w)
{
	uint64_t fp = w->ahead_fp;

	if (!w->mem->is_here || !w->thread->memo)
		return;
	if (fp <= w->at.fp) {
		fp = w->at.fp;
		w->ahead_count = 0;
	}
	for (; w->ahead_count < PREFETCH_FRAMES; w->ahead_count++) {
		uint64_t next = walker_word(w, fp);

		if (next <= fp || !walker_on_stack(w, next))
			break;
		fp = next;
		memo_prefetch_method(w->thread->memo, walker_slot(w, fp, w->layout->interp_method));
	}
	if (w->ahead_count)
		w->ahead_count--;
	w->ahead_fp = fp;
}
