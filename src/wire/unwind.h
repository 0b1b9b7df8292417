/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The staging area, written by the front end: native unwind rows, by which the agent finds the callers of native frames. A
 * module's rows are sent in chunks, in one command or several:
 *
 *   [module 7: bytes 0 to 8191][module 7: 8192 to 9999][module 9: 0 to ...    one chunk: struct wire_unwind_chunk
 *    head | pages | rows .....  ..... rules            | head ...             together:  struct wire_unwind_rows
 */
#ifndef JHOT_WIRE_UNWIND_H
#define JHOT_WIRE_UNWIND_H

#include <stddef.h>
#include <stdint.h>

/*
 * WIRE_OP_UNWIND passes chunks, back to back. A module's chunks are in ascending order from offset 0 and not interleaved with
 * those of other modules. After a module's last chunk the agent checks the whole block, and uses it once the command is done.
 * It accepts chunks until one is invalid or does not fit: the result is the number accepted, or -errno if the first failed.
 * total_bytes 0: discard this module's rows.
 */
struct wire_unwind_chunk {
	uint32_t module;        /* id of the MODULE record */
	uint32_t total_bytes;   /* of all chunks */
	uint32_t offset, bytes; /* of this chunk, multiples of 4 */
	char data[];
};

/* All chunks together: this head, u32 pages[page_count + 1], u32 rows[row_count], rules[rule_count]. */
struct wire_unwind_rows {
	uint32_t bytes;      /* of the whole block */
	uint32_t page_first; /* file offset >> 16 of the first 64 KB page */
	uint32_t page_count; /* pages[i]: first row of that page; the last entry is row_count */
	uint32_t row_count;  /* rows are WIRE_UNWIND_ROW, ascending within a page */
	uint32_t rule_count; /* <= 65536 */
	uint32_t pages[];
};
#define WIRE_UNWIND_ROW(offset, rule) (((uint32_t)(offset)&0xffffu) | (uint32_t)(rule) << 16)

/* How to find the caller; enum values are those of walk/frames/unwind.h. */
struct wire_unwind_rule {
	uint8_t cfa, fp, ra;
	uint8_t reserved;
	int32_t cfa_offset;
	int16_t fp_offset, ra_offset;
};

#define WIRE_UNWIND_BUDGET (1u << 20) /* bytes of rows that an agent stores, all modules together */

_Static_assert(sizeof(struct wire_unwind_chunk) == 16, "wire_unwind_chunk");
_Static_assert(sizeof(struct wire_unwind_rows) == 20, "wire_unwind_rows");
_Static_assert(sizeof(struct wire_unwind_rule) == 12, "wire_unwind_rule");

#endif
