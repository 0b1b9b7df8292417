/* SPDX-License-Identifier: Apache-2.0 */
/* Unwind rows of one ELF file: finds the address ranges with call frame information, compiles each, and packs the rows. */
#include "symbols/cfi.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/hash.h"
#include "symbols/cfi_program.h"
#include "symbols/code/code.h"
#include "symbols/elf.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#define RANGES_MAX        (1u << 20)
#define ROWS_MAX          (4u << 20)
#define OFFSET_MAX        UINT32_MAX
#define SEGMENTS_MAX      16
#define COMPILE_MAX_NS    (5 * NS_PER_S) /* CPU time; libjvm takes 0.02 s */
#define ROWS_PER_CLOCK    64
#define ENTRIES_PER_CLOCK 4096
/* bytes; smaller gaps are not analyzed: each file has a few bytes before its functions */
#define GAP_MIN     4096
#define PADDING_MAX 64 /* bytes; smaller gaps between functions are alignment, not code */

enum source { SOURCE_EH, SOURCE_DEBUG, SOURCE_CODE };

/* The range of one FDE, or a gap that is read as code. */
struct range {
	uint64_t start, end;        /* virtual addresses in the file */
	struct cfi_program program; /* not for SOURCE_CODE, as cie */
	uint32_t cie;               /* index in cies */
	enum source source;
};

struct cfi {
	Elf *elf, *debug; /* debug: the separate debug file, or NULL */
	const struct cfi_machine *machine;
	struct elf_segment segments[SEGMENTS_MAX]; /* of code only */
	size_t segment_count;
	struct cfi_cie *cies; /* in the order of their first FDE */
	struct range *ranges; /* sorted, disjoint */
	size_t range_count, row_count;
	uint32_t cie_count, cie_cap, range_cap, row_cap;
	struct cfi_row *rows;
	uint64_t start_ns;   /* CPU time of the thread at which compiling started */
	struct code *code;   /* set while compiling; NULL: the code cannot be analyzed */
	unsigned work_polls; /* rows executed; the limits are checked every ROWS_PER_CLOCK */
	bool of_code;        /* some ranges are SOURCE_CODE */
};

/* --- the ranges -------------------------------------------------------------------------------------- */

static struct range *range_add(struct cfi *c, enum source source, uint64_t start, uint64_t length)
{
	if (!length || start + length < start || c->range_count == RANGES_MAX)
		return NULL;
	c->ranges = xgrow(c->ranges, c->range_count, &c->range_cap, sizeof *c->ranges);
	c->ranges[c->range_count] =
		(struct range){.start = start, .end = start + length, .source = source};
	return &c->ranges[c->range_count++];
}

/* Adds the ranges of all FDEs of a section. */
static void ranges_of_section(
	struct cfi *c, enum source source, Elf *elf, Elf_Data *data, uint64_t address)
{
	const unsigned char *ident = (const unsigned char *)elf_getident(elf, NULL);
	const bool eh_frame = source == SOURCE_EH;
	Dwarf_Off offset = 0, next, cie_offset = (Dwarf_Off)-1;
	uint64_t start_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	bool cie_valid = false;
	Dwarf_CFI_Entry entry;

	for (unsigned n = 1; offset < data->d_size; offset = next, n++) {
		struct cfi_program program;
		uint64_t length;

		if (n % ENTRIES_PER_CLOCK == 0 &&
			clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns > COMPILE_MAX_NS)
			return;
		next = offset;
		int r = dwarf_next_cfi(ident, data, eh_frame, offset, &next, &entry);
		if (r > 0 || next <= offset)
			return;
		if (r < 0 || dwarf_cfi_cie_p(&entry))
			continue;
		if (entry.fde.CIE_pointer != cie_offset) {
			Dwarf_CFI_Entry cie;
			Dwarf_Off unused;

			cie_offset = entry.fde.CIE_pointer;
			c->cies = xgrow(c->cies, c->cie_count, &c->cie_cap, sizeof *c->cies);
			cie_valid =
				!dwarf_next_cfi(ident, data, eh_frame, cie_offset, &unused, &cie) &&
				dwarf_cfi_cie_p(&cie) &&
				cfi_cie_read(c->machine, &cie.cie, &c->cies[c->cie_count]);
			c->cie_count += cie_valid;
		}
		if (!cie_valid || !cfi_program_read(&c->cies[c->cie_count - 1], &entry.fde,
					  address + (uint64_t)(entry.fde.start -
							       (const uint8_t *)data->d_buf),
					  &program, &length))
			continue;
		struct range *range = range_add(c, source, program.start, length);
		if (range) {
			range->program = program;
			range->cie = c->cie_count - 1;
		}
	}
}

