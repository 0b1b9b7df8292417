/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of the fallback's methods, between the naming thread that finds and the publisher that
 * sends.
 */
#include "sampler/jvm/walker_agct.h"

#include <string.h>

static uint16_t text_keep(struct agct *agct, const char *text, size_t bytes)
{
	if (bytes > UINT16_MAX || bytes > AGCT_TEXT - agct->text_used)
		return 0;
	memcpy(agct->text + agct->text_used, text, bytes);
	agct->text_used += (uint32_t)bytes;
	return (uint16_t)bytes;
}

void agct_named(struct agct *agct, struct agct_method *m, const char *class_name,
	size_t class_bytes, const char *name, const char *signature)
{
	m->text_at = agct->text_used;
	m->class_bytes = text_keep(agct, class_name, class_bytes);
	m->name_bytes = text_keep(agct, name, strlen(name));
	m->signature_bytes = text_keep(agct, signature, strlen(signature));
	atomic_store_explicit(&m->named, 1, memory_order_release);
}

struct agct_method *agct_next(struct agct *agct, uint32_t *cursor, struct names_entry *out)
{
	for (; agct->call && *cursor < AGCT_METHODS; ++*cursor) {
		struct agct_method *m = &agct->methods[*cursor];
		const char *text = agct->text + m->text_at;

		if (m->published || !atomic_load_explicit(&m->named, memory_order_acquire))
			continue;
		*out = (struct names_entry){.id = AGCT_FIRST_ID + *cursor,
			.class_name = text,
			.name = text + m->class_bytes,
			.signature = text + m->class_bytes + m->name_bytes,
			.class_bytes = m->class_bytes,
			.name_bytes = m->name_bytes,
			.signature_bytes = m->signature_bytes};
		return m;
	}
	return NULL;
}
