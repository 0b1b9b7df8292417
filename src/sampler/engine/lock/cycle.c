/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deadlock detection: searches for cycles of waiting threads while the lock event is off. A deadlock is therefore
 * reported in every session.
 *
 *   scan:  threads -> the locks that they wait for -> the owner of each -> the lock that the owner waits for -> ...
 *
 * Covers threads and unmounted virtual threads; of very many virtual threads each scan covers a different part. A scan
 * costs a few loads per thread and one search for the owner per contended lock; scans are so rare that they use 1/SHARE
 * of a core. A cycle is reported when POLLS scans in a row have found the same threads in the same waits: they have
 * used no CPU time since or, for unmounted threads, their stacks are unchanged. Timed waits never belong to a cycle.
 * Publisher only.
 */
#include "sampler/engine/arms.h"
#include "sampler/engine/lock/own.h"

#include "base/clock.h"
#include "sampler/publish/publish.h"
#include "sampler/session/memory.h"
#include "sampler/signal/raw.h"
#include "sampler/signal/signal.h"
#include "sampler/task.h"

#include <string.h>

#define POLL_NS (500 * NS_PER_MS)
#define SHARE   1000u
#define POLLS   3u
#define PLACES  4096u /* places scanned per table of virtual threads */
#define LOCKS   64u   /* contended locks per scan */
#define MEMBERS 16u   /* threads in all cycles */
/* Maximum CPU time of a waiting thread between two scans: HotSpot retries occasionally. */
#define TRIES_NS (500 * 1000u)

/* A contended lock, and the wait of its owner. */
struct held {
	struct lock_wait wait; /* the wait of any waiter */
	struct lock_owner owner;
	uint32_t next; /* index of the lock that the owner waits for; LOCKS: none */
};

struct member {
	struct lock_wait wait;
	uint32_t id, polls, owner;
	uint64_t cpu_ns;           /* with a slot: its CPU time */
	struct lock_frozen frozen; /* unmounted: its stack */
	bool found;                /* found by this scan */
	bool reported;
	struct wire_wait record;
};

struct cycles {
	struct lock_reader reader;
	struct unmounted virtuals;
	struct unmounted_pick pick; /* the part of larger tables that is scanned */
	bool open;
	struct lock_clock clocks[LOCK_CLOCKS];
	uint64_t due_ns;
	struct held held[LOCKS];
	uint32_t locks;
	struct member members[MEMBERS];
	uint32_t count;
};

/* --- a scan ---------------------------------------------------------------------------------------- */

static struct lock_wait thread_waits_for(struct sampler *s, const struct thread_slot *slot)
{
	struct lock_reader *r = &s->cycles->reader;
	uint64_t java_thread = atomic_load(&slot->java_thread);
	struct lock_wait wait = {0};
	struct oop thread;
	uint32_t status = 0;

	if (!java_thread || !atomic_load(&slot->tid) || atomic_load(&slot->gone))
		return wait;
	wait = lock_wait_read(r, java_thread);
	if (!wait.lock || wait.monitor)
		return wait;
	thread = java_thread_object(&r->java.threads, s->layout, r->java.mem, java_thread);
	if (!thread.klass || !java_wait_status(&r->java, thread.object, &status) ||
		status & JAVA_TIMED)
		wait.lock = 0;
	return wait;
}

/* The lock that the thread waits for without a time limit; .lock 0: none. */
static struct lock_wait waits_for(struct sampler *s, const struct lock_owner *who)
{
	struct cycles *c = s->cycles;
	struct unmounted_thread thread;
	struct lock_wait wait = {0};

	if (who->slot)
		return thread_waits_for(s, who->slot);
	if (c->open && unmounted_read(&c->virtuals, who->object, who->number, &thread) &&
		!thread.timed)
		wait = lock_wait_virtual(&c->reader, &c->virtuals, &thread);
	return wait;
}

