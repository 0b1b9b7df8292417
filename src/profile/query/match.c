/* SPDX-License-Identifier: Apache-2.0 */
/* What a text was found in is kept: a byte per method, and a byte per stack that is its parent's or its last method's. */
#include "profile/query/match.h"

#include "profile/model/fit.h"
#include "profile/query/query.h"

#include <ctype.h>

#define EXACTLY '='

/* Of a method: found by a shorter text, not yet asked for this one. Of a stack: its number was vacant when it was asked. */
enum { ASK_AGAIN = 2 };

struct match_stacks {
	uint8_t *has; /* 0, 1 or ASK_AGAIN */
	uint32_t count, cap;
};

struct match {
	char *text;
	uint8_t *methods; /* 0, 1 or ASK_AGAIN */
	uint32_t method_count, method_cap;
	struct match_stacks sampled, shown; /* shown: those of the fold with this number */
	uint32_t fold;
	uint32_t swept; /* steps after which numbers may mean something else */
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
		m->methods[i] = m->methods[i] ? ASK_AGAIN : 0;
	if (!longer)
		m->method_count = 0;
	m->sampled.count = m->shown.count = 0;
	free(m->text);
	m->text = xstrdup(text);
}

/* --- one name ---------------------------------------------------------------------------------------- */

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

/* --- what was interned ------------------------------------------------------------------------------- */

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
		memset(m->methods + m->method_count, ASK_AGAIN,
			p->methods->count - m->method_count);
		m->method_count = p->methods->count;
	}
	if (m->methods[method] == ASK_AGAIN)
		m->methods[method] =
			match_find(p->methods->list[method].pub.full, m->text, &bytes) != NULL;
	return m->methods[method];
}

static bool match_one(struct match *m, struct match_stacks *s, const struct profile *p,
	const struct model_stacks *view, uint32_t stack)
{
	if (s->has[stack] == ASK_AGAIN)
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
		memset(s->has + i, ASK_AGAIN, stack + 1 - i);
	/* Parents have the smaller numbers. */
	for (; i <= stack; i++)
		if (!vacant_has(&view->trie.vacant, i))
			match_one(m, s, p, view, i);
	if (stack >= s->count)
		s->count = stack + 1;
	return match_one(m, s, p, view, stack);
}

bool match_stack(struct match *m, const struct profile *p, uint32_t stack)
{
	const struct fold *fold = p->scratch->fold;

	if (!*m->text)
		return false;
	match_swept(m, p);
	if (stack < p->stacks.trie.count)
		return match_in(m, &m->sampled, p, &p->stacks, stack);
	if (!fold_unmark(fold, stack, &stack))
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
		if (match_stack(m, p, fold_mark(fold, rows[i].stack)))
			sum_add(&sum, &rows[i].sum);
	return sum;
}
