/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptors of perf events on one thread: their budget, buffers and signals.
 *
 * For the publisher and the wall clock's thread: descriptors are in the agent's table (session/files.h). Results are >= 0 or -errno.
 */
#ifndef JHOT_SAMPLER_ENGINE_PERF_FD_H
#define JHOT_SAMPLER_ENGINE_PERF_FD_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text;
struct thread_arm;

/*
 * engine_perf_budget: sets the upper bound of descriptors in this process and resets the count in use.
 * engine_perf_memory: bytes of buffers mapped.
 */
void engine_perf_budget(uint32_t fds);
uint64_t engine_perf_memory(void);
/* Buffers: their number, its upper bound, and the size of one in bytes. */
uint32_t perf_fd_rings(void);
void perf_fd_rings_allow(uint64_t rings);
size_t perf_fd_ring_bytes(void);

/*
 * Opens an event. With `borrowed`, the thread's borrowed descriptor, duplicates that and sets attr's period; 0: none.
 * -EMFILE beyond the budget.
 */
int perf_fd_open(struct perf_event_attr *attr, int32_t tid, int32_t borrowed);
/*
 * Opens a breakpoint on an instruction of the thread, disabled, which takes a sample at each hit. attr has what to sample.
 */
int perf_fd_breakpoint(struct perf_event_attr *attr, uint64_t address, int32_t tid);
/* Accounting of borrowed descriptors. perf_fd_space: true when `fds` more fit. perf_fd_adopt: one more is in use. */
bool perf_fd_space(uint32_t fds);
void perf_fd_adopt(void);
/* Maps the event's sample buffer. NULL: *error has the -errno. */
void *perf_fd_ring(int fd, int *error);
/* Starts the event: every sample sends signo to the thread, with the descriptor in siginfo. */
int perf_fd_enable(int fd, int32_t tid, int signo);
/* Stops the event; pending signals still arrive. */
void perf_fd_disable(int fd);
/*
 * The event's count, in ns for clocks, and the records dropped because its buffer was full. The latter needs
 * PERF_FORMAT_LOST in read_format, and is 0 on kernels before 6.0.
 */
struct perf_fd_count {
	uint64_t count, lost;
};
struct perf_fd_count perf_fd_count(int fd);
/* Unmaps `ring` (NULL: none) and closes fd. */
void perf_fd_close(int fd, void *ring);

/* engine.pending and engine.alive of all engines on perf events. */
bool perf_fd_pending(const struct thread_arm *arm);
bool perf_fd_alive(const struct thread_arm *arm);
/* Adds the kernel's reason (-errno), and the setting that is the likely cause. */
void perf_fd_refused(struct text *text, int error);

#endif
