/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows all paths of a file's code. The code is one address range; a place is an offset in it.
 *
 * Starts of functions are known from symbols, relocations, call targets and addresses taken by code. Paths are followed in
 * rounds, from scratch each time, until a round finds no more starts and no more functions that do not return: then code after
 * a call that does not return no longer counts as part of the calling function.
 */
#include "symbols/code/code.h"

#include "base/buf.h"
#include "base/hash.h"
#include "symbols/code/frame.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#define CODE_MAX     (8u << 20)
#define SECTIONS_MAX 64
#define ROUNDS_MAX   12u
#define TABLE_MAX    1024u
#define PATHS_MAX    (1u << 20)  /* pending paths */
#define STEPS_MAX    (64u << 20) /* 8 MB of code take 24 million in all rounds */

struct section {
	uint64_t address;
	const uint8_t *data;
	size_t bytes;
	bool is_code;
};

struct path {
	uint32_t at, frame;
	uint32_t function; /* place at which its function starts */
	/* The switch that the path may reach. */
	struct cases {
		uint64_t table, base; /* base 0: the table */
		uint32_t last;        /* the constant in the preceding comparison */
		uint8_t entry;        /* size of a table entry in bytes */
	} cases;
};

struct code {
	const struct code_machine *machine;
	struct section sections[SECTIONS_MAX];
	uint32_t section_count;
	uint64_t low, high; /* range of the code */
	uint8_t *begins;    /* one bit per place: a function starts here, */
	uint8_t *returns;   /* this function may return, as far as this round has found, */
	uint8_t *no_return; /* this function does not return, according to an earlier round */
	struct place {
		/* index + 1 of the state before the instruction; 0: no instruction starts here */
		uint32_t frame;
		uint32_t function; /* the first function whose path reached it */
	} * places;
	struct code_frame *frames;
	struct hash_index frame_index;
	uint32_t frame_count, frame_cap;
	struct path *paths;
	uint32_t path_count, path_cap;
	uint64_t in_register[CODE_REGISTERS]; /* known addresses, within the current function */
	uint64_t function_low, function_high;
	bool found; /* this round has found a new function start or a function that does not return */
	uint32_t steps;
	const atomic_bool *stop;
};

struct code_machine {
	unsigned elf_machine;
	code_read_fn *read;
	struct code_frame at_begin; /* state at the start of a function */
};

static const struct code_machine machines[] = {
	{EM_X86_64, code_x86_64_read, {.sp = 8, .fp = CODE_UNKNOWN, .link_saved = -8}},
	{EM_AARCH64, code_aarch64_read, {.sp = 0, .fp = CODE_UNKNOWN}},
};

static const struct code_machine *machine_find(unsigned elf_machine)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++)
		if (machines[i].elf_machine == elf_machine)
			return &machines[i];
	return NULL;
}

/* --- the file ------------------------------------------------------------------------------------------ */

static const uint8_t *bytes_at(const struct code *c, uint64_t address, size_t *left)
{
	for (uint32_t i = 0; i < c->section_count; i++) {
		const struct section *s = &c->sections[i];

		if (address - s->address < s->bytes) {
			*left = s->bytes - (size_t)(address - s->address);
			return s->data + (address - s->address);
		}
	}
	return NULL;
}

/* True if the address is in a section of code. */
static bool is_code(const struct code *c, uint64_t address)
{
	for (uint32_t i = 0; i < c->section_count; i++)
		if (c->sections[i].is_code &&
			address - c->sections[i].address < c->sections[i].bytes)
			return true;
	return false;
}

/* Adds the loaded sections, and determines the range of the code. */
static void sections_read(struct code *c, Elf *elf)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr header;

	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &header) || !(header.sh_flags & SHF_ALLOC) ||
			header.sh_type != SHT_PROGBITS)
			continue;
		Elf_Data *data = elf_rawdata(scn, NULL);
		if (!data || !data->d_buf || c->section_count == SECTIONS_MAX ||
			header.sh_addr + data->d_size < header.sh_addr)
			continue;
		bool code = header.sh_flags & SHF_EXECINSTR;
		c->sections[c->section_count++] =
			(struct section){header.sh_addr, data->d_buf, data->d_size, code};
		if (code && header.sh_addr < c->low)
			c->low = header.sh_addr;
		if (code && header.sh_addr + data->d_size > c->high)
			c->high = header.sh_addr + data->d_size;
	}
}

