/* SPDX-License-Identifier: Apache-2.0 */
/* Call frame instructions and the few expressions that compilers and linkers generate in them. */
#include "symbols/cfi_program.h"

#include <dwarf.h>
#include <elf.h>
#include <string.h>

/* Bytes of a CIE's instructions; real ones have less than 30. They run once for each change of the CIE. */
#define CIE_PROGRAM_MAX 4096
#define EXPRESSION_MAX  9 /* operations */

const struct cfi_machine *cfi_machine_find(unsigned elf_machine)
{
	static const struct cfi_machine machines[] = {
		{EM_X86_64, 7, 6, 16, false},
		{EM_AARCH64, 31, 29, 30, true},
	};

	for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
		if (machines[i].elf_machine == elf_machine)
			return &machines[i];
	return NULL;
}

/* --- values ------------------------------------------------------------------------------------------ */

struct bytes {
	const uint8_t *at, *end;
	bool failed; /* an attempt to read past the end; values read after it are 0 */
};

static uint64_t read_fixed(struct bytes *b, unsigned size, bool is_signed)
{
	uint64_t v = 0;

	if ((size_t)(b->end - b->at) < size) {
		b->failed = true;
		b->at = b->end;
		return 0;
	}
	memcpy(&v, b->at, size);
	b->at += size;
	if (is_signed && size && size < 8 && v >> (size * 8 - 1))
		v |= ~0ull << (size * 8);
	return v;
}

