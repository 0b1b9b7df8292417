/* SPDX-License-Identifier: Apache-2.0 */
/* JavaThread -> java.lang.Thread -> name, id; carrier -> virtual thread, and back. */
#include "walk/hotspot/java_thread.h"

#include "walk/hotspot/threads.h"
#include "walk/load/mem.h"

/* --- offsets ----------------------------------------------------------------------------------------- */

struct finder {
	struct java_threads *threads;
	const struct walk_layout *layout;
	const struct walk_mem *mem;
};

/* Finds the offsets from any thread whose class is java.lang.Thread itself. */
static void find_by(void *ctx, uint64_t java_thread, int32_t tid)
{
	static const char thread[] = "java/lang/Thread";
	static const char *const names[] = {"name", "tid", "eetop"};
	static const char *const value[] = {"value"}, *const coder[] = {"coder"};
	const struct finder *f = ctx;
	const struct walk_layout *l = f->layout;
	struct java_threads *t = f->threads;
	uint64_t field = java_thread + (uint64_t)l->thread_object.offset;
	uint64_t slots[] = {mem_u64(f->mem, field), field};
	uint32_t at[3];

	(void)tid;
	for (unsigned i = 0; i < 2 && !t->mode.known; i++) {
		uint64_t klass =
			oop_klass(l, f->mem, oop_follow(l, f->mem, slots[i], thread), thread);
		if (!klass || !oop_fields(l, f->mem, klass, names, at, 3) ||
			!oop_mode_find(&t->mode, l, f->mem, slots[i], thread, at[0]))
			continue;
		t->klass = klass;
		t->direct = i == 1;
		t->name = at[0];
		t->tid = at[1];
		t->eetop = at[2];
		struct oop string = oop_field(&t->mode, l, f->mem,
			oop_slot(&t->mode, l, f->mem, slots[i]).object + t->name);
		oop_fields(l, f->mem, string.klass, value, &t->value, 1);
		t->coder = oop_fields(l, f->mem, string.klass, coder, at, 1) ? (int32_t)at[0] : -1;
	}
}

/* Every HotSpot JVM has a Reference Handler, started by Java code: its JavaThread is of no subclass. */
static void find_plain(void *ctx, uint64_t java_thread, int32_t tid)
{
	const struct finder *f = ctx;

	(void)tid;
	if (f->threads->plain)
		return;
	uint64_t klass = java_thread_object(f->threads, f->layout, f->mem, java_thread).klass;
	if (oop_klass_is(f->layout, f->mem, klass, "java/lang/ref/Reference$ReferenceHandler"))
		f->threads->plain = mem_u64(f->mem, java_thread);
}

bool java_threads_find(
	struct java_threads *t, const struct walk_layout *l, const struct walk_mem *mem)
{
	struct finder f = {t, l, mem};

	*t = (struct java_threads){.klass = 0};
	if (l->thread_object.offset >= 0)
		walk_threads_each(l, mem, find_by, &f);
	if (t->mode.known)
		walk_threads_each(l, mem, find_plain, &f);
	return t->mode.known;
}

enum java_thread_class java_thread_class(
	const struct java_threads *t, const struct walk_mem *mem, uint64_t java_thread)
{
	uint64_t vtable = t->plain && java_thread ? mem_u64(mem, java_thread) : 0;

	if (!vtable)
		return JAVA_THREAD_UNKNOWN;
	return vtable == t->plain ? JAVA_THREAD_PLAIN : JAVA_THREAD_SUBCLASS;
}

/* Address of the reference to which a JavaThread's field leads, directly or through a handle. */
static uint64_t slot_of(const struct java_threads *t, const struct walk_mem *mem,
	const struct walk_field *field, uint64_t java_thread)
{
	uint64_t at = java_thread + (uint64_t)field->offset;

	return t->direct ? at : mem_u64(mem, at);
}

uint64_t java_thread_word(const struct java_threads *t, const struct walk_layout *l,
	const struct walk_mem *mem, uint64_t java_thread)
{
	return mem_u64(mem, slot_of(t, mem, &l->thread_object, java_thread));
}

struct oop java_thread_object(const struct java_threads *t, const struct walk_layout *l,
	const struct walk_mem *mem, uint64_t java_thread)
{
	return oop_slot(&t->mode, l, mem, slot_of(t, mem, &l->thread_object, java_thread));
}

/* --- names ------------------------------------------------------------------------------------------- */

bool java_text_read(const struct java_threads *t, const struct walk_layout *l,
	const struct walk_mem *mem, struct oop string, struct java_text *out)
{
	bool is_string = oop_klass_is(l, mem, string.klass, "java/lang/String");
	struct oop chars =
		is_string ? oop_field(&t->mode, l, mem, string.object + t->value) : string;
	bool bytes = is_string && t->coder >= 0;

	if (!oop_klass_is(l, mem, chars.klass, bytes ? "[B" : "[C"))
		return false;
	out->wide = !bytes || mem_u8(mem, string.object + (uint32_t)t->coder);
	uint32_t length = oop_array_length(&t->mode, mem, chars.object);
	out->count = bytes ? length : 2 * length;
	if (out->count > out->size || length > out->size)
		out->count = out->size;
	return !out->count ||
	       mem_load(mem, oop_array_data(&t->mode, l, chars.object), out->bytes, out->count);
}

