/* SPDX-License-Identifier: Apache-2.0 */
/* A session's memory: the shared map in a sealed memfd, and one private mapping for everything else. */
#include "sampler/session/memory.h"

#include "base/clock.h"
#include "sampler/procfile.h"
#include "sampler/publish/state.h"
#include "sampler/session/files.h"
#include "sampler/session/unwind_recv.h"
#include "sampler/signal/raw.h"
#include "sampler/signal/signal.h"
#include "sampler/text.h"

#include <errno.h>
#include <linux/memfd.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008u
#endif
#define SHARED_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

static const struct wire_header shared_header = {
	.magic = WIRE_MAGIC,
	.major = WIRE_MAJOR,
	.minor = WIRE_MINOR,
	.header_bytes = sizeof(struct wire_header),
	.map_bytes = 4 * WIRE_PAGE + WIRE_RING_BYTES + WIRE_STAGING_BYTES,
	.control_off = WIRE_PAGE,
	.control_bytes = sizeof(struct wire_control),
	.status_off = 2 * WIRE_PAGE,
	.status_bytes = sizeof(struct wire_status),
	.cursors_off = 3 * WIRE_PAGE,
	.cursors_bytes = sizeof(struct wire_cursors),
	.ring_off = 4 * WIRE_PAGE,
	.ring_bytes = WIRE_RING_BYTES,
	.staging_off = 4 * WIRE_PAGE + WIRE_RING_BYTES,
	.staging_bytes = WIRE_STAGING_BYTES,
};

/*
 * Sets the size of an empty file and allocates its pages: touching a page that cannot be allocated later would raise
 * SIGBUS.
 */
static bool shared_reserve(int fd, uint64_t bytes)
{
	static char zeros[WIRE_PAGE]; /* not const: it takes no space in the file */

	if (!raw_refusal(SYS_fallocate))
		return raw(SYS_fallocate, fd, 0, 0, bytes) >= 0;
	for (uint64_t at = 0; at < bytes; at += WIRE_PAGE)
		if (raw(SYS_write, fd, zeros, WIRE_PAGE) != WIRE_PAGE)
			return false;
	return true;
}

