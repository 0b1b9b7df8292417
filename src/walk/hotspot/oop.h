/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads Java objects: checks whether a word is a reference to an object of a given class, and finds the offsets of the class's
 * fields. References may be narrow, whole or colored (generational ZGC), and there are three kinds of headers. Which ones
 * this JVM uses is not known in advance: each is tried, and is proven by the name of the class that it leads to.
 *
 * Objects may be relocated or overwritten while they are read: the class is proven only for the time of the read. Nothing here
 * blocks or allocates; signal-safe.
 */
#ifndef JHOT_WALK_HOTSPOT_OOP_H
#define JHOT_WALK_HOTSPOT_OOP_H

#include "walk/hotspot/layout.h"
#include "walk/load/arch.h"

/*
 * The address in a colored reference (generational ZGC). The colors are below it; which of bits 12 to 15 is set determines
 * where the address begins (zPointer in zAddress.hpp); on aarch64 it always begins at bit 16. Other references are returned
 * unchanged.
 */
static inline uint64_t oop_uncolored(uint64_t word)
{
	uint64_t begins = ARCH_COLORS_OVERLAP ? word >> 12 & 15 : 8;

	if (!(word >> 47))
		return word;
	return word >> (begins & 1 ? 13 : begins & 2 ? 14 : begins & 4 ? 15 : 16);
}

/* The Klass* of an object if its class has this name ("java/lang/String"); else 0. */
uint64_t oop_klass(const struct walk_layout *layout, const struct walk_mem *mem, uint64_t object,
	const char *name);

/* True when the class has this name. */
bool oop_klass_is(const struct walk_layout *layout, const struct walk_mem *mem, uint64_t klass,
	const char *name);

/* The object that the reference at addr leads to, if its class has this name; else 0. */
uint64_t oop_follow(const struct walk_layout *layout, const struct walk_mem *mem, uint64_t addr,
	const char *name);

/*
 * How this JVM encodes references and headers, found once from an object whose class is known; afterwards objects of any class
 * can be followed.
 */
struct oop_mode {
	bool known;
	bool narrow;    /* references in fields have 32 bits */
	uint8_t header; /* where an object's class is, see oop.c */
};

/*
 * Finds the mode. slot: address of a whole reference (in an OopHandle or a JNI handle) to an object of the named class, which
 * has a reference to a java.lang.String (or its characters) at `offset`. Returns false if it does not.
 */
bool oop_mode_find(struct oop_mode *mode, const struct walk_layout *layout,
	const struct walk_mem *mem, uint64_t slot, const char *name, uint32_t offset);

/* An object of any class: its address and its Klass*. klass 0: null, or unreadable at the moment. */
struct oop {
	uint64_t object, klass;
};
/* Follows the reference in a field at addr. */
struct oop oop_field(const struct oop_mode *mode, const struct walk_layout *layout,
	const struct walk_mem *mem, uint64_t addr);
/* Likewise, if the object is of this class; else 0. Cheaper: the class's name is not read. */
uint64_t oop_field_of(const struct oop_mode *mode, const struct walk_layout *layout,
	const struct walk_mem *mem, uint64_t addr, uint64_t klass);
/* Follows the whole reference at addr, outside the heap. */
struct oop oop_slot(const struct oop_mode *mode, const struct walk_layout *layout,
	const struct walk_mem *mem, uint64_t addr);

/* Follows a reference field of a HotSpot struct: a handle, or (before JDK 14, in monitors before 16) the reference itself. */
struct oop oop_held(const struct oop_mode *mode, const struct walk_layout *layout,
	const struct walk_mem *mem, uint64_t addr);

/* The raw bits of a reference field, only for detecting changes. */
uint64_t oop_field_word(const struct oop_mode *mode, const struct walk_mem *mem, uint64_t addr);

/* Of an array: its length, and the address of its elements if they are bytes or characters. */
uint32_t oop_array_length(const struct oop_mode *mode, const struct walk_mem *mem, uint64_t object);
uint64_t oop_array_data(
	const struct oop_mode *mode, const struct walk_layout *layout, uint64_t object);

/* Address of element i of an array of references. */
uint64_t oop_array_at(
	const struct oop_mode *mode, const struct walk_layout *layout, uint64_t object, uint32_t i);

/* The Klass* of a java.lang.Class, given as an object or as the address of a whole reference. 0 for primitive types. */
uint64_t oop_object_class(
	const struct walk_layout *layout, const struct walk_mem *mem, uint64_t object);
uint64_t oop_class(const struct walk_layout *layout, const struct walk_mem *mem, uint64_t addr);

/* Copies a class's name ("java/lang/String", "[B"), truncated to cap. Returns its length, 0 if this is no class. */
uint32_t oop_klass_name(const struct walk_layout *layout, const struct walk_mem *mem,
	uint64_t klass, char *out, uint32_t cap);

/* Size in bytes of an instance, header included. */
uint32_t oop_bytes(const struct walk_layout *layout, const struct walk_mem *mem, uint64_t klass);

#define OOP_FIELDS 4

/* Offsets of up to OOP_FIELDS of a class's own fields, by name. False if one is missing. */
bool oop_fields(const struct walk_layout *layout, const struct walk_mem *mem, uint64_t klass,
	const char *const *names, uint32_t *offsets, uint32_t count);

/* Offset of the n-th field, from 0, that HotSpot has injected into a class; 0: there are fewer. */
uint32_t oop_injected_field(
	const struct walk_layout *layout, const struct walk_mem *mem, uint64_t klass, uint32_t n);

#endif
