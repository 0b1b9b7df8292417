/* SPDX-License-Identifier: Apache-2.0 */
/* Looks through .dynsym from its beginning each time: some hundred names, asked for once. */
#include "symbols/dynsym.h"

#include "base/buf.h"
#include "symbols/elf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SEGMENTS       16
#define VERSION_HIDDEN 0x8000

struct dynsym {
	int fd;
	Elf *elf;
	Elf_Data *symbols, *versions; /* versions: NULL if there are none */
	size_t count, names;          /* names: the section of their names */
	uint64_t bias;                /* from an address in the file to one in the target */
};

static bool find_section(struct dynsym *d)
{
	GElf_Shdr header;
	Elf_Scn *scn = elf_section_of_type(d->elf, SHT_GNU_versym, &header);

	d->versions = scn ? elf_getdata(scn, NULL) : NULL;
	scn = elf_section_of_type(d->elf, SHT_DYNSYM, &header);
	if (!scn || !header.sh_entsize || !(d->symbols = elf_getdata(scn, NULL)))
		return false;
	d->count = d->symbols->d_size / header.sh_entsize;
	d->names = header.sh_link;
	return true;
}

static bool find_bias(struct dynsym *d, uint64_t start)
{
	struct elf_segment segments[SEGMENTS];
	uint32_t n = elf_symbols_segments(d->elf, segments, SEGMENTS);

	for (uint32_t i = 0; i < n; i++)
		if (segments[i].offset == 0) {
			d->bias = start - segments[i].address;
			return true;
		}
	return false;
}

struct dynsym *dynsym_open(pid_t pid, const struct proc_map *m, struct err *err)
{
	struct dynsym *d = xcalloc(1, sizeof(*d));

	d->fd = proc_open_mapped(pid, m);
	if (d->fd < 0) {
		errno = -d->fd;
		err_set_errno(err, ERR_FAILED, "%s cannot be read", m->path);
		goto fail;
	}
	d->elf = elf_file_begin(d->fd);
	if (!d->elf || !find_section(d) || !find_bias(d, m->start)) {
		err_set(err, ERR_FAILED, "%s is not a 64-bit library with dynamic symbols.",
			m->path);
		goto fail;
	}
	return d;
fail:
	dynsym_close(d);
	return NULL;
}

void dynsym_close(struct dynsym *d)
{
	if (!d)
		return;
	elf_end(d->elf);
	if (d->fd >= 0)
		close(d->fd);
	free(d);
}

/* Is it there only for programs that were linked with an older version of the library? */
static bool dynsym_is_old(const struct dynsym *d, size_t symbol)
{
	GElf_Versym version;

	return d->versions && gelf_getversym(d->versions, (int)symbol, &version) &&
	       version & VERSION_HIDDEN;
}

/* dynsym_symbol: the one of this name that the file defines, or imports; its number, 0 = none. */
static size_t dynsym_symbol(const struct dynsym *d, const char *name, bool imported, GElf_Sym *out)
{
	size_t found = 0;

	for (size_t i = 1; i < d->count && i < INT32_MAX; i++) {
		const char *text;
		GElf_Sym sym;

		if (!gelf_getsym(d->symbols, (int)i, &sym))
			break;
		if ((sym.st_shndx == SHN_UNDEF) != imported || (found && dynsym_is_old(d, i)))
			continue;
		text = elf_strptr(d->elf, d->names, sym.st_name);
		if (!text || strcmp(text, name) != 0)
			continue;
		found = i;
		*out = sym;
		if (!dynsym_is_old(d, i))
			break;
	}
	return found;
}

uint64_t dynsym_find(const struct dynsym *d, const char *name, bool *indirect)
{
	GElf_Sym sym;
	bool found = dynsym_symbol(d, name, false, &sym);

	if (indirect)
		*indirect = found && GELF_ST_TYPE(sym.st_info) == STT_GNU_IFUNC;
	return found ? d->bias + sym.st_value : 0;
}

static bool dynsym_is_slot(uint64_t type)
{
	return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT ||
	       type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT;
}

/* The slot that one section of relocations has for this symbol. */
static uint64_t dynsym_slot(const struct dynsym *d, Elf_Scn *scn, size_t symbol)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	GElf_Rela rela;

	for (int i = 0; data && gelf_getrela(data, i, &rela); i++)
		if (GELF_R_SYM(rela.r_info) == symbol && dynsym_is_slot(GELF_R_TYPE(rela.r_info)))
			return d->bias + rela.r_offset;
	return 0;
}

uint64_t dynsym_import(const struct dynsym *d, const char *name)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr header;
	GElf_Sym sym;
	size_t symbol = dynsym_symbol(d, name, true, &sym);
	uint64_t slot = 0;

	while (symbol && !slot && (scn = elf_nextscn(d->elf, scn)))
		if (gelf_getshdr(scn, &header) && header.sh_type == SHT_RELA)
			slot = dynsym_slot(d, scn, symbol);
	return slot;
}
