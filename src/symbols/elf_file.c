/* SPDX-License-Identifier: Apache-2.0 */
/* Checks before libelf is used (counts, sizes, decompressed sizes of sections), and identification of files. */
#include "symbols/elf.h"

#include <elfutils/libdwelf.h>
#include <lzma.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define NOTES_MAX  (1u << 20)
#define MEMORY_MAX (80u << 20) /* limit of the decompressor; xz -9 needs 65 MB */

/* Accepts counts of sections and segments in their short form only: larger ones occur in object files, not in mapped files. */
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

/* Size of a section in memory: for a compressed one, the size that its header states. */
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

/* Checks the sections that are read by type, or by name. By type first, since names are read from a string table. */
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

/* Note segments are read whole, for the build id. */
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
	elf_version(EV_CURRENT);
	Elf *elf = header_fits(fd) ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
	if (elf && elf_kind(elf) == ELF_K_ELF && gelf_getclass(elf) == ELFCLASS64 &&
		sections_fit(elf, false) && sections_fit(elf, true) && notes_fit(elf))
		return elf;
	elf_end(elf);
	return NULL;
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

/* --- facts --------------------------------------------------------------------------------------------- */

/* bytes; a larger file is not worth the time, about 1 s, for its checksum */
#define CRC_MAX (512u << 20)

bool elf_facts_crc(int fd, uint32_t *out)
{
	unsigned char bytes[65536];
	uLong crc = 0;
	struct stat st;
	off_t at = 0;
	ssize_t n;

	if (fstat(fd, &st) || st.st_size > CRC_MAX)
		return false;
	for (; at <= CRC_MAX && (n = pread(fd, bytes, sizeof(bytes), at)) > 0; at += n)
		crc = crc32(crc, bytes, (uInt)n);
	*out = (uint32_t)crc;
	return at == st.st_size;
}

/* The virtual address of the build id, 0 if no segment of notes contains it. */
static uint64_t id_address(Elf *elf, const struct elf_facts *facts)
{
	size_t count = 0;
	GElf_Phdr p;

	if (elf_getphdrnum(elf, &count))
		return 0;
	for (size_t i = 0; i < count && gelf_getphdr(elf, (int)i, &p); i++) {
		Elf_Type type = p.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR;
		Elf_Data *notes =
			p.p_type == PT_NOTE
				? elf_getdata_rawchunk(elf, (int64_t)p.p_offset, p.p_filesz, type)
				: NULL;
		size_t at = 0, next, name, id;
		GElf_Nhdr note;

		for (; notes && (next = gelf_getnote(notes, at, &note, &name, &id)) > 0; at = next)
			if (note.n_type == NT_GNU_BUILD_ID && note.n_descsz == facts->id_bytes &&
				!memcmp((const char *)notes->d_buf + id, facts->id,
					facts->id_bytes))
				return p.p_vaddr + id;
	}
	return 0;
}

void elf_facts_read(Elf *elf, struct elf_facts *out)
{
	GElf_Word crc = 0;
	const void *id;

	memset(out, 0, sizeof(*out));
	out->segment_count = elf_symbols_segments(elf, out->segments, ELF_SEGMENTS_MAX);
	ssize_t bytes = dwelf_elf_gnu_build_id(elf, &id);
	if (bytes > 1 && bytes <= ELF_BUILD_ID_MAX) {
		out->id_bytes = (uint32_t)bytes;
		memcpy(out->id, id, (size_t)bytes);
		out->id_address = id_address(elf, out);
	}
	const char *link = dwelf_elf_gnu_debuglink(elf, &crc);
	if (link && strlen(link) < sizeof(out->link) && !strchr(link, '/')) {
		snprintf(out->link, sizeof(out->link), "%s", link);
		out->link_crc = crc;
	}
}