static bool bit(const uint8_t *bits, uint64_t at)
{
	return bits[at / 8] >> at % 8 & 1;
}

static void bit_set(uint8_t *bits, uint64_t at)
{
	bits[at / 8] |= (uint8_t)(1u << at % 8);
}

/* Adds the start of a function, which another round will follow if it is new. */
static void begins_add(struct code *c, uint64_t address)
{
	if (!is_code(c, address) || bit(c->begins, address - c->low))
		return;
	bit_set(c->begins, address - c->low);
	c->found = true;
}

static bool begins_at(const struct code *c, uint64_t address)
{
	return address - c->low < c->high - c->low && bit(c->begins, address - c->low);
}

/* Adds starts of functions from symbols and relative relocations, which point to functions that may have no symbol. */
static void begins_read(struct code *c, Elf *elf)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr header;

	while ((scn = elf_nextscn(elf, scn))) {
		bool wanted = gelf_getshdr(scn, &header) &&
			      (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM ||
				      header.sh_type == SHT_RELA);
		Elf_Data *data = wanted ? elf_getdata(scn, NULL) : NULL;
		size_t count = data && data->d_buf && header.sh_entsize
				       ? data->d_size / header.sh_entsize
				       : 0;

		for (size_t i = 0; i < count; i++) {
			GElf_Rela rela;
			GElf_Sym sym;

			if (header.sh_type == SHT_RELA) {
				if (gelf_getrela(data, (int)i, &rela))
					begins_add(c, (uint64_t)rela.r_addend);
				continue;
			}
			if (!gelf_getsym(data, (int)i, &sym) ||
				GELF_ST_TYPE(sym.st_info) != STT_FUNC || sym.st_shndx == SHN_UNDEF)
				continue;
			/* Parts that compilers move out of a function start with sp elsewhere than a function does. */
			const char *name = elf_strptr(elf, header.sh_link, sym.st_name);
			if (!name || !strstr(name, ".cold"))
				begins_add(c, sym.st_value);
		}
	}
}

/* --- frames -------------------------------------------------------------------------------------------- */

struct frame_key {
	const struct code *code;
	const struct code_frame *frame;
};

static bool frame_same(const void *ctx, uint32_t id)
{
	const struct frame_key *key = ctx;

	return !memcmp(&key->code->frames[id], key->frame, sizeof(*key->frame));
}

/* The id of a state; equal states have one id. */
static uint32_t frame_id(struct code *c, const struct code_frame *frame)
{
	struct frame_key key = {c, frame};
	uint64_t hash = hash_bytes(frame, sizeof(*frame), 0);
	uint32_t id = hash_index_find(&c->frame_index, hash, frame_same, &key);

	if (id != HASH_NONE)
		return id;
	c->frames = xgrow(c->frames, c->frame_count, &c->frame_cap, sizeof(*c->frames));
	c->frames[c->frame_count] = *frame;
	hash_index_add(&c->frame_index, hash, c->frame_count);
	return c->frame_count++;
}

/* --- paths --------------------------------------------------------------------------------------------- */

/* True if this place has been followed already. If another function reached it first, this one may return. */
static bool path_meets(struct code *c, uint64_t at, uint32_t function)
{
	const struct place *p = &c->places[at];

	if (p->frame && p->function != function)
		bit_set(c->returns, function);
	return p->frame != 0;
}

/* Adds a path that starts at address, otherwise like `path`. */
static void path_add(struct code *c, uint64_t address, struct path path)
{
	if (!is_code(c, address) || path_meets(c, address - c->low, path.function) ||
		c->path_count == PATHS_MAX)
		return;
	path.at = (uint32_t)(address - c->low);
	c->paths = xgrow(c->paths, c->path_count, &c->path_cap, sizeof(*c->paths));
	c->paths[c->path_count++] = path;
}

/* An entry of a switch table in bytes: those of 1 and 2 bytes are in units of 4. */
static int64_t distance_at(const uint8_t *at, unsigned bytes)
{
	int32_t four;
	int16_t two;

	if (bytes == 1)
		return 4 * (int64_t)(int8_t)*at;
	if (bytes == 2) {
		memcpy(&two, at, sizeof(two));
		return 4 * (int64_t)two;
	}
	memcpy(&four, at, sizeof(four));
	return four;
}

