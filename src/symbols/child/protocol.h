/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests to the child and its replies, over a stream socket:
 *
 *   parent: struct child_request, with its descriptors (SCM_RIGHTS): the file, its debug file; none: the vDSO
 *   child:  struct child_reply, then bytes[0] and bytes[1] bytes of data
 *
 * One request at a time. Parent and child are the same program, so there is no version; the parent checks every value.
 */
#ifndef JHOT_SYMBOLS_CHILD_PROTOCOL_H
#define JHOT_SYMBOLS_CHILD_PROTOCOL_H

#include "base/buf.h"
#include "symbols/facts.h"

#include <stdbool.h>
#include <stdint.h>

#define CHILD_MAGIC       0x6a656c66u
#define CHILD_DESCRIPTORS 2
#define CHILD_PARTS       2

enum child_op {
	CHILD_FACTS,   /* struct elf_facts */
	CHILD_CRC,     /* uint32_t: CRC-32 of the whole file */
	CHILD_NAMES,   /* struct symtab_entry[], texts */
	CHILD_UNWIND,  /* struct wire_unwind_rows and its rows */
	CHILD_EXPORTS, /* struct elf_export[], texts */
	CHILD_OPS
};

enum child_flag {
	CHILD_FULL = 1,     /* NAMES: incomplete, a limit was reached */
	CHILD_KEEPS_FP = 2, /* UNWIND: most of the code has a frame pointer */
};

struct child_request {
	uint32_t magic, op;
};

struct child_reply {
	uint32_t magic, op;
	uint32_t failed; /* 1: text says why, and no data follows */
	uint32_t flags;
	uint64_t bytes[CHILD_PARTS];
	char text[640]; /* as in struct err */
};

/* --- reply.c ------------------------------------------------------------------------------------------- */

/* Validation of replies: a compromised child can at most supply wrong names and rows. Pure functions, O(size of the data). */

/* True if this is a reply to the request, and its sizes are within the limits of its kind. */
bool reply_fits(const struct child_reply *head, uint32_t op);

/* True if the data of a reply are consistent. */
bool reply_is_facts(const struct buf *facts);
/* Entries ascend by address; names are terminated and of limited length. */
bool reply_is_names(const struct buf *entries, const struct buf *texts);
/* Checks the size only; the users of the rows, the agent and jhot dump, validate them (unwind_rows_check). */
bool reply_is_unwind(const struct buf *block);
bool reply_is_exports(const struct buf *exports, const struct buf *texts);

#endif