static int range_compare(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (int)x->source - (int)y->source;
}

/* Sorts the ranges; of two that overlap, the first one wins. */
static void ranges_settle(struct cfi *c)
{
	uint64_t end = 0;
	size_t kept = 0;

	if (c->range_count)
		qsort(c->ranges, c->range_count, sizeof *c->ranges, range_compare);
	for (size_t i = 0; i < c->range_count; i++) {
		struct range r = c->ranges[i];

		if (r.start < end)
			r.start = end;
		if (r.start >= r.end)
			continue;
		end = r.end;
		c->ranges[kept++] = r;
	}
	c->range_count = kept;
}

/*
 * Adds the ranges not covered by any source, if they are most of the file's code. libm and libz have no such gaps; musl's libc
 * is one.
 */
static void gaps_read(struct cfi *c)
{
	uint64_t code = 0, described = 0;
	size_t ranges = c->range_count;

	for (size_t i = 0; i < ranges; i++)
		described += c->ranges[i].end - c->ranges[i].start;
	for (size_t i = 0; i < c->segment_count; i++)
		code += c->segments[i].bytes;
	if (described >= code / 2 || !code_readable(c->machine->elf_machine))
		return;
	for (size_t i = 0; i < c->segment_count; i++) {
		const struct elf_segment *seg = &c->segments[i];
		uint64_t at = seg->address, end = seg->address + seg->bytes;

		for (size_t j = 0; j <= ranges && at < end; j++) {
			uint64_t next = j < ranges ? c->ranges[j].start : end;

			if (next > end)
				next = end;
			if (next > at && next - at >= GAP_MIN) {
				range_add(c, SOURCE_CODE, at, next - at);
				c->of_code = true;
			}
			if (j < ranges && c->ranges[j].end > at)
				at = c->ranges[j].end;
		}
	}
	ranges_settle(c);
}

/* --- opening ----------------------------------------------------------------------------------------- */

/* False if the file has no such section with usable contents. */
static bool section_read(struct cfi *c, enum source source, Elf *elf, const char *section)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = elf_section(elf, section, &shdr);

	if (!scn || shdr.sh_type == SHT_NOBITS)
		return false;
	if (source == SOURCE_DEBUG && (shdr.sh_flags & SHF_COMPRESSED))
		elf_compress(scn, 0, 0);
	Elf_Data *data = source == SOURCE_EH ? elf_rawdata(scn, NULL) : elf_getdata(scn, NULL);
	if (!data || !data->d_buf)
		return false;
	ranges_of_section(c, source, elf, data, shdr.sh_addr);
	return true;
}

static int segments_read(struct cfi *c)
{
	uint32_t all = elf_symbols_segments(c->elf, c->segments, SEGMENTS_MAX);

	for (uint32_t i = 0; i < all; i++) {
		const struct elf_segment s = c->segments[i];

		if (!s.is_code)
			continue;
		if (s.address + s.bytes < s.address || s.bytes > OFFSET_MAX ||
			s.offset > OFFSET_MAX - s.bytes)
			return -1;
		c->segments[c->segment_count++] = s;
	}
	return c->segment_count ? 0 : -1;
}

/* Takes ownership of elf and debug, also on failure. */
static struct cfi *open_elf(Elf *elf, Elf *debug, struct err *err)
{
	struct cfi *c = xcalloc(1, sizeof *c);
	GElf_Ehdr ehdr;

	c->elf = elf;
	c->debug = debug;
	if (!elf || elf_kind(elf) != ELF_K_ELF || gelf_getclass(elf) != ELFCLASS64 ||
		!gelf_getehdr(elf, &ehdr)) {
		err_set(err, ERR_INPUT, "This is not a 64-bit ELF file.");
		goto fail;
	}
	c->machine = cfi_machine_find(ehdr.e_machine);
	if (!c->machine) {
		err_set(err, ERR_INPUT, "This ELF file is for another kind of CPU (%d).",
			ehdr.e_machine);
		goto fail;
	}
	if (segments_read(c)) {
		err_set(err, ERR_INPUT, "This ELF file has no valid code segment.");
		goto fail;
	}
	section_read(c, SOURCE_EH, c->elf, ".eh_frame");
	if (!section_read(c, SOURCE_DEBUG, c->elf, ".debug_frame") && c->debug)
		section_read(c, SOURCE_DEBUG, c->debug, ".debug_frame");
	ranges_settle(c);
	gaps_read(c);
	if (!c->range_count) {
		err_set(err, ERR_INPUT, "This ELF file has no call frame information.");
		goto fail;
	}
	return c;
fail:
	cfi_close(c);
	return NULL;
}

