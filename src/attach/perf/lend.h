/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls for passing perf_events to another process that may not open them itself: opening its socket, opening the
 * events, sending them. None blocks. Results are >= 0, or -1 with errno. The sender keeps its own descriptors. Any thread.
 */
#ifndef JHOT_ATTACH_PERF_LEND_H
#define JHOT_ATTACH_PERF_LEND_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define PERF_LEND_MAX 32 /* descriptors per message; the kernel's limit is 253 */

/* Duplicates descriptor `fd` of the process (pidfd_getfd, Linux 5.6). Requires the right to trace it. */
int perf_lend_socket(int pidfd, int fd);
/*
 * Opens the clock of base/cpu_clock.h on a thread, disabled; the recipient sets its period. Requires the rights to sample the
 * kernel and to trace the thread.
 */
int perf_lend_open(pid_t tid, bool kernel_only);
/* Sends descriptors without blocking; EAGAIN: the receiver's queue is full. */
int perf_lend_send(int socket, const void *bytes, size_t len, const int *fds, unsigned count);

#endif
