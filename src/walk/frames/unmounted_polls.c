/* SPDX-License-Identifier: Apache-2.0 */
/* The descriptor that a virtual thread polls: a word in its frames, verified by the Java map of descriptors and waiting threads. */
#include "walk/frames/unmounted.h"

#include "walk/load/mem.h"

#define POLL_BYTES 1536u /* of the youngest frames; includes Poller's, compiled or interpreted */
#define POLL_CHAIN 64u
#define POLL_FDS   (1u << 20)
#define POLL_OUT   4u           /* EPOLLOUT */
#define WORD_LEAST (1ull << 16) /* words closer to 0 are numbers, not references */

/* --- the map ----------------------------------------------------------------------------------------- */

/* The object that a field refers to, if it is of class `to`; else 0. */
static uint64_t field_to(
	const struct unmounted *u, uint64_t object, unsigned class, unsigned field, unsigned to)
{
	return oop_field_of(
		&u->mode, u->layout, u->mem, object + u->field[class][field], u->klass[to]);
}

/* The hash table that records who waits for which descriptor of a Poller. length 0: unreadable. */
struct poll_table {
	uint64_t object;
	uint32_t length;
};

static struct poll_table poll_table_of(const struct unmounted *u, uint64_t poller)
{
	uint64_t map = field_to(u, poller, UNMOUNTED_POLLER, 0, UNMOUNTED_MAP);

	if (!map)
		return (struct poll_table){0, 0};
	uint64_t object =
		oop_field(&u->mode, u->layout, u->mem, map + u->field[UNMOUNTED_MAP][0]).object;
	return (struct poll_table){object, oop_array_length(&u->mode, u->mem, object)};
}

/*
 * The node that records that this thread waits for that descriptor; 0: none. Bins that are trees, and tables in transfer,
 * are not read.
 */
static uint64_t poll_node(
	const struct unmounted *u, struct poll_table table, uint32_t fd, uint64_t thread)
{
	uint64_t node = 0;

	if (table.length)
		node = oop_field_of(&u->mode, u->layout, u->mem,
			oop_array_at(
				&u->mode, u->layout, table.object, unmounted_bin(fd, table.length)),
			u->klass[UNMOUNTED_NODE]);
	for (uint32_t i = 0; node && i < POLL_CHAIN; i++) {
		uint64_t key = field_to(u, node, UNMOUNTED_NODE, UNMOUNTED_KEY, UNMOUNTED_INTEGER);

		if (unmounted_u32(u, key + u->field[UNMOUNTED_INTEGER][0]) == fd)
			return unmounted_has_id(u,
				       field_to(u, node, UNMOUNTED_NODE, UNMOUNTED_VALUE,
					       UNMOUNTED_VIRTUAL),
				       thread)
				       ? node
				       : 0;
		node = field_to(u, node, UNMOUNTED_NODE, UNMOUNTED_NEXT, UNMOUNTED_NODE);
	}
	return 0;
}

/* --- the frames -------------------------------------------------------------------------------------- */

/*
 * The EPollPoller that the word at `at` refers to, or, where references are narrow, that half of a word; 0: something else.
 * A word that is no reference costs a failed read and recurs in many stacks, so results are cached.
 */
static uint64_t poller_at(
	const struct unmounted *u, struct unmounted_word words[UNMOUNTED_WORDS], uint64_t at)
{
	struct oop_mode mode = u->mode;
	uint64_t word = unmounted_u64(u, at & ~7ull);
	uint32_t half = (uint32_t)(at & 4 ? word >> 32 : word);

	mode.narrow &= !(word >> 32) || word >> MEM_ADDRESS_BITS; /* else it is an address */
	if (at & 4 && !mode.narrow)
		return 0;
	word = mode.narrow ? half : word;
	if (word + WORD_LEAST < 2 * WORD_LEAST)
		return 0;
	struct unmounted_word *known = &words[word / 8 % UNMOUNTED_WORDS];
	if (known->word != word)
		*known = (struct unmounted_word){word,
			oop_field_of(&mode, u->layout, u->mem, at, u->klass[UNMOUNTED_EPOLL])};
	return known->poller;
}

/* Finds a descriptor in these frames that this Poller has recorded for the thread. */
static bool poll_among(const struct unmounted *u, uint64_t from, uint64_t end, uint64_t thread,
	struct unmounted_poll *out)
{
	struct poll_table table = poll_table_of(u, out->poller);

	for (uint64_t at = from; table.length && at < end; at += 4) {
		out->fd = unmounted_u32(u, at);
		if (!out->fd || out->fd >= POLL_FDS)
			continue;
		out->node = poll_node(u, table, out->fd, thread);
		if (out->node)
			return true;
	}
	return false;
}

bool unmounted_polls(const struct unmounted *u, struct unmounted_word words[UNMOUNTED_WORDS],
	const struct unmounted_thread *thread, const struct frozen *f, struct unmounted_poll *out)
{
	uint64_t from = frozen_sp(u->mem, f);
	uint64_t end = f->chunk + f->at.bytes + 8ull * unmounted_u32(u, f->chunk + f->at.size);

	out->poller = 0;
	if (thread->state != UNMOUNTED_PARKED || !u->klass[UNMOUNTED_EPOLL])
		return false;
	end = end < from + POLL_BYTES ? end : from + POLL_BYTES;
	for (uint64_t at = from; at < end; at += 4) {
		uint64_t found = poller_at(u, words, at);
		if (!found || found == out->poller) /* may be left over from an earlier wait */
			continue;
		out->poller = found;
		if (!poll_among(u, from, end, thread->number, out))
			continue;
		out->writes = unmounted_u32(u, found + u->field[UNMOUNTED_EPOLL][0]) & POLL_OUT;
		return true;
	}
	return false;
}

bool unmounted_polls_still(const struct unmounted *u, const struct unmounted_thread *thread,
	const struct unmounted_poll *poll)
{
	return poll_node(u, poll_table_of(u, poll->poller), poll->fd, thread->number) == poll->node;
}
