/* SPDX-License-Identifier: Apache-2.0 */
/* Threads, and their pools by name. */
#include "profile/model/model.h"

#include "profile/model/fit.h"

#include <ctype.h>
#include <stdio.h>

void model_threads_init(struct model_threads *t)
{
	intern_add(&t->pools, "", 0);
}

void model_threads_done(struct model_threads *t)
{
	for (uint32_t i = 0; i < t->count; i++)
		free(t->names[i]);
	buf_done(&t->texts.clean);
	free(t->names);
	free(t->list);
	vacant_done(&t->vacant);
	intern_done(&t->pools);
}

size_t model_threads_bytes(const struct model_threads *t)
{
	return t->cap * (sizeof(*t->list) + sizeof(*t->names)) + t->pools.bytes;
}

/* "http-nio-8080-exec-12" -> "http-nio-8080-exec-*"; digits alone are left as they are. */
void profile_name_pattern(const char *name, char out[PROFILE_PATTERN])
{
	size_t end = strlen(name), digits = end;

	while (digits > 0 && isdigit((unsigned char)name[digits - 1]))
		digits--;
	if (digits == end || !digits)
		snprintf(out, PROFILE_PATTERN, "%s", name);
	else
		snprintf(out, PROFILE_PATTERN, "%.*s*", (int)digits, name);
}

const char *profile_thread_label(
	const struct profile_thread *t, const char *word, char out[PROFILE_LABEL])
{
	out[0] = '\0';
	if (t->kind != THREAD_VIRTUAL)
		snprintf(out, PROFILE_LABEL, "%s%d", word, t->tid);
	else if (t->java_tid && strncmp(t->name, PROFILE_VIRTUAL, strlen(PROFILE_VIRTUAL)) != 0)
		snprintf(out, PROFILE_LABEL, "#%lld", (long long)t->java_tid);
	return out;
}

static uint32_t pool_of(struct model_threads *t, const struct profile_thread *thread)
{
	static const char *const kinds[] = {
		[THREAD_COMPILER] = "JIT compiler threads",
		[THREAD_GC] = "GC threads",
	};
	char name[PROFILE_PATTERN];

	if (thread->kind < sizeof(kinds) / sizeof(kinds[0]) && kinds[thread->kind])
		snprintf(name, sizeof(name), "%s", kinds[thread->kind]);
	else
		profile_name_pattern(thread->name, name);
	return intern_add(&t->pools, name, strlen(name));
}

static void threads_fit(struct model_threads *t, uint32_t thread)
{
	t->list = fit_zeroed(t->list, &t->cap, thread + 1, sizeof(*t->list));
	t->names = fit_zeroed(t->names, &t->names_cap, thread + 1, sizeof(*t->names));
}

void profile_thread_set(struct profile *p, uint32_t thread, const struct profile_thread *set)
{
	struct model_threads *t = &p->threads;

	if (thread >= MODEL_THREADS_MAX)
		return;
	char *name = xstrdup(model_text(&t->texts, set->name ? set->name : "", false));
	threads_fit(t, thread);
	if (vacant_has(&t->vacant, thread))
		vacant_allocate(&t->vacant, thread);
	p->readers->fed++; /* its pool may change */
	struct profile_thread *mine = &t->list[thread];
	uint32_t serial = mine->name ? mine->serial : ++t->serial;
	free(t->names[thread]);
	t->names[thread] = name;
	*mine = *set;
	mine->serial = serial;
	mine->name = t->names[thread];
	mine->pool = pool_of(t, mine);
	if (thread >= t->count)
		t->count = thread + 1;
}

const struct profile_thread *profile_get_thread(const struct profile *p, uint32_t thread)
{
	static const struct profile_thread unknown = {.java_tid = -1, .name = ""};

	return thread < p->threads.count && p->threads.list[thread].name ? &p->threads.list[thread]
									 : &unknown;
}

uint32_t profile_thread_new(struct profile *p)
{
	struct model_threads *t = &p->threads;
	uint32_t thread = vacant_allocate(&t->vacant, 0);

	if (thread != VACANT_NONE)
		return thread;
	if (t->count == MODEL_THREADS_MAX)
		return MODEL_THREADS_MAX - 1;
	threads_fit(t, t->count);
	return t->count++;
}

void model_threads_sweep(struct profile *p, const uint64_t *keep)
{
	struct model_threads *t = &p->threads;

	vacant_set(&t->vacant, keep, t->count);
	for (uint32_t i = 0; i < t->count; i++) {
		if (!vacant_has(&t->vacant, i))
			continue;
		free(t->names[i]);
		t->names[i] = NULL;
		t->list[i] = (struct profile_thread){0};
		if (i < p->waits.last_cap)
			p->waits.last[i] = 0;
	}
}

uint32_t profile_thread_count(const struct profile *p)
{
	return p->threads.count;
}

const char *profile_pool_name(const struct profile *p, uint32_t pool)
{
	return pool < p->threads.pools.count ? intern_text(&p->threads.pools, pool) : "";
}
