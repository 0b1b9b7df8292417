/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Java objects, as far as the walker needs them: is this word a reference to an object of that class, and
 * where are the class's fields. References may be narrow, whole or coloured (generational ZGC) and headers
 * may be of three kinds; instead of knowing which, each is tried and the class's name is the proof.
 */
#ifndef JHOT_WALK_OOP_H
#define JHOT_WALK_OOP_H

#include "walk/layout.h"

/* The Klass* of an object, if its class has that name ("java/lang/String"); else 0. */
uint64_t oop_klass(const struct walk_layout *layout, const struct walk_mem *mem, uint64_t object,
	const char *name);

/* The object that the reference at addr leads to, if its class has that name; else 0. */
uint64_t oop_follow(const struct walk_layout *layout, const struct walk_mem *mem, uint64_t addr,
	const char *name);

/* Bytes of an instance's fields, header included. */
uint32_t oop_bytes(const struct walk_layout *layout, const struct walk_mem *mem, uint64_t klass);

#define OOP_FIELDS 4

/* Offsets of a class's own fields by name, up to OOP_FIELDS of them. false: one is missing. */
bool oop_fields(const struct walk_layout *layout, const struct walk_mem *mem, uint64_t klass,
	const char *const *names, uint32_t *offsets, uint32_t count);

#endif
