/* SPDX-License-Identifier: Apache-2.0 */
/* Terms are asked per stack; other forms are interned from the root down and remembered per stack. */
#include "profile/filter.h"

#include "base/buf.h"
#include "profile/match.h"
#include "profile/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum filter_kind { KIND_FRAMEWORK, KIND_NATIVE, KIND_KERNEL, KINDS, KIND_SHOWN = KINDS };

static const struct {
	const char *name;
	enum frame_type type;
} kinds[KINDS] = {
	[KIND_FRAMEWORK] = {"[framework frames]", FRAME_JAVA},
	[KIND_NATIVE] = {"[native frames]", FRAME_NATIVE},
	[KIND_KERNEL] = {"[kernel frames]", FRAME_KERNEL},
};

struct term {
	bool only;
	struct match *match;
};

/* What is shown for stacks by one choice of what to hide and how to show lines. */
struct form {
	uint32_t *shown; /* per stack: what is shown for it + 1, 0 = not asked */
	uint16_t *runs;  /* per stack, hidden or shown for hidden ones: frames of the run */
	uint32_t cap;
};
#define FORMS 16 /* eight choices to hide, by method or by line */

struct filter {
	struct term terms[FILTER_TERMS];
	int count;
	unsigned hide;
	bool lines;
	char *frameworks;
	uint32_t version;

	struct form forms[FORMS];
	struct form *form;     /* the present one */
	uint32_t *lined;       /* per frame: the frame with its line + 1 */
	uint8_t *is_framework; /* per method: 0 not asked, 1 no, 2 yes */
	uint32_t lined_cap, method_cap;
	uint32_t *way; /* scratch: stacks on the way to the root */
	uint32_t way_cap;
};

struct filter *filter_new(void)
{
	struct filter *f = xcalloc(1, sizeof(*f));

	f->frameworks = xstrdup("");
	f->form = f->forms;
	return f;
}

static void filter_forget(struct filter *f)
{
	for (int i = 0; i < FORMS; i++) {
		free(f->forms[i].shown);
		free(f->forms[i].runs);
		f->forms[i] = (struct form){0};
	}
	free(f->is_framework);
	f->is_framework = NULL;
	f->method_cap = 0;
	f->version++;
}

/* Forms are kept: going back to one costs nothing. */
static void filter_choose(struct filter *f, unsigned hide, bool lines)
{
	f->hide = hide;
	f->lines = lines;
	f->form = &f->forms[(hide & (FORMS / 2 - 1)) | (lines ? FORMS / 2 : 0)];
	f->version++;
}

void filter_free(struct filter *f)
{
	if (!f)
		return;
	while (filter_pop(f))
		;
	filter_forget(f);
	free(f->lined);
	free(f->frameworks);
	free(f->way);
	free(f);
}

/* --- settings ---------------------------------------------------------------------------------------- */

bool filter_push(struct filter *f, bool only, const char *text)
{
	struct term *t = &f->terms[f->count];

	if (f->count == FILTER_TERMS)
		return false;
	*t = (struct term){only, match_new()};
	match_set(t->match, text);
	f->count++;
	f->version++;
	return true;
}

bool filter_pop(struct filter *f)
{
	if (!f->count)
		return false;
	match_free(f->terms[--f->count].match);
	f->version++;
	return true;
}

int filter_count(const struct filter *f)
{
	return f->count;
}

const char *filter_term(const struct filter *f, int i, bool *only)
{
	*only = f->terms[i].only;
	return match_text(f->terms[i].match);
}

void filter_set_hide(struct filter *f, unsigned hide)
{
	filter_choose(f, hide, f->lines);
}

unsigned filter_hide(const struct filter *f)
{
	return f->hide;
}

void filter_set_frameworks(struct filter *f, const char *packages)
{
	free(f->frameworks);
	f->frameworks = xstrdup(packages);
	filter_forget(f);
}

void filter_set_lines(struct filter *f, bool on)
{
	filter_choose(f, f->hide, on);
}

bool filter_lines(const struct filter *f)
{
	return f->lines;
}

bool filter_idle(const struct filter *f)
{
	return !f->count && !f->hide && !f->lines;
}

uint32_t filter_version(const struct filter *f)
{
	return f->version;
}

/* --- hiding ------------------------------------------------------------------------------------------ */

static bool in_framework(const struct filter *f, const char *class_name)
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

static bool is_framework(struct filter *f, const struct profile *p, uint32_t method)
{
	const char *class_name = p->methods.list[method].pub.class_name;
	uint32_t cap = p->methods.cap;

	if (method >= f->method_cap) {
		f->is_framework = xreallocarray(f->is_framework, cap, 1);
		memset(f->is_framework + f->method_cap, 0, cap - f->method_cap);
		f->method_cap = cap;
	}
	if (!f->is_framework[method])
		f->is_framework[method] = 1 + (*class_name && in_framework(f, class_name));
	return f->is_framework[method] == 2;
}

static enum filter_kind kind_of(struct filter *f, const struct profile *p, uint32_t stack)
{
	uint8_t type = model_stack_type(p, stack);

