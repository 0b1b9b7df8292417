/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pushes files: reads a profile, converts it for the receiver's protocol, and sends it.
 *
 * Shared by `jhot push` and the recorder. Borrows the command line. Blocks for the file and the
 * network; single-threaded.
 */
#ifndef JHOT_CLI_PUSHING_H
#define JHOT_CLI_PUSHING_H

#include "cli/line/args.h"
#include "push/push.h"

struct pushing {
	struct push_target target;
	struct push_options options;
	struct push_http *http; /* NULL until pushing_open */
};

/* Parses the URL and the options of pushing. Call pushing_done afterwards, also on failure. */
int pushing_parse(struct pushing *p, const char *url, const struct args *args, struct err *err);
/* Loads libcurl; -1: pushing is not possible here. */
int pushing_open(struct pushing *p, struct err *err);
void pushing_done(struct pushing *p);

/* The state of pushing one file, to be zeroed before the first attempt. */
struct pushing_file {
	int next;               /* of requests per event: the first that has no answer yet */
	int sent;               /* requests that succeeded: not sent again */
	uint64_t bytes;         /* of their bodies */
	uint64_t rejected;      /* profiles that were not accepted, although others were */
	uint64_t retry_after_s; /* of the last answer */
	long status;            /* of the last answer; 0: none */
	char why[256];          /* the reason of the last rejection */
};

/*
 * One attempt to push a file. PUSH_REFUSED with ERR_INPUT: it cannot be read. A file without
 * samples is done at once: nothing is sent. Errors as of push_judge.
 */
enum push_outcome pushing_push(
	struct pushing *p, const char *path, struct pushing_file *f, struct err *err);

#endif
