/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Length of an x86-64 instruction, and its effects on sp, fp and control flow. Formats: Intel's manual, volume 2, chapter 2 and
 * the opcode maps of appendix A.
 */
#include "symbols/code/insn.h"

#include <string.h>

enum {
	REG_SP = 4,
	REG_FP = 5,
	MODRM_DIRECT = 3,
};

/* Operands that follow an opcode. Opcode maps have a letter per opcode, 16 in a row. */
enum operand {
	NOTHING = '.',
	MODRM = 'M',
	MODRM_8 = 'B', /* and an immediate byte */
	MODRM_Z = 'Z', /* and an immediate of 4 bytes, 2 with prefix 66 */
	BYTE = 'b',
	WORD = 'w',
	FULL = 'z',      /* 4 bytes, 2 with prefix 66 */
	FULL_64 = 'q',   /* likewise, 8 with REX.W */
	OFFSET_64 = 'o', /* an 8-byte address */
	WORD_BYTE = 'e',
	RELATIVE = 'r', /* 4 bytes, with any prefix */
	GROUP_3 = 'g',  /* ModRM, with an operand if its register is 0 or 1: a byte, */
	GROUP_3_Z = 'G',
	INVALID = '!',
};

static const char one_byte[] = "MMMMbz!!MMMMbz!!" /* 00; 0f leads to the next map */
			       "MMMMbz!!MMMMbz!!"
			       "MMMMbz!!MMMMbz!!"
			       "MMMMbz!!MMMMbz!!"
			       "!!!!!!!!!!!!!!!!" /* REX */
			       "................" /* 50 */
			       "!!!M!!!!zZbB...."
			       "bbbbbbbbbbbbbbbb"
			       "BZ!BMMMMMMMMMMMM" /* 80 */
			       "..........!....."
			       "oooo....bz......" /* a0 */
			       "bbbbbbbbqqqqqqqq"
			       "BBw.!!BZe.w..b!." /* c0 */
			       "MMMM!!!.MMMMMMMM"
			       "bbbbbbbbrr!b...." /* e0 */
			       "!!!!..gG......MM";

static const char two_bytes[] = "MMMM!.....!.!M!!" /* 00 */
				"MMMMMMMMMMMMMMMM"
				"MMMM!!!!MMMMMMMM"
				"......!.!!!!!!!!" /* 30 */
				"MMMMMMMMMMMMMMMM"
				"MMMMMMMMMMMMMMMM"
				"MMMMMMMMMMMMMMMM"
				"BBBBMMM.MM!!MMMM" /* 70 */
				"rrrrrrrrrrrrrrrr"
				"MMMMMMMMMMMMMMMM"
				"...MBM!!...MBMMM" /* a0 */
				"MMMMMMMMMMBMMMMM"
				"MMBMBBBM........" /* c0 */
				"MMMMMMMMMMMMMMMM"
				"MMMMMMMMMMMMMMMM"
				"MMMMMMMMMMMMMMMM";

_Static_assert(sizeof(one_byte) == 257 && sizeof(two_bytes) == 257, "maps of 256");

enum map {
	MAP_ONE,
	MAP_0F,
	MAP_0F38,
	MAP_0F3A,
};

struct reader {
	const uint8_t *start, *at, *end;
	uint64_t address;
	bool bad, wide, narrow; /* wide: REX.W; narrow: prefix 66 */
	uint8_t rex_b, rex_r;   /* high bits of register numbers */
	enum map map;
	uint8_t opcode, modrm;
	bool vector;
	int64_t displacement, immediate;
	uint8_t base;     /* base register of the memory operand; 0xff: none */
	bool ip_relative; /* the displacement is relative to the instruction's end */
	uint8_t table;    /* base register of an operand with an index scaled by 4; 0xff: none */
};

static uint8_t next_byte(struct reader *r)
{
	if (r->at < r->end)
		return *r->at++;
	r->bad = true;
	return 0;
}

static int64_t next_signed(struct reader *r, unsigned bytes)
{
	uint64_t v = 0;

	if ((size_t)(r->end - r->at) < bytes) {
		r->bad = true;
		return 0;
	}
	memcpy(&v, r->at, bytes);
	r->at += bytes;
	if (bytes && bytes < 8 && v >> (8 * bytes - 1))
		v |= ~0ull << (8 * bytes);
	return (int64_t)v;
}

/* Consumes legacy prefixes, REX, or the equivalents inside VEX and EVEX, up to the opcode. */
static void read_prefixes(struct reader *r)
{
	uint8_t b;

	while (b = next_byte(r), b && strchr("\x66\x67\xf0\xf2\xf3\x2e\x36\x3e\x26\x64\x65", b))
		r->narrow |= b == 0x66;
	if ((b & 0xf0) == 0x40) {
		r->wide = b & 8;
		r->rex_r = b & 4 ? 8 : 0;
		r->rex_b = b & 1 ? 8 : 0;
		b = next_byte(r);
	}
	if (b == 0xc5 || b == 0xc4 || b == 0x62) {
		uint8_t first = next_byte(r);

		r->vector = true;
		r->map = b == 0xc5 ? MAP_0F : (enum map)(first & 3);
		for (int more = b == 0x62 ? 2 : b == 0xc4; more > 0; more--)
			next_byte(r);
		b = next_byte(r);
	} else if (b == 0x0f) {
		r->map = MAP_0F;
		b = next_byte(r);
		if (b == 0x38 || b == 0x3a) {
			r->map = b == 0x38 ? MAP_0F38 : MAP_0F3A;
			b = next_byte(r);
		}
	}
	r->opcode = b;
}

