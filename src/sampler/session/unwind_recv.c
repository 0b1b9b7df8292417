/* SPDX-License-Identifier: Apache-2.0 */
/* The published table, the blocks of rows it refers to, and retired memory that may still be in use. */
#include "sampler/session/unwind_recv.h"

#include "sampler/signal/raw.h"
#include "sampler/signal/signal.h"
#include "walk/frames/unwind.h"

#include <errno.h>
#include <string.h>

_Static_assert(sizeof(struct unwind_rows) == sizeof(struct wire_unwind_rows) &&
		       sizeof(struct unwind_rule) == sizeof(struct wire_unwind_rule) &&
		       offsetof(struct unwind_rule, cfa_offset) ==
			       offsetof(struct wire_unwind_rule, cfa_offset) &&
		       offsetof(struct unwind_rule, ra_offset) ==
			       offsetof(struct wire_unwind_rule, ra_offset) &&
		       WIRE_UNWIND_ROW(0x12345, 7) == UNWIND_ROW(0x12345, 7),
	"rows are walked as they are sent");

/* --- memory ----------------------------------------------------------------------------------- */

static void memory_unmap(struct unwind_recv *u, void *memory, uint32_t bytes)
{
	raw_unmap(memory, bytes);
	u->used -= bytes;
	u->s->memory_bytes -= bytes;
}

static void *memory_map(struct unwind_recv *u, uint32_t bytes)
{
	void *memory = raw_map(bytes);

	if (!memory)
		return NULL;
	u->used += bytes;
	u->s->memory_bytes += bytes;
	return memory;
}

static void memory_retire(struct unwind_recv *u, void *memory, uint32_t bytes)
{
	if (memory && u->count < UNWIND_RECV_RETIRED)
		u->retired[u->count++] = (struct unwind_retired){memory, bytes};
}

static void arriving_drop(struct unwind_recv *u)
{
	if (u->arriving)
		memory_unmap(u, u->arriving, u->total);
	u->arriving = NULL;
	u->module = u->total = u->have = 0;
}

/* Unmaps retired memory that no walk can use any more. */
static void retired_free(struct unwind_recv *u)
{
	if (!u->passing)
		u->passing = u->count;
	if (!u->passing || !sig_passed(u->s, &u->step))
		return;
	for (uint32_t i = 0; i < u->passing; i++)
		memory_unmap(u, u->retired[i].memory, u->retired[i].bytes);
	u->count -= u->passing;
	memmove(u->retired, u->retired + u->passing, u->count * sizeof(u->retired[0]));
	u->passing = 0;
}

/* --- the table -------------------------------------------------------------------------------- */

/* Insertion sort by start address; there are few blocks. */
static void table_add(struct unwind_table *t, const struct unwind_block *b)
{
	uint32_t at = t->count;

	while (at && t->modules[at - 1].start > b->start) {
		t->modules[at] = t->modules[at - 1];
		at--;
	}
	t->modules[at] = (struct unwind_module){b->start, b->end, b->file_offset, b->rows};
	t->count++;
}

/*
 * Publishes a new table of the current blocks. If there is no memory for it, walks follow frame pointers only, because
 * retired blocks must no longer be referenced.
 */
static void table_publish(struct unwind_recv *u)
{
	struct unwind_table *before = u->table;
	uint32_t used = 0;

	for (uint32_t i = 0; i < UNWIND_RECV_BLOCKS; i++)
		used += u->blocks[i].module != 0;
	uint32_t bytes = used ? UNWIND_RECV_TABLE_BYTES(used) : 0;
	struct unwind_table *t = used ? memory_map(u, bytes) : NULL;
	for (uint32_t i = 0; i < UNWIND_RECV_BLOCKS && t; i++) {
		if (u->blocks[i].module)
			table_add(t, &u->blocks[i]);
	}
	u->generation++;
	if (t)
		t->generation = u->generation;
	u->table = t;
	atomic_store(&u->s->unwind, t);
	atomic_store(&u->s->rows, u->generation);
	memory_retire(u, before, u->table_bytes);
	u->table_bytes = bytes;
	u->changed = false;
	retired_free(u);
}

/*
 * Retires the blocks of a module; with module 0, those whose mapping no longer exists. The next table does not refer to
 * them.
 */
static void blocks_retire(struct unwind_recv *u, uint32_t module)
{
	for (uint32_t i = 0; i < UNWIND_RECV_BLOCKS; i++) {
		struct unwind_block *b = &u->blocks[i];

		if (!b->module || (module ? b->module != module
					  : modules_by_id(u->s->modules, b->module) != NULL))
			continue;
		memory_retire(u, b->rows, b->bytes);
		memset(b, 0, sizeof(*b));
		u->changed = true;
	}
}