/* Adds a path per case of a switch: last + 1 table entries. Stops at the first target outside the function. */
static void paths_of_cases(struct code *c, const struct path *path)
{
	const struct cases *cases = &path->cases;
	size_t left = 0;
	const uint8_t *at = bytes_at(c, cases->table, &left);

	for (uint32_t i = 0; at && i <= cases->last && i < TABLE_MAX && left >= cases->entry;
		i++, c->steps++) {
		uint64_t to = (cases->base ? cases->base : cases->table) +
			      (uint64_t)distance_at(at, cases->entry);

		if (to < c->function_low || to >= c->function_high)
			return;
		path_add(c, to, *path);
		at += cases->entry;
		left -= cases->entry;
	}
}

/* Tracks addresses in registers, and the parts of a switch. */
static void path_data(struct code *c, struct path *path, const struct code_insn *insn)
{
	uint64_t *reg = &c->in_register[insn->reg];

	switch (insn->data) {
	case CODE_ADDRESS:
	case CODE_PAGE: *reg = insn->address; break;
	case CODE_SUM:
		*reg = c->in_register[insn->from];
		*reg = *reg % CODE_PAGE_BYTES ? 0 : *reg + (*reg ? (uint64_t)(int64_t)insn->by : 0);
		break;
	case CODE_LIMIT: path->cases.last = (uint32_t)insn->by; break;
	case CODE_TABLE:
		path->cases.table = *reg;
		path->cases.base = 0;
		path->cases.entry = insn->entry;
		break;
	case CODE_BASE: path->cases.base = insn->address; break;
	default: break;
	}
	if ((insn->data == CODE_ADDRESS || insn->data == CODE_SUM) && is_code(c, *reg))
		begins_add(c, *reg);
}

/* Handles all successors of an instruction except the next one. */
static void path_leaves(struct code *c, const struct path *path, const struct code_insn *insn)
{
	bool by_table = insn->flow == CODE_JUMP && !insn->target && path->cases.table;
	bool jumps = insn->flow == CODE_BRANCH || (insn->flow == CODE_JUMP && insn->target);
	uint64_t to = insn->target;

	if (insn->flow == CODE_CALL && to)
		begins_add(c, to);
	/* A tail call to another function may return on behalf of this one. */
	if (jumps && (!is_code(c, to) || (begins_at(c, to) && !bit(c->no_return, to - c->low))))
		bit_set(c->returns, path->function);
	else if (jumps && !begins_at(c, to))
		path_add(c, to, *path);
	if (by_table)
		paths_of_cases(c, path);
	if (insn->flow == CODE_RETURN || (insn->flow == CODE_JUMP && !insn->target && !by_table))
		bit_set(c->returns, path->function);
}

/* Follows a path until it ends or meets a followed place. If its state becomes unknown, its function may return. */
static void path_follow(struct code *c, struct path path)
{
	uint64_t address = c->low + path.at;
	struct code_frame frame = c->frames[path.frame];

	for (bool first = true; c->steps < STEPS_MAX; first = false, c->steps++) {
		struct code_insn insn;
		size_t left = 0;
		const uint8_t *at = is_code(c, address) ? bytes_at(c, address, &left) : NULL;

		if (at && path_meets(c, address - c->low, path.function))
			return;
		if (!at || (!first && begins_at(c, address)) ||
			!c->machine->read(at, left, address, &insn))
			break;
		c->places[address - c->low] = (struct place){path.frame + 1, path.function};
		path_data(c, &path, &insn);
		path_leaves(c, &path, &insn);
		if (insn.flow == CODE_CALL
				? is_code(c, insn.target) && bit(c->no_return, insn.target - c->low)
				: insn.flow == CODE_JUMP || insn.flow == CODE_RETURN ||
					  insn.flow == CODE_END)
			return;
		if (!code_frame_step(&frame, &insn))
			break;
		if (insn.sp != CODE_SP_MOVES || insn.sp_by || insn.fp != CODE_FP_STAYS ||
			insn.link != CODE_LINK_STAYS)
			path.frame = frame_id(c, &frame);
		address += insn.bytes;
	}
	bit_set(c->returns, path.function);
}

