/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One reading of a JVM's layout, in three steps: what its tables export (layout_rows.c says what of it, layout_tables.c
 * reads), what they do not (layout.c), where its code is (layout_code.c), its counters and options (layout_values.c).
 * Not for handlers.
 */
#ifndef JHOT_WALK_HOTSPOT_LAYOUT_READ_H
#define JHOT_WALK_HOTSPOT_LAYOUT_READ_H

#include "walk/hotspot/layout.h"

#define LAYOUT_NAME 64 /* bound of a name in HotSpot's tables */

/* FIELD goes into a struct walk_field, STATIC (its address) into a uint64_t, the rest into a uint32_t. */
enum layout_kind {
	FIELD, /* of 8 bytes; or, beside it: */
	FIELD_4 = 1 << 5,
	FIELD_2 = 2 << 5,
	FIELD_1 = 3 << 5,
	FIELD_VARIES = 4 << 5, /* as its type string says */
	FIELD_BYTES = 7 << 5,
	STATIC = 1,
	SIZE,
	INT,
	LONG,
	KIND = 7,
	OR = 8, /* beside a kind: an alternative to the row before, one of the two is enough */
	VIRTUAL =
		16, /* beside a kind: without it only the frames of virtual threads are not found */
};

/* One thing to read. It is required of JDKs since..until; where it is not, what is found is kept. */
struct layout_row {
	uint8_t kind, since, until;
	const char *type, *field; /* field NULL: a size or a constant, named by type */
	uint16_t dest;            /* offset of what is filled, in struct layout_read */
};

#define LAYOUT_ROWS 176
extern const struct layout_row layout_rows[LAYOUT_ROWS];

struct layout_read {
	struct walk_layout layout;
	const struct walk_mem *mem;
	const struct walk_tables *tables;
	char *note;
	size_t note_bytes, note_used;
	bool found[LAYOUT_ROWS];

	/* What is needed only while reading. */
	uint64_t heap, heaps, low_bound, high_bound;
	uint64_t interpreter, call_stub_return;
	uint64_t jdk_version, vm_major;
	struct walk_field jdk_major;
	struct walk_field heap_memory, heap_segmap, heap_shift;
	struct walk_field space_low, space_high, space_high_boundary, array_len, array_data;
	struct walk_field thread_handle_return;
	struct walk_field queue_buffer, queue_limit, codelet_size, codelet_description;
	uint64_t smr_list, thread_list;
	uint64_t perf_start;        /* where PerfMemory::_start is */
	uint64_t flags, flag_count; /* where they are */
	uint32_t flag_bytes;
	struct walk_field flag_name, flag_at, flag_origin;
	int32_t call_wrapper_words;
};

/* Fills what the rows name; fields that the JVM does not export get offset -1. false: it exports no tables. */
bool layout_tables_read(struct layout_read *r);

/*
 * The first row that this JDK should have and of which neither it nor an alternative was found; or NULL. virtual: of those
 * that are VIRTUAL, else of the others.
 */
const struct layout_row *layout_missing(const struct layout_read *r, bool virtual);

/* The code cache's heaps and bounds, the interpreter and its codelets. 0, or -1 with a note. */
int layout_code_read(struct layout_read *r);

/* Where the counter of this name is ("java.cls.unloadedClasses"), a jlong; 0: nowhere. */
uint64_t layout_counter_read(const struct layout_read *r, const char *name);

/* An option of the JVM's. at 0: it is not known. */
struct layout_flag {
	uint64_t at; /* one byte */
	bool on, as_built;
};
struct layout_flag layout_flag_read(const struct layout_read *r, const char *name);

/* libc's functions on texts are none that the agent imports. */
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

/* "walker not available: ..." for what is wrong; returns -1. */
int layout_note(struct layout_read *r, const char *what);

#endif
