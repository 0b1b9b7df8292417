/* SPDX-License-Identifier: Apache-2.0 */
/* Two tables that take turns, and the blocks of rows that they name. */
#include "sampler/unwind_recv.h"

#include "sampler/raw.h"
#include "sampler/sig.h"
#include "walk/unwind.h"

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

#define BLOCKS_MAX   256u
#define SETTLE_TRIES 20u
#define SETTLE_NS    500000 /* between two looks; a walk takes some 10 us */

enum block_state {
	BLOCK_FREE,
	BLOCK_USED,    /* in the published table, or in the next one */
	BLOCK_LEAVING, /* in the published table, not in the next one */
	BLOCK_LEFT,    /* in no table that is published, perhaps in a handler's hands */
};

/* The rows of one mapping. */
struct block {
	enum block_state state;
	uint32_t module; /* its id */
	uint32_t bytes;
	struct unwind_rows *rows;
	uint64_t start, end, file_offset;
};

struct unwind_recv {
	struct sampler *s;
	const struct modules *modules;
	struct block blocks[BLOCKS_MAX];
	uint64_t used; /* bytes of all blocks and of the one that is arriving */

	/* the one that is arriving */
	uint32_t module, total, have;
	struct unwind_rows *arriving;

	uint32_t generation; /* of the newest table */
	bool settled;        /* no handler holds the table that is not published */
	bool changed;        /* blocks came that are in no table yet */
	uint32_t now;
	union {
		struct unwind_table table;
		char room[sizeof(struct unwind_table) + BLOCKS_MAX * sizeof(struct unwind_module)];
	} tables[2];
};

size_t unwind_recv_size(void)
{
	return sizeof(struct unwind_recv);
}

void unwind_recv_init(struct unwind_recv *u, struct sampler *s, const struct modules *modules)
{
	u->s = s;
	u->modules = modules;
	u->settled = true;
}

/* --- memory ----------------------------------------------------------------------------------- */

static void memory_give(struct unwind_recv *u, struct unwind_rows *rows, uint32_t bytes)
{
	raw_unmap(rows, bytes);
	u->used -= bytes;
	u->s->memory_bytes -= bytes;
}

static void block_free(struct unwind_recv *u, struct block *b)
{
	memory_give(u, b->rows, b->bytes);
	memset(b, 0, sizeof(*b));
}

static void arriving_drop(struct unwind_recv *u)
{
	if (u->arriving)
		memory_give(u, u->arriving, u->total);
	u->arriving = NULL;
	u->module = u->total = u->have = 0;
}

/*
 * settle: has every handler that saw the table before the last one left? Seen at any moment with no handler
 * inside; under load that may take a few looks.
 */
static bool settle(struct unwind_recv *u)
{
	struct timespec pause = {0, SETTLE_NS};

	for (uint32_t i = 0; !u->settled && i < SETTLE_TRIES; i++) {
		u->settled = atomic_load(&sig_inside) == 0;
		if (!u->settled)
			raw(SYS_nanosleep, &pause, 0);
	}
	if (!u->settled)
		return false;
	for (uint32_t i = 0; i < BLOCKS_MAX; i++)
		if (u->blocks[i].state == BLOCK_LEFT)
			block_free(u, &u->blocks[i]);
	return true;
}

/* --- the table -------------------------------------------------------------------------------- */

/* Insert by start: blocks are few. */
static void table_add(struct unwind_table *t, const struct block *b)
{
	uint32_t at = t->count;

	while (at && t->modules[at - 1].start > b->start) {
		t->modules[at] = t->modules[at - 1];
		at--;
	}
	t->modules[at] = (struct unwind_module){b->start, b->end, b->file_offset, b->rows};
	t->count++;
}

/* Only when settled. */
static void table_publish(struct unwind_recv *u)
{
	struct unwind_table *t = &u->tables[u->now ^ 1].table;

	t->count = 0;
	t->generation = ++u->generation;
	for (uint32_t i = 0; i < BLOCKS_MAX; i++) {
		if (u->blocks[i].state == BLOCK_USED)
			table_add(t, &u->blocks[i]);
		else if (u->blocks[i].state == BLOCK_LEAVING)
			u->blocks[i].state = BLOCK_LEFT;
	}
	u->now ^= 1;
	u->settled = u->changed = false;
	atomic_store(&u->s->unwind, t->count ? t : NULL);
}

