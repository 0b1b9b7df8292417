/* SPDX-License-Identifier: Apache-2.0 */
/* Folded stacks are interned from the root down and remembered per sampled stack. */
#include "profile/query/fold_kind.h"
#include "profile/query/query.h"

#include "profile/model/fit.h"

#include <stdio.h>

/* A marked number: a bit, the last bits of the fold's serial number, and the number in the view. */
#define MARK        0x80000000u
#define MARK_SERIAL 28
#define MARK_NUMBER 0x0fffffffu

static const struct {
	const char *name;
	enum frame_type type;
} kinds[KINDS] = {
	[KIND_SHOWN] = {"", FRAME_NATIVE},
	[KIND_FRAMEWORK] = {"[framework frames]", FRAME_JAVA},
	[KIND_NATIVE] = {"[native frames]", FRAME_NATIVE},
	[KIND_KERNEL] = {"[kernel frames]", FRAME_KERNEL},
	[KIND_RUN] = {"[native frames]", FRAME_NATIVE},
	[KIND_ENTRY] = {"", FRAME_NATIVE},
	[KIND_JVM_WAITS] = {"[the JVM's own threads] wait", FRAME_WAITS},
};

struct fold {
	const struct profile *p;
	uint64_t stamp; /* of what follows, which is as in the filter */
	bool lines, io;
	struct fold_kinds kinds;
	uint32_t serial;
	uint64_t made;
	struct model_stacks view;

	uint32_t *shown;      /* per sampled stack: what is shown for it, of KIND_RUN before that */
	uint16_t *runs;       /* per sampled stack that is hidden: frames of the run so far */
	uint16_t *shown_runs; /* per stack of the view: frames of the longest run shown by it */
	uint32_t *lined;      /* per frame: the frame with its line + 1 */
	uint32_t *way;        /* stacks on the way to the root */
	uint32_t shown_cap, runs_cap, shown_runs_cap, lined_cap, way_cap;
};

static struct fold *fold_new(const struct profile *p, const struct filter *filter)
{
	struct fold *f = xcalloc(1, sizeof(*f));
	uint32_t stacks = p->stacks.trie.cap;

	f->p = p;
	f->lines = filter_lines(filter);
	f->io = filter_io(filter);
	/* The defaults are for stacks of a JVM, which begin with the same frames and end in the same libraries. */
	fold_kinds_init(&f->kinds, p,
		p->methods->jvm ? filter_hide(filter)
				: filter_hide(filter) & ~(unsigned)FILTER_FOLDS,
		filter_frameworks(filter));
	f->serial = ++p->scratch->fold_serial;
	model_stacks_init(&f->view, &p->stacks);
	f->shown = fit_zeroed(NULL, &f->shown_cap, stacks, sizeof(*f->shown));
	f->runs = fit_zeroed(NULL, &f->runs_cap, stacks, sizeof(*f->runs));
	f->shown_runs = fit_zeroed(NULL, &f->shown_runs_cap, stacks, sizeof(*f->shown_runs));
	return f;
}

void fold_free(struct fold *f)
{
	if (!f)
		return;
	model_stacks_done(&f->view);
	fold_kinds_done(&f->kinds);
	free(f->shown);
	free(f->runs);
	free(f->shown_runs);
	free(f->lined);
	free(f->way);
	free(f);
}

struct fold *fold_of(const struct profile *p, const struct profile_query *q)
{
	const struct filter *f = q->filter;
	struct scratch *s = p->scratch;
	const char *text;
	uint64_t stamp;

	if (!f || !filter_folds(f))
		return NULL;
	text = filter_frameworks(f);
	stamp = hash_pair(
		filter_hide(f) * 8 + p->methods->jvm * 4 + filter_lines(f) * 2 + filter_io(f),
		hash_bytes(text, strlen(text), 0));
	if (s->fold && s->fold->stamp == stamp)
		return s->fold;
	fold_free(s->fold);
	s->fold = fold_new(p, f);
	s->fold->stamp = stamp;
	return s->fold;
}

