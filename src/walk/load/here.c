/* SPDX-License-Identifier: Apache-2.0 */
/* Reads in place where memory stays mapped, and through kernel-copied lines elsewhere. */
#include "walk/load/here.h"
#include "walk/load/version.h"

#define HERE_READABLE 1u

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

static bool is_kept(const struct here_kept *kept, uint64_t addr, size_t bytes)
{
	uint32_t count = kept ? atomic_load_explicit(&kept->count, memory_order_acquire) : 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct here_range *range = &kept->ranges[i];
		uint64_t high = atomic_load_explicit(&range->high, memory_order_relaxed);

		if (addr >= range->low && addr < high)
			return bytes <= high - addr;
	}
	return false;
}

/* The line that contains addr, copied if it is not cached; NULL if unreadable. */
static const unsigned char *line_find(struct here *here, uint64_t addr)
{
	struct here_lines *lines = here->lines;
	uint64_t low = addr & ~(uint64_t)(HERE_LINE_BYTES - 1);
	uint64_t at = low / HERE_LINE_BYTES % HERE_LINES;

	if (!low)
		return NULL;
	if ((lines->tags[at] & ~(uint64_t)HERE_READABLE) != low) {
		lines->tags[at] = 0;
		lines->tags[at] =
			low | here->copy(low, lines->bytes[at], HERE_LINE_BYTES, &here->checked);
	}
	return lines->tags[at] & HERE_READABLE ? lines->bytes[at] : NULL;
}

static bool lines_load(struct here *here, uint64_t addr, unsigned char *out, size_t bytes)
{
	while (bytes) {
		size_t offset = addr % HERE_LINE_BYTES, part = HERE_LINE_BYTES - offset;
		const unsigned char *line = line_find(here, addr);

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
	const struct here *here = mem->ctx;

	return (addr >= here->own_low && addr < here->own_high && bytes <= here->own_high - addr) ||
	       (addr - mem->stack_low < mem->stack_bytes &&
		       bytes <= mem->stack_low + mem->stack_bytes - addr) ||
	       is_kept(here->kept, addr, bytes);
}

static bool here_load(const struct walk_mem *mem, uint64_t addr, void *out, size_t bytes)
{
	struct here *here = mem->ctx;
	bool unchecked = false;

	if (is_in_place(mem, addr, bytes)) {
		copy_in_place(out, addr, bytes);
		return true;
	}
	if (addr + bytes < addr)
		return false;
	return here->lines ? lines_load(here, addr, out, bytes)
			   : here->copy(addr, out, bytes, &unchecked);
}

/* --- constants --------------------------------------------------------------------------------------- */

static struct here_constant *row_of(struct here_constants *constants, uint64_t owner, uint64_t low)
{
	uint64_t hash = (owner * 31 + low / HERE_LINE_BYTES) * 0x9e3779b97f4a7c15ull;

	return &constants->rows[(hash >> 32) % HERE_CONSTANTS];
}

static bool row_load(
	const struct here *here, uint64_t owner, uint64_t addr, unsigned char *out, size_t bytes)
{
	uint64_t low = addr & ~(uint64_t)(HERE_LINE_BYTES - 1);
	const struct here_constant *row = row_of(here->constants, owner, low);
	uint32_t version = version_read(&row->version);

	if (row->owner != owner || row->low != low ||
		(row->epoch != here->epoch && row->epoch != HERE_CONFIRMED))
		return false;
	__builtin_memcpy(out, row->bytes + (addr - low), bytes);
	return version_unchanged(&row->version, version);
}

/* Fills a row through a line, which the walk may need again. False if unreadable, or another thread is writing the row. */
static bool row_fill(struct here *here, uint64_t owner, uint64_t addr)
{
	uint64_t low = addr & ~(uint64_t)(HERE_LINE_BYTES - 1);
	struct here_constant *row = row_of(here->constants, owner, low);
	const unsigned char *line = line_find(here, addr);
	uint32_t version;
	bool same;

	if (!line || !version_write(&row->version, &version))
		return false;
	same = row->owner == owner && row->low == low && row->epoch != here->epoch &&
	       !__builtin_memcmp(row->bytes, line, HERE_LINE_BYTES);
	__builtin_memcpy(row->bytes, line, HERE_LINE_BYTES);
	row->owner = owner;
	row->low = low;
	row->epoch = same ? HERE_CONFIRMED : here->epoch;
	version_written(&row->version, version);
	return true;
}

static bool here_load_constant(
	const struct walk_mem *mem, uint64_t owner, uint64_t addr, void *out, size_t bytes)
{
	struct here *here = mem->ctx;
	unsigned char *to = out;

	if (!here->constants || addr + bytes < addr || is_in_place(mem, addr, bytes))
		return here_load(mem, addr, out, bytes);
	for (size_t done = 0, part; done < bytes; done += part) {
		part = HERE_LINE_BYTES - (addr + done) % HERE_LINE_BYTES;
		part = part < bytes - done ? part : bytes - done;
		if (!row_load(here, owner, addr + done, to + done, part) &&
			!(row_fill(here, owner, addr + done) &&
				row_load(here, owner, addr + done, to + done, part)))
			return here_load(mem, addr, out, bytes);
	}
	return true;
}

void here_keep_constants(struct here *here, struct here_constants *constants, uint32_t epoch)
{
	here->constants = constants;
	here->epoch = epoch;
}

/* --- from outside ------------------------------------------------------------------------------------ */

static void mem_lines_forget(const struct walk_mem *mem)
{
	here_refresh(mem->ctx);
}

void here_open(
	struct here *here, here_copy *copy, const struct here_kept *kept, struct here_lines *lines)
{
	*here = (struct here){.copy = copy, .kept = kept, .lines = lines};
	here->mem = (struct walk_mem){.load = here_load,
		.load_constant = here_load_constant,
		.refresh = mem_lines_forget,
		.ctx = here,
		.is_here = true};
	here_refresh(here);
}

void here_refresh(struct here *here)
{
	here->checked = false;
	if (here->lines)
		__builtin_memset(here->lines->tags, 0, sizeof(here->lines->tags));
}

void here_stack(struct here *here, uint64_t sp, uint64_t end)
{
	here->mem.stack_low = sp;
	here->mem.stack_bytes = end - sp > 8 ? end - sp - 7 : 0;
}

void here_keep(struct here_kept *kept, uint64_t low, uint64_t high)
{
	uint32_t count = atomic_load(&kept->count), i = 0;

	while (i < count && kept->ranges[i].low != low)
		i++;
	if (i == HERE_KEPT || !low || high <= low)
		return;
	kept->ranges[i].low = low;
	if (high > atomic_load(&kept->ranges[i].high))
		atomic_store_explicit(&kept->ranges[i].high, high, memory_order_relaxed);
	if (i == count)
		atomic_store_explicit(&kept->count, count + 1, memory_order_release);
}