static void read_modrm(struct reader *r)
{
	r->modrm = next_byte(r);
	unsigned mode = r->modrm >> 6;
	unsigned rm = r->modrm & 7;
	if (mode == MODRM_DIRECT)
		return;
	if (rm == 4) {
		uint8_t sib = next_byte(r);

		rm = sib & 7;
		if (sib >> 6 == 2 && (sib & 0x38) != 0x20)
			r->table = rm | r->rex_b;
		/* with an index it is no fixed place in the frame */
		r->base = (sib & 0x38) == 0x20 ? rm | r->rex_b : 0xff;
		if (mode == 0 && rm == 5) {
			r->base = 0xff;
			next_signed(r, 4);
		}
	} else if (mode == 0 && rm == 5) {
		r->ip_relative = true;
		r->displacement = next_signed(r, 4);
	} else {
		r->base = (uint8_t)(rm | r->rex_b);
	}
	if (mode)
		r->displacement = next_signed(r, mode == 1 ? 1 : 4);
}

static void read_operand(struct reader *r)
{
	unsigned full = r->narrow ? 2 : 4;
	char operand = r->map == MAP_ONE    ? one_byte[r->opcode]
		       : r->map == MAP_0F   ? two_bytes[r->opcode]
		       : r->map == MAP_0F38 ? MODRM
					    : MODRM_8;

	if (strchr("MBZgG", operand))
		read_modrm(r);
	switch (operand) {
	case MODRM_8:
	case BYTE: r->immediate = next_signed(r, 1); break;
	case MODRM_Z:
	case FULL: r->immediate = next_signed(r, full); break;
	case WORD: next_signed(r, 2); break;
	case WORD_BYTE: next_signed(r, 3); break;
	case RELATIVE: r->immediate = next_signed(r, 4); break;
	case FULL_64: next_signed(r, r->wide ? 8 : full); break;
	case OFFSET_64: next_signed(r, 8); break;
	case GROUP_3: next_signed(r, r->modrm & 0x30 ? 0 : 1); break;
	case GROUP_3_Z: next_signed(r, r->modrm & 0x30 ? 0 : full); break;
	case INVALID: r->bad = true; break;
	}
}

static bool direct(const struct reader *r)
{
	return r->modrm >> 6 == MODRM_DIRECT;
}

static unsigned modrm_reg(const struct reader *r)
{
	return (r->modrm >> 3 & 7) | r->rex_r;
}

/* The register of a direct operand. */
static unsigned modrm_rm(const struct reader *r)
{
	return (r->modrm & 7) | r->rex_b;
}

static bool is_sp(const struct reader *r)
{
	return direct(r) && modrm_rm(r) == REG_SP;
}

static void flow_read(const struct reader *r, struct code_insn *out)
{
	uint64_t next = r->address + (uint64_t)(r->at - r->start);
	uint8_t op = r->opcode;

	if (r->vector)
		return;
	if (r->map == MAP_0F) {
		if ((op & 0xf0) == 0x80) {
			out->flow = CODE_BRANCH;
			out->target = next + (uint64_t)r->immediate;
		} else if (op == 0x0b) {
			out->flow = CODE_END; /* ud2 */
		}
		return;
	}
	if (r->map != MAP_ONE)
		return;
	if ((op & 0xf0) == 0x70 || (op & 0xfc) == 0xe0) {
		out->flow = CODE_BRANCH;
		out->target = next + (uint64_t)r->immediate;
	} else if (op == 0xe8) {
		out->flow = CODE_CALL;
		out->target = next + (uint64_t)r->immediate;
	} else if (op == 0xe9 || op == 0xeb) {
		out->flow = CODE_JUMP;
		out->target = next + (uint64_t)r->immediate;
	} else if (op == 0xc3 || op == 0xc2) {
		out->flow = CODE_RETURN;
	} else if (op == 0xf4 || op == 0xcc) {
		out->flow = CODE_END; /* hlt, int3 */
	} else if (op == 0xff && (r->modrm >> 3 & 7) == 4) {
		out->flow = CODE_JUMP;
	} else if (op == 0xff && (r->modrm >> 3 & 7) == 2) {
		out->flow = CODE_CALL;
	}
}

