/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interned strings: equal texts share one small id. Ids ascend from 0 and are stable; swept ids are reused.
 *
 * The table owns the texts; pointers stay valid until the text is swept or intern_done. Not thread-safe.
 */
#ifndef JHOT_BASE_INTERN_H
#define JHOT_BASE_INTERN_H

#include "base/hash.h"
#include "base/vacant.h"

#include <stddef.h>
#include <stdint.h>

struct intern {
	struct hash_index index;
	char **texts;
	uint32_t count, cap;
	size_t bytes; /* of all texts */
	struct vacant vacant;
};

void intern_done(struct intern *in);
uint32_t intern_add(struct intern *in, const char *text, size_t len);
/* Frees the texts whose ids have no bit in keep. */
void intern_sweep(struct intern *in, const uint64_t *keep);
const char *intern_text(const struct intern *in, uint32_t id); /* NUL-terminated */

#endif
