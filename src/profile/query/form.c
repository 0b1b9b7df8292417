/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks in another form are interned from the root down and remembered per sampled stack. */
#include "profile/query/form.h"

#include "base/buf.h"
#include "profile/model/model.h"
#include "profile/query/filter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A marked number: a bit, the last bits of the form's serial number, and the number in the view. */
#define MARK        0x80000000u
#define MARK_SERIAL 28
#define MARK_NUMBER 0x0fffffffu

enum form_kind { KIND_FRAMEWORK, KIND_NATIVE, KIND_KERNEL, KINDS, KIND_SHOWN = KINDS };

static const struct {
	const char *name;
	enum frame_type type;
} kinds[KINDS] = {
	[KIND_FRAMEWORK] = {"[framework frames]", FRAME_JAVA},
	[KIND_NATIVE] = {"[native frames]", FRAME_NATIVE},
	[KIND_KERNEL] = {"[kernel frames]", FRAME_KERNEL},
};

struct form {
	struct profile *p;
	struct form_choice choice; /* its text is the form's own */
	uint32_t serial;
	struct profile view; /* stacks, paths and stack_info are the form's own */
	uint64_t made;
	uint64_t fed; /* what view is up to date with */

	uint32_t *shown; /* per sampled stack: what is shown for it + 1, 0 = not asked */
	uint16_t *runs;  /* per sampled stack that is hidden: frames of the run so far */
	uint32_t cap;
	uint16_t *shown_runs; /* per stack of the view: frames of the longest run shown by it */
	uint32_t shown_cap;
	uint32_t *lined;       /* per frame: the frame with its line + 1 */
	uint8_t *is_framework; /* per method: 0 not asked, 1 no, 2 yes */
	uint32_t lined_cap, method_cap;
	uint32_t *way; /* scratch: stacks on the way to the root */
	uint32_t way_cap;
};

/* --- the form of a profile --------------------------------------------------------------------------- */

/* Everything but what the form has of its own; after the profile was fed or got new names. */
static void form_sync(struct form *f)
{
	struct profile own = f->view;

	f->view = *f->p;
	f->view.stacks = own.stacks;
	f->view.paths = own.paths;
	f->view.stack_info = own.stack_info;
	f->view.stack_info_cap = own.stack_info_cap;
	f->view.chain = own.chain;
	f->fed = f->p->scratch->fed;
}

static struct form *form_new(struct profile *p, const struct form_choice *choice, uint32_t serial)
{
	struct form *f = xcalloc(1, sizeof(*f));

	f->p = p;
	f->choice = *choice;
	f->choice.frameworks = xstrdup(choice->frameworks);
	f->serial = serial;
	trie_init(&f->view.stacks);
	trie_init(&f->view.paths);
	trie_reserve(&f->view.stacks, &p->stacks);
	trie_reserve(&f->view.paths, &p->paths);
	f->view.stack_info_cap = f->view.stacks.cap;
	f->view.stack_info = xcalloc(f->view.stack_info_cap, sizeof(*f->view.stack_info));
	form_sync(f);
	f->cap = p->stacks.cap;
	f->shown = xcalloc(f->cap, sizeof(*f->shown));
	f->runs = xcalloc(f->cap, sizeof(*f->runs));
	f->shown_cap = f->view.stacks.cap;
	f->shown_runs = xcalloc(f->shown_cap, sizeof(*f->shown_runs));
	return f;
}

void form_free(struct form *f)
{
	if (!f)
		return;
	trie_done(&f->view.stacks);
	trie_done(&f->view.paths);
	free(f->view.stack_info);
	model_chain_done(&f->view.chain);
	free((char *)f->choice.frameworks);
	free(f->shown);
	free(f->runs);
	free(f->shown_runs);
	free(f->lined);
	free(f->is_framework);
	free(f->way);
	free(f);
}

struct form *form_of(const struct profile *p, const struct form_choice *choice)
{
	struct model_scratch *s = p->scratch;
	if (s->form && s->form->choice.stamp == choice->stamp)
		return s->form;
	form_free(s->form);
	s->form = form_new(s->self, choice, ++s->form_serial);
	return s->form;
}

