/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the perf buffer of the interrupted thread: kernel call chains, or registers, of its own samples.
 *
 * The agent maps the buffer and the kernel fills it on this very thread, so nothing changes while the handler reads: a
 * sample that hits the handler is appended behind head and read next time. Formats: linux/perf_event.h,
 * perf_event_open(2); the attr requests only PERF_SAMPLE_CALLCHAIN, or only PERF_SAMPLE_REGS_USER.
 */
#include "sampler/signal/signal.h"

#include <linux/perf_event.h>

#define PERF_DATA_BYTES 4096u /* kernels before 4.1 do not report the size */

void sig_perf_open(struct perf_samples *samples, void *ring)
{
	struct perf_event_mmap_page *page = ring;
	uint64_t offset = page->data_offset;

	*samples = (struct perf_samples){.page = page};
	samples->data_bytes = page->data_size ? page->data_size : PERF_DATA_BYTES;
	samples->data = (const unsigned char *)ring + (offset ? offset : PERF_DATA_BYTES);
	samples->at = page->data_tail;
	samples->head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
}

void sig_perf_close(struct perf_samples *samples)
{
	struct perf_event_mmap_page *page = samples->page;

	__atomic_store_n(&page->data_tail, samples->at, __ATOMIC_RELEASE);
}

/* The 64 bits at a cursor. Records are 8-aligned and may wrap around the end of the area. */
static uint64_t perf_word(const struct perf_samples *samples, uint64_t at)
{
	return *(const uint64_t *)(const void *)(samples->data + (at & (samples->data_bytes - 1)));
}

static int perf_callchain(const struct perf_samples *samples, uint64_t record, uint64_t bytes,
	uint64_t *end, uint32_t max)
{
	uint64_t count = bytes >= 16 ? perf_word(samples, record + 8) : 0;
	uint64_t kernel_from = 0, kernel = 0;
	bool in_kernel = false;

	if (count > bytes / 8 - 2)
		count = bytes / 8 - 2;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t pc = perf_word(samples, record + 16 + i * 8);

		if (pc >= (uint64_t)PERF_CONTEXT_MAX) {
			in_kernel = pc == (uint64_t)PERF_CONTEXT_KERNEL;
			kernel_from = kernel ? kernel_from : i + 1;
		} else if (in_kernel) {
			kernel++;
		}
	}
	if (kernel > max)
		kernel = max;
	uint64_t *first = end - kernel;
	for (uint64_t i = 0; i < kernel; i++)
		first[i] = WALK_PACK(
			WALK_KERNEL, perf_word(samples, record + 16 + (kernel_from + i) * 8));
	return (int)kernel;
}

/* Consumes records up to the next sample; false when there is none left. */
static bool perf_sample(struct perf_samples *samples, uint64_t *record, uint64_t *bytes)
{
	while (samples->head - samples->at >= 8) {
		uint64_t at = samples->at, word = perf_word(samples, at);
		uint32_t type = (uint32_t)word;

		*record = at;
		*bytes = word >> 48; /* u32 type, u16 misc, u16 size */
		if (*bytes < 8 || *bytes > samples->head - at) {
			samples->at = samples->head; /* malformed: skip everything, */
			samples->lost++;             /* which loses at least one sample */
			return false;
		}
		samples->at = at + *bytes;
		if (type == PERF_RECORD_SAMPLE)
			return true;
		if (type == PERF_RECORD_LOST && *bytes >= 24)
			samples->lost += perf_word(samples, at + 16);
	}
	return false;
}

int sig_perf_next(struct perf_samples *samples, uint64_t *end, uint32_t max)
{
	uint64_t record, bytes;

	return perf_sample(samples, &record, &bytes)
		       ? perf_callchain(samples, record, bytes, end, max)
		       : -1;
}

/* The record: u64 abi, 0 if there are no registers; then the registers. */
bool sig_perf_regs(struct perf_samples *samples, uint64_t *regs, uint32_t count)
{
	uint64_t record, bytes;

	while (perf_sample(samples, &record, &bytes)) {
		if (bytes < 16 + 8 * (uint64_t)count || !perf_word(samples, record + 8))
			continue;
		for (uint32_t i = 0; i < count; i++)
			regs[i] = perf_word(samples, record + 16 + i * 8);
		return true;
	}
	return false;
}

/* The record: u64 time, u64 abi; then sp, if the ABI is not 0. */
bool sig_perf_entry(struct perf_samples *samples, struct perf_entry *out)
{
	uint64_t record, bytes;

	while (perf_sample(samples, &record, &bytes)) {
		if (bytes < 16)
			continue;
		out->time_ns = perf_word(samples, record + 8);
		out->sp = bytes >= 32 ? perf_word(samples, record + 24) : 0;
		return true;
	}
	return false;
}
