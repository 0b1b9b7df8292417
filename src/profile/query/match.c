/* SPDX-License-Identifier: Apache-2.0 */
/* A byte per method, and a byte per stack that is its parent's or its last method's. */
#include "profile/query/match.h"

#include "base/buf.h"
#include "profile/model/model.h"
#include "profile/query/form.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

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
	struct match_stacks sampled, shown; /* shown: those of the form with this number */
	uint32_t form;
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

static uint8_t *match_fit(uint8_t *list, uint32_t *cap, uint32_t need)
{
	if (need <= *cap)
		return list;
	*cap = need + need / 4;
	return xreallocarray(list, *cap, 1);
}

static void match_swept(struct match *m, const struct profile *p)
{
	if (m->swept == p->scratch->sweep.swept)
		return;
	m->swept = p->scratch->sweep.swept;
	m->method_count = m->sampled.count = m->shown.count = 0;
}

bool match_method(struct match *m, const struct profile *p, uint32_t method)
{
	size_t bytes;

	match_swept(m, p);
	if (method >= p->methods.count || !*m->text)
		return false;
	if (method >= m->method_count) {
		m->methods = match_fit(m->methods, &m->method_cap, p->methods.count);
		memset(m->methods + m->method_count, ASK_AGAIN, p->methods.count - m->method_count);
		m->method_count = p->methods.count;
	}
	if (m->methods[method] == ASK_AGAIN)
		m->methods[method] =
			match_find(p->methods.list[method].pub.full, m->text, &bytes) != NULL;
	return m->methods[method];
}

static bool match_one(
	struct match *m, struct match_stacks *s, const struct profile *p, uint32_t stack)
{
	if (s->has[stack] == ASK_AGAIN)
		s->has[stack] = stack != PROFILE_ROOT_STACK &&
				(match_one(m, s, p, p->stacks.nodes[stack].parent) ||
					match_method(m, p, model_stack_method(p, stack)));
	return s->has[stack];
}

static bool match_in(
	struct match *m, struct match_stacks *s, const struct profile *p, uint32_t stack)
{
	uint32_t i = s->count;

	s->has = match_fit(s->has, &s->cap, p->stacks.count);
	if (i <= stack)
		memset(s->has + i, ASK_AGAIN, stack + 1 - i);
	/* Parents have the smaller numbers. */
	for (; i <= stack; i++)
		if (i == PROFILE_ROOT_STACK || p->stacks.nodes[i].depth)
			match_one(m, s, p, i);
	if (stack >= s->count)
		s->count = stack + 1;
	return match_one(m, s, p, stack);
}

bool match_stack(struct match *m, const struct profile *p, uint32_t stack)
{
	struct form *form = p->scratch->form;

	if (!*m->text)
		return false;
	match_swept(m, p);
	if (stack < p->stacks.count)
		return match_in(m, &m->sampled, p, stack);
	if (!form_unmark(form, stack, &stack))
		return false;
	if (m->form != form_serial(form))
		m->shown.count = 0;
	m->form = form_serial(form);
	return match_in(m, &m->shown, form_view(form), stack);
}

struct match_total {
	struct match *m;
	const struct profile *p;
	struct profile_sum sum;
};

static void match_add(void *ctx, uint32_t stack, uint32_t thread, uint64_t count, uint64_t weight)
{
	struct match_total *t = ctx;

	if (!match_stack(t->m, t->p, stack))
		return;
	t->sum.count += count;
	t->sum.weight += weight;
}

struct profile_sum match_sum(
	struct match *m, const struct profile *p, const struct profile_query *q)
{
	struct match_total t = {m, p, {0}};

	if (*m->text)
		profile_each(p, q, match_add, &t);
	return t.sum;
}
