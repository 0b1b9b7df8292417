/* SPDX-License-Identifier: Apache-2.0 */
/* The publisher's side: names in UTF-8, and entries that become free. */
#include "sampler/virtuals.h"

#include "wire/layout.h"

#include <string.h>

#define TICKS_SWEEP 8u   /* publications between two sweeps, of 100 ms each */
#define TICKS_LONG  600u /* how long one that is not seen is kept, */
#define TICKS_SHORT 16u  /* and where there are many */
#define MANY        (VIRTUALS_MAX / 2)

/* --- names ------------------------------------------------------------------------------------------- */

static uint32_t name_char(const struct java_name *name, uint32_t *at)
{
	uint32_t c = name->bytes[(*at)++], low;

	if (!name->wide)
		return c;
	c |= (uint32_t)name->bytes[(*at)++] << 8;
	low = *at + 1 < name->count ? name->bytes[*at] | (uint32_t)name->bytes[*at + 1] << 8 : 0;
	if (c < 0xd800 || c >= 0xe000)
		return c;
	if (c >= 0xdc00 || low < 0xdc00 || low >= 0xe000)
		return 0xfffd; /* half of a pair */
	*at += 2;
	return 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
}

static uint32_t put_utf8(char *out, uint32_t c)
{
	uint32_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	static const uint8_t first[] = {0, 0, 0xc0, 0xe0, 0xf0};

	for (uint32_t i = n; i-- > 1; c >>= 6)
		out[i] = (char)(0x80 | (c & 63));
	out[0] = (char)(first[n] | c);
	return n;
}

static uint32_t name_utf8(const struct java_name *name, char *out)
{
	uint32_t bytes = 0;

	for (uint32_t at = 0; at + name->wide < name->count;)
		bytes += put_utf8(out + bytes, name_char(name, &at));
	return bytes;
}

/* --- entries ----------------------------------------------------------------------------------------- */

static struct virtuals_entry *entry_of(struct virtuals *v, uint32_t id)
{
	for (uint32_t i = 0; i < VIRTUALS_WINDOW; i++) {
		struct virtuals_entry *e = &v->entries[(id + i) & (VIRTUALS_MAX - 1)];
		uint64_t number = atomic_load(&e->number);

		if (number && WIRE_VIRTUAL_ID(number) == id)
			return e;
	}
	return NULL;
}

void virtuals_tell(struct virtuals *v, uint32_t id, struct virtuals_told *out)
{
	struct virtuals_entry *e = entry_of(v, id);
	struct java_name name = {.count = 0};
	uint32_t seq;

	memset(out, 0, sizeof(*out));
	out->number = id & 0x7fffffffu;
	if (!e)
		return;
	out->number = atomic_load(&e->number);
	out->carrier = atomic_load(&e->carrier);
	seq = atomic_load_explicit(&e->seq, memory_order_acquire);
	if (e->named)
		name = e->name;
	atomic_thread_fence(memory_order_acquire);
	if (!(seq & 1) && atomic_load_explicit(&e->seq, memory_order_relaxed) == seq)
		out->bytes = name_utf8(&name, out->name);
}

/* entry_free: unless a handler is writing to it. */
static void entry_free(struct virtuals_entry *e)
{
	uint32_t seq = atomic_load(&e->seq);

	if (seq & 1 || !atomic_compare_exchange_strong(&e->seq, &seq, seq + 1))
		return;
	e->named = false;
	e->name.count = 0;
	atomic_store(&e->number, 0);
	atomic_store_explicit(&e->seq, seq + 2, memory_order_release);
}

void virtuals_tick(struct virtuals *v)
{
	uint32_t now = atomic_fetch_add(&v->now, 1) + 1;
	uint32_t keep = v->used > MANY ? TICKS_SHORT : TICKS_LONG;

	if (!atomic_load(&v->any) || now % TICKS_SWEEP)
		return;
	v->used = 0;
	for (uint32_t i = 0; i < VIRTUALS_MAX; i++) {
		struct virtuals_entry *e = &v->entries[i];

		if (!atomic_load(&e->number))
			continue;
		if (now - atomic_load(&e->seen) > keep)
			entry_free(e);
		else
			v->used++;
	}
}
