/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Latency of calls in virtual threads.
 *
 * A call is identified by its virtual thread and its depth in that thread's continuation, whether that is mounted or not. Only a random
 * subset of the threads is polled, those in some bins of Java's tables of threads (walk/frames/unmounted.h), and each represents as many
 * threads as its bin represents bins. The subset is fixed as long as methods are selected: calls are seen from begin to end.
 *
 * A round visits all threads of the subset. It reads where the unmounted ones are. Mounted ones are polled by the signals to their
 * carriers; a carrier's poll that finds a thread outside of the subset is ignored.
 */
#include "sampler/engine/latency.h"
#include "sampler/signal/signal.h"

#include <string.h>

/* The entry of this id, or the one in which to insert it (id 0); NULL: there is none. */
static struct latency_virtual *virtual_entry(struct latency *l, uint32_t id)
{
	struct latency_virtual *free = NULL;

	for (uint32_t i = 0; i < LATENCY_WINDOW; i++) {
		struct latency_virtual *v = &l->virtuals[(id + i) & (LATENCY_VIRTUALS - 1)];

		if (v->id == id)
			return v;
		free = free || v->id ? free : v;
	}
	return free;
}

struct latency_virtual *latency_virtual_visit(
	struct sampler *s, struct latency *l, const struct unmounted_thread *thread, uint64_t now)
{
	uint32_t id = WIRE_VIRTUAL_ID(thread->number);
	struct latency_virtual *v = virtual_entry(l, id);
	/* Thread numbers ascend. A thread that is not new was in another bin until now. */
	bool new = l->round_ns && thread->number > l->newest;

	if (!v)
		return NULL;
	if (!v->id)
		*v = (struct latency_virtual){.number = thread->number,
			.polled_ns = new ? l->round_ns : s->start_ns,
			.id = id};
	if (v->at.object) /* a collector may have relocated it */
		v->at.object = thread->object;
	v->seen_ns = now;
	v->weight =
		(uint32_t)(thread->multiplicity < UINT32_MAX ? thread->multiplicity : UINT32_MAX);
	if (thread->number > l->newest_now)
		l->newest_now = thread->number;
	return v;
}

/* Queues a poll that found the thread inside, or outside for the first time. */
static void virtual_polled(struct sampler *s, struct latency *l, struct latency_virtual *v,
	const struct thread_call *call, uint64_t time_ns)
{
	struct wire_poll record = {.time_ns = time_ns,
		.since_ns = time_ns,
		.before_ns = v->polled_ns < time_ns ? v->polled_ns : time_ns,
		.frame = call->frame,
		.outside = call->outside,
		.values = call->values,
		.thread = v->id,
		.flags = call->flags & ~WIRE_POLL_RECORDED,
		.weight = v->weight};

	if (l->carriers_counted)
		record.flags |= WIRE_POLL_COUNTED;
	if (call->frame || v->inside)
		latency_queue(s, l, &record, call->hash);
	l->virtuals_inside += (call->frame != 0) - (uint32_t)v->inside;
	v->inside = call->frame != 0;
	v->polled_ns = time_ns;
}

void latency_virtual_found(struct sampler *s, struct latency *l, struct latency_virtual *v,
	const struct thread_call *call, uint64_t now)
{
	virtual_polled(s, l, v, call, now);
	v->known = true;
}

void latency_virtual_mounted(struct sampler *s, struct latency *l, const struct thread_call *call)
{
	struct latency_virtual *v = virtual_entry(l, call->id);

	if (v && v->id && call->time_ns > v->polled_ns)
		virtual_polled(s, l, v, call, call->time_ns);
}

void latency_virtual_round(
	struct sampler *s, struct latency *l, struct unmounted *java, uint64_t now)
{
	struct thread_call outside = {.frame = 0};

	for (uint32_t i = 0; i < LATENCY_VIRTUALS; i++) {
		struct latency_virtual *v = &l->virtuals[i];

		if (!v->id || v->seen_ns == now)
			continue;
		/* A table that has grown has other bins: the thread may be in one that is not polled. */
		if (v->inside && !unmounted_find(java, v->number))
			virtual_polled(s, l, v, &outside, now);
		l->virtuals_inside -= v->inside;
		v->id = 0;
	}
	l->round_ns = now;
	l->newest = l->newest_now;
}

/* --- probes ----------------------------------------------------------------------------------- */