struct cfi *cfi_open(int fd, int debug_fd, struct err *err)
{
	elf_version(EV_CURRENT);
	return open_elf(elf_file_begin(fd), debug_fd < 0 ? NULL : elf_file_begin(debug_fd), err);
}

struct cfi *cfi_open_image(const void *image, size_t bytes, struct err *err)
{
	elf_version(EV_CURRENT);
	/* The cast is safe: elf_memory implies ELF_C_READ. */
	return open_elf(elf_memory((char *)(uintptr_t)image, bytes), NULL, err);
}

struct cfi *cfi_open_vdso(struct err *err)
{
	return open_elf(elf_file_begin_vdso(), NULL, err);
}

void cfi_close(struct cfi *c)
{
	if (!c)
		return;
	elf_end(c->elf);
	elf_end(c->debug);
	if (c->code)
		code_close(c->code);
	free(c->cies);
	free(c->ranges);
	free(c->rows);
	free(c);
}

bool cfi_of_code(const struct cfi *c)
{
	return c->of_code;
}

/* --- compiling --------------------------------------------------------------------------------------- */

/* Appends a row, unless the last one has the same rule. A row at the offset of the last one replaces it. */
static void row_add(struct cfi *c, uint64_t offset, struct wire_unwind_rule rule)
{
	struct cfi_row *last = c->row_count ? &c->rows[c->row_count - 1] : NULL;

	if (last && last->offset == offset) /* a range ends where the next one starts */
		last = --c->row_count ? last - 1 : NULL;
	if (last && offset < last->offset) /* segments in an order that no linker produces */
		return;
	if (last ? !memcmp(&last->rule, &rule, sizeof rule) : rule.cfa == CFI_CFA_NONE)
		return;
	c->rows = xgrow(c->rows, c->row_count, &c->row_cap, sizeof *c->rows);
	c->rows[c->row_count++] = (struct cfi_row){offset, rule};
}

/* Context of code_row: the segment that code_rows reports on. */
struct code_range {
	struct cfi *c;
	const struct elf_segment *segment;
};

static void code_row(void *ctx, uint64_t address, struct wire_unwind_rule rule)
{
	const struct code_range *r = ctx;

	row_add(r->c, address - r->segment->address + r->segment->offset, rule);
}

/* Appends the rows of a range. False when a work limit is reached or *stop is set. */
static bool range_compile(struct cfi *c, const struct range *r, const atomic_bool *stop)
{
	const struct elf_segment *seg = elf_segment_at(c->segments, c->segment_count, r->start);
	struct wire_unwind_rule rule = {0};
	uint64_t at, end = r->end;
	struct cfi_run run;

	if (!seg) /* code that is not mapped */
		return true;
	if (end > seg->address + seg->bytes)
		end = seg->address + seg->bytes;
	if (r->source == SOURCE_CODE) {
		struct code_range range = {c, seg};

		if (c->code)
			code_rows(c->code, r->start, r->end, code_row, &range);
		code_row(&range, r->end, rule);
		return c->row_count <= ROWS_MAX;
	}
	cfi_run_begin(&run, &c->cies[r->cie], &r->program);
	while (cfi_run_next(&run, &at, &rule)) {
		if (++c->work_polls % ROWS_PER_CLOCK == 0 &&
			((stop && atomic_load(stop)) || c->row_count > ROWS_MAX ||
				clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - c->start_ns >
					COMPILE_MAX_NS))
			return false;
		if (at < r->start) /* the range was clipped */
			at = r->start;
		if (at >= end)
			break;
		row_add(c, at - seg->address + seg->offset, rule);
	}
	rule = (struct wire_unwind_rule){0};
	if (r + 1 == c->ranges + c->range_count || r[1].start - end > PADDING_MAX)
		row_add(c, end - seg->address + seg->offset, rule);
	return true;
}

