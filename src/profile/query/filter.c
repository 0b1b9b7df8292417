/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings of a filter, and matching of its terms and of searches against methods and stacks.
 * Collapsed views: fold.c.
 */
#include "profile/query/filter.h"

#include "base/buf.h"
#include "profile/model/fit.h"
#include "profile/query/match.h"
#include "profile/query/query.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* --- matches --------------------------------------------------------------------------------------------- */

#define EXACTLY '='

/* Not checked yet: new, or a method that matched a shorter text, or a stack whose id was vacant. */
enum { UNCHECKED = 2 };

struct match_stacks {
	uint8_t *has; /* 0, 1 or UNCHECKED */
	uint32_t count, cap;
};

struct match {
	char *text;
	uint8_t *methods; /* 0, 1 or UNCHECKED */
	uint32_t method_count, method_cap;
	struct match_stacks sampled, shown; /* shown: of the collapsed view with serial `fold` */
	uint32_t fold;
	uint32_t swept; /* readers->swept when the caches were filled */
};

struct match *match_new(void)
{
	struct match *m = xcalloc(1, sizeof(*m));

	m->text = xstrdup("");
	return m;
}

void match_free(struct match *m)
{
	if (!m)
		return;
	free(m->text);
	free(m->methods);
	free(m->sampled.has);
	free(m->shown.has);
	free(m);
}

const char *match_text(const struct match *m)
{
	return m->text;
}

void match_set(struct match *m, const char *text)
{
	size_t len = strlen(m->text);
	bool longer = len && *text != EXACTLY && !strncmp(text, m->text, len);

	if (!strcmp(m->text, text))
		return;
	for (uint32_t i = 0; i < m->method_count && longer; i++)
		m->methods[i] = m->methods[i] ? UNCHECKED : 0;
	if (!longer)
		m->method_count = 0;
	m->sampled.count = m->shown.count = 0;
	free(m->text);
	m->text = xstrdup(text);
}

/* --- matching one name ---------------------------------------------------------------------------------------- */

static bool has_capital(const char *s)
{
	for (; *s; s++)
		if (isupper((unsigned char)*s))
			return true;
	return false;
}

const char *match_find(const char *name, const char *text, size_t *bytes)
{
	bool exactly = *text == EXACTLY;

	*bytes = strlen(text) - exactly;
	if (!*bytes)
		return NULL;
	if (exactly)
		return strcmp(name, text + 1) ? NULL : name;
	return has_capital(text) ? strstr(name, text) : strcasestr(name, text);
}

/* --- methods and stacks ------------------------------------------------------------------------------ */

static void match_swept(struct match *m, const struct profile *p)
{
	if (m->swept == p->readers->swept)
		return;
	m->swept = p->readers->swept;
	m->method_count = m->sampled.count = m->shown.count = 0;
}

bool match_method(struct match *m, const struct profile *p, uint32_t method)
{
	size_t bytes;

	match_swept(m, p);
	if (method >= p->methods->count || !*m->text)
		return false;
	if (method >= m->method_count) {
		m->methods = fit(m->methods, &m->method_cap, p->methods->count, 1);
		memset(m->methods + m->method_count, UNCHECKED,
			p->methods->count - m->method_count);
		m->method_count = p->methods->count;
	}
	if (m->methods[method] == UNCHECKED)
		m->methods[method] =
			match_find(p->methods->list[method].pub.full, m->text, &bytes) != NULL;
	return m->methods[method];
}

static bool match_one(struct match *m, struct match_stacks *s, const struct profile *p,
	const struct model_stacks *view, uint32_t stack)
{
	if (s->has[stack] == UNCHECKED)
		s->has[stack] = stack != PROFILE_ROOT_STACK &&
				(match_one(m, s, p, view, model_parent(view, stack)) ||
					match_method(m, p, model_method(view, stack)));
	return s->has[stack];
}

static bool match_in(struct match *m, struct match_stacks *s, const struct profile *p,
	const struct model_stacks *view, uint32_t stack)
{
	uint32_t i = s->count;

	s->has = fit(s->has, &s->cap, view->trie.count, 1);
	if (i <= stack)
		memset(s->has + i, UNCHECKED, stack + 1 - i);
	/* Parents have smaller ids. */
	for (; i <= stack; i++)
		if (!vacant_has(&view->trie.vacant, i))
			match_one(m, s, p, view, i);
	if (stack >= s->count)
		s->count = stack + 1;
	return match_one(m, s, p, view, stack);
}

/* True when a method of the stack matches. Amortized O(1) per stack. */
static bool match_stack(struct match *m, const struct profile *p, uint32_t stack)
{
	const struct fold *fold = p->scratch->fold;

	if (!*m->text)
		return false;
	match_swept(m, p);
	if (stack < p->stacks.trie.count)
		return match_in(m, &m->sampled, p, &p->stacks, stack);
	if (!fold_import(fold, stack, &stack))
		return false;
	if (m->fold != fold_serial(fold))
		m->shown.count = 0;
	m->fold = fold_serial(fold);
	return match_in(m, &m->shown, p, fold_view(p, fold), stack);
}

