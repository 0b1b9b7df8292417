/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What it takes to give another process perf_events of its threads that it may not open itself: its socket, the events, and
 * sending them. Results are >= 0, or -1 with errno. Who sends keeps its own descriptors.
 */
#ifndef JHOT_ATTACH_PERF_LEND_H
#define JHOT_ATTACH_PERF_LEND_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define PERF_LEND_MAX 32 /* descriptors at once; the kernel takes 253 */

/* perf_lend_socket: a descriptor of that process, by its number there. Since Linux 5.6; for who may trace it. */
int perf_lend_socket(int pidfd, int there);
/*
 * perf_lend_open: the clock of base/cpu_clock.h on this thread, not running; its period is for whoever gets it to set.
 * For who may see the kernel, and trace it.
 */
int perf_lend_open(pid_t tid, bool kernel_only);
/* perf_lend_send: without waiting: EAGAIN where the other side has not taken what was sent before. */
int perf_lend_send(int socket, const void *bytes, size_t len, const int *fds, unsigned count);

#endif
