/* SPDX-License-Identifier: Apache-2.0 */
/* What is looked at before libelf is asked for anything: counts, sizes, what compressed sections unpack to. */
#include "symbols/elf.h"

#include <lzma.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#define NOTES_MAX  (1u << 20)
#define MEMORY_MAX (80u << 20) /* of an unpacker; with xz -9 it takes 65 MB */

/* Sections and segments by the short fields only: more of them are in object files, not in what is mapped. */
static bool header_fits(int fd)
{
	Elf64_Ehdr h;

	return pread(fd, &h, sizeof h, 0) == (ssize_t)sizeof h &&
	       !memcmp(h.e_ident, ELFMAG, SELFMAG) && h.e_ident[EI_CLASS] == ELFCLASS64 &&
	       h.e_ident[EI_DATA] == ELFDATA2LSB && h.e_shnum < SHN_LORESERVE &&
	       (h.e_shnum || !h.e_shoff) && h.e_phnum != PN_XNUM;
}

static bool type_is_read(uint32_t type)
{
	return type == SHT_SYMTAB || type == SHT_DYNSYM || type == SHT_STRTAB || type == SHT_RELA ||
	       type == SHT_NOTE || type == SHT_GNU_versym;
}

static bool name_is_read(const char *name)
{
	static const char *const names[] = {".eh_frame", ".eh_frame_hdr", ".debug_frame",
		".gnu_debugdata", ".gnu_debuglink", ".rela.plt"};

	for (size_t i = 0; name && i < sizeof names / sizeof names[0]; i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* What it takes in memory: of a compressed section what it says of itself. */
static uint64_t section_bytes(Elf_Scn *scn, const GElf_Shdr *h)
{
	GElf_Chdr packed;

	if (h->sh_type == SHT_NOBITS)
		return 0;
	if (!(h->sh_flags & SHF_COMPRESSED))
		return h->sh_size;
	return gelf_getchdr(scn, &packed) && packed.ch_size > h->sh_size ? packed.ch_size
									 : h->sh_size;
}

/* Those that are read by type, or by name: after the first, as names are read from a table of names. */
static bool sections_fit(Elf *elf, bool by_name)
{
	Elf_Scn *scn = NULL;
	size_t names = 0;
	GElf_Shdr h;

	if (by_name && elf_getshdrstrndx(elf, &names))
		return true;
	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &h) ||
			!(by_name ? name_is_read(elf_strptr(elf, names, h.sh_name))
				  : type_is_read(h.sh_type)))
			continue;
		if (h.sh_size > ELF_FILE_SECTION_MAX ||
			(by_name ? section_bytes(scn, &h) > ELF_FILE_SECTION_MAX
				 : (h.sh_flags & SHF_COMPRESSED) != 0))
			return false;
	}
	return true;
}

/* Segments of notes are read whole, for the build-id. */
static bool notes_fit(Elf *elf)
{
	size_t count;
	GElf_Phdr p;

	if (elf_getphdrnum(elf, &count))
		return true;
	for (size_t i = 0; i < count && gelf_getphdr(elf, (int)i, &p); i++)
		if (p.p_type == PT_NOTE && p.p_filesz > NOTES_MAX)
			return false;
	return true;
}

Elf *elf_file_begin(int fd)
{
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = header_fits(fd) ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
	if (elf && elf_kind(elf) == ELF_K_ELF && gelf_getclass(elf) == ELFCLASS64 &&
		sections_fit(elf, false) && sections_fit(elf, true) && notes_fit(elf))
		return elf;
	elf_end(elf);
	return NULL;
}

bool elf_file_debug_fits(Elf *elf)
{
	uint64_t sum = 0;
	Elf_Scn *scn = NULL;
	GElf_Shdr h;

	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &h) || h.sh_flags & SHF_ALLOC || h.sh_type == SHT_NOBITS)
			continue;
		/* before the size of what is unpacked is read, which reads all that is packed */
		if (h.sh_size > ELF_FILE_SECTION_MAX ||
			(sum += section_bytes(scn, &h)) > ELF_FILE_SECTION_MAX)
			return false;
	}
	return true;
}

Elf *elf_file_begin_vdso(void)
{
	const Elf64_Ehdr *h = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);

	elf_version(EV_CURRENT);
	return h ? elf_memory(
			   (char *)(uintptr_t)h, h->e_shoff + (size_t)h->e_shnum * h->e_shentsize)
		 : NULL;
}

void *elf_file_unpack(const void *data, size_t bytes, size_t most, size_t *size)
{
	uint64_t memory = MEMORY_MAX;
	size_t read = 0;
	void *out = mmap(NULL, most, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	*size = 0;
	if (out == MAP_FAILED)
		return NULL;
	if (lzma_stream_buffer_decode(&memory, 0, NULL, data, &read, bytes, out, size, most) ==
		LZMA_OK)
		return out;
	munmap(out, most);
	return NULL;
}
