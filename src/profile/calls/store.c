/* SPDX-License-Identifier: Apache-2.0 */
/* Joins polls into calls. */
#include "profile/calls/own.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/java_name.h"
#include "profile/model/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const call_state_names[CALL_STATES] = {
	"cpu", "runnable", "lock", "io", "sleep", "wait", "park", "safepoint", "short waits"};

#define SAFEPOINT_FRAMES 40 /* innermost frames in which the cause of a wait is looked for */

void calls_begin(struct profile *p, const char *name, uint64_t interval)
{
	struct model_calls *c = p->calls;

	if (c) {
		free(c->name);
		free(c->polls);
		free(c->calls);
		free(c->open);
		free(c);
		p->calls = NULL;
	}
	if (!name)
		return;
	p->calls_generation++;
	c = p->calls = xcalloc(1, sizeof(*c));
	c->name = xstrdup(name);
	c->interval = interval;
	c->polls = xcalloc(CALLS_POLLS, sizeof(*c->polls));
	c->calls = xcalloc(CALLS_MAX, sizeof(*c->calls));
}

bool calls_pattern_matches(const char *pattern, const char *method)
{
	size_t bytes = strlen(pattern), whole = strlen(method);

	return bytes <= whole && !strcmp(method + whole - bytes, pattern) &&
	       (bytes == whole || strchr(".$", method[whole - bytes - 1]));
}

const char *calls_name(const struct profile *p)
{
	return p->calls ? p->calls->name : NULL;
}

uint64_t calls_interval(const struct profile *p)
{
	return p->calls ? p->calls->interval : 0;
}

/* --- states ---------------------------------------------------------------------------------- */

