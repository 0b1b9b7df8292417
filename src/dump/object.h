/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Java objects of a running JVM, seen from outside: their class, their fields, strings.
 *
 * Collectors move objects while we look, so nothing is believed that does not prove itself: an object is one when
 * the class in its header has a name, a field is followed when what it leads to is of the right class. All
 * functions return 0, false or "" where that fails. One thread.
 */
#ifndef JHOT_DUMP_OBJECT_H
#define JHOT_DUMP_OBJECT_H

#include "walk/hotspot/layout.h"

struct object {
	uint64_t address; /* 0: none */
	uint64_t klass;
	uint32_t array_length_at, array_data_at; /* where an array of this header keeps them */
};

/* What the reference in an object's field leads to. */
bool object_field(const struct walk_layout *l, const struct walk_mem *mem,
	const struct object *from, uint64_t offset, struct object *out);
/* The same for a handle: an object itself before JDK 14 (of monitors 16), the address of one since. */
bool object_of_handle(const struct walk_layout *l, const struct walk_mem *mem, uint64_t handle,
	struct object *out);

/* "java/lang/String"; its length, 0 if it cannot be read. */
uint32_t object_class_name(const struct walk_layout *l, const struct walk_mem *mem, uint64_t klass,
	char *out, uint32_t out_bytes);
/* The class of that name among klass and those above it. */
uint64_t object_super(
	const struct walk_layout *l, const struct walk_mem *mem, uint64_t klass, const char *name);
/* The offset of a class's own field, 0 if it has none of that name. */
uint32_t object_offset(
	const struct walk_layout *l, const struct walk_mem *mem, uint64_t klass, const char *field);
/* A String's text, or a char[]'s, as UTF-8, cut to fit. false if it is neither. */
bool object_text(const struct walk_layout *l, const struct walk_mem *mem,
	const struct object *string, char *out, size_t out_bytes);

#endif
