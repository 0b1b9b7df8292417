/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One reading of a JVM's layout, in three steps: what its tables export (layout_rows.c), what they do not
 * (layout.c), where its code is (layout_code.c), its counters (layout_counter.c) and options (layout_flag.c). Not for handlers.
 */
#ifndef JHOT_WALK_HOTSPOT_LAYOUT_READ_H
#define JHOT_WALK_HOTSPOT_LAYOUT_READ_H

#include "walk/hotspot/exported.h"

#define LAYOUT_ROWS 161

struct layout_read {
	struct walk_layout layout;
	const struct walk_mem *mem;
	char *note;
	size_t note_bytes, note_used;
	bool found[LAYOUT_ROWS];

	/* What is needed only while reading. */
	uint64_t heap, heaps, low_bound, high_bound;
	uint64_t interpreter, call_stub_return;
	uint64_t jdk_version, vm_major;
	struct walk_field jdk_major;
	struct walk_field heap_memory, heap_segmap, heap_shift;
	struct walk_field space_low, space_high_boundary, array_len, array_data;
	struct walk_field thread_handle_return;
	struct walk_field queue_buffer, queue_limit, codelet_size, codelet_description;
	uint64_t smr_list, thread_list;
	uint64_t perf_start;        /* where PerfMemory::_start is */
	uint64_t flags, flag_count; /* where they are */
	uint32_t flag_bytes;
	struct walk_field flag_name, flag_at, flag_origin;
	int32_t call_wrapper_words;
};

/* The rows that fill it. */
extern const struct exported_table layout_table;

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

/* "walker not available: ..." for what is wrong; returns -1. */
int layout_note(struct layout_read *r, const char *what);

#endif
