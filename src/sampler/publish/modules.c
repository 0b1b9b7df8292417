/* SPDX-License-Identifier: Apache-2.0 */
/* A bounds-checked parser of /proc/self/maps lines, and the sorted list of mappings. */
#include "sampler/publish/modules.h"

#include "sampler/procfile.h"

#include <string.h>

#define MODULES_ID_MAX 0xffffu

/* --- one line --------------------------------------------------------------------------------- */

struct maps_cursor {
	const char *at, *end;
};

static uint64_t maps_number(struct maps_cursor *c, unsigned base)
{
	uint64_t value = 0;

	for (; c->at < c->end; c->at++) {
		char ch = *c->at;
		unsigned digit = ch >= '0' && ch <= '9'   ? (unsigned)(ch - '0')
				 : ch >= 'a' && ch <= 'f' ? (unsigned)(ch - 'a' + 10)
							  : 99;

		if (digit >= base)
			break;
		value = value * base + digit;
	}
	return value;
}

static void maps_skip(struct maps_cursor *c, size_t bytes)
{
	c->at = bytes < (size_t)(c->end - c->at) ? c->at + bytes : c->end;
}

/* "start-end perms offset major:minor inode   path" */
void modules_line(const char *line, size_t bytes, char access[4], struct module *out)
{
	struct maps_cursor c = {line, line + bytes};

	memset(out, 0, sizeof(*out));
	memset(access, '-', 4);
	out->start = maps_number(&c, 16);
	maps_skip(&c, 1);
	out->end = maps_number(&c, 16);
	maps_skip(&c, 1);
	if (c.end - c.at >= 4)
		memcpy(access, c.at, 4);
	maps_skip(&c, 5);
	out->file_offset = maps_number(&c, 16);
	maps_skip(&c, 1);
	out->dev_major = (uint32_t)maps_number(&c, 16);
	maps_skip(&c, 1);
	out->dev_minor = (uint32_t)maps_number(&c, 16);
	maps_skip(&c, 1);
	out->inode = maps_number(&c, 10);
	while (c.at < c.end && *c.at == ' ')
		c.at++;
	out->path = c.at;
	out->path_bytes = (uint32_t)(c.end - c.at);
}

/* --- the list --------------------------------------------------------------------------------- */

/* Not compared by path: an unlinked file becomes "... (deleted)". */
static bool module_same(const struct module *a, const struct module *b)
{
	return a->start == b->start && a->end == b->end && a->file_offset == b->file_offset &&
	       a->inode == b->inode && a->dev_major == b->dev_major && a->dev_minor == b->dev_minor;
}

/* The first row that ends after pc; count if there is none. Rows are sorted by address, as in maps. */
static uint32_t list_after(const struct module_list *list, uint64_t pc)
{
	uint32_t lo = 0, hi = list->count;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (list->rows[mid].end <= pc)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Appends a parsed row; keeps the id it had in the old list. False when the list is full. */
static bool list_add(struct module_list *list, struct module_list *old, const struct module *row)
{
	struct module *to = &list->rows[list->count];
	uint32_t before = list_after(old, row->start);

	if (list->count == MODULES_MAX || row->path_bytes > MODULES_TEXT - list->text_used)
		return false;
	*to = *row;
	to->path = memcpy(list->text + list->text_used, row->path, row->path_bytes);
	list->text_used += row->path_bytes;
	if (before < old->count && module_same(&old->rows[before], row)) {
		to->id = old->rows[before].id;
		to->published = old->rows[before].published;
		old->rows[before].id = 0; /* carried over */
	}
	list->count++;
	return true;
}

struct refresh {
	struct module_list *list, *old;
	uint32_t maps;
	bool fits;
};

static void refresh_line(void *ctx, const char *line, size_t bytes)
{
	struct refresh *r = ctx;
	struct module row;
	char access[4];

	r->maps++;
	modules_line(line, bytes, access, &row);
	/* named executable mappings, and the vDSO */
	if (access[2] == 'x' && row.path_bytes && (*row.path == '/' || !memcmp(row.path, "[v", 2)))
		r->fits &= list_add(r->list, r->old, &row);
}

bool modules_refresh(struct modules *m, bool *full)
{
	struct refresh r = {&m->lists[m->now ^ 1], &m->lists[m->now], 0, true};
	bool lost = false;

	r.list->count = r.list->text_used = 0;
	if (!procfile_maps(m->buffer, sizeof(m->buffer), refresh_line, &r))
		return false;
	m->maps = r.maps;
	*full = !r.fits;
	for (uint32_t i = 0; i < r.old->count; i++)
		lost |= r.old->rows[i].id != 0;
	m->now ^= 1;
	return lost;
}

struct module *modules_find(struct modules *m, uint64_t pc)
{
	struct module_list *list = &m->lists[m->now];
	uint32_t at = list_after(list, pc);
	struct module *row = &list->rows[at];

	if (at == list->count || row->start > pc)
		return NULL;
	if (!row->id && m->last_id < MODULES_ID_MAX)
		row->id = ++m->last_id;
	return row->id ? row : NULL;
}

const struct module *modules_by_id(const struct modules *m, uint32_t id)
{
	const struct module_list *list = &m->lists[m->now];

	for (uint32_t i = 0; i < list->count; i++)
		if (list->rows[i].id == id)
			return &list->rows[i];
	return NULL;
}

struct module *modules_next(struct modules *m, uint32_t *cursor)
{
	struct module_list *list = &m->lists[m->now];

	return *cursor < list->count ? modules_find(m, list->rows[(*cursor)++].start) : NULL;
}

bool modules_range(const struct modules *m, uint64_t addr, uint64_t *start, uint64_t *end)
{
	const struct module_list *list = &m->lists[m->now];
	uint32_t at = list_after(list, addr);

	if (at == list->count || list->rows[at].start > addr)
		return false;
	*start = list->rows[at].start;
	*end = list->rows[at].end;
	return true;
}
