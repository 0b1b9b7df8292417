/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptors of perf events on one thread: how many there may be, and how they signal.
 *
 * Publisher only: they are in the agent's table (session/files.h). Results are >= 0 or -errno.
 */
#ifndef JHOT_SAMPLER_ENGINE_PERF_FD_H
#define JHOT_SAMPLER_ENGINE_PERF_FD_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text;
struct thread_arm;

/* How many descriptors perf may use in this process; the bytes that it has mapped. */
void engine_perf_budget(uint32_t fds);
uint64_t engine_perf_memory(void);
/* Buffers: how many there are, how many there may be, the size of one. */
uint32_t perf_fd_rings(void);
void perf_fd_rings_allow(uint64_t rings);
size_t perf_fd_ring_bytes(void);

/* lent: the thread's event that the front end has opened, of which this is another descriptor with attr's period; 0: none. */
int perf_fd_open(struct perf_event_attr *attr, int32_t tid, int32_t lent);
/* Descriptors that come from elsewhere: is there space for so many? adopt: one more is in use. */
bool perf_fd_space(uint32_t fds);
void perf_fd_adopt(void);
/* The buffer of its samples; NULL: error says why. */
void *perf_fd_ring(int fd, int *error);
/* Every sample sends signo to the thread, with the descriptor in siginfo; then it runs. */
int perf_fd_enable(int fd, int32_t tid, int signo);
void perf_fd_disable(int fd);
/*
 * What the event has counted, in ns for clocks, and records for which its buffer had no space. The latter needs
 * PERF_FORMAT_LOST in read_format, and is 0 on kernels before 6.0.
 */
struct perf_fd_count {
	uint64_t count, lost;
};
struct perf_fd_count perf_fd_count(int fd);
/* ring: NULL if it has none. */
void perf_fd_close(int fd, void *ring);

/* What every engine on perf events has in common, for its row: samples not yet read, the thread still there. */
bool perf_fd_pending(const struct thread_arm *arm);
bool perf_fd_alive(const struct thread_arm *arm);
/* Why the kernel refuses (-errno), and what may be in the way where it denies the right. */
void perf_fd_refused(struct text *text, int error);

#endif
