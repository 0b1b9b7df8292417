/* SPDX-License-Identifier: Apache-2.0 */
/* Effects of an aarch64 instruction on sp, fp, lr and control flow. Formats: Arm's A64 manual, chapter C4. */
#include "symbols/code/insn.h"

#include <string.h>

enum {
	REG_FP = 29,
	REG_LINK = 30,
	REG_SP = 31, /* in the instructions here; in others register 31 is the zero register */
	BYTES = 4,
};

/* Extracts bits high..low. */
static uint32_t field(uint32_t insn, unsigned high, unsigned low)
{
	return insn >> low & ((1u << (high - low + 1)) - 1);
}

static int32_t signed_field(uint32_t insn, unsigned high, unsigned low)
{
	return (int32_t)(insn << (31 - high)) >> (31 - high + low);
}

/* The number of the destination register, or of the first one of a pair. */
static unsigned first(uint32_t insn)
{
	return field(insn, 4, 0);
}

/* The number of the base or source register. */
static unsigned base(uint32_t insn)
{
	return field(insn, 9, 5);
}

/* Records that a register is stored to, or loaded from, new sp + at. */
static void saved_register(struct code_insn *out, unsigned reg, int32_t at, bool load)
{
	if (reg == REG_FP) {
		out->fp = load ? CODE_FP_LOADED : CODE_FP_SAVED;
		out->fp_at = at;
	} else if (reg == REG_LINK) {
		out->link = load ? CODE_LINK_LOADED : CODE_LINK_SAVED;
		out->link_at = at;
	}
}

/* Addressing modes. PRE and POST move sp. */
enum index {
	INDEX_POST = 1,
	INDEX_OFFSET = 2,
	INDEX_PRE = 3,
};

/* Records the change of sp. Returns the accessed offset from the new sp. */
static int32_t indexed(struct code_insn *out, enum index how, int32_t by)
{
	out->sp_by = how == INDEX_OFFSET ? 0 : by;
	return how == INDEX_OFFSET ? by : how == INDEX_POST ? -by : 0;
}

/* Pairs: ldp and stp of x, d and q registers. */
static bool pair_read(uint32_t insn, struct code_insn *out)
{
	unsigned kind = field(insn, 31, 26); /* size, and whether they are vector registers */
	unsigned how = field(insn, 24, 23);
	int32_t bytes = kind == 0x2b ? 16 : 8;

	if ((kind != 0x2a && kind != 0x1b && kind != 0x2b) || field(insn, 25, 25) || !how)
		return false;
	if (base(insn) != REG_SP)
		return true;
	int32_t at = indexed(out, (enum index)how, signed_field(insn, 21, 15) * bytes);
	if (kind != 0x2a)
		return true;
	saved_register(out, first(insn), at, field(insn, 22, 22));
	saved_register(out, field(insn, 14, 10), at + 8, field(insn, 22, 22));
	return true;
}

/* Single registers: ldr, str and the like of 8 bytes; other sizes only if they move sp. */
static bool single_read(uint32_t insn, struct code_insn *out)
{
	bool load = field(insn, 22, 22),
	     whole = field(insn, 31, 22) == 0x3e0 || field(insn, 31, 22) == 0x3e1;
	unsigned how = field(insn, 11, 10);

	if ((insn & 0xff800000u) == 0xf9000000u) { /* unsigned offset, scaled by 8 */
		if (base(insn) == REG_SP)
			saved_register(out, first(insn), (int32_t)field(insn, 21, 10) * 8, load);
		return true;
	}
	if ((insn & 0x3b200000u) != 0x38000000u || how == 2)
		return false;
	if (base(insn) == REG_SP) {
		int32_t at = indexed(
			out, how == 0 ? INDEX_OFFSET : (enum index)how, signed_field(insn, 20, 12));

		if (whole)
			saved_register(out, first(insn), at, load);
	}
	return true;
}

/* add and sub of an immediate: on sp, fp, and on addresses that adrp has begun. */
static bool sum_read(uint32_t insn, struct code_insn *out)
{
	int32_t by = (int32_t)field(insn, 21, 10) << (field(insn, 22, 22) ? 12 : 0);
	unsigned to = first(insn), from = base(insn);

	if ((insn & 0xbf800000u) != 0x91000000u)
		return false;
	if (field(insn, 30, 30))
		by = -by;
	if (to == REG_SP) {
		out->sp = from == REG_SP   ? CODE_SP_MOVES
			  : from == REG_FP ? CODE_SP_IS_FP
					   : CODE_SP_LOST;
		out->sp_by = by;
	} else if (to == REG_FP && from == REG_SP) {
		out->fp = CODE_FP_IS_SP;
		out->fp_at = by;
	} else {
		out->data = CODE_SUM;
		out->reg = (uint8_t)to;
		out->from = (uint8_t)from;
		out->by = by;
	}
	return true;
}

