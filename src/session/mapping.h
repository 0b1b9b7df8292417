/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An agent's memfd: found among the target's descriptors, checked, mapped.
 *
 * The header is copied and checked once; what points into the mapping is later written by the agent and by
 * whoever else may write to that process: read each value once, trust none. The memfd must be sealed against
 * shrinking, so that reading it cannot fault. One thread, but for the atomic fields.
 */
#ifndef JHOT_SESSION_MAPPING_H
#define JHOT_SESSION_MAPPING_H

#include "base/err.h"
#include "wire/layout.h"

#include <sys/types.h>

struct mapping {
	unsigned char *base; /* NULL: not open */
	size_t bytes;
	struct wire_header header; /* our copy, checked */
	struct wire_control *control;
	struct wire_status *status;
	struct wire_cursors *cursors;
	unsigned char *ring, *staging;
};

/* mapping_check: can this header describe a file of so many bytes that we can read? 0 or -1. */
int mapping_check(const struct wire_header *h, uint64_t file_bytes, struct err *err);

/* mapping_open_fd: map this descriptor (which stays the caller's). */
int mapping_open_fd(struct mapping *m, int fd, struct err *err);
void mapping_close(struct mapping *m);

/*
 * mapping_find: the target's memfd of this token; NULL: of any, the youngest session first. 1 = mapped,
 * 0 = there is none (any more), -1 with an error. Fails for descriptors that we may not look at.
 */
int mapping_find(struct mapping *m, pid_t pid, const char *token, struct err *err);

/* mapping_text: copy a text of `bytes` that the other side wrote: ends with NUL, printable, valid UTF-8. */
void mapping_text(char *out, size_t out_bytes, const char *text, size_t bytes);

#endif