/* module 0: those whose mapping is gone. */
static bool blocks_leave(struct unwind_recv *u, uint32_t module)
{
	bool any = false;

	for (uint32_t i = 0; i < BLOCKS_MAX; i++) {
		struct block *b = &u->blocks[i];

		if (b->state != BLOCK_USED ||
			(module ? b->module != module
				: modules_by_id(u->modules, b->module) != NULL))
			continue;
		b->state = BLOCK_LEAVING;
		any = true;
	}
	return any;
}

void unwind_recv_prune(struct unwind_recv *u)
{
	/*
	 * When it cannot settle now it is tried again after the next refresh: stale rows do no
	 * harm.
	 */
	if (settle(u) && blocks_leave(u, 0))
		table_publish(u);
}

void unwind_recv_done(struct unwind_recv *u)
{
	atomic_store(&u->s->unwind, NULL);
	arriving_drop(u);
	for (uint32_t i = 0; i < BLOCKS_MAX; i++)
		if (u->blocks[i].state != BLOCK_FREE)
			block_free(u, &u->blocks[i]);
}

/* --- pieces ----------------------------------------------------------------------------------- */

static int forget(struct unwind_recv *u, uint32_t module)
{
	if (!settle(u))
		return -EAGAIN;
	if (u->module == module)
		arriving_drop(u);
	if (blocks_leave(u, module)) {
		table_publish(u);
		settle(u); /* so that its room is there for the next */
	}
	return 0;
}

static int arriving_begin(struct unwind_recv *u, const struct wire_unwind_chunk *head)
{
	arriving_drop(u);
	if (!modules_by_id(u->modules, head->module))
		return -ENOENT;
	if (head->total_bytes > WIRE_UNWIND_BUDGET - u->used)
		return -ENOSPC;
	u->arriving = raw_map(head->total_bytes);
	if (!u->arriving)
		return -ENOMEM;
	u->module = head->module;
	u->total = head->total_bytes;
	u->used += u->total;
	u->s->memory_bytes += u->total;
	return 0;
}

static struct block *block_unused(struct unwind_recv *u)
{
	for (uint32_t i = 0; i < BLOCKS_MAX; i++)
		if (u->blocks[i].state == BLOCK_FREE)
			return &u->blocks[i];
	return NULL;
}

/* The whole is here, in memory that nobody else can write. */
static int arriving_finish(struct unwind_recv *u)
{
	const struct module *m = modules_by_id(u->modules, u->module);
	struct block *b = block_unused(u);
	int error = !m                                         ? -ENOENT
		    : !b                                       ? -ENOSPC
		    : unwind_rows_check(u->arriving, u->total) ? 0
							       : -EINVAL;

	if (error) {
		arriving_drop(u);
		return error;
	}
	blocks_leave(u, u->module); /* sent again: the new ones win */
	*b = (struct block){.state = BLOCK_USED,
		.module = u->module,
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

/* One piece. head is a copy: the front end could change what it wrote while we look at it. */
static int piece_take(struct unwind_recv *u, const struct wire_unwind_chunk *head, const char *data)
{
	int error;

	if (!head->module || head->bytes % 4)
		return -EINVAL;
	if (!head->total_bytes)
		return forget(u, head->module);
	if (head->offset > head->total_bytes || head->bytes > head->total_bytes - head->offset ||
		!head->bytes)
		return -EINVAL;
	/* Before anything is taken in, so that the same piece can come again. */
	if (head->offset + head->bytes == head->total_bytes && !settle(u))
		return -EAGAIN;
	if (!head->offset && (error = arriving_begin(u, head)))
		return error;
	if (head->module != u->module || head->total_bytes != u->total || head->offset != u->have)
		return -EINVAL;
	memcpy((char *)u->arriving + u->have, data, head->bytes);
	u->have += head->bytes;
	return u->have == u->total ? arriving_finish(u) : 0;
}

int unwind_recv_pieces(
	struct unwind_recv *u, const unsigned char *staging, uint64_t staging_bytes, uint64_t bytes)
{
	struct wire_unwind_chunk head;
	int taken = 0, error = -EINVAL;

	if (bytes > staging_bytes)
		return -EINVAL;
	for (; bytes >= sizeof(head); taken++) {
		memcpy(&head, staging, sizeof(head));
		bytes -= sizeof(head);
		staging += sizeof(head);
		error = head.bytes > bytes ? -EINVAL : piece_take(u, &head, (const char *)staging);
		if (error)
			break;
		bytes -= head.bytes;
		staging += head.bytes;
	}
	if (u->changed)
		table_publish(u);
	return taken ? taken : error;
}
