/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unwind rows derived from machine code, against the call frame information that compilers wrote for the same code:
 * at each byte of some libraries where both have a rule by sp, the rules are equal.
 *
 *    usage: test_code [FILE...]      these files instead
 */
#include "symbols/cfi.h"
#include "symbols/code/code.h"
#include "symbols/elf.h"
#include "tests/tap.h"

#include <dlfcn.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <libelf.h>
#include <link.h>
#include <lzma.h>
#include <unistd.h>
#include <zlib.h>

#define TOLD_LEAST 10000 /* bytes with rules by sp, of which a share says something */

/* In bytes of code. */
struct tally {
	const struct cfi_row *rows; /* the information's */
	size_t count, at;
	uint64_t shift; /* from addresses to file offsets */
	uint64_t told, same, other;
	struct wire_unwind_rule rule; /* the code's, from here on */
	uint64_t since, first_other;
};

/* Asked in ascending order. */
static const struct wire_unwind_rule *told_at(struct tally *t, uint64_t offset)
{
	while (t->at + 1 < t->count && t->rows[t->at + 1].offset <= offset)
		t->at++;
	return t->rows[t->at].offset <= offset && t->rows[t->at].rule.cfa == CFI_CFA_SP
		       ? &t->rows[t->at].rule
		       : NULL;
}

static bool same_place(unsigned told, int told_at_cfa, unsigned read, int read_at_cfa)
{
	return told == read && (told != CFI_SAVED_CFA || told_at_cfa == read_at_cfa);
}

/* Compilers do not say that registers have been restored: they are still where they were saved, too. */
static bool same_rule(const struct wire_unwind_rule *told, const struct wire_unwind_rule *read)
{
	bool fp = same_place(told->fp, told->fp_offset, read->fp, read->fp_offset);
	bool ra = same_place(told->ra, told->ra_offset, read->ra, read->ra_offset);

	if (told->cfa_offset != read->cfa_offset)
		return false;
	if (read->ra == CFI_SAVED_NOT && read->fp == CFI_SAVED_NOT && told->ra == CFI_SAVED_CFA)
		return true;
	return ra && (fp || (read->fp == CFI_SAVED_NOT && told->fp == CFI_SAVED_CFA &&
				    told->fp_offset < -told->cfa_offset));
}

static void compare(struct tally *t, uint64_t end)
{
	for (uint64_t at = t->since; t->rule.cfa == CFI_CFA_SP && at < end; at++) {
		const struct wire_unwind_rule *told = told_at(t, at + t->shift);

		if (!told)
			continue;
		if (same_rule(told, &t->rule)) {
			t->same++;
			continue;
		}
		t->other++;
		if (!t->first_other)
			t->first_other = at;
	}
}

static void row(void *ctx, uint64_t address, struct wire_unwind_rule rule)
{
	struct tally *t = ctx;

	compare(t, address);
	t->since = address;
	t->rule = rule;
}

static void segment(struct tally *t, const struct code *code, const struct elf_segment *s)
{
	t->at = 0;
	for (uint64_t i = 0; i < s->bytes; i++)
		t->told += told_at(t, s->offset + i) != NULL;
	t->at = 0;
	t->shift = s->offset - s->address;
	t->rule = (struct wire_unwind_rule){0};
	code_rows(code, s->address, s->address + s->bytes, row, t);
	compare(t, s->address + s->bytes);
}

static void file(const char *name, const char *path)
{
	struct elf_segment segments[16];
	struct tally t = {.rows = NULL};
	struct err err;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct cfi *cfi = cfi_open(fd, -1, &err);
	Elf *elf = elf_file_begin(fd);
	struct code *code = elf ? elf_symbols_code(elf, NULL) : NULL;
	uint32_t count = elf ? elf_symbols_segments(elf, segments, 16) : 0;

	if (cfi && cfi_of_code(cfi)) { /* musl's libc */
		tap_skip(name, "it has no call frame information to compare with");
	} else if (ok(cfi && code && !cfi_compile(cfi, NULL, &err),
			   "%s has code and call frame information", name)) {
		t.rows = cfi_rows(cfi, &t.count);
		for (uint32_t i = 0; i < count; i++)
			if (segments[i].is_code)
				segment(&t, code, &segments[i]);
		diag("%s: of %llu bytes %.1f %% are read, of those %.3f %% otherwise than told, "
		     "first at %llx",
			name, (unsigned long long)t.told,
			100.0 * (double)(t.same + t.other) / (double)t.told,
			100.0 * (double)t.other / (double)(t.same + t.other),
			(unsigned long long)t.first_other);
		if (t.told < TOLD_LEAST)
			tap_skip(name, "it keeps frame pointers, as sanitized code does");
		else
			ok(t.same * 10 > t.told * 7, "%s: most of it is read", name);
		ok(t.other * 200 < t.same,
			"%s: fewer than 0.5 %% of the derived rules differ from the compiler's",
			name);
	}
	if (code)
		code_close(code);
	elf_end(elf);
	cfi_close(cfi);
	close(fd);
}

/* The library that has this function. */
static void library(const char *name, void *function)
{
	Dl_info info;

	file(name, dladdr(function, &info) ? info.dli_fname : "");
}

int main(int argc, char **argv)
{
	elf_version(EV_CURRENT);
	for (int i = 1; i < argc; i++)
		file(argv[i], argv[i]);
	if (argc > 1)
		return tap_done();
	library("libz", (void *)(uintptr_t)inflate);
	library("liblzma", (void *)(uintptr_t)lzma_code);
	library("libelf", (void *)(uintptr_t)elf_begin);
	library("libdw", (void *)(uintptr_t)dwarf_begin);
	library("libc", (void *)(uintptr_t)printf);
	library("this program", (void *)(uintptr_t)row); /* it has all its symbols */
	return tap_done();
}
