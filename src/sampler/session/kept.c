/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that is never unmapped: the segments of libjvm and the C library's code, since the agent refers to both; the
 * committed part of the code cache, which never shrinks; archives of classes (CDS), which HotSpot maps when it starts;
 * a performance counter if it is in a mapped file (otherwise its memory is released when the JVM ends).
 */
#include "sampler/session/kept.h"

#include "sampler/jvm/jvm.h"
#include "sampler/procfile.h"
#include "sampler/publish/modules.h"
#include "sampler/session/files.h"
#include "sampler/signal/raw.h"
#include "sampler/signal/signal.h"
#include "walk/load/mem.h"

#include <elf.h>
#include <string.h>

#define SEGMENTS   32u
#define MEMORY_FD  200 /* lower bound of the descriptor number: see raw_fd_high */
#define LINE_BYTES 8192u
/* A segment map is rounded up to pages, which may be large. */
#define SEGMAP_SLACK (1u << 20)

/*
 * Registers the library's segments with this access. Reads the program headers, because /proc/self/maps merges .bss
 * with an anonymous mapping that follows it.
 */
static void kept_library(struct self_kept *kept, uint64_t base, uint32_t access)
{
	Elf64_Ehdr head;
	Elf64_Phdr segment;

	if (!sig_copy(base, &head, sizeof(head)) || memcmp(head.e_ident, ELFMAG, SELFMAG))
		return;
	for (uint32_t i = 0; i < head.e_phnum && i < SEGMENTS; i++) {
		if (sig_copy(
			    base + head.e_phoff + i * sizeof(segment), &segment, sizeof(segment)) &&
			segment.p_type == PT_LOAD && (segment.p_flags & access) == access)
			self_kept_add(kept, base + segment.p_vaddr,
				base + segment.p_vaddr + segment.p_memsz);
	}
}

static void kept_committed(struct sampler *s, uint64_t low, uint64_t high, uint64_t at)
{
	uint64_t committed;

	if (at && mem_load_u64(&s->poll_mem.mem, at, &committed) && committed <= high)
		self_kept_add(&s->kept, low, committed);
}

struct archives {
	struct self_kept *kept;
	uint64_t low, high;
};

/* Handles one line of maps. Pages between an archive's parts may be unreadable. */
static void kept_archive(void *ctx, const char *line, size_t bytes)
{
	const struct archives *a = ctx;
	struct module m;
	char access[4];

	modules_line(line, bytes, access, &m);
	if (access[0] == 'r' && m.inode && m.start >= a->low && m.end <= a->high)
		self_kept_add(a->kept, m.start, m.end);
}

void kept_begin(struct sampler *s)
{
	kept_library(&s->kept, jvm_library_base(), PF_R);
	if (jvm_libc_base())
		kept_library(&s->kept, jvm_libc_base(), PF_R | PF_X);
}

void kept_layout(struct sampler *s)
{
	const struct walk_layout *l = s->layout;
	struct archives a = {.kept = &s->kept};
	char buffer[LINE_BYTES];

	kept_update(s);
	if (!l)
		return;
	a.low = mem_u64(&s->mem, l->archive_low);
	a.high = mem_u64(&s->mem, l->archive_high);
	if (l->counters_stay) {
		self_kept_add(&s->kept, l->unloaded_classes, l->unloaded_classes + sizeof(int64_t));
		self_kept_add(&s->kept, l->threads_started, l->threads_started + sizeof(int64_t));
	}
	/* Touches the pages so that they are present before a handler needs them. */
	for (uint32_t i = 0; l->immutable_data.offset >= 0 && i < SELF_CONSTANTS; i++)
		atomic_store(&s->constants->rows[i].version, 0);
	if (a.low && a.high > a.low)
		procfile_maps(buffer, sizeof(buffer), kept_archive, &a);
}

void kept_update(struct sampler *s)
{
	const struct walk_layout *l = s->layout;

	self_mem_refresh(&s->poll_mem);
	for (uint32_t i = 0; l && i < l->heap_count; i++) {
		const struct walk_heap *heap = &l->heaps[i];
		uint64_t segments = (heap->high - heap->low) >> heap->shift;

		kept_committed(s, heap->low, heap->high, heap->committed_at);
		kept_committed(s, heap->segmap, heap->segmap + segments + SEGMAP_SLACK,
			heap->segmap_committed_at);
	}
}

/* --- reading through the kernel ---------------------------------------------------------------- */

#define TRIES 8

/* Opens /proc/self/mem in the calling thread's table, at the lowest free number >= `from`; -1 on failure. */
static int32_t memory_open(int32_t from)
{
	long fd = raw(SYS_openat, AT_FDCWD, "/proc/self/mem", O_RDONLY | O_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	long high = raw(SYS_fcntl, fd, F_DUPFD_CLOEXEC, from);
	raw(SYS_close, fd);
	return high < 0 ? -1 : (int32_t)high;
}

/* On the thread that shares the program's table. */
static void memory_open_there(void *ctx)
{
	struct sampler *s = ctx;

	raw_file_identify(&s->memory, memory_open(s->memory.fd));
}

static void memory_close_there(void *ctx)
{
	struct sampler *s = ctx;

	raw_file_close(&s->memory);
}

/* Opens /proc/self/mem at the same number in both descriptor tables. Gives up after TRIES collisions. */
static bool memory_file(struct sampler *s)
{
	int32_t number = MEMORY_FD;

	for (int i = 0; i < TRIES; i++) {
		files_run(s, memory_close_there, s);
		s->memory.fd = number;
		if (!files_run(s, memory_open_there, s) || s->memory.fd < 0)
			return false;
		int32_t own = s->files.own ? memory_open(s->memory.fd) : s->memory.fd;
		if (own == s->memory.fd)
			return sig_mem_by_file(own);
		if (own < 0)
			return false;
		raw(SYS_close, own);
		number = own;
	}
	return false;
}

bool kept_readable(struct sampler *s)
{
	return sig_mem_choose() || memory_file(s);
}

void kept_end(struct sampler *s)
{
	sig_mem_close();
	if (s->memory.fd >= 0)
		files_run(s, memory_close_there, s);
}
