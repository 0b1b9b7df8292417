/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pushes the files of a recorder, in a process of its own, so that a receiver that hangs delays no sample.
 *
 *   recorder, and a child per JVM            pusher (child of the recorder)
 *   a file is on disk -> pusher_add -- paths --> queue -> pushing_push -> receiver
 *   pusher_report -> stderr  <--------- notes --- changes of the outcome
 *   jhot status  <---- struct push_counts, in a memfd that all share
 *
 * Files that wait are marked (unpushed.h): a recorder that is started after this one has ended pushes them, too.
 * Files are pushed in the order in which they were added, each until it succeeds. While the receiver is away they wait in the queue, and
 * are tried again with back-off. A file that has been removed by then, as by --keep, is counted as dropped. A file that the
 * receiver refuses is counted and skipped.
 */
#ifndef JHOT_CLI_RECORDER_PUSHER_H
#define JHOT_CLI_RECORDER_PUSHER_H

#include "base/err.h"
#include "cli/pushing.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Read by jhot processes of other versions: append only, and raise the version if a field changes its meaning. */
struct push_counts {
	char magic[8];
	uint32_t version, queued; /* queued: files that wait or are being pushed */
	uint64_t pushed, bytes;   /* files, bytes of their requests */
	uint64_t dropped;         /* files that were removed before they could be pushed */
	uint64_t refused;  /* files that the receiver did not want, or that could not be read */
	uint64_t rejected; /* profiles that the receiver did not accept from pushed files */
	uint64_t attempts;
	int64_t failing_since_ns; /* wall clock; 0: the last attempt succeeded, or there was none */
	char url[256], error[256];
};

struct pusher {
	pid_t pid;   /* 0: none */
	pid_t owner; /* the process that started it; only that one reads the notes */
	int paths, notes, memory;
	struct push_counts *counts;
};

/* Starts the process. -1: libcurl cannot be loaded, or there is no memory. */
int pusher_begin(struct pusher *p, struct pushing *how, struct err *err);
/* Queues a file. Does not block. -1: it could not be queued, and is counted as dropped. */
int pusher_add(struct pusher *p, const char *path);
/* Calls fn for each line that the pusher reports. Does not block. In processes that are not the owner, does nothing. */
void pusher_report(struct pusher *p, void (*fn)(const char *line));
/*
 * Call it when all processes that add files have ended, and also after pusher_begin has failed. Tries for up to 10 s to push the
 * files that are still queued, and reports those that remain. Blocks until the process has ended.
 */
void pusher_end(struct pusher *p, void (*fn)(const char *line));

/* Copies the counts of a recorder, cleaned. False: it does not push, or belongs to another user. */
bool pusher_counts_of(pid_t recorder, struct push_counts *out);

#endif
