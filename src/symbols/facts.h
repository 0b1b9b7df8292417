/* SPDX-License-Identifier: Apache-2.0 */
/* Basic properties of an ELF file, as the child reports them (child/child.h). Plain data without pointers. */
#ifndef JHOT_SYMBOLS_FACTS_H
#define JHOT_SYMBOLS_FACTS_H

#include <stddef.h>
#include <stdint.h>

#define ELF_SEGMENTS_MAX 16
#define ELF_BUILD_ID_MAX 64
#define ELF_LINK_MAX     256

/* A loaded range of the file: maps file offsets to virtual addresses. */
struct elf_segment {
	uint64_t offset, bytes, address;
	uint64_t is_code; /* not 0: executable */
};

struct elf_facts {
	struct elf_segment segments[ELF_SEGMENTS_MAX];
	uint32_t segment_count;
	uint32_t id_bytes;   /* length of the build id, 0 if there is none */
	uint64_t id_address; /* virtual address of the build id, 0 if no loaded segment has it */
	unsigned char id[ELF_BUILD_ID_MAX];
	char link[ELF_LINK_MAX]; /* file name in .gnu_debuglink, "" if there is none */
	uint64_t link_crc;       /* checksum of that file */
};

/* The segment that contains a virtual address, or NULL. */
static inline const struct elf_segment *elf_segment_at(
	const struct elf_segment *segments, size_t count, uint64_t address)
{
	for (size_t i = 0; i < count; i++)
		if (address - segments[i].address < segments[i].bytes)
			return &segments[i];
	return NULL;
}

/* The segment that contains a file offset, or NULL. */
static inline const struct elf_segment *elf_segment_of_offset(
	const struct elf_segment *segments, size_t count, uint64_t offset)
{
	for (size_t i = 0; i < count; i++)
		if (offset - segments[i].offset < segments[i].bytes)
			return &segments[i];
	return NULL;
}

#endif
