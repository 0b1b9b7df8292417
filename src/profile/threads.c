/* SPDX-License-Identifier: Apache-2.0 */
/* Threads, and the pools that they belong to by their names. */
#include "profile/model.h"

#include "base/buf.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POOL_NAME 256

void model_threads_init(struct model_threads *t)
{
	intern_put(&t->pools, "", 0);
}

void model_threads_done(struct model_threads *t)
{
	for (uint32_t i = 0; i < t->count; i++)
		free((char *)t->list[i].name);
	free(t->list);
	intern_done(&t->pools);
}

size_t model_threads_bytes(const struct model_threads *t)
{
	return t->cap * sizeof(*t->list) + t->pools.bytes;
}

/* "http-nio-8080-exec-12" -> "http-nio-8080-exec-*"; digits alone are a name of their own. */
static void pool_of_name(char out[POOL_NAME], const char *name)
{
	size_t end = strlen(name), digits = end;

	while (digits > 0 && isdigit((unsigned char)name[digits - 1]))
		digits--;
	if (digits == end || !digits)
		snprintf(out, POOL_NAME, "%s", name);
	else
		snprintf(out, POOL_NAME, "%.*s*", (int)digits, name);
}

static uint32_t pool_of(struct model_threads *t, const struct profile_thread *thread)
{
	static const char *const kinds[] = {
		[THREAD_COMPILER] = "JIT compiler threads",
		[THREAD_GC] = "GC threads",
	};
	char name[POOL_NAME];

	if (thread->kind < sizeof(kinds) / sizeof(kinds[0]) && kinds[thread->kind])
		snprintf(name, sizeof(name), "%s", kinds[thread->kind]);
	else
		pool_of_name(name, thread->name);
	return intern_put(&t->pools, name, strlen(name));
}

void profile_thread_set(struct profile *p, uint32_t thread, const struct profile_thread *set)
{
	struct model_threads *t = &p->threads;
	struct profile_thread *mine;

	if (thread >= MODEL_THREADS_MAX)
		return;
	if (thread >= t->cap) {
		uint32_t cap = thread + thread / 2 + 16;

		t->list = xreallocarray(t->list, cap, sizeof(*t->list));
		memset(t->list + t->cap, 0, (cap - t->cap) * sizeof(*t->list));
		t->cap = cap;
	}
	p->scratch->fed++; /* of which pool it is */
	mine = &t->list[thread];
	free((char *)mine->name);
	*mine = *set;
	mine->name = xstrdup(set->name ? set->name : "");
	mine->pool = pool_of(t, mine);
	if (thread >= t->count)
		t->count = thread + 1;
}

const struct profile_thread *profile_get_thread(const struct profile *p, uint32_t thread)
{
	static const struct profile_thread unknown = {0, THREAD_NATIVE, -1, "", 0};

	return thread < p->threads.count && p->threads.list[thread].name ? &p->threads.list[thread]
									 : &unknown;
}

uint32_t profile_thread_count(const struct profile *p)
{
	return p->threads.count;
}

const char *profile_pool_name(const struct profile *p, uint32_t pool)
{
	return pool < p->threads.pools.count ? intern_text(&p->threads.pools, pool) : "";
}