int cfi_compile(struct cfi *c, const atomic_bool *stop, struct err *err)
{
	c->start_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	if (c->of_code)
		c->code = elf_symbols_code(c->elf, stop);
	for (size_t i = 0; i < c->range_count; i++)
		if (!range_compile(c, &c->ranges[i], stop))
			return err_set(err, ERR_INPUT,
				"The call frame information of this file exceeds jhot's limits.");
	if (!c->row_count)
		return err_set(err, ERR_INPUT,
			"This ELF file has no call frame information, and its code cannot be "
			"read.");
	return 0;
}

const struct cfi_row *cfi_rows(const struct cfi *c, size_t *count)
{
	*count = c->row_count;
	return c->rows;
}

/* --- packing ----------------------------------------------------------------------------------------- */

/*
 * A block has pages of 64 kB of code and a dictionary of rules: 4 bytes per row instead of 24. wire/unwind.h describes it.
 */
#define PAGE_BITS 16
#define RULES_MAX 65536u

struct pack {
	struct hash_index index; /* of rules */
	struct buf rules, rows, pages;
};

struct rule_key {
	const struct pack *pack;
	const struct wire_unwind_rule *rule;
};

static bool rule_same(const void *ctx, uint32_t id)
{
	const struct rule_key *key = ctx;

	return !memcmp(
		key->pack->rules.data + id * sizeof *key->rule, key->rule, sizeof *key->rule);
}

/* The id of a rule in the dictionary, to which it is added if it is new. */
static uint32_t rule_id(struct pack *p, const struct wire_unwind_rule *rule)
{
	struct rule_key key = {p, rule};
	uint64_t hash = hash_bytes(rule, sizeof *rule, 0);
	uint32_t id = hash_index_find(&p->index, hash, rule_same, &key);

	if (id == HASH_NONE) {
		id = (uint32_t)(p->rules.len / sizeof *rule);
		buf_add(&p->rules, rule, sizeof *rule);
		hash_index_add(&p->index, hash, id);
	}
	return id;
}

static uint32_t row_count(const struct pack *p)
{
	return (uint32_t)(p->rows.len / sizeof(uint32_t));
}

static void add_u32(struct buf *b, uint32_t v)
{
	buf_add(b, &v, sizeof v);
}

/* A lookup stays within one page, so each page begins with the rule in force at its start. */
static void page_begin(
	struct pack *p, uint64_t page, const struct cfi_row *before, const struct cfi_row *first)
{
	add_u32(&p->pages, row_count(p));
	if (before && before->rule.cfa != CFI_CFA_NONE &&
		(!first || first->offset != page << PAGE_BITS))
		add_u32(&p->rows, WIRE_UNWIND_ROW(0, rule_id(p, &before->rule)));
}

int unwind_pack(const struct cfi_row *rows, size_t count, struct buf *out, struct err *err)
{
	struct pack p = {0};
	struct wire_unwind_rows head = {0};
	int r = 0;

	if (!count)
		return err_set(err, ERR_INPUT, "This file has no unwind rows.");
	if (rows[count - 1].offset >> 32)
		return err_set(err, ERR_INPUT, "This file is too large for unwind rows.");
	uint64_t page = rows[0].offset >> PAGE_BITS;
	page_begin(&p, page, NULL, &rows[0]);
	for (size_t i = 0; i < count; i++) {
		while (rows[i].offset >> PAGE_BITS > page)
			page_begin(&p, ++page, &rows[i - 1], &rows[i]);
		add_u32(&p.rows, WIRE_UNWIND_ROW(rows[i].offset, rule_id(&p, &rows[i].rule)));
	}
	head.page_first = (uint32_t)(rows[0].offset >> PAGE_BITS);
	head.page_count = (uint32_t)(p.pages.len / sizeof(uint32_t));
	head.row_count = row_count(&p);
	head.rule_count = (uint32_t)(p.rules.len / sizeof(struct wire_unwind_rule));
	add_u32(&p.pages, head.row_count);
	head.bytes = (uint32_t)(sizeof head + p.pages.len + p.rows.len + p.rules.len);
	if (head.rule_count > RULES_MAX) {
		r = err_set(err, ERR_INPUT, "This file has too many different unwind rules.");
	} else {
		buf_add(out, &head, sizeof head);
		buf_add(out, p.pages.data, p.pages.len);
		buf_add(out, p.rows.data, p.rows.len);
		buf_add(out, p.rules.data, p.rules.len);
	}
	hash_index_done(&p.index);
	buf_done(&p.rules);
	buf_done(&p.rows);
	buf_done(&p.pages);
	return r;
}
