/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of frames, copied out of the target while its frames pin them.
 *
 * A name is (class, name, signature) with an id that counts up from 1; stubs, classes and break reasons have a name only. A
 * Java method also has its line table. A Method* seen before is re-checked on every use (ConstMethod*, klass, Symbols and
 * their first characters); a mismatch makes a new id, so reused metaspace never yields a wrong name. Doubtful Methods become
 * "[unloaded]".
 *
 *   slots: hash of all that was checked -> id      ring: {id, class, name, signature} until it is read
 *
 * A slot is one 64-bit word and a ring record is reserved by one compare-and-swap, so no handler ever waits for another, not
 * even for one that it interrupted. The caller owns the memory, which is bounded: of a name that names_next has returned only
 * the slot remains, and when slots run short old ones are overwritten, so their method later gets a second id with the same
 * text. Only while the reader is a whole ring behind is NAMES_ID_FULL ("[names_full]") used, and counted.
 *
 * names_resolve, names_newest and names_text are signal-safe and may run in many threads; names_next is for one reader.
 */
#ifndef JHOT_WALK_HOTSPOT_NAMES_H
#define JHOT_WALK_HOTSPOT_NAMES_H

#include "walk/types.h"

struct names; /* laid out inside the caller's memory */

#define NAMES_TEXT_MAX  4096u /* longer classes, names and signatures are truncated */
#define NAMES_LINES_MAX 4096u /* longer line tables are omitted */

/* memory: zeroed, page-aligned, owned by the caller. NULL if it is too small (at least 256 kB). */
struct names *names_init(void *memory, size_t bytes);

/*
 * Converts frames[0..count) into their 64-bit form in out, which may not overlap. Adds the number of frames that could not be
 * named to *unnamed (may be NULL). Looks up and caches names of Methods in the walk's cache (NULL: always reads them).
 * Signal-safe, lock-free.
 */
struct frame_cache_walk;
void names_resolve(struct names *names, const struct walk_layout *layout,
	const struct walk_mem *mem, const struct frame_cache_walk *cache,
	const struct walk_frame *frames, uint32_t count, uint64_t *out, uint32_t *unnamed);

/* The last id assigned; advances when any walk names something new. Signal-safe. */
uint32_t names_newest(const struct names *names);

/* The id of a name without class or signature: a stub, a class ("java.lang.String", "byte[]"), a reason. Signal-safe. */
uint32_t names_text(struct names *names, const char *text, size_t bytes);

/*
 * Names the code at [start, start + bytes) of the code cache (JVMTI DynamicCodeGenerated), so that stubs that share one blob
 * have names of their own. For one thread, before its single call of names_stubs_ready, which publishes all of them to the
 * handlers. False: no space, or too late.
 */
bool names_stub_add(struct names *names, uint64_t start, uint32_t bytes, const char *name);
void names_stubs_ready(struct names *names);

struct names_entry {
	uint32_t id;
	const char *class_name, *name, *signature; /* not NUL-terminated */
	uint16_t class_bytes, name_bytes, signature_bytes;
	uint16_t line_bytes;  /* 0: none, or omitted because it is long or space is short */
	const uint8_t *lines; /* the compressed line table */
};

/*
 * The first complete entry with id > after; false if there is none yet. One reader; `after` never decreases. The texts stay
 * valid until the next call.
 */
bool names_next(struct names *names, uint32_t after, struct names_entry *out);

#endif