static uint32_t held_find(const struct cycles *c, const struct lock_wait *wait)
{
	uint32_t i = 0;

	while (i < c->locks && c->held[i].wait.lock != wait->lock)
		i++;
	return i < c->locks ? i : LOCKS;
}

static void held_add(struct cycles *c, const struct lock_wait *wait)
{
	if (wait->lock && c->locks < LOCKS && held_find(c, wait) == LOCKS)
		c->held[c->locks++] = (struct held){.wait = *wait};
}

static void virtual_held(void *ctx, const struct unmounted_thread *thread)
{
	struct cycles *c = ctx;
	struct lock_wait wait = {0};

	if (!thread->timed && c->locks < LOCKS)
		wait = lock_wait_virtual(&c->reader, &c->virtuals, thread);
	held_add(c, &wait);
}

static void virtuals_held(struct sampler *s)
{
	struct cycles *c = s->cycles;
	const char *why;

	if (!c->open)
		c->open = unmounted_open(&c->virtuals, s->layout, &c->reader.self.mem, &why);
	if (!c->open)
		return;
	c->reader.virtuals = &c->virtuals;
	unmounted_refresh(&c->virtuals);
	if (!c->count) /* the same threads while a cycle may be among them */
		c->pick = (struct unmounted_pick){
			.random = arms_random(UINT64_MAX), .places = PLACES};
	unmounted_each(&c->virtuals, &c->pick, virtual_held, c);
}

static void held_list(struct sampler *s)
{
	struct cycles *c = s->cycles;
	struct thread_slot *slot = NULL;
	struct lock_wait wait;

	while (c->locks < LOCKS && (slot = threads_after(s->threads, slot))) {
		wait = thread_waits_for(s, slot);
		held_add(c, &wait);
	}
	virtuals_held(s);
	for (uint32_t i = 0; i < c->locks; i++) { /* the loop itself adds more */
		struct held *held = &c->held[i];

		held->owner = lock_wait_owner(&c->reader, &held->wait);
		wait = waits_for(s, &held->owner);
		held_add(c, &wait);
		held->next = wait.lock ? held_find(c, &wait) : LOCKS;
	}
}

/* True when the chain of owners and the locks that they wait for leads from this lock back to it. */
static bool in_cycle(const struct cycles *c, uint32_t first)
{
	uint32_t at = c->held[first].next;

	if (at == first) /* not a deadlock: no thread waits for a lock that it owns */
		return false;
	for (uint32_t i = 0; i < c->locks && at < LOCKS && at != first; i++)
		at = c->held[at].next;
	return at == first;
}

/* --- members of cycles ---------------------------------------------------------------------------- */

static struct member *member_of(struct cycles *c, uint32_t id)
{
	for (uint32_t i = 0; i < c->count; i++)
		if (c->members[i].id == id)
			return &c->members[i];
	if (c->count == MEMBERS)
		return NULL;
	c->members[c->count] = (struct member){.id = id};
	return &c->members[c->count++];
}

/*
 * True when the thread has not run since the previous scan, except for HotSpot's occasional retries, judging by its CPU
 * time or its stack. *known: true if either could be read. Retains the readings for the next scan.
 */
static bool member_rests(
	struct sampler *s, struct member *m, const struct lock_owner *who, bool *known)
{
	struct cycles *c = s->cycles;
	struct unmounted_thread thread;
	struct lock_frozen frozen = {0};
	uint64_t cpu_ns = 0;
	bool rests;

	if (who->slot) {
		*known = task_cpu_ns(atomic_load(&who->slot->tid), &cpu_ns);
		rests = m->cpu_ns && cpu_ns - m->cpu_ns <= TRIES_NS;
	} else {
		*known = unmounted_read(&c->virtuals, who->object, who->number, &thread) &&
			 lock_frozen_read(s, &c->virtuals, &thread, &frozen);
		rests = m->frozen.chunk && lock_frozen_same(&m->frozen, &frozen);
	}
	m->cpu_ns = cpu_ns;
	m->frozen = frozen;
	return *known && rests;
}

