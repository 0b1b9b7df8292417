/* SPDX-License-Identifier: Apache-2.0 */
/* ELF files: names, exported symbols, debug files, call frame information; and lists of names. */
#include "base/buf.h"
#include "base/clean.h"
#include "symbols/cfi.h"
#include "symbols/dynsym.h"
#include "symbols/elf.h"
#include "symbols/symbols.h"
#include "tests/fuzz/targets.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OFFSETS 64

static void ask_names(const struct proc_map *where)
{
	struct symbols *s = symbols_new(0, 0);
	int m = symbols_module_add(s, where);
	struct symbol sym;

	for (uint64_t i = 0; i < OFFSETS; i++) {
		symbols_native(s, m, i * 61, &sym);
		symbols_native(s, m, sym.start, &sym);
	}
	symbols_function(s, m, where, "main");
	symbols_function(s, m, where, "ns::main");
	symbols_note(s);
	symbols_free(s);
}

static void ask_exports(const struct proc_map *where)
{
	struct dynsym *d = dynsym_open(0, where, NULL);
	bool indirect;

	if (!d)
		return;
	dynsym_find(d, "memcpy", NULL);
	dynsym_find(d, "function", &indirect);
	dynsym_import(d, "malloc");
	dynsym_close(d);
}

void fuzz_elf(const uint8_t *data, size_t bytes)
{
	char path[64];
	int fd = fuzz_file(data, bytes, path), debug;
	struct proc_map where = {.path = path, .end = 1u << 20};

	ask_names(&where);
	ask_exports(&where);
	debug = elf_debug_open(fd, 0, path);
	if (debug >= 0)
		close(debug);
	close(fd);
}

static void check_rows(const struct cfi_row *rows, size_t count)
{
	struct buf block = {0};

	for (size_t i = 1; i < count; i++)
		if (rows[i].offset <= rows[i - 1].offset)
			abort();
	unwind_pack(rows, count, &block, NULL);
	buf_done(&block);
}

static void compile(struct cfi *c)
{
	const struct cfi_row *rows;
	size_t count;

	if (c && !cfi_compile(c, NULL, NULL)) {
		rows = cfi_rows(c, &count);
		check_rows(rows, count);
	}
	cfi_close(c);
}

void fuzz_cfi(const uint8_t *data, size_t bytes)
{
	char path[64];
	int fd = fuzz_file(data, bytes, path);

	compile(cfi_open(fd, fd, NULL));
	compile(cfi_open_image(data, bytes, NULL));
	close(fd);
}

static void ask_table(struct symtab *t)
{
	for (uint64_t at = 0; at < 1u << 16; at += 997) {
		const struct symtab_entry *e = symtab_find(t, at);

		if (e)
			symtab_name(t, e);
	}
	symtab_done(t);
}

/* The first byte chooses: kallsyms, a perf map, a mangled name, a class's name. */
void fuzz_names(const uint8_t *data, size_t bytes)
{
	struct symtab table = {0};
	struct buf out = {0};
	char *text, small[24];
	FILE *f;

	if (bytes < 2)
		return;
	text = xstrndup((const char *)data + 1, bytes - 1);
	f = fmemopen((void *)(uintptr_t)(data + 1), bytes - 1, "r");
	switch (data[0] % 4) {
	case 0: kallsyms_read(f, &table); break;
	case 1: perfmap_read(f, &table); break;
	case 2: free(demangle_name(text)); break;
	default:
		clean_add_class(&out, (const char *)data + 1, bytes - 1);
		clean_text(small, sizeof(small), (const char *)data + 1, bytes - 1);
	}
	ask_table(&table);
	fclose(f);
	buf_done(&out);
	free(text);
}
