/* SPDX-License-Identifier: Apache-2.0 */
/* Reads in place where memory stays mapped, and through kernel-copied lines elsewhere. */
#include "walk/load/self.h"
#include "walk/load/version.h"

#define SELF_READABLE 1u

/* Loads a word in one access, so a concurrent store by another thread is not torn. */
static void copy_in_place(void *out, uint64_t addr, size_t bytes)
{
	const void *from = (const void *)(uintptr_t)addr;

	switch (bytes) {
	case 8: __builtin_memcpy(out, from, 8); break;
	case 4: __builtin_memcpy(out, from, 4); break;
	case 1: __builtin_memcpy(out, from, 1); break;
	default: __builtin_memcpy(out, from, bytes);
	}
}

static bool is_kept(const struct self_kept *kept, uint64_t addr, size_t bytes)
{
	uint32_t count = kept ? atomic_load_explicit(&kept->count, memory_order_acquire) : 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct self_range *range = &kept->ranges[i];
		uint64_t high = atomic_load_explicit(&range->high, memory_order_relaxed);

		if (addr >= range->low && addr < high)
			return bytes <= high - addr;
	}
	return false;
}

static uint64_t line_low(uint64_t addr)
{
	return addr & ~(uint64_t)(SELF_LINE_BYTES - 1);
}

/* First line of the set that may contain this address. */
static uint32_t line_set(const struct self_lines *lines, uint64_t low)
{
	return (uint32_t)(low / SELF_LINE_BYTES % (lines->count / SELF_WAYS)) * SELF_WAYS;
}

/* Index of the line at low, or lines->count. */
static uint32_t line_index(const struct self_lines *lines, uint64_t low)
{
	uint32_t set = line_set(lines, low);

	for (uint32_t at = set; at < set + SELF_WAYS; at++)
		if ((lines->tags[at] & ~(uint64_t)SELF_READABLE) == low)
			return at;
	return lines->count;
}

/* Empties the line of the set that was filled first, or any other line. */
static uint32_t line_evict(struct self_mem *self, uint64_t low)
{
	uint32_t at = line_set(&self->lines, low) + self->evicted++ % SELF_WAYS;

	self->lines.tags[at] = 0;
	return at;
}

/* The line that contains addr, copied if it is not cached; NULL if unreadable. */
static const unsigned char *line_find(struct self_mem *self, uint64_t addr)
{
	const struct self_lines *lines = &self->lines;
	uint64_t low = line_low(addr);
	uint32_t at;

	if (!low)
		return NULL;
	at = line_index(lines, low);
	if (at == lines->count) {
		at = line_evict(self, low);
		lines->tags[at] =
			low | self->copy(low, lines->bytes[at], SELF_LINE_BYTES, &self->checked);
	}
	return lines->tags[at] & SELF_READABLE ? lines->bytes[at] : NULL;
}

static bool lines_load(struct self_mem *self, uint64_t addr, unsigned char *out, size_t bytes)
{
	while (bytes) {
		size_t offset = addr % SELF_LINE_BYTES, part = SELF_LINE_BYTES - offset;
		const unsigned char *line = line_find(self, addr);

		if (!line)
			return false;
		part = part < bytes ? part : bytes;
		__builtin_memcpy(out, line + offset, part);
		out += part;
		addr += part;
		bytes -= part;
	}
	return true;
}

static bool is_in_place(const struct walk_mem *mem, uint64_t addr, size_t bytes)
{
	const struct self_mem *self = mem->ctx;

	return (addr >= self->own_low && addr < self->own_high && bytes <= self->own_high - addr) ||
	       (addr - mem->stack_low < mem->stack_bytes &&
		       bytes <= mem->stack_low + mem->stack_bytes - addr) ||
	       is_kept(self->kept, addr, bytes);
}

static bool self_load(const struct walk_mem *mem, uint64_t addr, void *out, size_t bytes)
{
	struct self_mem *self = mem->ctx;
	bool unchecked = false;

	if (is_in_place(mem, addr, bytes)) {
		copy_in_place(out, addr, bytes);
		return true;
	}
	if (addr + bytes < addr)
		return false;
	return self->lines.tags ? lines_load(self, addr, out, bytes)
				: self->copy(addr, out, bytes, &unchecked);
}

/* --- constants --------------------------------------------------------------------------------------- */

static struct self_constant *row_of(struct self_constants *constants, uint64_t owner, uint64_t low)
{
	uint64_t hash = (owner * 31 + low / SELF_LINE_BYTES) * 0x9e3779b97f4a7c15ull;

	return &constants->rows[(hash >> 32) % SELF_CONSTANTS];
}

static bool is_row_of(
	const struct self_mem *self, const struct self_constant *row, uint64_t owner, uint64_t low)
{
	return row->owner == owner && row->low == low &&
	       (row->epoch == self->epoch || row->epoch == SELF_CONFIRMED);
}

static bool row_load(const struct self_mem *self, uint64_t owner, uint64_t addr, unsigned char *out,
	size_t bytes)
{
	uint64_t low = line_low(addr);
	const struct self_constant *row = row_of(self->constants, owner, low);
	uint32_t version = version_read(&row->version);

	if (!is_row_of(self, row, owner, low))
		return false;
	__builtin_memcpy(out, row->bytes + (addr - low), bytes);
	return version_unchanged(&row->version, version);
}

