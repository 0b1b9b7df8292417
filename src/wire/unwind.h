/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The staging area, written by the front end: unwind rows on their way down, by which the agent finds the caller of an
 * address in native code. A module's rows come in pieces, over one command or several:
 *
 *   [module 7: bytes 0 to 8191][module 7: 8192 to 9999][module 9: 0 to ...    one piece: struct wire_unwind_chunk
 *    head | pages | rows .....  ..... rules            | head ...             together:  struct wire_unwind_rows
 */
#ifndef JHOT_WIRE_UNWIND_H
#define JHOT_WIRE_UNWIND_H

#include <stddef.h>
#include <stdint.h>

/*
 * WIRE_OP_UNWIND hands over pieces of modules' rows, one after the other; those of a module come in order, from
 * offset 0 on, without others' between. With a module's last piece the agent checks the whole, and after the
 * command puts it to use. It takes pieces until one is wrong or finds no space: the result is how many it took,
 * or -errno if not even the first. total_bytes 0: forget this module's rows.
 */
struct wire_unwind_chunk {
	uint32_t module;        /* the id of its MODULE record */
	uint32_t total_bytes;   /* of all pieces */
	uint32_t offset, bytes; /* of this piece, multiples of 4 */
	char data[];
};

/* The pieces together: this head, u32 pages[page_count + 1], u32 rows[row_count], rules[rule_count]. */
struct wire_unwind_rows {
	uint32_t bytes;      /* of the whole */
	uint32_t page_first; /* file offset >> 16 of the first 64 KB page */
	uint32_t page_count; /* pages[i]: the first row of that page; the last entry: row_count */
	uint32_t row_count;  /* a row: WIRE_UNWIND_ROW; ascending in its page */
	uint32_t rule_count; /* <= 65536 */
	uint32_t pages[];
};
#define WIRE_UNWIND_ROW(offset, rule) (((uint32_t)(offset)&0xffffu) | (uint32_t)(rule) << 16)

/* How to find the caller; walk/frames/unwind.h says what the numbers mean. */
struct wire_unwind_rule {
	uint8_t cfa, fp, ra;
	uint8_t reserved;
	int32_t cfa_offset;
	int16_t fp_offset, ra_offset;
};

#define WIRE_UNWIND_BUDGET (1u << 20) /* bytes of rows that an agent keeps, all modules together */

_Static_assert(sizeof(struct wire_unwind_chunk) == 16, "wire_unwind_chunk");
_Static_assert(sizeof(struct wire_unwind_rows) == 20, "wire_unwind_rows");
_Static_assert(sizeof(struct wire_unwind_rule) == 12, "wire_unwind_rule");

#endif