size_t fold_bytes(const struct fold *f)
{
	if (!f)
		return 0;
	return sizeof(*f) + model_stacks_bytes(&f->view) + (size_t)f->shown_cap * 4 +
	       ((size_t)f->runs_cap + f->shown_runs_cap) * 2 + (size_t)f->lined_cap * 4 +
	       fold_kinds_bytes(&f->kinds);
}

const struct model_stacks *fold_view(const struct profile *p, const struct fold *f)
{
	return f ? &f->view : &p->stacks;
}

uint64_t fold_made(const struct fold *f)
{
	return f->made;
}

uint32_t fold_serial(const struct fold *f)
{
	return f ? f->serial : 0;
}

uint32_t fold_mark(const struct fold *f, uint32_t stack)
{
	if (!f || stack == PROFILE_ROOT_STACK)
		return stack;
	return stack > MARK_NUMBER ? PROFILE_ROOT_STACK
				   : MARK | (f->serial & 7) << MARK_SERIAL | stack;
}

bool fold_unmark(const struct fold *f, uint32_t marked, uint32_t *stack)
{
	*stack = marked & MARK_NUMBER;
	return marked & MARK && f && (marked & ~MARK) >> MARK_SERIAL == (f->serial & 7) &&
	       *stack < f->view.trie.count;
}

struct profile_stack profile_get_stack(const struct profile *p, uint32_t stack)
{
	const struct fold *f = stack < p->stacks.trie.count ? NULL : p->scratch->fold;
	const struct model_stacks *view = fold_view(p, f);

	/* Whoever walks to the root from a number that is none any more is there. */
	if (stack >= p->stacks.trie.count && !fold_unmark(f, stack, &stack))
		return (struct profile_stack){PROFILE_ROOT_STACK, PROFILE_NONE, 0};
	return (struct profile_stack){fold_mark(f, model_parent(view, stack)),
		model_frame(view, stack), view->extent[stack].depth};
}

uint32_t filter_run(const struct profile *p, uint32_t stack)
{
	const struct fold *f = p->scratch->fold;

	return fold_unmark(f, stack, &stack) && stack < f->shown_runs_cap ? f->shown_runs[stack]
									  : 0;
}

/* --- making ------------------------------------------------------------------------------------------ */

/* What is made here is found again by its content. */
static uint32_t line_frame(struct fold *f, uint32_t frame)
{
	const struct profile_frame fr = f->p->frames->list[frame];
	struct profile_method m;
	char name[512];
	uint32_t method;

	if (!f->lines || fr.line <= 0)
		return frame;
	f->lined = fit_zeroed(f->lined, &f->lined_cap, frame + 1, sizeof(*f->lined));
	if (!f->lined[frame]) {
		m = f->p->methods->list[fr.method].pub;
		snprintf(name, sizeof(name), "%.490s:%d", m.name, fr.line);
		method = profile_method(f->p, m.class_name, name, m.signature, m.module);
		f->lined[frame] =
			1 + profile_frame(f->p, method, (enum frame_type)fr.type, 0xffff, fr.line);
	}
	return f->lined[frame] - 1;
}

static uint32_t kind_frame(struct fold *f, enum fold_kind kind)
{
	uint32_t method = profile_method(f->p, "", kinds[kind].name, "", "");

	return profile_frame(f->p, method, kinds[kind].type, 0xffff, 0);
}

static uint32_t fold_child(struct fold *f, uint32_t parent, uint32_t frame)
{
	uint32_t child = model_stacks_child(&f->view, f->p, parent, frame);

	f->shown_runs =
		fit_zeroed(f->shown_runs, &f->shown_runs_cap, child + 1, sizeof(*f->shown_runs));
	return child;
}

