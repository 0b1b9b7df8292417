/* SPDX-License-Identifier: Apache-2.0 */
/* Batches of names for the loader. The name of a pending entry is symtab_pending. */
#include "symbols/names.h"

#include "symbols/demangle.h"

#include <stdlib.h>
#include <string.h>

struct names_request {
	struct symtab *table; /* NULL: dropped. Not read by the loader's thread */
	uint32_t entry;
	char *mangled, *name; /* name: the result */
};

struct names_batch {
	struct load load; /* the first member */
	struct names_request *list;
	uint32_t count;
};

static void names_run(struct load *l, struct elf_child *child, const atomic_bool *stop)
{
	struct names_batch *b = (struct names_batch *)l;

	(void)child;
	for (uint32_t i = 0; i < b->count && !atomic_load(stop); i++)
		b->list[i].name = demangle_name(b->list[i].mangled);
}

static void names_free_requests(struct names_request *list, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		free(list[i].mangled);
		free(list[i].name);
	}
	free(list);
}

static void names_free_batch(struct names_batch *b)
{
	if (!b)
		return;
	names_free_requests(b->list, b->count);
	free(b);
}

/* Moves the results of a finished batch into their tables. */
static void names_install(struct names *n)
{
	struct names_batch *b = n->running;

	n->running = NULL;
	for (uint32_t i = 0; i < b->count; i++) {
		struct names_request *r = &b->list[i];

		if (!r->table)
			continue;
		r->table->names[r->entry] = r->name;
		r->name = NULL;
	}
	names_free_batch(b);
}

/* Installs finished names, and starts the next batch. Without a thread nothing is pending when this returns. */
static void names_advance(struct names *n)
{
	if (n->running && loader_request(n->loader, &n->running->load))
		names_install(n);
	if (n->running || !n->queued_count)
		return;
	n->running = xcalloc(1, sizeof(*n->running));
	n->running->load.run = names_run;
	n->running->load.lane = LOADER_NAMES;
	n->running->list = n->queued;
	n->running->count = n->queued_count;
	n->queued = NULL;
	n->queued_count = n->queued_cap = 0;
	if (loader_request(n->loader, &n->running->load))
		names_install(n);
}

const char *names_get(struct names *n, struct symtab *t, const struct symtab_entry *e)
{
	uint32_t i = (uint32_t)(e - t->entries);

	if (e->rank == SYMTAB_BOUNDARY)
		return "";
	if (!t->names[i] && !demangle_is_mangled(symtab_text(t, e)))
		return symtab_name(t, e);
	if (!t->names[i]) {
		n->queued = xgrow(n->queued, n->queued_count, &n->queued_cap, sizeof(*n->queued));
		n->queued[n->queued_count++] = (struct names_request){
			.table = t, .entry = i, .mangled = xstrdup(symtab_text(t, e))};
		t->names[i] = symtab_pending;
	}
	if (t->names[i] == symtab_pending)
		names_advance(n);
	return t->names[i] == symtab_pending ? NULL : t->names[i];
}

static void names_drop(struct names_request *list, uint32_t count, const struct symtab *t)
{
	for (uint32_t i = 0; i < count; i++)
		if (list[i].table == t)
			list[i].table = NULL;
}

void names_forget(struct names *n, const struct symtab *t)
{
	names_drop(n->queued, n->queued_count, t);
	if (n->running)
		names_drop(n->running->list, n->running->count, t);
}

bool names_are_pending(const struct names *n)
{
	return n->running || n->queued_count;
}

void names_done(struct names *n)
{
	names_free_requests(n->queued, n->queued_count);
	names_free_batch(n->running);
}
