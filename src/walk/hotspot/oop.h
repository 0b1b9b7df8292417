/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Java objects, as far as the walker needs them: is this word a reference to an object of that class, and
 * where are the class's fields. References may be narrow, whole or coloured (generational ZGC) and headers
 * may be of three kinds; instead of knowing which, each is tried and the class's name is the proof.
 */
#ifndef JHOT_WALK_HOTSPOT_OOP_H
#define JHOT_WALK_HOTSPOT_OOP_H

#include "walk/hotspot/layout.h"
#include "walk/load/arch.h"

/*
 * The address in a coloured reference (generational ZGC): below it are the colours, of which one of bits 12 to 15 says
 * where it begins; zPointer in zAddress.hpp. aarch64 leaves all of them out. Other references are left as they are.
 */
static inline uint64_t oop_uncoloured(uint64_t word)
{
	uint64_t begins = ARCH_COLOURS_OVERLAP ? word >> 12 & 15 : 8;

	if (!(word >> 47))
		return word;
	return word >> (begins & 1 ? 13 : begins & 2 ? 14 : begins & 4 ? 15 : 16);
}

/* The Klass* of an object, if its class has that name ("java/lang/String"); else 0. */
uint64_t oop_klass(const struct walk_layout *layout, const struct walk_mem *mem, uint64_t object,
	const char *name);

/* Whether a class has this name. */
bool oop_klass_is(const struct walk_layout *layout, const struct walk_mem *mem, uint64_t klass,
	const char *name);

/* The object that the reference at addr leads to, if its class has that name; else 0. */
uint64_t oop_follow(const struct walk_layout *layout, const struct walk_mem *mem, uint64_t addr,
	const char *name);

/*
 * How this JVM writes references and headers, found out once from an object whose class is known, so that
 * objects of any class can be followed.
 */
struct oop_mode {
	bool known;
	bool narrow;    /* references in fields are 32 bits */
	uint8_t header; /* where an object's class is: as oop.c lists */
};

/*
 * oop_mode_find: slot is the address of a whole reference (of an OopHandle, a JNI handle) to an object of this
 * class, that has a reference to a java.lang.String (or its characters) at `offset`. false: it is none.
 */
bool oop_mode_find(struct oop_mode *mode, const struct walk_layout *layout,
	const struct walk_mem *mem, uint64_t slot, const char *name, uint32_t offset);

/* An object of any class: where it is, and its Klass*. Both 0: null, or not readable just now. */
struct oop {
	uint64_t object, klass;
};
/* The reference in a field at addr. */
struct oop oop_field(const struct oop_mode *mode, const struct walk_layout *layout,
	const struct walk_mem *mem, uint64_t addr);
/* The same, if it is of this class, whose name need not be read then; else 0. */
uint64_t oop_field_of(const struct oop_mode *mode, const struct walk_layout *layout,
	const struct walk_mem *mem, uint64_t addr, uint64_t klass);
/* The whole reference at addr, outside of the heap. */
struct oop oop_slot(const struct oop_mode *mode, const struct walk_layout *layout,
	const struct walk_mem *mem, uint64_t addr);

/* What a field of the JVM's own holds: a handle, or (before JDK 14, of monitors 16) the reference itself. */
struct oop oop_held(const struct oop_mode *mode, const struct walk_layout *layout,
	const struct walk_mem *mem, uint64_t addr);

/* The bits in a reference's field, only to see whether they are others. */
uint64_t oop_field_word(const struct oop_mode *mode, const struct walk_mem *mem, uint64_t addr);

/* Of an array: how many elements, and where they are if they are bytes or characters. */
uint32_t oop_array_length(const struct oop_mode *mode, const struct walk_mem *mem, uint64_t object);
uint64_t oop_array_data(
	const struct oop_mode *mode, const struct walk_layout *layout, uint64_t object);

/* Where element i of an array of references is. */
uint64_t oop_array_at(
	const struct oop_mode *mode, const struct walk_layout *layout, uint64_t object, uint32_t i);

/* The Klass* that a java.lang.Class stands for, from where it is, or a whole reference to it. 0 for primitive types. */
uint64_t oop_object_class(
	const struct walk_layout *layout, const struct walk_mem *mem, uint64_t object);
uint64_t oop_class(const struct walk_layout *layout, const struct walk_mem *mem, uint64_t addr);

/* A class's name ("java/lang/String", "[B"), cut at cap; its length, 0 if this is no class. */
uint32_t oop_klass_name(const struct walk_layout *layout, const struct walk_mem *mem,
	uint64_t klass, char *out, uint32_t cap);

/* Bytes of an instance's fields, header included. */
uint32_t oop_bytes(const struct walk_layout *layout, const struct walk_mem *mem, uint64_t klass);

#define OOP_FIELDS 4

/* Offsets of a class's own fields by name, up to OOP_FIELDS of them. false: one is missing. */
bool oop_fields(const struct walk_layout *layout, const struct walk_mem *mem, uint64_t klass,
	const char *const *names, uint32_t *offsets, uint32_t count);

/* Field n, from 0, of those that HotSpot itself has added to a class's own; 0: there are not so many. */
uint32_t oop_added_field(
	const struct walk_layout *layout, const struct walk_mem *mem, uint64_t klass, uint32_t n);

#endif
