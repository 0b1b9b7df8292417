/* SPDX-License-Identifier: Apache-2.0 */
/* What identifies a file and where it is mapped. */
#include "symbols/elf.h"

#include <elfutils/libdwelf.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define CRC_MAX (512u << 20) /* bytes of a file whose checksum is worth its second */

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

/* Where in a segment of notes the build id stands; 0: not there. */
static uint64_t id_offset(Elf_Data *notes, const struct elf_facts *facts)
{
	size_t at = 0, next, name, text;
	GElf_Nhdr note;

	for (; notes && (next = gelf_getnote(notes, at, &note, &name, &text)) > 0; at = next)
		if (note.n_type == NT_GNU_BUILD_ID && note.n_descsz == facts->id_bytes &&
			!memcmp((const char *)notes->d_buf + text, facts->id, facts->id_bytes))
			return text;
	return 0;
}

static uint64_t id_address(Elf *elf, const struct elf_facts *facts)
{
	size_t count = 0;
	GElf_Phdr p;

	if (elf_getphdrnum(elf, &count))
		return 0;
	for (size_t i = 0; i < count && gelf_getphdr(elf, (int)i, &p); i++) {
		uint64_t at =
			p.p_type == PT_NOTE
				? id_offset(
					  elf_getdata_rawchunk(elf, (int64_t)p.p_offset, p.p_filesz,
						  p.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR),
					  facts)
				: 0;

		if (at)
			return p.p_vaddr + at;
	}
	return 0;
}

void elf_facts_read(Elf *elf, struct elf_facts *out)
{
	GElf_Word crc = 0;
	const char *link;
	const void *id;
	ssize_t bytes;

	memset(out, 0, sizeof(*out));
	out->segment_count = elf_symbols_segments(elf, out->segments, ELF_SEGMENTS_MAX);
	bytes = dwelf_elf_gnu_build_id(elf, &id);
	if (bytes > 1 && bytes <= ELF_BUILD_ID_MAX) {
		out->id_bytes = (uint32_t)bytes;
		memcpy(out->id, id, (size_t)bytes);
		out->id_address = id_address(elf, out);
	}
	link = dwelf_elf_gnu_debuglink(elf, &crc);
	if (link && strlen(link) < sizeof(out->link) && !strchr(link, '/')) {
		snprintf(out->link, sizeof(out->link), "%s", link);
		out->link_crc = crc;
	}
}
