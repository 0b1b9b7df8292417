/* SPDX-License-Identifier: Apache-2.0 */
/* Settings, and terms asked per stack; folded views are fold.c. */
#include "profile/query/filter.h"

#include "base/buf.h"
#include "profile/query/match.h"
#include "profile/query/query.h"

#include <stdlib.h>
#include <string.h>

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
	uint32_t version;
	uint64_t stamp; /* of all that was ever set: equal ones have the same settings */
};

struct filter *filter_new(void)
{
	struct filter *f = xcalloc(1, sizeof(*f));

	f->frameworks = xstrdup("");
	return f;
}

static void filter_changed(struct filter *f, char what, uint64_t value, const char *text)
{
	f->version++;
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

bool filter_idle(const struct filter *f)
{
	return !f->count && !filter_folds(f);
}

uint32_t filter_version(const struct filter *f)
{
	return f->version;
}

uint64_t filter_stamp(const struct filter *f)
{
	return filter_idle(f) ? 0 : f->stamp;
}

const char *filter_frameworks(const struct filter *f)
{
	return f->frameworks;
}

bool filter_folds(const struct filter *f)
{
	return f->hide || f->lines || f->io;
}

/* --- asking ------------------------------------------------------------------------------------------ */

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

uint32_t query_shown(
	const struct profile *p, const struct profile_query *q, struct fold *fold, uint32_t stack)
{
	uint32_t shown = fold_stack(fold, stack);

	if (q->filter && q->filter->count &&
		!filter_passes(q->filter, p, stack, fold_mark(fold, shown)))
		return PROFILE_NONE;
	return shown;
}

uint32_t filter_stack(struct filter *f, const struct profile *p, uint32_t stack)
{
	struct profile_query q = {.filter = f};
	struct fold *fold = fold_of(p, &q);
	uint32_t shown = query_shown(p, &q, fold, stack);

	return shown == PROFILE_NONE ? shown : fold_mark(fold, shown);
}
