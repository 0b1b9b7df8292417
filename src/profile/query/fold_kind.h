/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which frames a fold hides: each frame of a stack has a kind, told from the root down.
 *
 * Embedded in a fold, for one profile. A stack's kind is asked for after its parent's, with fold_kind, and stays; the
 * number of the stack must be one that fold_kinds_fit made space for.
 */
#ifndef JHOT_PROFILE_QUERY_FOLD_KIND_H
#define JHOT_PROFILE_QUERY_FOLD_KIND_H

#include "profile/profile.h"

enum fold_kind {
	KIND_SHOWN,
	KIND_FRAMEWORK, /* these three, and their kind above them: one frame, also where samples are */
	KIND_NATIVE,
	KIND_KERNEL,
	KIND_RUN,   /* inside of a run of native frames: one frame; where samples are it is shown */
	KIND_ENTRY, /* of a thread's way into the program: nothing; where samples are it is shown */
	KIND_JVM_WAITS, /* where a thread of the JVM's own waits: one row for all of them */
	KINDS
};

struct fold_kinds {
	const struct profile *p;
	unsigned hide; /* enum filter_hide */
	char *frameworks;
	uint8_t *stacks;  /* per sampled stack: its kind, and what is known of it; 0: not asked */
	uint8_t *methods; /* per method: bits, 0: not asked */
	uint32_t stacks_cap, methods_cap;
};

void fold_kinds_init(
	struct fold_kinds *k, const struct profile *p, unsigned hide, const char *frameworks);
void fold_kinds_done(struct fold_kinds *k);
size_t fold_kinds_bytes(const struct fold_kinds *k);
void fold_kinds_fit(struct fold_kinds *k, uint32_t stack);
enum fold_kind fold_kind(struct fold_kinds *k, uint32_t stack);
/* Of one that was asked for. */
bool fold_kind_known(const struct fold_kinds *k, uint32_t stack);
enum fold_kind fold_kind_at(const struct fold_kinds *k, uint32_t stack);

#endif
