/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting, selection among aliases, lookup. */
#include "symbols/symtab.h"

#include "base/clock.h"
#include "symbols/demangle.h"

#include <stdlib.h>
#include <string.h>

#define SPENT_MAX_NS    (5 * NS_PER_S)
#define POLLS_PER_CLOCK 256
#define NESTING_MAX     16 /* entries looked back for one that encloses an address */

char symtab_pending[1];

void symtab_done(struct symtab *t)
{
	for (uint32_t i = 0; t->names && i < t->count; i++)
		if (t->names[i] != symtab_pending)
			free(t->names[i]);
	free(t->names);
	free(t->entries);
	buf_done(&t->texts);
	memset(t, 0, sizeof(*t));
}

void symtab_limit(struct symtab *t, const atomic_bool *stop)
{
	t->stop = stop;
	t->spent_end_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID) + SPENT_MAX_NS;
}

bool symtab_is_full(struct symtab *t)
{
	if (t->full || t->polls++ % POLLS_PER_CLOCK)
		return t->full;
	t->full = (t->stop && atomic_load(t->stop)) ||
		  (t->spent_end_ns && clock_read_ns(CLOCK_THREAD_CPUTIME_ID) > t->spent_end_ns);
	return t->full;
}

void symtab_add(
	struct symtab *t, uint64_t start, uint64_t size, const char *name, enum symtab_rank rank)
{
	if (t->texts.len >= SYMTAB_TEXTS_MAX || t->count >= SYMTAB_ENTRIES_MAX) {
		t->full = true;
		return;
	}
	if (!t->texts.len)
		buf_addc(&t->texts, '\0');
	t->entries = xgrow(t->entries, t->count, &t->cap, sizeof(*t->entries));
	struct symtab_entry *e = &t->entries[t->count++];
	*e = (struct symtab_entry){
		start, size < UINT32_MAX ? (uint32_t)size : UINT32_MAX, 0, (uint8_t)rank};
	if (rank == SYMTAB_BOUNDARY)
		return;
	e->text = (uint32_t)t->texts.len;
	buf_add(&t->texts, name, strnlen(name, SYMTAB_NAME_MAX));
	buf_addc(&t->texts, '\0');
}

static int symtab_underscores(const char *name)
{
	return (int)strspn(name, "_");
}

/* By start; of one start, the best name first. */
static int symtab_compare(const void *pa, const void *pb, void *ctx)
{
	const struct symtab_entry *a = pa, *b = pb;
	const char *texts = ctx;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	int d = (b->rank != SYMTAB_BOUNDARY) - (a->rank != SYMTAB_BOUNDARY);
	if (!d)
		d = (b->size != 0) - (a->size != 0);
	if (!d)
		d = symtab_underscores(texts + a->text) - symtab_underscores(texts + b->text);
	if (!d)
		d = b->rank - a->rank;
	return d ? d : strcmp(texts + a->text, texts + b->text);
}

void symtab_finish(struct symtab *t)
{
	uint32_t kept = 0;
	uint64_t named_end = 0;

	if (!t->count)
		return;
	qsort_r(t->entries, t->count, sizeof(*t->entries), symtab_compare, t->texts.data);
	for (uint32_t i = 0; i < t->count; i++) {
		struct symtab_entry e = t->entries[i];

		if (kept && t->entries[kept - 1].start == e.start)
			continue;
		if (e.rank == SYMTAB_BOUNDARY && e.start < named_end)
			continue; /* another part of a named function */
		if (e.rank != SYMTAB_BOUNDARY && e.start + e.size > named_end)
			named_end = e.start + e.size;
		t->entries[kept++] = e;
	}
	t->count = kept;
	t->names = xcalloc(t->count, sizeof(*t->names));
}

void symtab_adopt(struct symtab *t, struct buf *entries, struct buf *texts)
{
	t->count = t->cap = (uint32_t)(entries->len / sizeof(*t->entries));
	t->entries = (struct symtab_entry *)(void *)buf_steal(entries);
	t->names = t->count ? xcalloc(t->count, sizeof(*t->names)) : NULL;
	t->texts = *texts;
	*texts = (struct buf){0};
}

const struct symtab_entry *symtab_find(const struct symtab *t, uint64_t address)
{
	uint32_t low = 0, high = t->count;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (t->entries[mid].start <= address)
			low = mid + 1;
		else
			high = mid;
	}
	for (uint32_t i = low; i-- > 0 && low - i <= NESTING_MAX;) {
		const struct symtab_entry *e = &t->entries[i];

		if (address - e->start < e->size || (!e->size && i == low - 1))
			return e;
	}
	return NULL;
}

const char *symtab_text(const struct symtab *t, const struct symtab_entry *e)
{
	return e->rank == SYMTAB_BOUNDARY ? "" : t->texts.data + e->text;
}

const char *symtab_name(struct symtab *t, const struct symtab_entry *e)
{
	size_t i = (size_t)(e - t->entries);

	if (e->rank == SYMTAB_BOUNDARY)
		return "";
	if (!t->names[i])
		t->names[i] = demangle_name(t->texts.data + e->text);
	return t->names[i];
}