static uint64_t read_leb128(struct bytes *b, bool is_signed)
{
	uint64_t v = 0;

	for (unsigned shift = 0; b->at < b->end; shift += 7) {
		uint8_t byte = *b->at++;

		if (shift < 64)
			v |= (uint64_t)(byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		if (is_signed && (byte & 0x40) && shift + 7 < 64)
			v |= ~0ull << (shift + 7);
		return v;
	}
	b->failed = true;
	return 0;
}

static uint64_t read_uleb128(struct bytes *b)
{
	return read_leb128(b, false);
}

static int64_t read_sleb128(struct bytes *b)
{
	return (int64_t)read_leb128(b, true);
}

/* A pointer in encoding enc, without its base. LEB128 forms do not occur in FDEs. */
static uint64_t read_encoded(struct bytes *b, unsigned enc)
{
	static const uint8_t sizes[16] = {[DW_EH_PE_absptr] = 8,
		[DW_EH_PE_udata2] = 2,
		[DW_EH_PE_udata4] = 4,
		[DW_EH_PE_udata8] = 8,
		[DW_EH_PE_sdata2] = 2,
		[DW_EH_PE_sdata4] = 4,
		[DW_EH_PE_sdata8] = 8};
	unsigned size = sizes[enc & 0x0f];

	if (!size)
		b->failed = true;
	return read_fixed(b, size, enc & DW_EH_PE_signed);
}

/* A block of the length that precedes it. */
static struct bytes read_block(struct bytes *b)
{
	uint64_t length = read_uleb128(b);
	struct bytes block = {b->at, b->at, b->failed};

	if (length > (uint64_t)(b->end - b->at)) {
		b->failed = block.failed = true;
		return block;
	}
	b->at += length;
	block.end = b->at;
	return block;
}

/* --- expressions ------------------------------------------------------------------------------------- */

struct operation {
	uint8_t code; /* DW_OP_breg0 for all "register + value", DW_OP_lit0 for all constants */
	unsigned reg;
	int64_t value;
};

/* Decodes a whole expression. Returns the number of operations, 0 if there is one that no rule can express. */
static size_t read_expression(struct bytes b, struct operation ops[EXPRESSION_MAX])
{
	size_t count = 0;

	while (b.at < b.end && count < EXPRESSION_MAX) {
		struct operation *op = &ops[count++];
		uint8_t code = *b.at++;

		*op = (struct operation){.code = code};
		if (code >= DW_OP_breg0 && code <= DW_OP_breg31) {
			*op = (struct operation){DW_OP_breg0, code - DW_OP_breg0, read_sleb128(&b)};
			continue;
		}
		if (code >= DW_OP_lit0 && code <= DW_OP_lit31) {
			*op = (struct operation){DW_OP_lit0, 0, code - DW_OP_lit0};
			continue;
		}
		switch (code) {
		case DW_OP_bregx:
			op->code = DW_OP_breg0;
			op->reg = (unsigned)read_uleb128(&b);
			op->value = read_sleb128(&b);
			break;
		case DW_OP_const1u:
		case DW_OP_const1s:
			op->code = DW_OP_lit0;
			op->value = (int64_t)read_fixed(&b, 1, code == DW_OP_const1s);
			break;
		case DW_OP_plus_uconst: op->value = (int64_t)read_uleb128(&b); break;
		case DW_OP_and:
		case DW_OP_deref:
		case DW_OP_ge:
		case DW_OP_plus:
		case DW_OP_shl: break;
		default: return 0;
		}
	}
	return b.failed || b.at < b.end ? 0 : count;
}

/*
 * True for the CFA that linkers give a lazy PLT:
 *   sp + 8, pc + 0, 15, and, N, ge, 3, shl, plus
 * N is the offset in the 16-byte entry from which on the relocation index has been pushed.
 */
static bool is_plt(const struct cfi_machine *m, const struct operation *ops, size_t count)
{
	return m->elf_machine == EM_X86_64 && count == 9 && ops[0].code == DW_OP_breg0 &&
	       ops[0].reg == m->sp && ops[1].code == DW_OP_breg0 && ops[1].reg == m->ra &&
	       ops[1].value == 0 && ops[2].code == DW_OP_lit0 && ops[2].value == 15 &&
	       ops[3].code == DW_OP_and && ops[4].code == DW_OP_lit0 && ops[4].value >= 0 &&
	       ops[4].value < 16 && ops[5].code == DW_OP_ge && ops[6].code == DW_OP_lit0 &&
	       ops[6].value == 3 && ops[7].code == DW_OP_shl && ops[8].code == DW_OP_plus;
}

static void cfa_by_expression(
	const struct cfi_machine *m, struct bytes expression, struct cfi_state *s)
{
	struct operation ops[EXPRESSION_MAX];
	size_t count = read_expression(expression, ops);

	s->cfa = CFI_CFA_OTHER;
	if (!count || ops[0].code != DW_OP_breg0)
		return;
	if (count == 1 && ops[0].reg == m->sp)
		s->cfa = CFI_CFA_SP;
	else if (count == 1 && ops[0].reg == m->fp)
		s->cfa = CFI_CFA_FP;
	else if (count == 2 && ops[0].reg == m->fp && ops[1].code == DW_OP_deref)
		s->cfa = CFI_CFA_FP_LOAD;
	else if (is_plt(m, ops, count))
		s->cfa = CFI_CFA_PLT;
	s->cfa_offset = ops[0].value;
	s->pushed_from = s->cfa == CFI_CFA_PLT ? (int16_t)ops[4].value : 0;
}

/* The expression gives the address of the saved register. It starts with the CFA on its stack. */
static struct cfi_saved_at saved_by_expression(const struct cfi_machine *m, struct bytes expression)
{
	struct operation ops[EXPRESSION_MAX];

	if (read_expression(expression, ops) == 1) {
		if (ops[0].code == DW_OP_breg0 && ops[0].reg == m->fp)
			return (struct cfi_saved_at){CFI_SAVED_FP, false, ops[0].value};
		if (ops[0].code == DW_OP_plus_uconst)
			return (struct cfi_saved_at){CFI_SAVED_CFA, false, ops[0].value};
	}
	return (struct cfi_saved_at){CFI_SAVED_LOST, false, 0};
}

/* --- instructions ------------------------------------------------------------------------------------ */

static void set_cfa_register(const struct cfi_machine *m, uint64_t reg, struct cfi_state *s)
{
	s->cfa = reg == m->sp ? CFI_CFA_SP : reg == m->fp ? CFI_CFA_FP : CFI_CFA_OTHER;
}

static void set_saved(struct cfi_run *run, uint64_t reg, struct cfi_saved_at at)
{
	if (reg == run->cie->machine->fp)
		run->state.fp = at;
	else if (reg == run->cie->machine->ra)
		run->state.ra = at;
}

static void restore(struct cfi_run *run, uint64_t reg)
{
	if (reg == run->cie->machine->fp)
		run->state.fp = run->cie->initial.fp;
	else if (reg == run->cie->machine->ra)
		run->state.ra = run->cie->initial.ra;
}

/*
 * Executes one instruction. Returns true if it advances the address, which ends a row. Sets run->failed for unknown
 * instructions.
 */
static bool execute(struct cfi_run *run, struct bytes *b)
{
	static const struct cfi_saved_at same = {CFI_SAVED_NOT, false, 0};
	static const struct cfi_saved_at lost = {CFI_SAVED_LOST, false, 0};
	static const struct cfi_saved_at undefined = {CFI_SAVED_LOST, true, 0};
	const struct cfi_cie *cie = run->cie;
	const struct cfi_machine *m = cie->machine;
	struct cfi_state *s = &run->state;
	uint8_t code = (uint8_t)read_fixed(b, 1, false);
	uint64_t low = code & 0x3f, reg;

	switch (code & 0xc0) {
	case DW_CFA_advance_loc: run->address += low * cie->code_align; return true;
	case DW_CFA_offset:
		set_saved(run, low,
			(struct cfi_saved_at){CFI_SAVED_CFA, false,
				(int64_t)(read_uleb128(b) * (uint64_t)cie->data_align)});
		return false;
	case DW_CFA_restore: restore(run, low); return false;
	}
	switch (code) {
	case DW_CFA_nop: return false;
	case DW_CFA_advance_loc1:
	case DW_CFA_advance_loc2:
	case DW_CFA_advance_loc4:
		run->address +=
			cie->code_align * read_fixed(b, 1u << (code - DW_CFA_advance_loc1), false);
		return true;
	case DW_CFA_offset_extended:
		reg = read_uleb128(b);
		set_saved(run, reg,
			(struct cfi_saved_at){CFI_SAVED_CFA, false,
				(int64_t)(read_uleb128(b) * (uint64_t)cie->data_align)});
		return false;
	case DW_CFA_offset_extended_sf:
	case DW_CFA_GNU_negative_offset_extended:
		reg = read_uleb128(b);
		{
			uint64_t factored = code == DW_CFA_offset_extended_sf
						    ? (uint64_t)read_sleb128(b)
						    : 0 - read_uleb128(b);

			set_saved(run, reg,
				(struct cfi_saved_at){CFI_SAVED_CFA, false,
					(int64_t)(factored * (uint64_t)cie->data_align)});
		}
		return false;
	case DW_CFA_restore_extended: restore(run, read_uleb128(b)); return false;
	case DW_CFA_undefined: set_saved(run, read_uleb128(b), undefined); return false;
	case DW_CFA_same_value: set_saved(run, read_uleb128(b), same); return false;
	case DW_CFA_register:
		reg = read_uleb128(b);
		set_saved(run, reg, read_uleb128(b) == reg ? same : lost);
		return false;
	case DW_CFA_expression:
		reg = read_uleb128(b);
		set_saved(run, reg, saved_by_expression(m, read_block(b)));
		return false;
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
		set_saved(run, read_uleb128(b), lost);
		read_uleb128(b); /* skipped: signed and unsigned values have the same size */
		return false;
	case DW_CFA_val_expression:
		set_saved(run, read_uleb128(b), lost);
		read_block(b);
		return false;
	case DW_CFA_remember_state:
		if (run->remembered_count == CFI_REMEMBERED_MAX)
			run->failed = true;
		else
			run->remembered[run->remembered_count++] = *s;
		return false;
	case DW_CFA_restore_state:
		if (run->remembered_count)
			*s = run->remembered[--run->remembered_count];
		else
			run->failed = true;
		return false;
	case DW_CFA_def_cfa:
	case DW_CFA_def_cfa_sf:
		set_cfa_register(m, read_uleb128(b), s);
		s->cfa_offset =
			code == DW_CFA_def_cfa
				? (int64_t)read_uleb128(b)
				: (int64_t)((uint64_t)read_sleb128(b) * (uint64_t)cie->data_align);
		return false;
	case DW_CFA_def_cfa_register: set_cfa_register(m, read_uleb128(b), s); return false;
	case DW_CFA_def_cfa_offset: s->cfa_offset = (int64_t)read_uleb128(b); return false;
	case DW_CFA_def_cfa_offset_sf:
		s->cfa_offset = (int64_t)((uint64_t)read_sleb128(b) * (uint64_t)cie->data_align);
		return false;
	case DW_CFA_def_cfa_expression: cfa_by_expression(m, read_block(b), s); return false;
	case DW_CFA_GNU_args_size: read_uleb128(b); return false;
	case DW_CFA_AARCH64_negate_ra_state: /* the walker removes signatures itself */
		run->failed = m->elf_machine != EM_AARCH64;
		return false;
	default: run->failed = true; return false;
	}
}

/* --- rules ------------------------------------------------------------------------------------------- */

static bool fits(int64_t value, int64_t limit)
{
	return value >= -limit && value < limit;
}

/* Converts a saved register to the fields of a rule. An offset that does not fit is CFI_SAVED_LOST. */
static enum cfi_saved rule_saved(const struct cfi_saved_at *at, int16_t *offset)
{
	if (!fits(at->offset, INT16_MAX))
		return CFI_SAVED_LOST;
	*offset = (int16_t)at->offset;
	return at->saved;
}

static struct wire_unwind_rule rule_of(const struct cfi_cie *cie, const struct cfi_state *s)
{
	static const struct wire_unwind_rule signal = {.cfa = CFI_CFA_SIGNAL},
					     root = {.cfa = CFI_CFA_ROOT},
					     other = {.cfa = CFI_CFA_OTHER};
	struct wire_unwind_rule rule = {.cfa = (uint8_t)s->cfa};
	int16_t fp_offset = 0;

	if (cie->is_signal)
		return signal;
	if (s->ra.undefined)
		return root;
	rule.ra = (uint8_t)rule_saved(&s->ra, &rule.ra_offset);
	rule.fp = (uint8_t)rule_saved(&s->fp, &fp_offset);
	rule.fp_offset = fp_offset;
	rule.cfa_offset = (int32_t)s->cfa_offset;
	if (s->cfa == CFI_CFA_PLT) {
		if (rule.fp != CFI_SAVED_NOT)
			return other;
		rule.fp_offset = s->pushed_from;
	}
	if (s->cfa == CFI_CFA_OTHER || !fits(s->cfa_offset, INT32_MAX) ||
		rule.ra == CFI_SAVED_LOST || (rule.ra == CFI_SAVED_NOT && !cie->machine->has_link))
		return other;
	return rule;
}

/* --- entries ----------------------------------------------------------------------------------------- */

/*
 * The augmentation string says what the augmentation data contains: R the encoding of addresses, P a personality routine,
 * L the encoding of language-specific data; S marks signal trampolines, B signed return addresses.
 */
static bool read_augmentation(const Dwarf_CIE *from, struct cfi_cie *out)
{
	const char *a = from->augmentation;
	struct bytes b = {from->augmentation_data,
		from->augmentation_data + from->augmentation_data_size, false};

	out->encoding = DW_EH_PE_absptr;
	if (!*a)
		return true;
	if (*a != 'z' || !from->augmentation_data)
		return false;
	out->has_size = true;
	for (a++; *a && !b.failed; a++) {
		switch (*a) {
		case 'R': out->encoding = (uint8_t)read_fixed(&b, 1, false); break;
		case 'P': read_encoded(&b, (unsigned)read_fixed(&b, 1, false)); break;
		case 'L': read_fixed(&b, 1, false); break;
		case 'S': out->is_signal = true; break;
		case 'B': break;
		default: return false;
		}
	}
	return !b.failed;
}

bool cfi_cie_read(const struct cfi_machine *m, const Dwarf_CIE *from, struct cfi_cie *out)
{
	struct bytes b = {from->initial_instructions, from->initial_instructions_end, false};
	struct cfi_run run = {.cie = out};

	*out = (struct cfi_cie){.machine = m,
		.code_align = from->code_alignment_factor,
		.data_align = from->data_alignment_factor};
	if (!read_augmentation(from, out) || b.end - b.at > CIE_PROGRAM_MAX)
		return false;
	run.state.cfa = CFI_CFA_OTHER;
	if (!m->has_link)
		run.state.ra = (struct cfi_saved_at){CFI_SAVED_LOST, true, 0};
	while (b.at < b.end && !run.failed && !b.failed)
		execute(&run, &b);
	out->initial = run.state;
	return !run.failed && !b.failed;
}

bool cfi_program_read(const struct cfi_cie *cie, const Dwarf_FDE *fde, uint64_t fde_address,
	struct cfi_program *out, uint64_t *length)
{
	struct bytes b = {fde->start, fde->end, false};
	unsigned base = cie->encoding & 0x70;

	/* FDEs of shared objects use neither indirect pointers nor other bases. */
	if (cie->encoding & DW_EH_PE_indirect || (base && base != DW_EH_PE_pcrel))
		return false;
	out->start = (base ? fde_address : 0) + read_encoded(&b, cie->encoding);
	*length = read_encoded(&b, cie->encoding & 0x07); /* never signed, never relative */
	if (cie->has_size)
		read_block(&b);
	out->code = b.at;
	out->code_bytes = (uint32_t)(b.end - b.at);
	return !b.failed && b.end - b.at <= UINT32_MAX;
}

void cfi_run_begin(struct cfi_run *run, const struct cfi_cie *cie, const struct cfi_program *p)
{
	run->cie = cie;
	run->at = p->code;
	run->end = p->code + p->code_bytes;
	run->address = p->start;
	run->state = cie->initial;
	run->remembered_count = 0;
	run->done = run->failed = false;
}

bool cfi_run_next(struct cfi_run *run, uint64_t *address, struct wire_unwind_rule *rule)
{
	struct bytes b = {run->at, run->end, false};
	bool advanced = false;

	if (run->done)
		return false;
	*address = run->address;
	while (b.at < b.end && !advanced && !run->failed && !b.failed)
		advanced = execute(run, &b);
	run->at = b.at;
	run->done = !advanced || b.failed;
	*rule = run->failed || b.failed ? (struct wire_unwind_rule){.cfa = CFI_CFA_OTHER}
					: rule_of(run->cie, &run->state);
	return true;
}