/* Creates the memfd with its pages allocated and its size sealed. -1 on failure. */
static int shared_memfd(const char *token, uint64_t bytes)
{
	char name[sizeof(WIRE_MEMFD_PREFIX) + WIRE_TOKEN_MAX];
	struct text text = text_into(name, sizeof(name));

	text_add(&text, WIRE_MEMFD_PREFIX);
	text_add(&text, token);
	long fd = raw(SYS_memfd_create, name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
	if (fd == -EINVAL)
		fd = raw(SYS_memfd_create, name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -1;
	if (!shared_reserve((int)fd, bytes) || raw(SYS_fcntl, fd, F_ADD_SEALS, SHARED_SEALS) < 0) {
		raw(SYS_close, fd);
		return -1;
	}
	return (int)fd;
}

int sampler_share(struct sampler *s)
{
	struct shared *shared = &s->shared;
	struct wire_header header = shared_header;

	shared->bytes = header.map_bytes;
	/* A file that grows beyond this limit sends its writer SIGXFSZ, which not every program handles. */
	if (raw_limit(RLIMIT_FSIZE) < shared->bytes)
		return AGENT_NO_FILE_SIZE;
	int fd = shared_memfd(s->open.token, shared->bytes);
	if (fd < 0)
		return AGENT_NO_MEMFD;
	raw_file_identify(&shared->file, fd);
	long at = raw(SYS_mmap, 0, shared->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at < 0 && at > -4096)
		return AGENT_NO_MEMORY;
	raw(SYS_madvise, at, shared->bytes, MADV_DONTFORK);
	shared->base = (unsigned char *)at;
	shared->header = (struct wire_header *)at;
	shared->control = (struct wire_control *)(at + (long)header.control_off);
	shared->status = (struct wire_status *)(at + (long)header.status_off);
	shared->staging = shared->base + header.staging_off;
	ring_writer_init(&s->ring, (struct wire_cursors *)(at + (long)header.cursors_off),
		shared->base + header.ring_off, header.ring_bytes);
	header.start_mono_ns = s->start_ns;
	header.start_wall_ns = clock_wall_ns();
	s->pid = (int32_t)raw(SYS_getpid);
	header.target_pid = s->pid;
	header.page_bytes = (uint32_t)getpagesize();
	text_set(header.writer, sizeof(header.writer), "libjhot " JHOT_VERSION);
	text_set(header.vm, sizeof(header.vm), s->open.vm);
	text_set(header.token, sizeof(header.token), s->open.token);
	header.magic = 0;
	memcpy(shared->header, &header, sizeof(header));
	__atomic_store_n(&shared->header->magic, WIRE_MAGIC, __ATOMIC_RELEASE);
	return AGENT_OK;
}

/* --- private memory ----------------------------------------------------------------------------- */

#define SHARE 2u /* the agent maps at most 1 / SHARE of the memory below a limit */

static uint64_t left_below(uint64_t limit, uint64_t used)
{
	return limit > used ? limit - used : 0;
}

/* Bytes the machine may still commit when overcommit is disabled; UINT64_MAX otherwise. */
static uint64_t commit_left(void)
{
	char text[4096];

	if (!procfile_read("/proc/sys/vm/overcommit_memory", text, sizeof(text)) ||
		procfile_number(text, "", 0) != 2 ||
		!procfile_read("/proc/meminfo", text, sizeof(text)))
		return UINT64_MAX;
	return left_below(procfile_number(text, "CommitLimit:", UINT64_MAX >> 10),
		       procfile_number(text, "Committed_AS:", 0))
	       << 10;
}

/* True when a private mapping of this size leaves the program its share of each limit. */
static bool memory_fits(uint64_t bytes)
{
	char status[PROCFILE_STATUS];
	uint64_t need = bytes * SHARE;

	if (!procfile_status(status))
		return true;
	return left_below(raw_limit(RLIMIT_AS), procfile_number(status, "VmSize:", 0) << 10) >=
		       need &&
	       left_below(raw_limit(RLIMIT_DATA), procfile_number(status, "VmData:", 0) << 10) >=
		       need &&
	       commit_left() >= need;
}

#define PAGE 4096

/* The private mapping, each part page-aligned; first the parts that handlers use all the time. */
struct memory {
	struct sampler sampler;
	_Alignas(PAGE) struct frame_cache cache;
	_Alignas(PAGE) struct scratch scratch[SAMPLER_SCRATCH];
	_Alignas(PAGE) struct self_constants constants;
	_Alignas(PAGE) unsigned char table[SAMPLER_TABLE_BYTES];
	_Alignas(PAGE) unsigned char names[SAMPLER_NAMES_BYTES];
	_Alignas(PAGE) struct threads threads;
	_Alignas(PAGE) struct virtuals virtuals;
	_Alignas(PAGE) struct publish publish;
	_Alignas(PAGE) struct modules modules;
	_Alignas(PAGE) struct walk_layout layout;
	_Alignas(PAGE) struct unwind_recv unwind;
	_Alignas(PAGE) struct agct agct;
	_Alignas(PAGE) struct tail tails[THREADS_MAX];
};

/* Memory per thread. Slots are allocated from the first one on, so pages of unused slots are never touched. */
#define THREAD_BYTES (sizeof(struct thread_slot) + sizeof(struct tail))

static struct sampler *sampler_map(void)
{
	struct memory *m = memory_fits(sizeof(*m)) ? raw_map_ready(sizeof(*m)) : NULL;

	if (!m)
		return NULL;
	struct sampler *s = &m->sampler;
	s->private_bytes = sizeof(*m);
	s->table = trace_table_init(m->table, sizeof(m->table));
	s->names = names_init(m->names, sizeof(m->names));
	s->threads = &m->threads;
	s->virtuals = &m->virtuals;
	s->scratch = m->scratch;
	s->publish = &m->publish;
	s->modules = &m->modules;
	s->layout_memory = &m->layout;
	s->unwind_recv = &m->unwind;
	s->unwind_recv->s = s;
	s->agct = &m->agct;
	s->cache = &m->cache;
	s->constants = &m->constants;
	s->tails = m->tails;
	return s;
}

int sampler_new(const char *token, const char *vm, struct sampler **out)
{
	struct sampler *s = sampler_map();

	if (!s)
		return AGENT_NO_MEMORY;
	self_mem_open(&s->self, sig_copy_more, &s->kept, self_no_lines());
	s->mem = s->self.mem;
	s->mem.gather = sig_gather;
	self_mem_open(&s->poll_mem, sig_copy_more, &s->kept, self_lines(&s->poll_lines));
	s->start_ns = clock_mono_ns();
	s->task.fd = s->memory.fd = s->shared.file.fd = s->borrowed.program_side.fd = -1;
	s->drained = true;
	atomic_store(&s->references, 1);
	atomic_store(&s->beat_ns, s->start_ns);
	atomic_store(&s->depth, WIRE_DEPTH(SAMPLER_DEPTH, SAMPLER_DEPTH, 0));
	publish_init(s->publish, s);
	text_set(s->open.token, sizeof(s->open.token), token);
	text_set(s->open.vm, sizeof(s->open.vm), vm);
	/* Slots and buffers count once they are used, see sampler_memory. */
	s->memory_bytes = s->private_bytes + shared_header.map_bytes - THREAD_BYTES * THREADS_MAX -
			  sizeof(*s->scratch) * SAMPLER_SCRATCH;
	*out = s;
	return AGENT_OK;
}

void *sampler_part_new(struct sampler *s, size_t bytes)
{
	struct sampler_part *part = memory_fits(bytes) ? raw_map(sizeof(*part) + bytes) : NULL;

	if (!part)
		return NULL;
	part->bytes = sizeof(*part) + bytes;
	part->next = atomic_load(&s->parts);
	while (!atomic_compare_exchange_weak(&s->parts, &part->next, part))
		;
	return part + 1;
}

uint64_t sampler_memory(const struct sampler *s)
{
	uint64_t bytes = s->memory_bytes - trace_table_untouched(s->table) +
			 atomic_load(&s->threads->high) * THREAD_BYTES;

	for (uint32_t i = 0; i < SAMPLER_SCRATCH; i++)
		bytes += atomic_load(&s->scratch[i].used) ? sizeof(*s->scratch) : 0;
	return bytes;
}

void sampler_unshare(struct sampler *s)
{
	if (s->shared.base)
		raw_unmap(s->shared.base, s->shared.bytes);
	raw_file_close(&s->shared.file);
	s->shared.base = NULL;
}

void sampler_free(struct sampler *s)
{
	struct sampler_part *part = atomic_load(&s->parts);

	unwind_recv_done(s->unwind_recv);
	while (part) {
		struct sampler_part *next = part->next;

		raw_unmap(part, part->bytes);
		part = next;
	}
	raw_unmap(s, s->private_bytes);
}