size_t form_bytes(const struct form *f)
{
	if (!f)
		return 0;
	return sizeof(*f) + trie_bytes(&f->view.stacks) + trie_bytes(&f->view.paths) +
	       (size_t)f->view.stack_info_cap * sizeof(*f->view.stack_info) + (size_t)f->cap * 6 +
	       (size_t)f->shown_cap * 2 + (size_t)f->lined_cap * 4 + f->method_cap;
}

const struct profile *form_view(struct form *f)
{
	if (f->fed != f->p->scratch->fed || f->view.methods.count != f->p->methods.count ||
		f->view.frames.count != f->p->frames.count)
		form_sync(f);
	return &f->view;
}

struct profile_stack form_get(const struct form *f, uint32_t stack)
{
	struct profile_stack shown = f->view.stacks.nodes[stack];

	shown.parent = form_mark(f, shown.parent);
	return shown;
}

uint64_t form_made(const struct form *f)
{
	return f->made;
}

uint32_t form_serial(const struct form *f)
{
	return f->serial;
}

uint32_t form_mark(const struct form *f, uint32_t stack)
{
	if (stack == PROFILE_ROOT_STACK || stack > MARK_NUMBER)
		return PROFILE_ROOT_STACK;
	return MARK | (f->serial & 7) << MARK_SERIAL | stack;
}

bool form_unmark(const struct form *f, uint32_t marked, uint32_t *stack)
{
	*stack = marked & MARK_NUMBER;
	return marked & MARK && f && (marked & ~MARK) >> MARK_SERIAL == (f->serial & 7) &&
	       *stack < f->view.stacks.count;
}

uint32_t form_run(const struct form *f, uint32_t stack)
{
	return stack < f->shown_cap ? f->shown_runs[stack] : 0;
}

/* --- hiding ------------------------------------------------------------------------------------------ */

static bool in_framework(const struct form *f, const char *class_name)
{
	const char *at = f->choice.frameworks;

	while (*(at += strspn(at, " \t\n"))) {
		size_t len = strcspn(at, " \t\n");

		if (!strncmp(class_name, at, len))
			return true;
		at += len;
	}
	return false;
}

static bool is_framework(struct form *f, uint32_t method)
{
	const char *class_name = f->p->methods.list[method].pub.class_name;
	uint32_t cap = f->p->methods.cap;

	if (method >= f->method_cap) {
		f->is_framework = xreallocarray(f->is_framework, cap, 1);
		memset(f->is_framework + f->method_cap, 0, cap - f->method_cap);
		f->method_cap = cap;
	}
	if (!f->is_framework[method])
		f->is_framework[method] = 1 + (*class_name && in_framework(f, class_name));
	return f->is_framework[method] == 2;
}

static enum form_kind kind_of(struct form *f, uint32_t stack)
{
	unsigned hide = f->choice.hide;

	switch (model_stack_type(f->p, stack)) {
	case FRAME_KERNEL: return hide & FILTER_KERNEL ? KIND_KERNEL : KIND_SHOWN;
	case FRAME_NATIVE:
	case FRAME_VM: return hide & FILTER_NATIVE ? KIND_NATIVE : KIND_SHOWN;
	case FRAME_CLASS_OUTSIDE:
	case FRAME_CLASS: /* what was allocated or locked is what one asks for */
	case FRAME_WAITS:
	case FRAME_BREAK: return KIND_SHOWN;
	default:
		return hide & FILTER_FRAMEWORK && is_framework(f, model_stack_method(f->p, stack))
			       ? KIND_FRAMEWORK
			       : KIND_SHOWN;
	}
}

/* --- making ------------------------------------------------------------------------------------------ */

static void form_fit(struct form *f)
{
	uint32_t cap = f->p->stacks.cap, from = f->cap;

	if (from >= f->p->stacks.count)
		return;
	f->shown = xreallocarray(f->shown, cap, sizeof(*f->shown));
	f->runs = xreallocarray(f->runs, cap, sizeof(*f->runs));
	memset(f->shown + from, 0, (cap - from) * sizeof(*f->shown));
	memset(f->runs + from, 0, (cap - from) * sizeof(*f->runs));
	f->cap = cap;
}

