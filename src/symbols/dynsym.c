/* SPDX-License-Identifier: Apache-2.0 */
/* Looks through .dynsym from its beginning each time: some hundred names, asked for once. */
#include "symbols/dynsym.h"

#include "base/buf.h"
#include "symbols/elf_symbols.h"
#include "symbols/target_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SEGMENTS 16

struct dynsym {
	int fd;
	Elf *elf;
	Elf_Data *symbols;
	size_t count, names; /* names: the section of their names */
	uint64_t bias;       /* from an address in the file to one in the target */
};

static bool find_section(struct dynsym *d)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr header;

	while ((scn = elf_nextscn(d->elf, scn)))
		if (gelf_getshdr(scn, &header) && header.sh_type == SHT_DYNSYM)
			break;
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

struct dynsym *dynsym_open(pid_t pid, const struct symbols_module *m, struct err *err)
{
	struct dynsym *d = xcalloc(1, sizeof(*d));

	d->fd = target_file_open_module(pid, m);
	if (d->fd < 0) {
		errno = -d->fd;
		err_set_errno(err, ERR_FAILED, "%s cannot be read", m->path);
		goto fail;
	}
	elf_version(EV_CURRENT);
	d->elf = elf_begin(d->fd, ELF_C_READ, NULL);
	if (!d->elf || elf_kind(d->elf) != ELF_K_ELF || gelf_getclass(d->elf) != ELFCLASS64 ||
		!find_section(d) || !find_bias(d, m->start)) {
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

uint64_t dynsym_find(const struct dynsym *d, const char *name)
{
	for (size_t i = 1; i < d->count && i < INT32_MAX; i++) {
		GElf_Sym sym;
		const char *text;

		if (!gelf_getsym(d->symbols, (int)i, &sym))
			break;
		text = sym.st_shndx == SHN_UNDEF ? NULL : elf_strptr(d->elf, d->names, sym.st_name);
		if (text && !strcmp(text, name))
			return d->bias + sym.st_value;
	}
	return 0;
}