bool java_thread_name(const struct java_threads *t, const struct walk_layout *l,
	const struct walk_mem *mem, uint64_t object, struct java_name *out)
{
	struct oop string = oop_field(&t->mode, l, mem, object + t->name);
	struct java_text text = {.bytes = out->bytes, .size = sizeof(out->bytes)};

	if (!java_text_read(t, l, mem, string, &text))
		return false;
	out->count = text.count;
	out->wide = text.wide;
	mem_refresh(mem);
	struct oop again = oop_field(&t->mode, l, mem, object + t->name);
	return again.object == string.object; /* the string was not relocated during the copy */
}

static uint32_t text_char(const uint8_t *bytes, uint32_t count, bool wide, uint32_t *at)
{
	uint32_t c = bytes[(*at)++];

	if (!wide)
		return c;
	c |= (uint32_t)bytes[(*at)++] << 8;
	uint32_t low = *at + 1 < count ? bytes[*at] | (uint32_t)bytes[*at + 1] << 8 : 0;
	if (c < 0xd800 || c >= 0xe000)
		return c;
	if (c >= 0xdc00 || low < 0xdc00 || low >= 0xe000)
		return 0xfffd; /* unpaired surrogate */
	*at += 2;
	return 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
}

uint32_t java_text_utf8(const uint8_t *bytes, uint32_t count, bool wide, char *out)
{
	static const uint8_t first[] = {
		0, 0, 0xc0, 0xe0, 0xf0}; /* by the length of the character */
	uint32_t used = 0;

	for (uint32_t at = 0; at + wide < count;) {
		uint32_t c = text_char(bytes, count, wide, &at);
		uint32_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

		for (uint32_t i = n; i-- > 1; c >>= 6)
			out[used + i] = (char)(0x80 | (c & 63));
		out[used] = (char)(first[n] | c);
		used += n;
	}
	return used;
}

static uint64_t name_hash(const struct java_name *name)
{
	uint64_t hash = 0xcbf29ce484222325ull ^ name->wide;

	for (uint32_t i = 0; i < name->count; i++)
		hash = (hash ^ name->bytes[i]) * 0x100000001b3ull;
	return hash | 1;
}

bool java_name_changed(const struct java_threads *t, const struct walk_layout *l,
	const struct walk_mem *mem, uint64_t java_thread, struct java_name_seen *seen)
{
	struct java_name_seen now = {.hash = seen->hash};
	struct java_name name;

	/*
	 * Unchanged words prove an unchanged name. Otherwise starts from the JavaThread, which may be a new one at this
	 * address.
	 */
	if (seen->name_at && mem_u64(mem, seen->slot) == seen->thread_word &&
		oop_field_word(&t->mode, mem, seen->name_at) == seen->name_word)
		return false;
	now.slot = slot_of(t, mem, &l->thread_object, java_thread);
	now.thread_word = mem_u64(mem, now.slot);
	struct oop object = oop_slot(&t->mode, l, mem, now.slot);
	now.name_at = object.klass ? object.object + t->name : 0;
	now.name_word = now.name_at ? oop_field_word(&t->mode, mem, now.name_at) : 0;
	if (!object.klass || !java_thread_name(t, l, mem, object.object, &name))
		return false; /* retry at the next call */
	now.hash = name_hash(&name);

	bool changed = now.hash != seen->hash;

	*seen = now;
	return changed;
}

/* --- virtual threads --------------------------------------------------------------------------------- */

/* True for VirtualThread. The first one seen sets the class and its offsets. */
static bool is_virtual(struct java_threads *t, const struct walk_layout *l,
	const struct walk_mem *mem, uint64_t klass)
{
	static const char *const names[] = {"carrierThread"};
	uint64_t known = atomic_load_explicit(&t->virtual_klass, memory_order_acquire);
	uint32_t carrier;

	if (known)
		return klass == known;
	if (!oop_klass_is(l, mem, klass, "java/lang/VirtualThread") ||
		!oop_fields(l, mem, klass, names, &carrier, 1))
		return false;
	t->carrier = carrier;
	atomic_store_explicit(&t->virtual_klass, klass, memory_order_release);
	return true;
}

bool java_virtual_mounted(struct java_threads *t, const struct walk_layout *l,
	const struct walk_mem *mem, uint64_t java_thread, uint64_t *object, uint64_t *number)
{
	/* A mounted virtual thread runs in a continuation; reading the JavaThread is cheaper than reading the objects. */
	if (l->cont_entry.offset >= 0 && !layout_load(&l->cont_entry, mem, java_thread))
		return false;
	uint64_t slot = slot_of(t, mem, &l->thread_virtual, java_thread);
	uint64_t word = mem_u64(mem, slot);

	/* A thread without a mounted virtual thread has its own object in both fields. */
	if (!word || word == java_thread_word(t, l, mem, java_thread))
		return false;
	struct oop virtual = oop_slot(&t->mode, l, mem, slot);
	if (!virtual.klass || !is_virtual(t, l, mem, virtual.klass))
		return false;
	/* The object may be a collector's stale copy: the current one refers back to its carrier. */
	struct oop carrier = oop_field(&t->mode, l, mem, virtual.object + t->carrier);
	if (!carrier.klass || mem_u64(mem, carrier.object + t->eetop) != java_thread)
		return false;
	*object = virtual.object;
	*number = mem_u64(mem, virtual.object + t->tid);
	return *number != 0;
}
