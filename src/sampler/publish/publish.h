/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Publishing: converts the trace table to records in the ring.
 *
 * One publication drains one half of the table. For every trace unknown to the front end it writes the records its
 * frames refer to (methods, modules, the thread) and the TRACE; then counts and weights as DELTAS; finally a TICK. If
 * the ring is full, the publication is suspended and the next call resumes it; new samples aggregate in the other half.
 * Publisher only; never blocks. Times are CLOCK_MONOTONIC ns.
 */
#ifndef JHOT_SAMPLER_PUBLISH_PUBLISH_H
#define JHOT_SAMPLER_PUBLISH_PUBLISH_H

#include "sampler/publish/modules.h"
#include "sampler/sampler.h"

/* Initializes a publish in zeroed memory. */
struct publish;
void publish_init(struct publish *p, struct sampler *s);

/*
 * Performs one publication, or the rest of an interrupted one. True when the drained half is published completely.
 * last: drains the half that was set aside (trace_table_flip_aside), if any.
 */
bool publish_table(struct publish *p, uint64_t now_ns, bool last);

/*
 * Takes a snapshot half-way between two publications: the next one reports the weights sampled until then separately
 * (struct wire_tick).
 */
void publish_half_way(struct publish *p, uint64_t now_ns);

/* CPU time the process has used, without the agent's own threads. */
uint64_t publish_cpu_used(const struct publish *p);
/* The same at the last publication. */
uint64_t publish_cpu_at(const struct publish *p);
/*
 * Sets whether the samples of cpu must add up to the CPU time used from here on: not if the event is off or samples
 * only a part.
 */
void publish_cpu_counts(struct publish *p, bool counts, uint64_t used_ns);

/* Number of halves drained. */
uint64_t publish_flips(const struct publish *p);

/*
 * Publishes all current modules before anything is sampled in them, so that their unwind rows arrive in time; later
 * modules are published with the first frame in them.
 */
void publish_all_modules(struct publish *p);

/* True when a Java thread was published under the kernel's name because the JVM's was missing. */
bool publish_wants_names(const struct publish *p);

/*
 * Publishes threads whose name has changed since it was published. poll: also reads the kernel's names. False: the ring
 * is full.
 */
bool publish_renamed(struct publish *p, bool poll);

/* Publishes a note. False: the ring is full. */
bool publish_note(
	struct publish *p, uint32_t kind, uint64_t time_ns, uint64_t arg_ns, const char *text);

/* Publishes a wait and the records it refers to. False: the ring is full, or its class is not named yet. */
bool publish_wait(struct publish *p, const struct wire_wait *wait);

/*
 * Publishes a poll of a measured method; hash: of its trace. False: the ring is full, or its trace is in the half that
 * is published next.
 */
bool publish_poll(struct publish *p, const struct wire_poll *poll, uint64_t hash);

/* Publishes an agent thread, so that the front end can distinguish it from the target's threads. */
bool publish_agent_thread(struct publish *p, int32_t tid, const char *name);

#endif