/* Fills a row through a line, which the walk may need again. False if unreadable, or another thread is writing the row. */
static bool row_fill(struct self_mem *self, uint64_t owner, uint64_t addr)
{
	uint64_t low = line_low(addr);
	struct self_constant *row = row_of(self->constants, owner, low);
	const unsigned char *line = line_find(self, addr);
	uint32_t version;

	if (!line || !version_write(&row->version, &version))
		return false;
	bool same = row->owner == owner && row->low == low && row->epoch != self->epoch &&
		    !__builtin_memcmp(row->bytes, line, SELF_LINE_BYTES);
	__builtin_memcpy(row->bytes, line, SELF_LINE_BYTES);
	row->owner = owner;
	row->low = low;
	row->epoch = same ? SELF_CONFIRMED : self->epoch;
	version_written(&row->version, version);
	return true;
}

static bool self_load_constant(
	const struct walk_mem *mem, uint64_t owner, uint64_t addr, void *out, size_t bytes)
{
	struct self_mem *self = mem->ctx;
	unsigned char *to = out;

	if (!self->constants || addr + bytes < addr || is_in_place(mem, addr, bytes))
		return self_load(mem, addr, out, bytes);
	for (size_t done = 0, part; done < bytes; done += part) {
		part = SELF_LINE_BYTES - (addr + done) % SELF_LINE_BYTES;
		part = part < bytes - done ? part : bytes - done;
		if (!row_load(self, owner, addr + done, to + done, part) &&
			!(row_fill(self, owner, addr + done) &&
				row_load(self, owner, addr + done, to + done, part)))
			return self_load(mem, addr, out, bytes);
	}
	return true;
}

void self_keep_constants(struct self_mem *self, struct self_constants *constants, uint32_t epoch)
{
	self->constants = constants;
	self->epoch = epoch;
}

/* --- prefetch ---------------------------------------------------------------------------------------- */

/* True when a load of this page would make a system call. */
static bool is_missing(const struct self_mem *self, uint64_t owner, uint64_t low)
{
	return low && line_index(&self->lines, low) == self->lines.count &&
	       !is_in_place(&self->mem, low, SELF_LINE_BYTES) &&
	       !(owner && self->constants &&
		       is_row_of(self, row_of(self->constants, owner, low), owner, low));
}

/* A single missing page is left to the load itself. */
static void self_prefetch(
	const struct walk_mem *mem, uint64_t owner, const struct walk_part *parts, uint32_t count)
{
	struct self_mem *self = mem->ctx;
	struct self_block blocks[SELF_WAYS];
	uint32_t lines[SELF_WAYS], missing = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint64_t low = line_low(parts[i].addr), end = parts[i].addr + parts[i].bytes;

		for (; low < end && missing < SELF_WAYS; low += SELF_LINE_BYTES) {
			bool again = false;

			for (uint32_t k = 0; k < missing; k++)
				again = again || blocks[k].addr == low;
			if (!again && is_missing(self, owner, low))
				blocks[missing++].addr = low;
		}
	}
	if (missing < 2)
		return;
	for (uint32_t i = 0; i < missing; i++) {
		lines[i] = line_evict(self, blocks[i].addr);
		blocks[i].out = self->lines.bytes[lines[i]];
		blocks[i].bytes = SELF_LINE_BYTES;
	}
	uint32_t copied = self->copy_blocks(blocks, missing);
	for (uint32_t i = 0; i < copied; i++)
		self->lines.tags[lines[i]] = blocks[i].addr | SELF_READABLE;
}

/* --- public functions -------------------------------------------------------------------------------- */

static void mem_lines_forget(const struct walk_mem *mem)
{
	self_mem_refresh(mem->ctx);
}

static void mem_distrust_stack(const struct walk_mem *mem)
{
	struct self_mem *self = mem->ctx;

	self->mem.stack_bytes = 0;
}

void self_mem_open(struct self_mem *self, self_copy *copy, const struct self_kept *kept,
	struct self_lines lines)
{
	*self = (struct self_mem){.copy = copy, .kept = kept, .lines = lines};
	self->mem = (struct walk_mem){.load = self_load,
		.load_constant = self_load_constant,
		.refresh = mem_lines_forget,
		.distrust_stack = mem_distrust_stack,
		.ctx = self,
		.is_self = true};
	self_mem_refresh(self);
}

void self_prefetch_by(struct self_mem *self, self_copy_blocks *copy_blocks)
{
	self->copy_blocks = copy_blocks;
	self->mem.prefetch = self_prefetch;
}

void self_mem_refresh(struct self_mem *self)
{
	self->checked = false;
	if (self->lines.tags)
		__builtin_memset(self->lines.tags, 0, self->lines.count * sizeof(uint64_t));
}

void self_mem_stack(struct self_mem *self, uint64_t sp, uint64_t end)
{
	self->mem.stack_low = sp;
	self->mem.stack_bytes = end - sp > 8 ? end - sp - 7 : 0;
}

void self_kept_add(struct self_kept *kept, uint64_t low, uint64_t high)
{
	uint32_t count = atomic_load(&kept->count), i = 0;

	while (i < count && kept->ranges[i].low != low)
		i++;
	if (i == SELF_KEPT || !low || high <= low)
		return;
	kept->ranges[i].low = low;
	if (high > atomic_load(&kept->ranges[i].high))
		atomic_store_explicit(&kept->ranges[i].high, high, memory_order_relaxed);
	if (i == count)
		atomic_store_explicit(&kept->count, count + 1, memory_order_release);
}