/* cmp with an immediate; ldrb, ldrh, ldrsw from a table. */
static bool table_read(uint32_t insn, struct code_insn *out)
{
	unsigned size = field(insn, 31, 30);

	if ((insn & 0x7f80001fu) == 0x7100001fu) {
		out->data = CODE_LIMIT;
		out->by = (int32_t)field(insn, 21, 10);
		return true;
	}
	if ((insn & 0x3f200c00u) != 0x38200800u || !field(insn, 23, 22) || size == 3)
		return false;
	out->data = CODE_TABLE;
	out->reg = (uint8_t)base(insn);
	out->entry = (uint8_t)(1u << size);
	return true;
}

struct branch {
	uint32_t mask, bits;
	enum code_flow flow;
	/* Bits of the distance, in instructions; 0: the target is in a register. */
	unsigned high, low;
};

static const struct branch branches[] = {
	{0xfc000000, 0x14000000, CODE_JUMP, 25, 0},   /* b */
	{0xfc000000, 0x94000000, CODE_CALL, 25, 0},   /* bl */
	{0xff000010, 0x54000000, CODE_BRANCH, 23, 5}, /* b.cond */
	{0x7e000000, 0x34000000, CODE_BRANCH, 23, 5}, /* cbz, cbnz */
	{0x7e000000, 0x36000000, CODE_BRANCH, 18, 5}, /* tbz, tbnz */
	{0xfefff000, 0xd61f0000, CODE_JUMP, 0, 0},    /* br and its kin */
	{0xfefff000, 0xd63f0000, CODE_CALL, 0, 0},    /* blr */
	{0xfefff000, 0xd65f0000, CODE_RETURN, 0, 0},  /* ret */
	{0xffe0001f, 0xd4200000, CODE_END, 0, 0},     /* brk */
	{0xffff0000, 0x00000000, CODE_END, 0, 0},     /* udf */
};

static bool flow_read(uint32_t insn, uint64_t address, struct code_insn *out)
{
	for (size_t i = 0; i < sizeof(branches) / sizeof(*branches); i++) {
		const struct branch *b = &branches[i];

		if ((insn & b->mask) != b->bits)
			continue;
		out->flow = (uint8_t)b->flow;
		if (b->high)
			out->target =
				address +
				(uint64_t)((int64_t)signed_field(insn, b->high, b->low) * BYTES);
		return true;
	}
	return false;
}

/* Other writes to sp and fp, and addresses. */
static void other_read(uint32_t insn, uint64_t address, struct code_insn *out)
{
	bool page = insn >> 31;

	if (first(insn) == REG_SP &&
		((insn & 0xbfe00000u) == 0x8b200000u || (insn & 0xff800000u) == 0x92000000u)) {
		out->sp = CODE_SP_LOST;                          /* by a register, or alignment */
	} else if (insn == 0xd280001du || insn == 0xaa1f03fdu) { /* mov x29, 0 */
		out->fp = CODE_FP_ZERO;
	} else if ((insn & 0x1f000000u) == 0x10000000u) { /* adrp, adr */
		int64_t by = (int64_t)signed_field(insn, 23, 5) * 4 + field(insn, 30, 29);
		out->data = page ? CODE_PAGE : CODE_BASE;
		out->reg = (uint8_t)first(insn);
		out->address = page ? (address & ~0xfffull) + (uint64_t)(by * 4096)
				    : address + (uint64_t)by;
	}
}

bool code_aarch64_read(const uint8_t *at, size_t bytes, uint64_t address, struct code_insn *out)
{
	uint32_t insn;

	*out = (struct code_insn){.bytes = BYTES};
	if (bytes < BYTES || address % BYTES)
		return false;
	memcpy(&insn, at, BYTES);
	if (!flow_read(insn, address, out) && !pair_read(insn, out) && !single_read(insn, out) &&
		!sum_read(insn, out) && !table_read(insn, out))
		other_read(insn, address, out);
	/* All but stores write to their first register, or to a vector register of that number, which is irrelevant. */
	bool store = (insn & 0x0a000000u) == 0x08000000u && !field(insn, 22, 22);
	if (!out->data && out->flow == CODE_NEXT && !store) {
		out->data = CODE_ADDRESS;
		out->reg = (uint8_t)first(insn);
	}
	return true;
}