static bool starts(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

/*
 * Refines the state of a thread that waits: in a safepoint, for a collection that its own allocation has caused, or for a lock of
 * java.util.concurrent.
 */
static enum call_state waits_for(const struct profile *p, uint32_t stack, enum call_state state)
{
	static const char *const vm[] = {
		"SafepointSynchronize::", "SafepointMechanism::", "VMThread::execute",
		"WaitBarrier", "LinuxWaitBarrier::", "ZPageAllocator::", "ShenandoahAllocRequest",
		"HandshakeState::", NULL};
	bool condition = false;

	for (int i = 0; i < SAFEPOINT_FRAMES && stack != PROFILE_ROOT_STACK; i++) {
		struct profile_stack node = profile_get_stack(p, stack);
		const struct profile_frame *frame = profile_get_frame(p, node.frame);
		const struct profile_method *m = profile_get_method(p, frame->method);

		stack = node.parent;
		if (frame->type == FRAME_VM)
			for (int v = 0; vm[v]; v++)
				if (starts(m->name, vm[v]))
					return CALL_SAFEPOINT;
		if (!frame_is_java(frame->type))
			continue;
		if (state == CALL_PARK && strstr(m->class_name, ".Unsafe"))
			continue; /* where all parked threads are */
		if (state != CALL_PARK || !starts(m->class_name, "java.util.concurrent.locks."))
			return state;
		condition = condition || strstr(m->class_name, "$ConditionObject");
		if (!condition &&
			(starts(m->class_name, "java.util.concurrent.locks.Reentrant") ||
				starts(m->class_name, "java.util.concurrent.locks.StampedLock")))
			return CALL_LOCK;
	}
	return state;
}

static enum call_state state_of(const struct profile *p, const struct profile_poll *poll)
{
	static const uint8_t states[THREAD_STATES] = {
		[THREAD_STATE_NONE] = CALL_CPU,
		[THREAD_ON_CPU] = CALL_CPU,
		[THREAD_RUNNABLE] = CALL_RUNNABLE,
		[THREAD_SLEEPING] = CALL_SLEEP,
		[THREAD_MONITOR] = CALL_LOCK,
		[THREAD_WAITING] = CALL_WAIT,
		[THREAD_PARKED] = CALL_PARK,
		[THREAD_IO] = CALL_IO,
		[THREAD_CARRIER] = CALL_RUNNABLE,
	};
	enum call_state state = states[poll->state];

	return state == CALL_CPU || state == CALL_RUNNABLE ? state
							   : waits_for(p, poll->stack, state);
}

/* --- joining --------------------------------------------------------------------------------- */

/* True when the poll knows of every call that began in this frame since the one before, by its entry. */
static bool entries_known(const struct model_call *call, const struct profile_poll *poll)
{
	return !poll->virtual_id && poll->counted && poll->recorded && (!call || call->recorded);
}

/* *certain: false if it is the same call only because a collection may have moved the references that differ. */
static bool same_call(const struct model_call *call, const struct profile_poll *poll, bool *certain)
{
	*certain = true;
	if (call->frame != poll->frame)
		return false;
	if (entries_known(call, poll))
		return !poll->entries_here;
	if (call->outside == poll->outside)
		return true;
	*certain = call->collections == poll->collections[1] || call->values != poll->values;
	return !*certain;
}

static bool waits(const struct model_poll *poll)
{
	return poll->state != CALL_CPU && poll->state != CALL_RUNNABLE;
}

/*
 * Attributes the time between two polls of a call to states. The kernel counts the CPU time and the run-queue delay. The remainder is
 * attributed to the waits that the polls observed; up to still_ns, the thread was certainly in that of the first poll.
 */
static void account(
	uint64_t state_ns[CALL_STATES], const struct model_poll *a, const struct model_poll *b)
{
	uint64_t all = b->time_ns - a->time_ns, rest = all, part;

	if (a->cpu_ns == CALLS_NO_CLOCK || b->cpu_ns == CALLS_NO_CLOCK) {
		state_ns[a->state] += all - all / 2;
		state_ns[b->state] += all / 2;
		return;
	}
	part = b->cpu_ns > a->cpu_ns ? b->cpu_ns - a->cpu_ns : 0;
	part = part < rest ? part : rest;
	state_ns[CALL_CPU] += part;
	rest -= part;
	part = a->delay_ns && b->delay_ns > a->delay_ns ? b->delay_ns - a->delay_ns : 0;
	part = part < rest ? part : rest;
	state_ns[CALL_RUNNABLE] += part;
	rest -= part;
	if (waits(a) && waits(b) && a->state != b->state) {
		part = a->still_ns > a->time_ns ? a->still_ns - a->time_ns : 0;
		part = part < rest ? part : rest;
		part += (rest - part) / 2;
		state_ns[a->state] += part;
		state_ns[b->state] += rest - part;
	} else {
		state_ns[waits(a) ? a->state : waits(b) ? b->state : CALL_SHORT] += rest;
	}
}

/* The rest of the span in which the call ended: half of it, on average. */
static void call_end(
	struct model_calls *c, struct model_call *call, uint64_t still_ns, uint64_t time_ns)
{
	struct model_poll *last = &c->polls[(call->last - 1) % CALLS_POLLS];

	if (still_ns > last->time_ns) { /* it was at rest there */
		last->still_ns = still_ns;
		call->pub.state_ns[waits(last) ? last->state : CALL_SHORT] +=
			still_ns - last->time_ns;
		call->pub.end_from = still_ns;
	}
	call->pub.end_to = time_ns;
	call->pub.state_ns[last->state] += (time_ns - call->pub.end_from) / 2;
}

static void open_set(struct model_calls *c, const struct profile_poll *poll, uint64_t call)
{
	struct model_open *open;

	if (!poll->virtual_id) {
		c->open[poll->thread] = call;
		return;
	}
	open = &c->virtual_open[virtual_place(c, poll->virtual_id) - c->virtual_open];
	*open = (struct model_open){poll->virtual_id, call};
}

static struct model_call *call_new(
	struct model_calls *c, const struct profile_poll *poll, uint64_t outside_ns)
{
	struct model_call *call = &c->calls[c->call_count % CALLS_MAX];

	*call = (struct model_call){
		.pub = {.number = c->call_count,
			.thread = poll->thread,
			.weight = poll->weight ? poll->weight : 1,
			.gap_ns = poll->since_ns - poll->before_ns,
			.begin_from = outside_ns,
			.begin_to = poll->since_ns,
			.end_to = UINT64_MAX},
		.frame = poll->frame,
		.virtual_id = poll->virtual_id,
	};
	if (poll->virtual_id)
		call->pub.counted = poll->counted;
	if (entries_known(NULL, poll) && poll->entries_here && poll->last_ns <= poll->since_ns) {
		call->pub.counted = true;
		call->pub.begin_from = call->pub.begin_to = poll->last_ns;
	}
	open_set(c, poll, ++c->call_count);
	return call;
}

/* The number of entries in a cell; of a new cell, 0. */
static uint32_t *entries_at(struct model_calls *c, uint64_t cell, bool estimated)
{
	uint64_t at = cell % CALLS_CELLS;

	if (c->cells[at].cell != cell) {
		c->cells[at].cell = cell;
		c->cells[at].entries = 0;
		c->cells[at].estimated = false;
	}
	c->cells[at].estimated |= estimated;
	return &c->cells[at].entries;
}

/* Spreads an estimate over its time. */
static void count_estimate(struct model_calls *c, const struct profile_poll *poll)
{
	uint64_t first = poll->before_ns / CALLS_CELL_NS, last = poll->time_ns / CALLS_CELL_NS;
	double span = (double)(poll->time_ns - poll->before_ns) + 1, added = 0, until;

	if (last - first >= CALLS_CELLS)
		return;
	c->estimated += poll->entries;
	c->doubt += poll->entries_here;
	for (uint64_t cell = first; cell <= last; cell++) {
		until = (double)((cell + 1) * CALLS_CELL_NS - poll->before_ns) / span;
		until = floor((until < 1 ? until : 1) * poll->entries);
		*entries_at(c, cell, true) += (uint32_t)(until - added);
		added = until;
	}
}

static void count_entries(struct model_calls *c, const struct profile_poll *poll)
{
	*entries_at(c, poll->time_ns / CALLS_CELL_NS, false) += poll->entries;
	c->counted_ns = c->counted_ns ? c->counted_ns : poll->first_ns;
}

/* The time by which a call has ended: the next entry, if known, or else the poll that found it over. */
static uint64_t next_entry(
	const struct model_calls *c, const struct call *call, const struct profile_poll *poll)
{
	uint64_t next = poll->first_ns;

	return poll->counted && poll->entries && !c->recursive && next < poll->since_ns &&
			       next >= call->end_from && next >= poll->before_ns
		       ? next
		       : poll->since_ns;
}

static void call_add(
	const struct profile *p, struct model_call *call, const struct profile_poll *poll)
{
	struct model_calls *c = p->calls;
	struct model_poll *now = &c->polls[c->poll_count % CALLS_POLLS];

	*now = (struct model_poll){.time_ns = poll->time_ns,
		.still_ns = poll->time_ns,
		.cpu_ns = poll->virtual_id ? CALLS_NO_CLOCK : poll->cpu_ns,
		.delay_ns = poll->delay_ns,
		.stack = poll->stack,
		.state = (uint8_t)state_of(p, poll),
		.before = call->last};
	if (!call->last)
		call->pub.state_ns[now->state] += now->time_ns - call->pub.begin_to +
						  (call->pub.begin_to - call->pub.begin_from) / 2;
	if (poll_of(c, call->last)) {
		struct model_poll *last = &c->polls[(call->last - 1) % CALLS_POLLS];

		last->still_ns = poll->before_ns > last->time_ns ? poll->before_ns : last->time_ns;
		account(call->pub.state_ns, last, now);
	}
	call->last = ++c->poll_count;
	call->outside = poll->outside;
	call->values = poll->values;
	call->collections = poll->collections[0];
	call->recorded = poll->recorded;
	call->pub.polls++;
	call->pub.end_from = poll->time_ns;
	call->pub.inlined = call->pub.inlined || poll->inlined;
}

void calls_add_poll(struct profile *p, const struct profile_poll *poll)
{
	struct model_calls *c = p->calls;
	struct model_call *call = NULL;
	uint64_t open, outside_ns = poll->before_ns;
	bool certain = true;

	if (!c || poll->thread >= MODEL_THREADS_MAX || poll->before_ns > poll->since_ns ||
		poll->since_ns > poll->time_ns)
		return;
	if (poll->starts) {
		c->started += poll->entries;
		c->polled += poll->entries_here;
		return;
	}
	if (poll->estimate) {
		count_estimate(c, poll);
		return;
	}
	c->open = fit_zeroed(c->open, &c->open_cap, poll->thread + 1, sizeof(*c->open));
	open = open_of(c, poll->thread, poll->virtual_id);
	if (open && open + CALLS_MAX > c->call_count)
		call = &c->calls[(open - 1) % CALLS_MAX];
	if (call && !poll_of(c, call->last))
		call = NULL; /* all its polls are overwritten */
	if (call && poll_of(c, call->last)->time_ns > poll->since_ns)
		return;
	if (call && (!poll->inside || !same_call(call, poll, &certain))) {
		call_end(c, call, poll->before_ns, next_entry(c, &call->pub, poll));
		outside_ns = call->pub.end_from;
		call = NULL;
	}
	open_set(c, poll, call ? open : 0);
	if (poll->entries)
		count_entries(c, poll);
	if (!poll->inside)
		return;
	if (!call)
		call = call_new(c, poll, outside_ns);
	call->pub.uncertain = call->pub.uncertain || !certain;
	c->recursive = c->recursive || poll->recursive;
	call_add(p, call, poll);
}

uint64_t calls_counted_ns(const struct profile *p)
{
	return p->calls && !p->calls->recursive ? p->calls->counted_ns : 0;
}

/* --- reading --------------------------------------------------------------------------------- */

uint64_t call_duration_ns(const struct call *call)
{
	uint64_t inside = call->end_from - call->begin_to;

	if (call->end_to == UINT64_MAX)
		return inside + (call->begin_to - call->begin_from) / 2;
	return inside + (call->begin_to - call->begin_from + call->end_to - call->end_from) / 2;
}

uint64_t call_error_ns(const struct call *call)
{
	uint64_t begin = call->begin_to - call->begin_from;

	return (begin + (call->end_to == UINT64_MAX ? 0 : call->end_to - call->end_from)) / 2;
}

void calls_normalize(double states[CALL_STATES])
{
	double sum = 0, seen = 0;

	for (unsigned s = 0; s < CALL_STATES; s++) {
		sum += states[s];
		seen += s == CALL_CPU || s == CALL_RUNNABLE || s == CALL_SHORT ? 0 : states[s];
	}
	for (unsigned s = CALL_LOCK; s < CALL_SHORT && seen > 0; s++)
		states[s] += states[CALL_SHORT] * states[s] / seen;
	if (seen > 0)
		states[CALL_SHORT] = 0;
	for (unsigned s = 0; s < CALL_STATES; s++)
		states[s] = sum > 0 ? states[s] / sum : 0;
}

static bool selects(const struct profile *p, const struct calls_query *q, const struct call *call)
{
	if (call->begin_from < q->from_ns || call_begin_ns(call) >= q->to_ns ||
		(q->pool && profile_get_thread(p, call->thread)->pool != q->pool) ||
		(q->threads &&
			!java_name_matches(profile_get_thread(p, call->thread)->name, q->threads)))
		return false;
	return calls_in_range(q, call);
}

void calls_each(const struct profile *p, const struct calls_query *q, calls_each_fn *fn, void *ctx)
{
	uint64_t first, end;

	calls_range(p, &first, &end);
	for (uint64_t n = first; n < end; n++) {
		struct call call = call_now(p->calls, n);

		if (selects(p, q, &call))
			fn(ctx, &call);
	}
}

uint32_t calls_parts(
	const struct profile *p, const struct call *call, struct call_part *out, uint32_t most)
{
	const struct model_calls *c = p->calls;
	const struct model_poll *at, *later = NULL;
	uint32_t count = 0;

	if (!c || call->number + CALLS_MAX < c->call_count)
		return 0;
	for (at = poll_of(c, c->calls[call->number % CALLS_MAX].last); at && count < most;
		at = poll_of(c, at->before)) {
		uint64_t state_ns[CALL_STATES] = {0};
		struct call_part *part = &out[count++];
		unsigned largest = at->state;

		*part = (struct call_part){.from_ns = at->time_ns,
			.to_ns = later ? later->time_ns : at->still_ns,
			.stack = at->stack};
		if (later)
			account(state_ns, at, later);
		for (unsigned s = 0; s < CALL_STATES; s++)
			if (state_ns[s] > state_ns[largest])
				largest = s;
		part->state = largest;
		/* Where the call was in this state. */
		if (later && largest != at->state && largest == later->state)
			part->stack = later->stack;
		later = at;
	}
	for (uint32_t i = 0; i < count / 2; i++) {
		struct call_part swap = out[i];

		out[i] = out[count - 1 - i];
		out[count - 1 - i] = swap;
	}
	return count;
}

/* --- the model's ------------------------------------------------------------------------------ */

size_t model_calls_bytes(const struct profile *p)
{
	return p->calls ? sizeof(*p->calls) + CALLS_POLLS * sizeof(struct model_poll) +
				  CALLS_MAX * sizeof(struct model_call) +
				  p->calls->open_cap * sizeof(uint64_t)
			: 0;
}

void model_calls_refer(const struct profile *p, enum profile_kind kind,
	void (*fn)(const struct profile *p, uint32_t id))
{
	const struct model_calls *c = p->calls;
	uint64_t polls = c && c->poll_count < CALLS_POLLS ? c->poll_count : CALLS_POLLS;
	uint64_t calls = c && c->call_count < CALLS_MAX ? c->call_count : CALLS_MAX;

	for (uint64_t i = 0; c && kind == PROFILE_STACKS && i < polls; i++)
		fn(p, c->polls[i].stack);
	for (uint64_t i = 0; c && kind == PROFILE_THREADS && i < calls; i++)
		fn(p, c->calls[i].pub.thread);
}
