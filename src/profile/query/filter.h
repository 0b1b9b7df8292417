/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a query leaves out of the profile, and what it shows folded.
 *
 *   terms   only stacks with a name, or none with it: a list, the last one is undone first
 *   hide    runs of framework, native or kernel frames become one frame: "[framework frames]"; more sparing: threads'
 *           entry frames are left out, and all that the JVM's own threads wait for is one row (FILTER_ENTRY); of native
 *           runs below Java the system's frames between the first and the last become one (FILTER_RUNS). No other frame
 *           where samples are is hidden by these two.
 *   lines   a Java frame is its method and line: "HashMap.getNode:578"
 *   io      what a system call waits for is a frame of its own on top: "[socket read 10.0.0.5:5432]"
 *
 * Set in a query it holds for everything derived from that: tables, trees, sums, exports. Terms look at a
 * stack both as it was sampled and as it is shown. A folded view is made when it is first asked for and kept until another
 * one is; filter_prepare makes it bit by bit. Owned by the caller; one profile for its life.
 */
#ifndef JHOT_PROFILE_QUERY_FILTER_H
#define JHOT_PROFILE_QUERY_FILTER_H

#include "profile/profile.h"

#define FILTER_TERMS 16
enum filter_hide {
	FILTER_FRAMEWORK = 1,
	FILTER_NATIVE = 2,
	FILTER_KERNEL = 4,
	FILTER_ENTRY = 8,
	FILTER_RUNS = 16,
	FILTER_FOLDS = FILTER_ENTRY | FILTER_RUNS
};

struct filter;
struct filter *filter_new(void);
void filter_free(struct filter *f);

bool filter_push(struct filter *f, bool only, const char *text); /* match.h; false: no space */
bool filter_pop(struct filter *f);                               /* false: there is none */
int filter_count(const struct filter *f);
const char *filter_term(const struct filter *f, int i, bool *only);

void filter_set_hide(struct filter *f, unsigned hide);
unsigned filter_hide(const struct filter *f);
/* What classes of frameworks begin with, separated by blanks; none at first. */
void filter_set_frameworks(struct filter *f, const char *packages);
void filter_set_lines(struct filter *f, bool on);
bool filter_lines(const struct filter *f);
void filter_set_io(struct filter *f, bool on);
bool filter_io(const struct filter *f);

/* Does it let everything through as it is? */
bool filter_idle(const struct filter *f);
/* Another number after every change: what was derived before is out of date. */
uint32_t filter_version(const struct filter *f);

/* The stack that is shown for a sampled one, PROFILE_NONE: it is left out. */
uint32_t filter_stack(struct filter *f, const struct profile *p, uint32_t stack);
/* How many frames the last one of a stack that is shown stands for; 0: it is one itself. */
uint32_t filter_run(const struct profile *p, uint32_t stack);
/* Part of the work that the next question costs: collecting, or folding up to `most` frames. false: there is more to do. */
bool filter_prepare(const struct profile *p, const struct profile_query *q, uint64_t most);
/* Only the latter. */
bool filter_prepare_fold(const struct profile *p, const struct profile_query *q, uint64_t most);
/* And what tables and trees need: sums per stack. false: they were not there yet, and are of more than `most` stacks. */
bool filter_prepare_sums(const struct profile *p, const struct profile_query *q, uint64_t most);

#endif