static uint32_t form_child(struct form *f, uint32_t parent, uint32_t frame)
{
	uint32_t child = profile_stack_child(&f->view, parent, frame), cap = f->view.stacks.cap;

	if (child >= f->shown_cap) {
		f->shown_runs = xreallocarray(f->shown_runs, cap, sizeof(*f->shown_runs));
		memset(f->shown_runs + f->shown_cap, 0,
			(cap - f->shown_cap) * sizeof(*f->shown_runs));
		f->shown_cap = cap;
	}
	return child;
}

/* What is made here is found again by its content: to the reader the profile is the same. */
static uint32_t new_frame(struct form *f, const struct profile_method *m, const char *name,
	enum frame_type type, int line)
{
	uint32_t method = profile_method(f->p, m->class_name, name, m->signature, m->module);
	uint32_t frame = profile_frame(f->p, method, type, 0xffff, line);

	f->view.methods = f->p->methods;
	f->view.frames = f->p->frames;
	return frame;
}

static uint32_t line_frame(struct form *f, uint32_t frame)
{
	const struct profile_frame fr = f->p->frames.list[frame];
	struct profile_method m;
	char name[512];

	if (!f->choice.lines || fr.line <= 0)
		return frame;
	if (frame >= f->lined_cap) {
		uint32_t cap = f->p->frames.cap;

		f->lined = xreallocarray(f->lined, cap, sizeof(*f->lined));
		memset(f->lined + f->lined_cap, 0, (cap - f->lined_cap) * sizeof(*f->lined));
		f->lined_cap = cap;
	}
	if (!f->lined[frame]) {
		m = f->p->methods.list[fr.method].pub;
		snprintf(name, sizeof(name), "%.490s:%d", m.name, fr.line);
		f->lined[frame] = 1 + new_frame(f, &m, name, (enum frame_type)fr.type, fr.line);
	}
	return f->lined[frame] - 1;
}

static uint32_t run_frame(struct form *f, enum form_kind kind)
{
	static const struct profile_method none = {"", "", "", "", ""};

	return new_frame(f, &none, kinds[kind].name, kinds[kind].type, 0);
}

/* One more frame of a run, or the first. */
static uint32_t show_hidden(struct form *f, enum form_kind kind, uint32_t stack, uint32_t parent)
{
	uint32_t above = f->p->stacks.nodes[stack].parent, shown = parent, run = 1;

	if (above != PROFILE_ROOT_STACK && kind_of(f, above) == kind)
		run = f->runs[above] + (f->runs[above] < UINT16_MAX);
	else
		shown = form_child(f, parent, run_frame(f, kind));
	f->runs[stack] = (uint16_t)run;
	if (f->shown_runs[shown] < run)
		f->shown_runs[shown] = (uint16_t)run;
	return shown;
}

static uint32_t show_one(struct form *f, uint32_t stack, uint32_t parent)
{
	enum form_kind kind = kind_of(f, stack);

	f->made++;
	if (kind != KIND_SHOWN)
		return show_hidden(f, kind, stack, parent);
	return form_child(f, parent, line_frame(f, f->p->stacks.nodes[stack].frame));
}

uint32_t form_stack(struct form *f, uint32_t stack)
{
	uint32_t n = 0, at = stack, shown = PROFILE_ROOT_STACK;

	form_fit(f);
	if (stack != PROFILE_ROOT_STACK && f->shown[stack])
		return f->shown[stack] - 1;
	f->view.methods = f->p->methods;
	f->view.frames = f->p->frames;
	for (; at != PROFILE_ROOT_STACK && !f->shown[at]; at = f->p->stacks.nodes[at].parent) {
		if (n == f->way_cap) {
			f->way_cap = f->way_cap ? f->way_cap * 2 : 256;
			f->way = xreallocarray(f->way, f->way_cap, sizeof(*f->way));
		}
		f->way[n++] = at;
	}
	if (at != PROFILE_ROOT_STACK)
		shown = f->shown[at] - 1;
	while (n-- > 0) {
		shown = show_one(f, f->way[n], shown);
		f->shown[f->way[n]] = shown + 1;
	}
	return shown;
}