/* One round. Returns false if it was stopped, or takes too many steps. */
static bool round_follow(struct code *c)
{
	memset(c->places, 0, (c->high - c->low) * sizeof(*c->places));
	memset(c->returns, 0, (c->high - c->low) / 8 + 1);
	c->path_count = 0;
	c->found = false;
	for (uint64_t at = c->low; at < c->high; at = c->function_high) {
		c->function_low = at;
		for (c->function_high = at + 1; c->function_high < c->high; c->function_high++)
			if (begins_at(c, c->function_high))
				break;
		if (!begins_at(c, at))
			continue;
		if ((c->stop && atomic_load(c->stop)) || c->steps >= STEPS_MAX)
			return false;
		memset(c->in_register, 0, sizeof(c->in_register));
		path_add(c, at, (struct path){.function = (uint32_t)(at - c->low)});
		while (c->path_count)
			path_follow(c, c->paths[--c->path_count]);
	}
	bool new_starts = c->found;
	/*
	 * Functions that were followed to all their ends without returning do not return; but with new starts, some of these ends
	 * may belong to another function.
	 */
	for (uint64_t at = 0; !new_starts && at < c->high - c->low; at++) {
		if (!bit(c->begins, at) || !c->places[at].frame || bit(c->returns, at) ||
			bit(c->no_return, at))
			continue;
		bit_set(c->no_return, at);
		c->found = true;
	}
	return true;
}

/* --- interface ----------------------------------------------------------------------------------------- */

bool code_readable(unsigned elf_machine)
{
	return machine_find(elf_machine) != NULL;
}

struct code *code_open(Elf *elf, const uint64_t *no_return, size_t count, const atomic_bool *stop)
{
	struct code *c = xcalloc(1, sizeof(*c));
	GElf_Ehdr ehdr;
	bool done = true;

	c->low = UINT64_MAX;
	c->stop = stop;
	c->machine = gelf_getehdr(elf, &ehdr) ? machine_find(ehdr.e_machine) : NULL;
	if (c->machine)
		sections_read(c, elf);
	if (c->low >= c->high || c->high - c->low > CODE_MAX) {
		code_close(c);
		return NULL;
	}
	c->begins = xcalloc((c->high - c->low) / 8 + 1, 1);
	c->returns = xcalloc((c->high - c->low) / 8 + 1, 1);
	c->no_return = xcalloc((c->high - c->low) / 8 + 1, 1);
	c->places = xcalloc(c->high - c->low, sizeof(*c->places));
	frame_id(c, &c->machine->at_begin);
	begins_read(c, elf);
	for (size_t i = 0; i < count; i++)
		if (is_code(c, no_return[i])) {
			bit_set(c->begins, no_return[i] - c->low);
			bit_set(c->no_return, no_return[i] - c->low);
		}
	begins_add(c, ehdr.e_entry);
	c->found = true;
	for (unsigned round = 0; done && c->found && round < ROUNDS_MAX; round++)
		done = round_follow(c);
	if (!done) {
		code_close(c);
		return NULL;
	}
	return c;
}

void code_rows(const struct code *c, uint64_t start, uint64_t end, code_row_fn *fn, void *ctx)
{
	const struct wire_unwind_rule none = {0};
	uint64_t behind = 0; /* end of the last known instruction */

	if (start < c->low)
		start = c->low;
	for (uint64_t at = start; at < end && at < c->high; at++) {
		uint32_t frame = c->places[at - c->low].frame; /* id + 1 */
		struct code_insn insn;
		size_t left = 0;

		if (behind && at == behind && !frame)
			fn(ctx, at, none);
		if (!frame)
			continue;
		const uint8_t *bytes = bytes_at(c, at, &left);
		if (!bytes || !c->machine->read(bytes, left, at, &insn))
			continue;
		fn(ctx, at, code_frame_rule(&c->frames[frame - 1]));
		behind = at + insn.bytes;
	}
}

void code_begins(const struct code *c, void (*fn)(void *ctx, uint64_t address), void *ctx)
{
	for (uint64_t at = c->low; at < c->high; at++)
		if (begins_at(c, at))
			fn(ctx, at);
}

void code_close(struct code *c)
{
	free(c->begins);
	free(c->returns);
	free(c->no_return);
	free(c->places);
	free(c->frames);
	hash_index_done(&c->frame_index);
	free(c->paths);
	free(c);
}