/* What a probe reads of a thread: four blocks. */
struct probe {
	uint64_t number;
	uint32_t state, sp_field;
	uint64_t words[LATENCY_TOP_WORDS];
};
#define PROBE_TERMINATED 99u /* VirtualThread.TERMINATED */
#define PROBE_BLOCKS     4u
#define PROBED           (SIG_BLOCKS / PROBE_BLOCKS) /* threads per system call */

static uint64_t words_hash(const uint64_t words[LATENCY_TOP_WORDS])
{
	uint64_t hash = 1;

	for (uint32_t i = 0; i < LATENCY_TOP_WORDS; i++)
		hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15ull;
	return hash;
}

static void probe_blocks(struct self_block out[PROBE_BLOCKS], struct probe *probe,
	const struct unmounted *java, const struct latency_frozen *at)
{
	out[0] = (struct self_block){
		at->object + java->field[UNMOUNTED_THREAD][UNMOUNTED_TID], &probe->number, 8};
	out[1] = (struct self_block){
		at->object + java->field[UNMOUNTED_VIRTUAL][UNMOUNTED_STATE], &probe->state, 4};
	out[2] = (struct self_block){at->chunk + java->frozen.sp, &probe->sp_field, 4};
	out[3] = (struct self_block){at->sp, probe->words, sizeof(probe->words)};
}

void latency_virtual_walked(struct latency_virtual *v, const struct unmounted *java,
	const struct unmounted_thread *thread, const struct frozen *where, uint64_t sp)
{
	struct self_block blocks[PROBE_BLOCKS];
	struct probe probe;

	v->at = (struct latency_frozen){.object = thread->object, .chunk = where->chunk, .sp = sp};
	probe_blocks(blocks, &probe, java, &v->at);
	if (sig_copy_blocks(blocks, PROBE_BLOCKS) < PROBE_BLOCKS || probe.number != v->number) {
		v->at.object = 0;
		return;
	}
	v->at.state = probe.state;
	v->at.sp_field = probe.sp_field;
	v->at.words = words_hash(probe.words);
}

static bool probe_rests(const struct probe *probe, const struct latency_virtual *v)
{
	return probe->number == v->number && probe->state == v->at.state &&
	       probe->sp_field == v->at.sp_field && words_hash(probe->words) == v->at.words;
}

/* Probes up to PROBED threads. Those that have moved, or cannot be read, remain in the list; returns their number. */
static uint32_t probe_some(struct sampler *s, const struct unmounted *java,
	struct latency_virtual *list[PROBED], uint32_t count, uint64_t now)
{
	struct thread_call outside = {.frame = 0};
	struct self_block blocks[SIG_BLOCKS];
	struct probe probes[PROBED];
	uint32_t moved = 0;

	for (uint32_t i = 0; i < count; i++)
		probe_blocks(&blocks[i * PROBE_BLOCKS], &probes[i], java, &list[i]->at);
	uint32_t read = sig_copy_blocks(blocks, count * PROBE_BLOCKS) / PROBE_BLOCKS;
	for (uint32_t i = 0; i < count; i++) {
		if (i < read && probe_rests(&probes[i], list[i]))
			latency_virtual_rested(list[i], now);
		else if (i < read && probes[i].number == list[i]->number &&
			 probes[i].state == PROBE_TERMINATED)
			virtual_polled(s, atomic_load(&s->latency), list[i], &outside, now);
		else
			list[moved++] = list[i];
	}
	return moved;
}

void latency_virtual_probe(struct sampler *s, struct latency *l, struct unmounted *java,
	uint64_t now, latency_moved_fn *moved, void *ctx)
{
	struct latency_virtual *list[PROBED];
	struct unmounted_thread thread;
	uint32_t count = 0;

	for (uint32_t i = 0; i < LATENCY_VIRTUALS; i++) {
		if (l->virtuals[i].id && l->virtuals[i].at.object)
			list[count++] = &l->virtuals[i];
		if (!count || (count < PROBED && i + 1 < LATENCY_VIRTUALS))
			continue;
		count = probe_some(s, java, list, count, now);
		for (uint32_t j = 0; j < count; j++) {
			if (!unmounted_read(java, list[j]->at.object, list[j]->number, &thread))
				continue;
			thread.multiplicity = list[j]->weight;
			moved(ctx, list[j], &thread);
		}
		count = 0;
	}
}

void latency_virtual_forget(struct latency *l)
{
	memset(l->virtuals, 0, sizeof(l->virtuals));
	l->virtuals_inside = 0;
	l->carriers_counted = false;
	l->round_ns = l->newest = l->newest_now = 0;
}