static uint32_t fold_run(struct fold *f, enum fold_kind kind, uint32_t parent, uint16_t run)
{
	uint32_t shown = fold_child(f, parent, kind_frame(f, kind));

	if (f->shown_runs[shown] < run)
		f->shown_runs[shown] = run;
	return shown;
}

static uint32_t fold_own(struct fold *f, uint32_t stack, uint32_t parent)
{
	uint32_t apart[2];

	if (f->io && model_io_apart(f->p, model_frame(&f->p->stacks, stack), apart))
		return fold_child(f, fold_child(f, parent, apart[0]), apart[1]);
	return fold_child(f, parent, line_frame(f, model_frame(&f->p->stacks, stack)));
}

/* What is shown for a stack that others go on from: a run of KIND_RUN ends with it, and one of a single frame is that frame. */
static uint32_t show_above(struct fold *f, uint32_t stack)
{
	if (stack == PROFILE_ROOT_STACK || fold_kind_at(&f->kinds, stack) != KIND_RUN)
		return f->shown[stack];
	if (f->runs[stack] == 1)
		return fold_own(f, stack, f->shown[stack]);
	return fold_run(f, KIND_RUN, f->shown[stack], f->runs[stack]);
}

/* One more frame of a run, or the first. */
static uint32_t show_hidden(struct fold *f, enum fold_kind kind, uint32_t stack)
{
	uint32_t above = model_parent(&f->p->stacks, stack);
	bool more = above != PROFILE_ROOT_STACK && fold_kind_at(&f->kinds, above) == kind;
	uint32_t parent = more ? f->shown[above] : show_above(f, above);

	f->runs[stack] = more ? (uint16_t)(f->runs[above] + (f->runs[above] < UINT16_MAX)) : 1;
	if (kind == KIND_RUN || kind == KIND_ENTRY)
		return parent;
	if (!more)
		return fold_run(f, kind, parent, 1);
	if (f->shown_runs[parent] < f->runs[stack])
		f->shown_runs[parent] = f->runs[stack];
	return parent;
}

static void show_one(struct fold *f, uint32_t stack)
{
	enum fold_kind kind = fold_kind(&f->kinds, stack);

	f->made++;
	if (kind == KIND_JVM_WAITS)
		f->shown[stack] = fold_child(f, PROFILE_ROOT_STACK, kind_frame(f, kind));
	else if (kind == KIND_SHOWN)
		f->shown[stack] =
			fold_own(f, stack, show_above(f, model_parent(&f->p->stacks, stack)));
	else
		f->shown[stack] = show_hidden(f, kind, stack);
}

uint32_t fold_stack(struct fold *f, uint32_t stack)
{
	const struct model_stacks *sampled = f ? &f->p->stacks : NULL;
	enum fold_kind kind;
	uint32_t n = 0;

	if (!f || stack == PROFILE_ROOT_STACK)
		return stack;
	f->shown = fit_zeroed(f->shown, &f->shown_cap, stack + 1, sizeof(*f->shown));
	f->runs = fit_zeroed(f->runs, &f->runs_cap, stack + 1, sizeof(*f->runs));
	fold_kinds_fit(&f->kinds, stack);
	for (uint32_t at = stack; at != PROFILE_ROOT_STACK && !fold_kind_known(&f->kinds, at);
		at = model_parent(sampled, at)) {
		f->way = fit(f->way, &f->way_cap, n + 1, sizeof(*f->way));
		f->way[n++] = at;
	}
	while (n-- > 0)
		show_one(f, f->way[n]);
	kind = fold_kind_at(&f->kinds, stack);
	/* Where samples are is never folded away. */
	if (kind == KIND_RUN || kind == KIND_ENTRY)
		return fold_own(f, stack, show_above(f, model_parent(sampled, stack)));
	return f->shown[stack];
}

bool fold_is_run(const struct fold *f, uint32_t method)
{
	return f && f->kinds.hide & FILTER_RUNS &&
	       !strcmp(profile_get_method(f->p, method)->full, kinds[KIND_RUN].name);
}