	switch (type) {
	case FRAME_KERNEL: return f->hide & FILTER_KERNEL ? KIND_KERNEL : KIND_SHOWN;
	case FRAME_NATIVE:
	case FRAME_VM: return f->hide & FILTER_NATIVE ? KIND_NATIVE : KIND_SHOWN;
	case FRAME_CLASS: /* what was allocated or locked is what one asks for */
	case FRAME_BREAK: return KIND_SHOWN;
	default:
		return f->hide & FILTER_FRAMEWORK &&
				       is_framework(f, p, model_stack_method(p, stack))
			       ? KIND_FRAMEWORK
			       : KIND_SHOWN;
	}
}

/* --- other forms ------------------------------------------------------------------------------------- */

/* What is made here is found again by its content: to the reader the profile is the same. */
static struct profile *maker(const struct profile *p)
{
	return p->scratch->self;
}

static void filter_fit(struct filter *f, const struct profile *p)
{
	struct form *form = f->form;
	uint32_t cap = p->stacks.cap, from = form->cap;

	if (from >= p->stacks.count)
		return;
	form->shown = xreallocarray(form->shown, cap, sizeof(*form->shown));
	form->runs = xreallocarray(form->runs, cap, sizeof(*form->runs));
	memset(form->shown + from, 0, (cap - from) * sizeof(*form->shown));
	memset(form->runs + from, 0, (cap - from) * sizeof(*form->runs));
	form->cap = cap;
}

static uint32_t line_frame(struct filter *f, const struct profile *p, uint32_t frame)
{
	const struct profile_frame fr = p->frames.list[frame];
	struct profile_method m;
	char name[512];
	uint32_t method;

	if (!f->lines || fr.line <= 0)
		return frame;
	if (frame >= f->lined_cap) {
		uint32_t cap = p->frames.cap;

		f->lined = xreallocarray(f->lined, cap, sizeof(*f->lined));
		memset(f->lined + f->lined_cap, 0, (cap - f->lined_cap) * sizeof(*f->lined));
		f->lined_cap = cap;
	}
	if (!f->lined[frame]) {
		m = p->methods.list[fr.method].pub;
		snprintf(name, sizeof(name), "%.490s:%d", m.name, fr.line);
		method = profile_method(maker(p), m.class_name, name, m.signature, m.module);
		f->lined[frame] = 1 + profile_frame(maker(p), method, (enum frame_type)fr.type,
					      0xffff, fr.line);
	}
	return f->lined[frame] - 1;
}

static uint32_t run_frame(const struct profile *p, enum filter_kind kind)
{
	uint32_t method = profile_method(maker(p), "", kinds[kind].name, "", "");

	return profile_frame(maker(p), method, kinds[kind].type, 0xffff, 0);
}

/* One more frame of a run, or the first; runs[] counts them for both stacks. */
static uint32_t show_hidden(struct filter *f, const struct profile *p, enum filter_kind kind,
	uint32_t stack, uint32_t parent)
{
	uint32_t above = p->stacks.nodes[stack].parent, shown = parent, run = 1;

	if (above != PROFILE_ROOT_STACK && kind_of(f, p, above) == kind) {
		run = f->form->runs[above] + (f->form->runs[above] < UINT16_MAX);
	} else {
		shown = profile_stack_child(maker(p), parent, run_frame(p, kind));
		filter_fit(f, p);
	}
	f->form->runs[stack] = (uint16_t)run;
	if (f->form->runs[shown] < run)
		f->form->runs[shown] = (uint16_t)run;
	return shown;
}

static uint32_t show_one(struct filter *f, const struct profile *p, uint32_t stack, uint32_t parent)
{
	enum filter_kind kind = kind_of(f, p, stack);
	uint32_t shown;

	if (kind != KIND_SHOWN)
		return show_hidden(f, p, kind, stack, parent);
	shown = profile_stack_child(
		maker(p), parent, line_frame(f, p, p->stacks.nodes[stack].frame));
	filter_fit(f, p);
	return shown;
}

static uint32_t show(struct filter *f, const struct profile *p, uint32_t stack)
{
	uint32_t n = 0, at = stack, shown = PROFILE_ROOT_STACK;

	filter_fit(f, p);
	for (; at != PROFILE_ROOT_STACK && !f->form->shown[at]; at = p->stacks.nodes[at].parent) {
		if (n == f->way_cap) {
			f->way_cap = f->way_cap ? f->way_cap * 2 : 256;
			f->way = xreallocarray(f->way, f->way_cap, sizeof(*f->way));
		}
		f->way[n++] = at;
	}
	if (at != PROFILE_ROOT_STACK)
		shown = f->form->shown[at] - 1;
	while (n-- > 0) {
		shown = show_one(f, p, f->way[n], shown);
		f->form->shown[f->way[n]] = shown + 1;
	}
	return shown;
}

/* --- asking ------------------------------------------------------------------------------------------ */

uint32_t filter_stack(struct filter *f, const struct profile *p, uint32_t stack)
{
	uint32_t shown = f->hide || f->lines ? show(f, p, stack) : stack;

	for (int i = 0; i < f->count; i++) {
		const struct term *t = &f->terms[i];
		bool has = match_stack(t->match, p, stack) ||
			   (shown != stack && match_stack(t->match, p, shown));

		if (has != t->only)
			return PROFILE_NONE;
	}
	return shown;
}

uint32_t filter_run(const struct filter *f, uint32_t stack)
{
	return stack < f->form->cap ? f->form->runs[stack] : 0;
}
