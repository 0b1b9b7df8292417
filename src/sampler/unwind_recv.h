/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unwind rows that the front end sends: collected, checked, published to handlers.
 *
 * Pieces are copied out of the shared staging area into private memory; only when a module's rows are whole
 * and unwind_rows_check has passed there do handlers see them, through sampler.unwind. The table is one of
 * two, written while the other is published and no handler can still hold it; memory that a table no longer
 * names is unmapped once no handler is inside. At most WIRE_UNWIND_BUDGET bytes of rows. Publisher only.
 */
#ifndef JHOT_SAMPLER_UNWIND_RECV_H
#define JHOT_SAMPLER_UNWIND_RECV_H

#include "sampler/modules.h"
#include "sampler/sampler.h"

struct unwind_recv;

size_t unwind_recv_size(void);
/* In zeroed memory of unwind_recv_size bytes. */
void unwind_recv_init(struct unwind_recv *u, struct sampler *s, const struct modules *modules);
/* Unpublishes and unmaps everything. No handler may be inside. */
void unwind_recv_done(struct unwind_recv *u);

/*
 * unwind_recv_pieces: a WIRE_OP_UNWIND with so many bytes in the staging area. How many pieces were taken, or if none
 * was: -EINVAL (a malformed piece, or malformed rows), -ENOENT (no such mapping any more), -ENOSPC (budget),
 * -ENOMEM, -EAGAIN (handlers still use the old table: send the same again).
 */
int unwind_recv_pieces(struct unwind_recv *u, const unsigned char *staging, uint64_t staging_bytes,
	uint64_t bytes);

/* After modules_refresh: forget the rows of mappings that are gone. */
void unwind_recv_prune(struct unwind_recv *u);

#endif