static void data_read(const struct reader *r, struct code_insn *out)
{
	uint64_t next = r->address + (uint64_t)(r->at - r->start);
	uint8_t op = r->opcode;

	if (r->map != MAP_ONE || r->vector)
		return;
	if (op == 0x8d && r->ip_relative) {
		out->data = CODE_ADDRESS;
		out->address = next + (uint64_t)r->displacement;
		out->reg = (uint8_t)modrm_reg(r);
	} else if (op == 0x3c || op == 0x3d ||
		   ((op == 0x80 || op == 0x81 || op == 0x83) && direct(r) &&
			   (r->modrm >> 3 & 7) == 7)) {
		out->data = CODE_LIMIT; /* cmp */
		out->by = op == 0x3c || op == 0x80 ? (uint8_t)r->immediate : (int32_t)r->immediate;
	} else if (op == 0x63 && r->table != 0xff) {
		out->data = CODE_TABLE;
		out->reg = r->table;
		out->entry = 4;
	}
}

/* mov between registers: `to` is sp or fp. */
static void move_read(unsigned to, unsigned from, struct code_insn *out)
{
	if (to == REG_SP)
		out->sp = from == REG_FP ? CODE_SP_IS_FP : CODE_SP_LOST;
	else if (to == REG_FP && from == REG_SP)
		out->fp = CODE_FP_IS_SP;
}

/* lea, and 8-byte loads and stores relative to sp or fp. */
static void memory_read(const struct reader *r, struct code_insn *out)
{
	unsigned reg = modrm_reg(r);

	if (r->opcode == 0x8d && reg == REG_SP) {
		out->sp = r->base == REG_SP   ? CODE_SP_MOVES
			  : r->base == REG_FP ? CODE_SP_IS_FP
					      : CODE_SP_LOST;
		out->sp_by = (int32_t)r->displacement;
	} else if (r->opcode == 0x8d && reg == REG_FP && r->base == REG_SP) {
		out->fp = CODE_FP_IS_SP;
		out->fp_at = (int32_t)r->displacement;
	} else if (r->opcode == 0x89 && reg == REG_FP && r->base == REG_SP && r->wide) {
		out->fp = CODE_FP_SAVED;
		out->fp_at = (int32_t)r->displacement;
	} else if (r->opcode == 0x8b && reg == REG_SP) {
		out->sp = CODE_SP_LOST;
	}
}

/* Arithmetic with sp as its destination. */
static void sum_read(const struct reader *r, struct code_insn *out)
{
	unsigned what = r->modrm >> 3 & 7;

	if (what == 7) /* cmp */
		return;
	if (what != 0 && what != 5) {
		out->sp = CODE_SP_LOST; /* and: alignment */
		return;
	}
	out->sp_by = (int32_t)(what ? -r->immediate : r->immediate);
}

static void frame_read(const struct reader *r, struct code_insn *out)
{
	uint8_t op = r->opcode;

	if (r->map != MAP_ONE || r->vector)
		return;
	if ((op & 0xf8) == 0x50) { /* push */
		out->sp_by = -8;
		if (op == (0x50 | REG_FP) && !r->rex_b)
			out->fp = CODE_FP_SAVED;
	} else if (op == (0x58 | REG_FP) && !r->rex_b) { /* pop */
		*out = (struct code_insn){
			.bytes = out->bytes, .sp_by = 8, .fp = CODE_FP_LOADED, .fp_at = -8};
	} else if ((op & 0xf8) == 0x58) {
		out->sp_by = 8;
		if (op == (0x58 | REG_SP) && !r->rex_b)
			out->sp = CODE_SP_LOST;
	} else if (op == 0x68 || op == 0x6a || op == 0x9c ||
		   (op == 0xff && (r->modrm >> 3 & 7) == 6))
		out->sp_by = -8;
	else if (op == 0x8f || op == 0x9d)
		out->sp_by = 8;
	else if (op == 0xc9)
		*out = (struct code_insn){.bytes = out->bytes,
			.sp = CODE_SP_IS_FP,
			.sp_by = 8,
			.fp = CODE_FP_LOADED,
			.fp_at = -8};
	else if ((op == 0x81 || op == 0x83) && is_sp(r))
		sum_read(r, out);
	else if (op == 0x89 && direct(r) && r->wide)
		move_read(modrm_rm(r), modrm_reg(r), out);
	else if (op == 0x8b && direct(r) && r->wide)
		move_read(modrm_reg(r), modrm_rm(r), out);
	else if ((op == 0x31 || op == 0x33) && r->modrm == 0xed && !r->rex_b && !r->rex_r)
		out->fp = CODE_FP_ZERO; /* xor */
	else if ((op == 0x29 || op == 0x01) && is_sp(r))
		out->sp = CODE_SP_LOST;
	else if ((op == 0x2b || op == 0x03) && modrm_reg(r) == REG_SP)
		out->sp = CODE_SP_LOST;
	else if ((op == 0x89 || op == 0x8b || op == 0x8d) && !direct(r))
		memory_read(r, out);
}

bool code_x86_64_read(const uint8_t *at, size_t bytes, uint64_t address, struct code_insn *out)
{
	struct reader r = {.start = at,
		.at = at,
		.end = at + bytes,
		.address = address,
		.base = 0xff,
		.table = 0xff};

	read_prefixes(&r);
	read_operand(&r);
	*out = (struct code_insn){.bytes = (uint8_t)(r.at - at)};
	if (r.bad || r.at - at > 15)
		return false;
	frame_read(&r, out);
	flow_read(&r, out);
	data_read(&r, out);
	return true;
}
