/* SPDX-License-Identifier: Apache-2.0 */
/* Folded stacks are interned from the root down and remembered per sampled stack. */
#include "profile/query/query.h"

#include "profile/model/fit.h"

#include <stdio.h>

/* A marked number: a bit, the last bits of the fold's serial number, and the number in the view. */
#define MARK        0x80000000u
#define MARK_SERIAL 28
#define MARK_NUMBER 0x0fffffffu

enum fold_kind { KIND_FRAMEWORK, KIND_NATIVE, KIND_KERNEL, KINDS, KIND_SHOWN = KINDS };

static const struct {
	const char *name;
	enum frame_type type;
} kinds[KINDS] = {
	[KIND_FRAMEWORK] = {"[framework frames]", FRAME_JAVA},
	[KIND_NATIVE] = {"[native frames]", FRAME_NATIVE},
	[KIND_KERNEL] = {"[kernel frames]", FRAME_KERNEL},
};

struct fold {
	const struct profile *p;
	uint64_t stamp; /* of what follows, which is as in the filter */
	unsigned hide;
	bool lines, io;
	char *frameworks;
	uint32_t serial;
	uint64_t made;
	struct model_stacks view;

	uint32_t *shown;       /* per sampled stack: what is shown for it, 0 = not asked */
	uint16_t *runs;        /* per sampled stack that is hidden: frames of the run so far */
	uint16_t *shown_runs;  /* per stack of the view: frames of the longest run shown by it */
	uint32_t *lined;       /* per frame: the frame with its line + 1 */
	uint8_t *is_framework; /* per method: 0 not asked, 1 no, 2 yes */
	uint32_t *way;         /* stacks on the way to the root */
	uint32_t shown_cap, runs_cap, shown_runs_cap, lined_cap, is_framework_cap, way_cap;
};

static struct fold *fold_new(const struct profile *p, const struct filter *filter)
{
	struct fold *f = xcalloc(1, sizeof(*f));
	uint32_t stacks = p->stacks.trie.cap;

	f->p = p;
	f->hide = filter_hide(filter);
	f->lines = filter_lines(filter);
	f->io = filter_io(filter);
	f->frameworks = xstrdup(filter_frameworks(filter));
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
	free(f->frameworks);
	free(f->shown);
	free(f->runs);
	free(f->shown_runs);
	free(f->lined);
	free(f->is_framework);
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
	stamp = hash_pair(filter_hide(f) * 4 + filter_lines(f) * 2 + filter_io(f),
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
	       f->is_framework_cap;
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
		model_frame(view, stack), view->depth[stack]};
}

uint32_t filter_run(const struct profile *p, uint32_t stack)
{
	const struct fold *f = p->scratch->fold;

	return fold_unmark(f, stack, &stack) && stack < f->shown_runs_cap ? f->shown_runs[stack]
									  : 0;
}

/* --- hiding ------------------------------------------------------------------------------------------ */

static bool in_framework(const struct fold *f, const char *class_name)
{
	const char *at = f->frameworks;

	while (*(at += strspn(at, " \t\n"))) {
		size_t len = strcspn(at, " \t\n");

		if (!strncmp(class_name, at, len))
			return true;
		at += len;
	}
	return false;
}

static bool is_framework(struct fold *f, uint32_t method)
{
	const char *class_name = f->p->methods->list[method].pub.class_name;

	f->is_framework = fit_zeroed(f->is_framework, &f->is_framework_cap, method + 1, 1);
	if (!f->is_framework[method])
		f->is_framework[method] = 1 + (*class_name && in_framework(f, class_name));
	return f->is_framework[method] == 2;
}

static enum fold_kind kind_of(struct fold *f, uint32_t stack)
{
	const struct model_stacks *sampled = &f->p->stacks;

	switch (model_type(sampled, stack)) {
	case FRAME_KERNEL: return f->hide & FILTER_KERNEL ? KIND_KERNEL : KIND_SHOWN;
	case FRAME_NATIVE:
	case FRAME_VM: return f->hide & FILTER_NATIVE ? KIND_NATIVE : KIND_SHOWN;
	case FRAME_CLASS_OUTSIDE:
	case FRAME_CLASS: /* what was allocated or locked is what one asks for */
	case FRAME_WAITS:
	case FRAME_BREAK: return KIND_SHOWN;
	default:
		return f->hide & FILTER_FRAMEWORK && is_framework(f, model_method(sampled, stack))
			       ? KIND_FRAMEWORK
			       : KIND_SHOWN;
	}
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

static uint32_t run_frame(struct fold *f, enum fold_kind kind)
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

/* One more frame of a run, or the first. */
static uint32_t show_hidden(struct fold *f, enum fold_kind kind, uint32_t stack, uint32_t parent)
{
	uint32_t above = model_parent(&f->p->stacks, stack), shown = parent, run = 1;

	if (above != PROFILE_ROOT_STACK && kind_of(f, above) == kind)
		run = f->runs[above] + (f->runs[above] < UINT16_MAX);
	else
		shown = fold_child(f, parent, run_frame(f, kind));
	f->runs[stack] = (uint16_t)run;
	if (f->shown_runs[shown] < run)
		f->shown_runs[shown] = (uint16_t)run;
	return shown;
}

static uint32_t show_one(struct fold *f, uint32_t stack, uint32_t parent)
{
	enum fold_kind kind = kind_of(f, stack);
	uint32_t apart[2];

	f->made++;
	if (f->io && model_io_apart(f->p, model_frame(&f->p->stacks, stack), apart))
		return fold_child(f, fold_child(f, parent, apart[0]), apart[1]);
	if (kind != KIND_SHOWN)
		return show_hidden(f, kind, stack, parent);
	return fold_child(f, parent, line_frame(f, model_frame(&f->p->stacks, stack)));
}

uint32_t fold_stack(struct fold *f, uint32_t stack)
{
	uint32_t n = 0, at = stack, shown;

	if (!f)
		return stack;
	f->shown = fit_zeroed(f->shown, &f->shown_cap, stack + 1, sizeof(*f->shown));
	f->runs = fit_zeroed(f->runs, &f->runs_cap, stack + 1, sizeof(*f->runs));
	for (; at != PROFILE_ROOT_STACK && !f->shown[at]; at = model_parent(&f->p->stacks, at)) {
		f->way = fit(f->way, &f->way_cap, n + 1, sizeof(*f->way));
		f->way[n++] = at;
	}
	for (shown = f->shown[at]; n-- > 0; f->shown[f->way[n]] = shown)
		shown = show_one(f, f->way[n], shown);
	return shown;
}
