/* SPDX-License-Identifier: Apache-2.0 */
/* All sources of names of one file. Any of them may be incomplete, so all that exist are merged. */
#include "symbols/elf.h"

#include "symbols/code/code.h"

#include <sys/mman.h>

#define MINI_MAX     (4u << 20)  /* of packed bytes; libc's are 100 kB */
#define UNPACKED_MAX (64u << 20) /* and unpacked 400 kB */

/* .gnu_debugdata: an xz-packed ELF file with a .symtab. How many functions it names. */
static uint32_t read_mini(Elf *elf, struct symtab *out)
{
	GElf_Shdr header;
	Elf_Scn *scn = elf_section(elf, ".gnu_debugdata", &header);
	Elf_Data *data = scn ? elf_rawdata(scn, NULL) : NULL;
	size_t size = 0;
	char *image = data && data->d_buf && data->d_size <= MINI_MAX
			      ? elf_file_unpack(data->d_buf, data->d_size, UNPACKED_MAX, &size)
			      : NULL;
	Elf *unpacked = image ? elf_memory(image, size) : NULL;
	uint32_t found = 0;

	if (unpacked && gelf_getclass(unpacked) == ELFCLASS64)
		found = elf_symbols_table(unpacked, SHT_SYMTAB, out);
	elf_end(unpacked);
	if (image)
		munmap(image, UNPACKED_MAX);
	return found;
}

static void add_mark(void *ctx, uint64_t address)
{
	if (!symtab_is_full(ctx))
		symtab_add(ctx, address, 0, "", SYMTAB_MARK);
}

/* Where functions begin: from the code itself if the file describes less than half of those that have names. */
static void read_marks(Elf *elf, uint32_t names, struct symtab *out)
{
	struct code *code;

	if (elf_symbols_marks(elf, out) >= names / 2)
		return;
	code = elf_symbols_code(elf, out->stop);
	if (!code)
		return;
	code_begins(code, add_mark, out);
	code_close(code);
}

static uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

void elf_names_read(Elf *elf, Elf *debug, struct symtab *out)
{
	uint32_t whole = elf_symbols_table(elf, SHT_SYMTAB, out);
	uint32_t split = debug ? elf_symbols_table(debug, SHT_SYMTAB, out) : 0;
	uint32_t exported;

	if (!split)
		split = read_mini(elf, out);
	exported = elf_symbols_table(elf, SHT_DYNSYM, out);
	elf_symbols_plt(elf, out);
	read_marks(elf, larger(larger(whole, split), exported), out);
	symtab_finish(out);
}
