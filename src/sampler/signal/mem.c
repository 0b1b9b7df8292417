/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the JVM's memory: in place if it stays mapped (walk/load/self.h), otherwise through the kernel, which returns
 * an error for unmapped memory. No load relies on a handler of SIGSEGV or SIGBUS: those belong to the
 * whole process, and any library may replace them between two instructions of ours.
 *
 * The kernel copies by process_vm_readv or, where a sandbox forbids that, by pread from a descriptor of /proc/self/mem,
 * which has the same number in the program's descriptor table, which handlers and callbacks use, and in the agent's.
 * The program may close it and reuse its number for a file of its own: its identity is checked once per walk, and data
 * from another file read in between is validated like any other memory.
 */
#include "sampler/signal/raw.h"
#include "sampler/signal/signal.h"

#include <sys/uio.h>

enum { BY_NOTHING, BY_CALL, BY_FILE };

static struct {
	_Atomic uint32_t way;
	int32_t pid;
	struct raw_file file; /* /proc/self/mem */
} mem_reads;

static bool copy_by(uint32_t way, uint64_t addr, void *out, size_t bytes, bool *checked)
{
	struct iovec to = {out, bytes}, from = {(void *)(uintptr_t)addr, bytes};
	long got = -1;

	if (way == BY_CALL)
		got = raw(SYS_process_vm_readv, mem_reads.pid, &to, 1, &from, 1, 0);
	if (way == BY_FILE && (*checked = *checked || raw_file_same(&mem_reads.file)))
		got = raw(SYS_pread64, mem_reads.file.fd, out, bytes, addr);
	return got == (long)bytes;
}

bool sig_copy_more(uint64_t addr, void *out, size_t bytes, bool *checked)
{
	return copy_by(atomic_load_explicit(&mem_reads.way, memory_order_acquire), addr, out, bytes,
		checked);
}

bool sig_copy(uint64_t addr, void *out, size_t bytes)
{
	bool checked = false;

	return sig_copy_more(addr, out, bytes, &checked);
}

#define GATHER_MAX 64u

/*
 * The kernel stops at the first unreadable address and returns the number of bytes copied before it: that word stays 0,
 * and the next call continues after it.
 */
static uint32_t gather_by_call(const uint64_t *addrs, uint32_t count, uint32_t bytes, uint64_t *out)
{
	struct iovec to[GATHER_MAX], from[GATHER_MAX];
	uint32_t parts = 0;

	while (parts < count && parts < GATHER_MAX && addrs[parts]) {
		to[parts] = (struct iovec){&out[parts], bytes};
		from[parts] = (struct iovec){(void *)(uintptr_t)addrs[parts], bytes};
		parts++;
	}
	long got = parts ? raw(SYS_process_vm_readv, mem_reads.pid, to, parts, from, parts, 0) : 0;
	return got < 0 ? 0 : (uint32_t)got / bytes;
}

/* to, from: space for count elements each */
static uint32_t copy_blocks(
	const struct self_block *blocks, uint32_t count, struct iovec *to, struct iovec *from)
{
	uint32_t done = 0;

	for (uint32_t i = 0; i < count; i++) {
		to[i] = (struct iovec){blocks[i].out, blocks[i].bytes};
		from[i] = (struct iovec){(void *)(uintptr_t)blocks[i].addr, blocks[i].bytes};
	}
	if (atomic_load_explicit(&mem_reads.way, memory_order_acquire) == BY_CALL) {
		long got = raw(SYS_process_vm_readv, mem_reads.pid, to, count, from, count, 0);
		for (; done < count && got >= (long)blocks[done].bytes; done++)
			got -= (long)blocks[done].bytes;
		return done;
	}
	while (done < count && sig_copy(blocks[done].addr, blocks[done].out, blocks[done].bytes))
		done++;
	return done;
}

uint32_t sig_copy_blocks(const struct self_block *blocks, uint32_t count)
{
	struct iovec to[SIG_BLOCKS], from[SIG_BLOCKS];

	return copy_blocks(blocks, count, to, from);
}

uint32_t sig_copy_lines(const struct self_block *blocks, uint32_t count)
{
	struct iovec to[SELF_WAYS], from[SELF_WAYS];

	return copy_blocks(blocks, count, to, from);
}

void sig_gather(const struct walk_mem *mem, const uint64_t *addrs, uint32_t count, uint32_t bytes,
	uint64_t *out)
{
	bool by_call = atomic_load_explicit(&mem_reads.way, memory_order_acquire) == BY_CALL;

	(void)mem;
	for (uint32_t i = 0; i < count; i++)
		out[i] = 0;
	for (uint32_t i = 0, copied; by_call && i < count;) {
		copied = gather_by_call(addrs + i, count - i, bytes, out + i);
		i += copied < GATHER_MAX ? copied + 1 : copied;
	}
	for (uint32_t i = 0; !by_call && i < count; i++)
		if (addrs[i])
			sig_copy(addrs[i], &out[i], bytes);
}

static bool way_works(uint32_t way)
{
	uint64_t word = 0x6a686f74206d656d, read = 0;
	bool checked = false;

	return copy_by(way, (uint64_t)(uintptr_t)&word, &read, sizeof(read), &checked) &&
	       read == word;
}

bool sig_mem_choose(void)
{
	uint32_t way = atomic_load(&mem_reads.way);
	int32_t pid = (int32_t)raw(SYS_getpid);

	if (pid == mem_reads.pid && way_works(way))
		return true;
	mem_reads.pid = pid;
	/* The process's first thread may have exited; this one is alive. */
	if (!way_works(BY_CALL))
		mem_reads.pid = (int32_t)raw_gettid();
	way = way_works(BY_CALL) ? BY_CALL : BY_NOTHING;
	atomic_store_explicit(&mem_reads.way, way, memory_order_release);
	return way != BY_NOTHING;
}

bool sig_mem_by_file(int32_t fd)
{
	raw_file_identify(&mem_reads.file, fd);
	if (!way_works(BY_FILE))
		return false;
	atomic_store_explicit(&mem_reads.way, BY_FILE, memory_order_release);
	return true;
}

void sig_mem_close(void)
{
	atomic_store(&mem_reads.way, BY_NOTHING);
}

static bool mem_anywhere(const struct walk_mem *mem, uint64_t addr, void *out, size_t bytes)
{
	(void)mem;
	return sig_copy(addr, out, bytes);
}

const struct walk_mem sig_mem_anywhere = {.load = mem_anywhere};