struct profile_sum match_sum(
	struct match *m, const struct profile *p, const struct profile_query *q)
{
	uint32_t count = 0;
	const struct query_row *rows = *m->text ? query_collect(p, q, &count) : NULL;
	const struct fold *fold = fold_of(p, q);
	struct profile_sum sum = {0};

	for (uint32_t i = 0; i < count; i++)
		if (match_stack(m, p, fold_export(fold, rows[i].stack)))
			sum_add(&sum, &rows[i].sum);
	return sum;
}

/* --- filters --------------------------------------------------------------------------------------------- */

struct term {
	bool only;
	struct match *match;
};

struct filter {
	struct term terms[FILTER_TERMS];
	int count;
	unsigned hide;
	bool lines, io;
	char *frameworks;
	uint32_t generation;
	uint64_t stamp; /* hash of all changes: equal ones have equal settings */
};

struct filter *filter_new(void)
{
	struct filter *f = xcalloc(1, sizeof(*f));

	f->frameworks = xstrdup("");
	return f;
}

static void filter_changed(struct filter *f, char what, uint64_t value, const char *text)
{
	f->generation++;
	f->stamp = hash_pair(f->stamp, hash_bytes(text, strlen(text), value * 256 + (uint8_t)what));
}

void filter_free(struct filter *f)
{
	if (!f)
		return;
	while (filter_pop(f))
		;
	free(f->frameworks);
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
	filter_changed(f, 't', only, text);
	return true;
}

bool filter_pop(struct filter *f)
{
	if (!f->count)
		return false;
	match_free(f->terms[--f->count].match);
	filter_changed(f, 'p', 0, "");
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
	f->hide = hide;
	filter_changed(f, 'h', hide, "");
}

unsigned filter_hide(const struct filter *f)
{
	return f->hide;
}

void filter_set_frameworks(struct filter *f, const char *packages)
{
	free(f->frameworks);
	f->frameworks = xstrdup(packages);
	filter_changed(f, 'f', 0, packages);
}

void filter_set_lines(struct filter *f, bool on)
{
	f->lines = on;
	filter_changed(f, 'l', on, "");
}

bool filter_lines(const struct filter *f)
{
	return f->lines;
}

void filter_set_io(struct filter *f, bool on)
{
	f->io = on;
	filter_changed(f, 'i', on, "");
}

bool filter_io(const struct filter *f)
{
	return f->io;
}

bool filter_is_identity(const struct filter *f)
{
	return !f->count && !filter_folds(f);
}

uint32_t filter_generation(const struct filter *f)
{
	return f->generation;
}

uint64_t filter_stamp(const struct filter *f)
{
	return filter_is_identity(f) ? 0 : f->stamp;
}

const char *filter_frameworks(const struct filter *f)
{
	return f->frameworks;
}

bool filter_folds(const struct filter *f)
{
	return f->hide || f->lines || f->io;
}

/* --- applying ---------------------------------------------------------------------------------------- */

static bool filter_passes(
	const struct filter *f, const struct profile *p, uint32_t stack, uint32_t shown)
{
	for (int i = 0; i < f->count; i++) {
		const struct term *t = &f->terms[i];
		bool has = match_stack(t->match, p, stack) ||
			   (shown != stack && match_stack(t->match, p, shown));

		if (has != t->only)
			return false;
	}
	return true;
}

/* Cached: model_stack_idles() goes up the whole stack. */
static bool stack_idles(const struct profile *p, uint32_t stack)
{
	struct scratch *s = p->scratch;

	if (s->idle_swept != p->readers->swept && s->idle_cap)
		memset(s->idle, 0, s->idle_cap);
	s->idle_swept = p->readers->swept;
	s->idle = fit_zeroed(s->idle, &s->idle_cap, stack + 1, 1);
	if (!s->idle[stack])
		s->idle[stack] = 1 + model_stack_idles(p, stack);
	return s->idle[stack] == 2;
}

uint32_t query_shown(
	const struct profile *p, const struct profile_query *q, struct fold *fold, uint32_t stack)
{
	if (q->without_idle && stack_idles(p, stack))
		return PROFILE_NONE;
	uint32_t shown = fold_stack(fold, stack);
	if (q->filter && q->filter->count &&
		!filter_passes(q->filter, p, stack, fold_export(fold, shown)))
		return PROFILE_NONE;
	return shown;
}

uint32_t filter_map_stack(struct filter *f, const struct profile *p, uint32_t stack)
{
	struct profile_query q = {.filter = f};
	struct fold *fold = fold_of(p, &q);
	uint32_t shown = query_shown(p, &q, fold, stack);

	return shown == PROFILE_NONE ? shown : fold_export(fold, shown);
}
