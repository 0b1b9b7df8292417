/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filters of a query: which stacks are included, and which frames are collapsed.
 *
 *   terms   include or exclude stacks by frame name (syntax: match.h); a stack, undone last first
 *   hide    collapse runs of framework, native or kernel frames into one frame ("[framework frames]"). The milder defaults:
 *           FILTER_ENTRY omits thread entry frames and merges all waits of JVM-internal threads into one row; FILTER_RUNS collapses
 *           the system's frames inside a native run below Java. Neither hides a frame that has samples of its own.
 *   lines   show Java frames with their line: "HashMap.getNode:578"
 *   io      show the target of a blocking system call as an extra leaf: "[socket read 10.0.0.5:5432]"
 *
 * A filter applies to everything computed from the query: tables, trees, sums, exports. Terms are
 * matched against both the sampled stack and the collapsed one. The collapsed view is built lazily,
 * cached until a different one is requested, and can be built in steps with filter_prepare(). The
 * caller owns the filter, which must be used with one profile only. Not thread-safe.
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

/* Appends a term: only stacks with it, or without it. False: FILTER_TERMS are in use. */
bool filter_push(struct filter *f, bool only, const char *text);
/* Removes the last term. False: there is none. */
bool filter_pop(struct filter *f);
int filter_count(const struct filter *f);
const char *filter_term(const struct filter *f, int i, bool *only);

void filter_set_hide(struct filter *f, unsigned hide);
unsigned filter_hide(const struct filter *f);
/* Prefixes of framework classes, separated by blanks. Default: none. Copied. */
void filter_set_frameworks(struct filter *f, const char *packages);
void filter_set_lines(struct filter *f, bool on);
bool filter_lines(const struct filter *f);
void filter_set_io(struct filter *f, bool on);
bool filter_io(const struct filter *f);

/* True when the filter changes nothing. */
bool filter_is_identity(const struct filter *f);
/* Generation counter, incremented by every change. Results of an older generation are stale. */
uint32_t filter_generation(const struct filter *f);

/* Maps a sampled stack to the stack shown. PROFILE_NONE: excluded. */
uint32_t filter_map_stack(struct filter *f, const struct profile *p, uint32_t stack);
/* Number of frames that the leaf of a shown stack replaces. 0: none. */
uint32_t filter_collapsed_frames(const struct profile *p, uint32_t stack);
/*
 * Does part of the pending work of this query: collects its rows, or collapses up to `most` frames.
 * True when done.
 */
bool filter_prepare(const struct profile *p, const struct profile_query *q, uint64_t most);
/* Second part of filter_prepare(): collapses only. */
bool filter_prepare_fold(const struct profile *p, const struct profile_query *q, uint64_t most);
/*
 * Computes the sums that tables and trees need. False if that was slow: they were not cached and
 * have more than `most` stacks.
 */
bool filter_prepare_sums(const struct profile *p, const struct profile_query *q, uint64_t most);

#endif
