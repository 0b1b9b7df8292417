/* SPDX-License-Identifier: Apache-2.0 */
/* Assigning ids and defining them. */
#include "recording/file_ids.h"

#include "base/hash.h"
#include "recording/format.h"

#include <stdlib.h>

void file_ids_done(struct file_ids *t)
{
	free(t->methods.file_id_plus_1);
	free(t->frames.file_id_plus_1);
	free(t->stacks.file_id_plus_1);
	free(t->threads);
	free(t->chain);
	buf_done(&t->methods_out);
	buf_done(&t->frames_out);
	buf_done(&t->stacks_out);
	buf_done(&t->threads_out);
}

static void id_map_clear(struct id_map *n)
{
	if (n->file_id_plus_1)
		memset(n->file_id_plus_1, 0, n->cap * sizeof(*n->file_id_plus_1));
	n->count = 0;
}

void file_ids_sync(struct file_ids *t, const struct profile *p)
{
	uint32_t swept = profile_info(p).swept;

	if (swept == t->swept)
		return;
	t->swept = swept;
	t->restarted |= t->methods.count || t->stacks.count;
	id_map_clear(&t->methods);
	id_map_clear(&t->frames);
	id_map_clear(&t->stacks);
}

/* The slot of a profile id, valid until the next call. */
static uint32_t *id_map_at(struct id_map *n, uint32_t id)
{
	if (id >= n->cap) {
		uint32_t cap = id + id / 2 + 64;

		n->file_id_plus_1 =
			xreallocarray(n->file_id_plus_1, cap, sizeof(*n->file_id_plus_1));
		memset(n->file_id_plus_1 + n->cap, 0, (cap - n->cap) * sizeof(*n->file_id_plus_1));
		n->cap = cap;
	}
	return &n->file_id_plus_1[id];
}

/* --- names and stacks -------------------------------------------------------------------------------- */

uint32_t file_ids_method(struct file_ids *t, const struct profile *p, uint32_t method)
{
	const struct profile_method *m = profile_get_method(p, method);
	/* slot 0: the unknown method, whose id is above all others */
	uint32_t *at = id_map_at(&t->methods, method < profile_method_count(p) ? method + 1 : 0);

	if (*at)
		return *at - 1;
	format_add_text(&t->methods_out, m->class_name);
	format_add_text(&t->methods_out, m->name);
	format_add_text(&t->methods_out, m->signature);
	format_add_text(&t->methods_out, m->module);
	*at = ++t->methods.count;
	return *at - 1;
}

static uint32_t file_ids_frame(struct file_ids *t, const struct profile *p, uint32_t frame)
{
	const struct profile_frame f = *profile_get_frame(p, frame);
	uint32_t *at = id_map_at(&t->frames, frame);

	if (*at)
		return *at - 1;
	uint32_t method = file_ids_method(t, p, f.method);
	format_add(&t->frames_out, method);
	format_add(&t->frames_out, f.type);
	format_add(&t->frames_out, f.bci == 0xffff ? 0 : f.bci + 1u);
	format_add_signed(&t->frames_out, f.line);
	*at = ++t->frames.count;
	return *at - 1;
}

uint32_t file_ids_stack(struct file_ids *t, const struct profile *p, uint32_t stack)
{
	uint32_t depth = 0, at = stack;

	for (; at != PROFILE_ROOT_STACK && !*id_map_at(&t->stacks, at);
		at = profile_get_stack(p, at).parent) {
		t->chain = xgrow(t->chain, depth, &t->chain_cap, sizeof(*t->chain));
		t->chain[depth++] = at;
	}
	uint32_t parent = at == PROFILE_ROOT_STACK ? 0 : *id_map_at(&t->stacks, at);
	while (depth-- > 0) {
		uint32_t frame = file_ids_frame(t, p, profile_get_stack(p, t->chain[depth]).frame);
		uint32_t id = ++t->stacks.count;

		format_add(&t->stacks_out, id - parent);
		format_add(&t->stacks_out, frame);
		*id_map_at(&t->stacks, t->chain[depth]) = id;
		parent = id;
	}
	return parent;
}

/* --- threads ----------------------------------------------------------------------------------------- */

static struct written_thread *thread_at(struct file_ids *t, uint32_t thread)
{
	if (thread >= t->thread_cap) {
		uint32_t cap = thread + thread / 2 + 64;

		t->threads = xreallocarray(t->threads, cap, sizeof(*t->threads));
		memset(t->threads + t->thread_cap, 0, (cap - t->thread_cap) * sizeof(*t->threads));
		t->thread_cap = cap;
	}
	return &t->threads[thread];
}

static uint32_t thread_write(
	struct file_ids *t, const struct profile_thread *th, struct written_thread *at)
{
	uint64_t hash = hash_bytes(th->name, strlen(th->name), th->kind);
	bool same = at->id && at->serial == th->serial;

	hash = hash_pair(hash, (uint64_t)th->java_tid);
	hash = hash_pair(hash, (uint64_t)(uint32_t)th->tid << 32 | (uint32_t)th->carrier);
	if (same && at->hash == hash)
		return at->id - 1;
	if (!same)
		*at = (struct written_thread){.serial = th->serial, .id = ++t->thread_count};
	at->hash = hash;
	format_add(&t->threads_out, at->id - 1);
	format_add(&t->threads_out, th->serial ? th->kind : FORMAT_UNNAMED);
	format_add_signed(&t->threads_out, th->tid);
	format_add_signed(&t->threads_out, th->java_tid);
	format_add_signed(&t->threads_out, th->carrier);
	format_add_text(&t->threads_out, th->name);
	return at->id - 1;
}

uint32_t file_ids_thread(struct file_ids *t, const struct profile *p, uint32_t thread)
{
	return thread_write(t, profile_get_thread(p, thread), thread_at(t, thread));
}

struct new_thread {
	uint32_t serial, thread;
};

static int new_thread_compare(const void *a, const void *b)
{
	const struct new_thread *x = a, *y = b;

	return x->serial < y->serial ? -1 : x->serial > y->serial;
}

void file_ids_threads(struct file_ids *t, const struct profile *p)
{
	struct new_thread *new = NULL;
	uint32_t count = profile_thread_count(p), n = 0, cap = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct profile_thread *th = profile_get_thread(p, i);
		struct written_thread *at = thread_at(t, i);

		if (!th->serial)
			continue;
		if (at->id && at->serial == th->serial) {
			thread_write(t, th, at);
			continue;
		}
		new = xgrow(new, n, &cap, sizeof(*new));
		new[n++] = (struct new_thread){th->serial, i};
	}
	if (n)
		qsort(new, n, sizeof(*new), new_thread_compare);
	for (uint32_t i = 0; i < n; i++)
		file_ids_thread(t, p, new[i].thread);
	free(new);
}