/*
 * The owner of held[at] waits for another lock of the cycle: counts one more scan with the same wait, or starts over.
 */
static void member_found(struct sampler *s, uint32_t at, uint64_t now)
{
	struct cycles *c = s->cycles;
	const struct lock_owner *who = &c->held[at].owner;
	const struct held *next = &c->held[c->held[at].next];
	const struct lock_wait wait = waits_for(s, who);
	struct member *m = member_of(c, who->id);
	uint32_t owner = next->owner.id;
	bool known, rests;

	if (!m || wait.lock != next->wait.lock || !owner)
		return;
	rests = member_rests(s, m, who, &known);
	if (!known)
		return;
	if (!m->polls || !lock_wait_same(&m->wait, &wait) || m->owner != owner || !rests) {
		if (m->reported) /* its end is published first */
			return;
		m->record = (struct wire_wait){.since_ns = now,
			.lock = wait.lock,
			.thread = m->id,
			.owner = owner,
			.at_least = true};
		if (who->slot)
			lock_began(c->clocks, s->task.fd, sampler_task(s, who->slot), now,
				&m->record.since_ns);
		m->polls = 0;
	}
	m->wait = wait;
	m->owner = owner;
	m->polls++;
	m->found = true;
}

/* Publishes the member's WAIT record. Returns false if it cannot be published yet. */
static bool member_report(struct sampler *s, struct member *m, uint64_t now, bool ended)
{
	_Atomic uint32_t *inside;

	if (!m->record.method) {
		sig_enter(&inside);
		m->record.method = m->wait.of ? sig_mirror_id(s, &s->mem, m->wait.of)
					      : sig_class_id(s, &s->mem, m->wait.klass);
		sig_leave(inside);
	}
	m->record.time_ns = now;
	m->record.ended = ended;
	return publish_wait(s->publish, &m->record);
}

/* Reports members found in enough scans, and the end of the waits of those not found any more. */
static void members_settle(struct sampler *s, uint64_t now)
{
	struct cycles *c = s->cycles;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < c->count; i++) {
		struct member *m = &c->members[i];
		bool stays = m->found;

		if (stays && m->polls >= POLLS && !m->reported)
			m->reported = member_report(s, m, now, false);
		if (!stays && m->reported)
			stays = !member_report(s, m, now, true);
		m->found = false;
		if (stays)
			c->members[kept++] = *m;
	}
	c->count = kept;
}

void cycles_poll(struct sampler *s, uint64_t now)
{
	struct cycles *c = s->cycles;
	uint64_t start_ns, cost_ns;
	bool on = atomic_load(&s->events[WIRE_LOCK].on) != 0;

	if (!c || now < c->due_ns || (on && !c->count) || s->paused)
		return;
	start_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	if (!c->reader.parks) /* may not be possible yet in a JVM that is starting */
		lock_reader_open(&c->reader, s);
	lock_reader_forget(&c->reader);
	c->locks = 0;
	if (!on)
		held_list(s);
	for (uint32_t i = 0; i < c->locks; i++)
		if (c->held[i].owner.id && in_cycle(c, i))
			member_found(s, i, now);
	members_settle(s, now);
	cost_ns = (clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns) * SHARE;
	c->due_ns = now + (cost_ns > POLL_NS ? cost_ns : POLL_NS);
}

/* --- memory ------------------------------------------------------------------------------------------ */

void cycles_open(struct sampler *s)
{
	if (!s->layout || s->layout->thread_pending.offset < 0 ||
		s->layout->monitor_object.offset < 0)
		return;
	s->cycles = sampler_part_new(s, sizeof(*s->cycles));
	if (s->cycles)
		lock_reader_open(&s->cycles->reader, s);
}

uint64_t cycles_memory(const struct sampler *s)
{
	return s->cycles ? sizeof(*s->cycles) : 0;
}
