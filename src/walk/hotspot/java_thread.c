/* SPDX-License-Identifier: Apache-2.0 */
/* JavaThread -> java.lang.Thread -> name, number; carrier -> virtual thread, and back. */
#include "walk/hotspot/java_thread.h"

#include "walk/hotspot/method.h"
#include "walk/load/mem.h"

/* Where the JavaThread's field keeps its reference. */
static uint64_t slot_of(const struct java_threads *t, const struct walk_mem *mem,
	const struct walk_field *field, uint64_t java_thread)
{
	uint64_t at = java_thread + (uint64_t)field->offset;

	return t->direct ? at : mem_u64(mem, at);
}

struct oop java_thread_object(const struct java_threads *t, const struct walk_layout *l,
	const struct walk_mem *mem, uint64_t java_thread)
{
	return oop_slot(&t->mode, l, mem, slot_of(t, mem, &l->thread_object, java_thread));
}

/* --- names ------------------------------------------------------------------------------------------- */

static bool klass_is(
	const struct walk_layout *l, const struct walk_mem *mem, uint64_t klass, const char *name)
{
	return symbol_is(l, mem, layout_load(&l->klass_name, mem, klass), name);
}

static bool text_read(const struct java_threads *t, const struct walk_layout *l,
	const struct walk_mem *mem, const struct oop *string, struct java_name *out)
{
	struct oop chars = oop_field(&t->mode, l, mem, string->object + t->value);
	uint32_t length;

	out->wide = t->coder < 0 || mem_u8(mem, string->object + (uint32_t)t->coder);
	if (!chars.klass || !klass_is(l, mem, chars.klass, t->coder < 0 ? "[C" : "[B"))
		return false;
	length = oop_array_length(&t->mode, mem, chars.object);
	out->count = t->coder < 0 ? 2 * length : length;
	if (out->count > JAVA_NAME_BYTES || length > JAVA_NAME_BYTES)
		out->count = JAVA_NAME_BYTES;
	return !out->count ||
	       mem_load(mem, oop_array_data(&t->mode, l, chars.object), out->bytes, out->count);
}

bool java_thread_name(const struct java_threads *t, const struct walk_layout *l,
	const struct walk_mem *mem, uint64_t object, struct java_name *out)
{
	struct oop string = oop_field(&t->mode, l, mem, object + t->name), again;

	if (!string.klass || !klass_is(l, mem, string.klass, "java/lang/String") ||
		!text_read(t, l, mem, &string, out))
		return false;
	again = oop_field(&t->mode, l, mem, object + t->name);
	return again.object == string.object; /* it has not moved meanwhile */
}

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

uint32_t java_name_utf8(const struct java_name *name, char *out)
{
	uint32_t bytes = 0;

	for (uint32_t at = 0; at + name->wide < name->count;)
		bytes += put_utf8(out + bytes, name_char(name, &at));
	return bytes;
}

static uint64_t name_hash(const struct java_name *name)
{
	uint64_t hash = 0xcbf29ce484222325ull ^ name->wide;

	for (uint32_t i = 0; i < name->count; i++)
		hash = (hash ^ name->bytes[i]) * 0x100000001b3ull;
	return hash | 1;
}

bool java_name_moved(const struct java_threads *t, const struct walk_layout *l,
	const struct walk_mem *mem, uint64_t java_thread, struct java_name_seen *seen)
{
	uint64_t slot = slot_of(t, mem, &l->thread_object, java_thread);
	uint64_t thread_word = mem_u64(mem, slot), hash;
	struct java_name_seen now = {.thread_word = thread_word, .hash = seen->hash};
	struct java_name name;
	struct oop object;

	if (thread_word == seen->thread_word && seen->name_at) {
		now.name_at = seen->name_at;
		now.name_word = oop_field_word(&t->mode, mem, now.name_at);
		if (now.name_word == seen->name_word)
			return false;
	}
	object = oop_slot(&t->mode, l, mem, slot);
	now.name_at = object.klass ? object.object + t->name : 0;
	now.name_word = now.name_at ? oop_field_word(&t->mode, mem, now.name_at) : 0;
	if (!object.klass || !java_thread_name(t, l, mem, object.object, &name))
		return false; /* the next time */
	hash = name_hash(&name);
	now.hash = hash;
	if (hash == seen->hash) {
		*seen = now;
		return false;
	}
	*seen = now;
	return true;
}

/* --- virtual threads --------------------------------------------------------------------------------- */

/* A class that is new is VirtualThread, or it is not one whose fields are known. */
static bool is_virtual(struct java_threads *t, const struct walk_layout *l,
	const struct walk_mem *mem, uint64_t klass)
{
	static const char *const names[] = {"carrierThread"};
	uint64_t known = atomic_load_explicit(&t->virtual_klass, memory_order_acquire);
	uint32_t carrier;

	if (known)
		return klass == known;
	if (!klass_is(l, mem, klass, "java/lang/VirtualThread") ||
		!oop_fields(l, mem, klass, names, &carrier, 1))
		return false;
	t->carrier = carrier;
	atomic_store_explicit(&t->virtual_klass, klass, memory_order_release);
	return true;
}

bool java_virtual_mounted(struct java_threads *t, const struct walk_layout *l,
	const struct walk_mem *mem, uint64_t java_thread, uint64_t *object, uint64_t *number)
{
	uint64_t slot = slot_of(t, mem, &l->thread_virtual, java_thread);
	uint64_t word = mem_u64(mem, slot);
	struct oop virtual, carrier;

	/* A thread that carries none has its own object in both. */
	if (!word || word == mem_u64(mem, slot_of(t, mem, &l->thread_object, java_thread)))
		return false;
	virtual = oop_slot(&t->mode, l, mem, slot);
	if (!virtual.klass || !is_virtual(t, l, mem, virtual.klass))
		return false;
	/* What looks like one may be what a collector has left: the mounted one knows who carries it. */
	carrier = oop_field(&t->mode, l, mem, virtual.object + t->carrier);
	if (!carrier.klass || mem_u64(mem, carrier.object + t->eetop) != java_thread)
		return false;
	*object = virtual.object;
	*number = mem_u64(mem, virtual.object + t->tid);
	return *number != 0;
}
