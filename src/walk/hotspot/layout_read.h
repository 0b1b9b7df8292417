/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State of one walk_layout_read, private to hotspot/layout*.c. layout_rows.c lists the names that HotSpot exports in its
 * tables; layout_tables.c reads those tables, counters and options; layout.c derives the offsets that HotSpot does not export.
 * Lives on the stack of walk_layout_read. Not for signal handlers.
 */
#ifndef JHOT_WALK_HOTSPOT_LAYOUT_READ_H
#define JHOT_WALK_HOTSPOT_LAYOUT_READ_H

#include "walk/hotspot/layout.h"

#define LAYOUT_NAME 64 /* maximum length of a name in HotSpot's tables */

/* Destinations: FIELD a struct walk_field, STATIC (its address) a uint64_t, all others a uint32_t. */
enum layout_kind {
	FIELD, /* 8 bytes wide, unless combined with: */
	FIELD_4 = 1 << 5,
	FIELD_2 = 2 << 5,
	FIELD_1 = 3 << 5,
	FIELD_VARIES = 4 << 5, /* width given by its type string */
	FIELD_BYTES = 7 << 5,
	STATIC = 1,
	SIZE,
	INT,
	LONG,
	KIND = 7,
	OR = 8, /* flag: alternative to the previous row; one of the two is enough */
	/* flag: if missing, only the frames of virtual threads are lost */
	VIRTUAL = 16,
};

/* One item to read. It is required in JDKs since..until; elsewhere it is stored if found. */
struct layout_row {
	uint8_t kind, since, until;
	const char *type, *field; /* field NULL: a size or a constant named by type */
	uint16_t dest;            /* destination: offset in struct layout_read */
};

#define LAYOUT_ROWS 182
extern const struct layout_row layout_rows[LAYOUT_ROWS];

struct layout_read {
	struct walk_layout layout;
	const struct walk_mem *mem;
	const struct walk_tables *tables;
	char *note;
	size_t note_bytes, note_used;
	bool found[LAYOUT_ROWS];

	/* Used only while the layout is read. */
	uint64_t heap, heaps, low_bound, high_bound;
	uint64_t interpreter, call_stub_return;
	uint64_t jdk_version, vm_major;
	struct walk_field jdk_major;
	struct walk_field heap_memory, heap_segmap, heap_shift;
	struct walk_field space_low, space_high, space_high_boundary, array_len, array_data;
	struct walk_field thread_handle_return;
	struct walk_field queue_buffer, queue_limit, codelet_size, codelet_description;
	uint64_t smr_list, thread_list;
	uint64_t perf_start;        /* address of PerfMemory::_start */
	uint64_t flags, flag_count; /* addresses of HotSpot's variables */
	uint32_t flag_bytes;
	struct walk_field flag_name, flag_at, flag_origin;
	int32_t call_wrapper_words;
};

/* Reads every row into its destination; fields that the JVM does not export get offset -1. False if it exports no tables. */
bool layout_tables_read(struct layout_read *r);

/*
 * The first row required in this JDK for which neither it nor an alternative was found; NULL if there is none. virtual selects
 * the VIRTUAL rows or all others.
 */
const struct layout_row *layout_missing(const struct layout_read *r, bool virtual);

/* Address of the counter of this name ("java.cls.unloadedClasses"), a jlong; 0: not found. */
uint64_t layout_counter_read(const struct layout_read *r, const char *name);

/* A boolean JVM option. at 0: not found. */
struct layout_flag {
	uint64_t at;       /* address of its byte */
	bool on, as_built; /* as_built: still at its default */
};
struct layout_flag layout_flag_read(const struct layout_read *r, const char *name);

/* Replacements for strcmp and strncmp: the agent does not import libc's string functions. */
static inline bool text_equal(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

static inline bool text_starts(const char *text, const char *prefix)
{
	while (*prefix && *text == *prefix) {
		text++;
		prefix++;
	}
	return !*prefix;
}

#endif
