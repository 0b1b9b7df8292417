/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unwind rows that the front end sends: collected, checked, published to handlers.
 *
 * Pieces are copied out of the shared staging area into private memory; only when a module's rows are whole
 * and unwind_rows_check has passed there do walks see them, through sampler.unwind. Each change makes a new table;
 * what no table names any longer is unmapped when all walks that may read it are over, and waited for by nobody.
 * At most WIRE_UNWIND_BUDGET bytes. Publisher only.
 */
#ifndef JHOT_SAMPLER_SESSION_UNWIND_RECV_H
#define JHOT_SAMPLER_SESSION_UNWIND_RECV_H

#include "sampler/publish/modules.h"
#include "sampler/sampler.h"
#include "walk/frames/unwind.h"

struct unwind_recv;

/* What a table of so many modules takes. */
#define UNWIND_RECV_TABLE_BYTES(modules) \
	(uint32_t)(sizeof(struct unwind_table) + (modules) * sizeof(struct unwind_module))

size_t unwind_recv_size(void);
/* In zeroed memory of unwind_recv_size bytes. */
void unwind_recv_init(struct unwind_recv *u, struct sampler *s, const struct modules *modules);
/* Unpublishes and unmaps everything. Nobody may be in the session's room. */
void unwind_recv_done(struct unwind_recv *u);

/*
 * unwind_recv_pieces: a WIRE_OP_UNWIND with so many bytes in the staging area. How many pieces were taken, or if none
 * was: -EINVAL (a malformed piece, or malformed rows), -ENOENT (no such mapping any more), -ENOSPC (budget),
 * -ENOMEM, -EAGAIN (rows that are given up are still in use: send the same again).
 */
int unwind_recv_pieces(struct unwind_recv *u, const unsigned char *staging, uint64_t staging_bytes,
	uint64_t bytes);

/* After modules_refresh: forget the rows of mappings that are gone. */
void unwind_recv_prune(struct unwind_recv *u);

#endif
