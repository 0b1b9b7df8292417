/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of frames, copied out of the target while its frames pin them.
 *
 * A name is (class, name, signature) with an id that counts up from 1; stubs, classes and break reasons
 * have a name only. A Java method has its line table as well. A Method* seen before is re-checked on every use (ConstMethod*, klass, Symbols and
 * their first characters); a mismatch makes a new id, so reused metaspace never yields a wrong name.
 * Doubtful Methods become "[unloaded]".
 *
 *   slots: hash of all that was checked -> id      ring: {id, class, name, signature} until it is read
 *
 * A slot is one 64-bit word and a ring record is reserved by one compare-and-swap, so no handler ever
 * waits for another, not even for one that it interrupted. Memory is the caller's and bounded: what
 * names_next has handed out is forgotten but for its slot, and when slots run short old ones are
 * overwritten; their method then gets a second id with the same text. Only while the reader lags a
 * whole ring behind is NAMES_ID_FULL ("[names_full]") used, and counted.
 *
 * names_resolve and names_text are signal-safe and may run in many threads; names_next is for one reader.
 */
#ifndef JHOT_WALK_HOTSPOT_NAMES_H
#define JHOT_WALK_HOTSPOT_NAMES_H

#include "walk/types.h"

struct names; /* laid out inside the caller's memory */

#define NAMES_TEXT_MAX  4096u /* longer classes, names and signatures are cut */
#define NAMES_LINES_MAX 4096u /* longer line tables are left out */

/* memory: zeroed, page-aligned; returns NULL if too small (256 kB at least). */
struct names *names_init(void *memory, size_t bytes);

/*
 * names_resolve: pack frames[0..count) into out (may not overlap). Counts what it could not name in
 * *unnamed (may be NULL). Names of Methods are taken from the walk's cache, and kept there (NULL: always read).
 * Signal-safe, lock-free.
 */
struct frame_cache_walk;
void names_resolve(struct names *names, const struct walk_layout *layout,
	const struct walk_mem *mem, const struct frame_cache_walk *cache,
	const struct walk_frame *frames, uint32_t count, uint64_t *out, uint32_t *unnamed);

/* The id that was given last: it moves when any walk names what had no name yet. Signal-safe. */
uint32_t names_newest(const struct names *names);

/* The id of a bare name: a stub, a class ("java.lang.String", "byte[]"), a reason. Signal-safe. */
uint32_t names_text(struct names *names, const char *text, size_t bytes);

/*
 * Tell what lies at [start, start + bytes) of the code cache (JVMTI DynamicCodeGenerated), so that stubs in one
 * big blob have names of their own: once, before names_stubs_ready, by one thread; handlers see all of them from
 * then on. false: no space, or too late.
 */
bool names_stub_add(struct names *names, uint64_t start, uint32_t bytes, const char *name);
void names_stubs_ready(struct names *names);

struct names_entry {
	uint32_t id;
	const char *class_name, *name, *signature; /* not NUL-terminated */
	uint16_t class_bytes, name_bytes, signature_bytes;
	uint16_t line_bytes;  /* 0: none, or it is long, or there is little space */
	const uint8_t *lines; /* the compressed line table */
};

/*
 * The first complete entry with id > after, false if there is none yet. One reader, after never goes
 * back; the texts stay valid until the next call.
 */
bool names_next(struct names *names, uint32_t after, struct names_entry *out);

#endif
