/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of frames, copied out of the target while its frames pin them.
 *
 * A name is (class, name, signature) with an id that counts up from 1; stubs, classes and break reasons
 * have a name only. A Method* seen before is re-checked (ConstMethod*, holder, name symbol); a mismatch
 * makes a new id, so reused metaspace never yields a wrong name. Doubtful Methods become "[unloaded]".
 *
 *   slots (hash of Method*, lock-free)  ->  entries (append-only)  ->  text arena (append-only)
 *
 * All memory is given by the caller at init; when it is full, ids stop being handed out and
 * NAMES_FULL ("[names_full]") is used and counted. names_resolve is signal-safe and may run in many
 * threads; names_next is for one reader (the publisher).
 */
#ifndef JHOT_WALK_NAMES_H
#define JHOT_WALK_NAMES_H

#include "walk/walk.h"

struct names; /* laid out inside the caller's memory */

#define NAMES_ID_UNLOADED 1u /* "[unloaded]" */
#define NAMES_ID_FULL	  2u /* "[names_full]" */

/* memory: zeroed, page-aligned; returns NULL if too small (256 kB at least). */
struct names *names_init(void *memory, size_t bytes);

/*
 * names_resolve: pack frames[0..count) into out (may not overlap). Counts what it could not name in
 * *unnamed (may be NULL). Signal-safe, lock-free.
 */
void names_resolve(struct names *names, const struct walk_layout *layout, const struct walk_mem *mem,
	const struct walk_frame *frames, uint32_t count, uint64_t *out, uint32_t *unnamed);

/* The id of a bare name: a stub, a class ("java.lang.String", "byte[]"), a reason. Signal-safe. */
uint32_t names_text(struct names *names, const char *text, size_t bytes);

struct names_entry {
	uint32_t id;
	const char *class_name, *name, *signature; /* not NUL-terminated */
	uint16_t class_bytes, name_bytes, signature_bytes;
};

/* The first complete entry with id > after, false if there is none yet. One reader. */
bool names_next(const struct names *names, uint32_t after, struct names_entry *out);

#endif
