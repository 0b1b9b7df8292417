/* SPDX-License-Identifier: Apache-2.0 */
/* .dynsym, with the slots that hold the addresses of imported symbols. */
#include "symbols/elf.h"

#include "symbols/child/child.h"

#include <stdlib.h>
#include <string.h>

#define EXPORTS_MAX      (1u << 20)
#define EXPORT_TEXTS_MAX (60u << 20)
#define VERSION_HIDDEN   0x8000

static bool is_slot(uint64_t type)
{
	return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT ||
	       type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT;
}

/* The first slot of each symbol, by its number. */
static void read_slots(Elf *elf, uint64_t *slots, size_t count)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr header;
	GElf_Rela rela;

	while ((scn = elf_nextscn(elf, scn))) {
		Elf_Data *data = gelf_getshdr(scn, &header) && header.sh_type == SHT_RELA
					 ? elf_getdata(scn, NULL)
					 : NULL;

		for (int i = 0; data && gelf_getrela(data, i, &rela); i++) {
			size_t symbol = GELF_R_SYM(rela.r_info);

			if (is_slot(GELF_R_TYPE(rela.r_info)) && symbol < count && !slots[symbol])
				slots[symbol] = rela.r_offset;
		}
	}
}

static void add_export(struct buf *exports, struct buf *texts, const GElf_Sym *sym, bool is_old,
	uint64_t slot, const char *name)
{
	bool imported = sym->st_shndx == SHN_UNDEF;
	struct elf_export e = {.value = imported ? slot : sym->st_value,
		.text = (uint32_t)texts->len,
		.flags = (imported ? ELF_IMPORTED : 0u) | (is_old ? ELF_OLD : 0u) |
			 (GELF_ST_TYPE(sym->st_info) == STT_GNU_IFUNC ? ELF_INDIRECT : 0u)};

	buf_add(texts, name, strnlen(name, SYMTAB_NAME_MAX));
	buf_addc(texts, '\0');
	buf_add(exports, &e, sizeof(e));
}

void elf_exports_read(Elf *elf, struct buf *exports, struct buf *texts)
{
	GElf_Shdr header;
	Elf_Scn *scn = elf_section_of_type(elf, SHT_GNU_versym, &header);
	Elf_Data *versions = scn ? elf_getdata(scn, NULL) : NULL, *symbols;
	uint64_t *slots;
	size_t count;

	scn = elf_section_of_type(elf, SHT_DYNSYM, &header);
	symbols = scn && header.sh_entsize ? elf_getdata(scn, NULL) : NULL;
	count = symbols ? symbols->d_size / header.sh_entsize : 0;
	if (count > EXPORTS_MAX)
		count = EXPORTS_MAX;
	slots = xcalloc(count, sizeof(*slots));
	read_slots(elf, slots, count);
	for (size_t i = 1; i < count && texts->len < EXPORT_TEXTS_MAX; i++) {
		GElf_Versym version;
		const char *name;
		GElf_Sym sym;

		if (!gelf_getsym(symbols, (int)i, &sym))
			break;
		name = elf_strptr(elf, header.sh_link, sym.st_name);
		if (name && *name)
			add_export(exports, texts, &sym,
				versions && gelf_getversym(versions, (int)i, &version) &&
					version & VERSION_HIDDEN,
				slots[i], name);
	}
	free(slots);
}
