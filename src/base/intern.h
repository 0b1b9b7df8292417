/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interned strings: equal texts get one small number, numbers count up from 0 and never change; those that were swept
 * are given again.
 *
 * The table owns the texts; pointers stay valid until they are swept or intern_done. One thread at a time.
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
uint32_t intern_put(struct intern *in, const char *text, size_t len);
/* Forget the texts whose numbers have no bit in keep. */
void intern_sweep(struct intern *in, const uint64_t *keep);
const char *intern_text(const struct intern *in, uint32_t id); /* NUL-terminated */

#endif
