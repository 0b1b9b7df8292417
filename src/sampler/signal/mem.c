/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the agent reads the JVM's memory. Handlers do so in place, by guarded loads, while our handler of SIGSEGV is there
 * to catch what fails; what may well fail, and everything else, goes by HotSpot's SafeFetch, which HotSpot's own handler
 * knows.
 *
 * Where SafeFetch has not been found, or is known on Java threads only (JDK 8), ours has to be there for it as well: once
 * somebody has taken it away, it is a system call for each load from then on.
 */
#include "sampler/signal/raw.h"
#include "sampler/signal/signal.h"

#include "walk/load/fetch.h"
#include "walk/load/guard.h"

#include <errno.h>
#include <sys/uio.h>

/* mem_caught: ours, and with SafeFetch HotSpot's too, will catch what fails. */
static bool mem_caught(const struct walk_mem *mem, uint64_t addr, void *out, size_t bytes)
{
	return fetch_ready() ? fetch_load(mem, addr, out, bytes)
			     : guard_load(mem, addr, out, bytes);
}

static bool mem_anywhere(const struct walk_mem *mem, uint64_t addr, void *out, size_t bytes)
{
	struct iovec to = {out, bytes}, from = {(void *)(uintptr_t)addr, bytes};
	long got;

	if (fetch_everywhere())
		return fetch_load(mem, addr, out, bytes);
	if (sig_fault_trusted())
		return mem_caught(mem, addr, out, bytes);
	got = raw(SYS_process_vm_readv, raw(SYS_getpid), &to, 1, &from, 1, 0);
	if (got == -EPERM || got == -ENOSYS) /* a sandbox */
		return sig_fault_ours() && mem_caught(mem, addr, out, bytes);
	return got == (long)bytes;
}

const struct walk_mem sig_mem_anywhere = {.load = mem_anywhere, .is_fetched = true};
static const struct walk_mem mem_here = {.load = mem_caught, .is_here = true};

const struct walk_mem *sig_mem(struct sampler *s)
{
	if (s->no_handlers)
		return &sig_mem_anywhere;
	if (sig_fault_ours())
		return &mem_here;
	counters_add(&s->counters, COUNTER_HANDLER, 1);
	return &sig_mem_anywhere;
}