void unwind_recv_prune(struct unwind_recv *u)
{
	blocks_retire(u, 0);
	if (u->changed)
		table_publish(u);
	else
		retired_free(u);
}

void unwind_recv_done(struct unwind_recv *u)
{
	atomic_store(&u->s->unwind, NULL);
	arriving_drop(u);
	for (uint32_t i = 0; i < UNWIND_RECV_BLOCKS; i++)
		if (u->blocks[i].module)
			memory_unmap(u, u->blocks[i].rows, u->blocks[i].bytes);
	for (uint32_t i = 0; i < u->count; i++)
		memory_unmap(u, u->retired[i].memory, u->retired[i].bytes);
	if (u->table)
		memory_unmap(u, u->table, u->table_bytes);
}

/* --- chunks ----------------------------------------------------------------------------------- */

static int arriving_begin(struct unwind_recv *u, const struct wire_unwind_chunk *head)
{
	arriving_drop(u);
	if (!modules_by_id(u->s->modules, head->module))
		return -ENOENT;
	if (u->used > WIRE_UNWIND_BUDGET || head->total_bytes > WIRE_UNWIND_BUDGET - u->used)
		return u->count ? -EAGAIN : -ENOSPC;
	u->arriving = memory_map(u, head->total_bytes);
	if (!u->arriving)
		return -ENOMEM;
	u->module = head->module;
	u->total = head->total_bytes;
	return 0;
}

/* The rows are complete, in memory that only the agent can write. */
static int arriving_finish(struct unwind_recv *u)
{
	const struct module *m = modules_by_id(u->s->modules, u->module);
	struct unwind_block *b = u->blocks;
	int error = 0;

	while (b < u->blocks + UNWIND_RECV_BLOCKS && b->module)
		b++;
	if (!m)
		error = -ENOENT;
	else if (b == u->blocks + UNWIND_RECV_BLOCKS)
		error = -ENOSPC;
	else if (!unwind_rows_check(u->arriving, u->total))
		error = -EINVAL;
	if (error) {
		arriving_drop(u);
		return error;
	}
	blocks_retire(u, u->module); /* replaced by the new rows */
	*b = (struct unwind_block){.module = u->module,
		.bytes = u->total,
		.rows = u->arriving,
		.start = m->start,
		.end = m->end,
		.file_offset = m->file_offset};
	u->arriving = NULL;
	u->module = u->total = u->have = 0;
	u->changed = true;
	return 0;
}

/*
 * Handles one chunk. head is a private copy, since the front end could modify the original between check and use
 * (TOCTOU).
 */
static int chunk_accept(
	struct unwind_recv *u, const struct wire_unwind_chunk *head, const char *data)
{
	int error;

	if (!head->module || head->bytes % 4)
		return -EINVAL;
	if (!head->total_bytes) { /* the module's rows are to be discarded */
		if (u->module == head->module)
			arriving_drop(u);
		blocks_retire(u, head->module);
		if (u->changed)
			table_publish(u); /* frees its budget for the next rows */
		return 0;
	}
	if (head->offset > head->total_bytes || head->bytes > head->total_bytes - head->offset ||
		!head->bytes)
		return -EINVAL;
	if (!head->offset && (error = arriving_begin(u, head)))
		return error;
	if (head->module != u->module || head->total_bytes != u->total || head->offset != u->have)
		return -EINVAL;
	memcpy((char *)u->arriving + u->have, data, head->bytes);
	u->have += head->bytes;
	return u->have == u->total ? arriving_finish(u) : 0;
}

int unwind_recv_chunks(
	struct unwind_recv *u, const unsigned char *staging, uint64_t staging_bytes, uint64_t bytes)
{
	struct wire_unwind_chunk head;
	int accepted = 0, error = -EINVAL;

	if (bytes > staging_bytes)
		return -EINVAL;
	retired_free(u);
	for (; bytes >= sizeof(head); accepted++) {
		memcpy(&head, staging, sizeof(head));
		bytes -= sizeof(head);
		staging += sizeof(head);
		error = head.bytes > bytes ? -EINVAL
					   : chunk_accept(u, &head, (const char *)staging);
		if (error)
			break;
		bytes -= head.bytes;
		staging += head.bytes;
	}
	if (u->changed)
		table_publish(u);
	return accepted ? accepted : error;
}
