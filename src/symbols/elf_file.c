/* SPDX-License-Identifier: Apache-2.0 */
/* What is looked at before libelf is asked for anything: counts, sizes, what compressed sections unpack to. */
#include "symbols/elf.h"

#include <string.h>
#include <unistd.h>

#define NOTES_MAX (1u << 20)

bool elf_file_is(int fd)
{
	char magic[SELFMAG];

	return pread(fd, magic, SELFMAG, 0) == SELFMAG && !memcmp(magic, ELFMAG, SELFMAG);
}

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

static bool types_fit(Elf *elf)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr h;

	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &h) && type_is_read(h.sh_type) &&
			(h.sh_size > ELF_FILE_SECTION_MAX || h.sh_flags & SHF_COMPRESSED))
			return false;
	return true;
}

/* After types_fit: names are read from a table of names. */
static bool names_fit(Elf *elf)
{
	Elf_Scn *scn = NULL;
	size_t names;
	GElf_Shdr h;

	if (elf_getshdrstrndx(elf, &names))
		return true;
	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &h) && name_is_read(elf_strptr(elf, names, h.sh_name)) &&
			(h.sh_size > ELF_FILE_SECTION_MAX ||
				section_bytes(scn, &h) > ELF_FILE_SECTION_MAX))
			return false;
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
		types_fit(elf) && names_fit(elf) && notes_fit(elf))
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

/* --- .xz --------------------------------------------------------------------------------------------- */

#define XZ_HEAD       12
#define XZ_LZMA2      0x21
#define XZ_DICT_MAX   28 /* 2 << 14 bits: 64 MB */
#define XZ_BLOCK_FLAG 0xc0

struct xz {
	const unsigned char *at, *end;
};

static bool xz_skip(struct xz *x, size_t bytes)
{
	if ((size_t)(x->end - x->at) < bytes)
		return false;
	x->at += bytes;
	return true;
}

static bool xz_number(struct xz *x, uint64_t *out)
{
	*out = 0;
	for (unsigned i = 0; i < 9 && x->at < x->end; i++) {
		unsigned char b = *x->at++;

		*out |= (uint64_t)(b & 0x7f) << (7 * i);
		if (!(b & 0x80))
			return true;
	}
	return false;
}

/* One block's head: LZMA2 with an honest dictionary as the only or last filter; others keep the size. */
static bool xz_block_head(struct xz *x)
{
	size_t bytes = x->at < x->end ? ((size_t)*x->at + 1) * 4 : 0;
	struct xz head = {x->at + 2, x->at + bytes};
	uint64_t unused, id = 0, size;
	unsigned flags;

	if (bytes < 8 || !xz_skip(x, bytes))
		return false;
	flags = head.at[-1];
	if ((flags & 0x40 && !xz_number(&head, &unused)) ||
		(flags & 0x80 && !xz_number(&head, &unused)))
		return false;
	for (unsigned i = 0; i <= (flags & 3); i++) {
		if (!xz_number(&head, &id) || !xz_number(&head, &size) || size > bytes ||
			!xz_skip(&head, size))
			return false;
	}
	return id == XZ_LZMA2 && size == 1 && head.at[-1] <= XZ_DICT_MAX;
}

/* The chunks of one block, added up in *sum. */
static bool xz_chunks(struct xz *x, uint64_t *sum, size_t most)
{
	while (x->at < x->end && *x->at) {
		unsigned control = *x->at;
		size_t unpacked, packed;

		if (x->end - x->at < 6)
			return false;
		unpacked = (size_t)(x->at[1] << 8 | x->at[2]) + 1;
		if (control < 0x80) {
			packed = 3 + unpacked;
		} else {
			unpacked += (size_t)(control & 0x1f) << 16;
			packed = 5 + (control >= XZ_BLOCK_FLAG) +
				 (size_t)(x->at[3] << 8 | x->at[4]) + 1;
		}
		*sum += unpacked;
		if (*sum > most || !xz_skip(x, packed))
			return false;
	}
	return xz_skip(x, 1);
}

bool elf_file_xz_fits(const unsigned char *data, size_t bytes, size_t most)
{
	static const unsigned char magic[] = {0xfd, '7', 'z', 'X', 'Z', 0};
	static const unsigned char checks[16] = {
		0, 4, 4, 4, 8, 8, 8, 16, 16, 16, 32, 32, 32, 64, 64, 64};
	struct xz x = {data, data + bytes};
	uint64_t sum = 0;
	unsigned check;

	if (bytes < XZ_HEAD || memcmp(data, magic, sizeof magic) != 0)
		return false;
	check = checks[data[7] & 0x0f];
	x.at += XZ_HEAD;
	while (x.at < x.end && *x.at) { /* an index begins with a zero */
		const unsigned char *begin = x.at;

		if (!xz_block_head(&x) || !xz_chunks(&x, &sum, most) ||
			!xz_skip(&x, (size_t)(-(x.at - begin) & 3)) || !xz_skip(&x, check))
			return false;
	}
	return x.at < x.end;
}
