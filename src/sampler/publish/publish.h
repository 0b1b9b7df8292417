/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Publishing: from the trace table to records in the ring.
 *
 * One publication empties one half of the table: for every trace that the front end does not know,
 * what its frames need (methods, modules, the thread) and the TRACE; then counts and weights as
 * DELTAS; a TICK at the end. When the ring has no space it stops where it is and goes on there the
 * next time; meanwhile the other half aggregates. Publisher's thread only.
 */
#ifndef JHOT_SAMPLER_PUBLISH_PUBLISH_H
#define JHOT_SAMPLER_PUBLISH_PUBLISH_H

#include "sampler/publish/modules.h"
#include "sampler/sampler.h"

/* In zeroed memory. */
struct publish;
void publish_init(struct publish *p, struct sampler *s);

/*
 * One publication, or the rest of one. true: the half that was drained is published whole. last: the half that was set aside
 * (trace_table_flip_aside), if there is one.
 */
bool publish_table(struct publish *p, uint64_t now_ns, bool last);

/* Between two publications: what has been sampled by now is told apart in the next (struct wire_tick). */
void publish_half_way(struct publish *p, uint64_t now_ns);

/* CPU time that the process has used, without the agent's own threads. */
uint64_t publish_cpu_used(const struct publish *p);
/* The same at the last publication. */
uint64_t publish_cpu_at(const struct publish *p);
/* From here on what it uses is what samples of cpu add up to, or is not any more: no event cpu, or only a part. */
void publish_cpu_counts(struct publish *p, bool counts, uint64_t used_ns);

/* How many halves have been drained. */
uint64_t publish_flips(const struct publish *p);

/*
 * All modules there are now, before anything was sampled in them, so that their unwind rows are there in
 * time; later ones are told when a frame is in them.
 */
void publish_all_modules(struct publish *p);

/* Has a Java thread been published under the name that the kernel knows, for want of the JVM's? */
bool publish_wants_names(const struct publish *p);

/* Threads whose name has changed since it was told. look: ask the kernel, too. false: no space. */
bool publish_renamed(struct publish *p, bool look);

/* A note, if there is space for it. */
bool publish_note(
	struct publish *p, uint32_t kind, uint64_t time_ns, uint64_t arg_ns, const char *text);

/* A wait, and what it names. false: no space, or the class has no name yet. */
bool publish_wait(struct publish *p, const struct wire_wait *wait);

/* Agent threads, so that the front end can tell them from the target's. */
bool publish_agent_thread(struct publish *p, int32_t tid, const char *name);

#endif
