/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocations, as the JVM samples them itself (JVMTI's SampledObjectAlloc, JDK 11 and newer).
 *
 * HotSpot lays points over the bytes that a thread allocates, on average one in `interval`, at random and
 * without memory (threadHeapSampler.cpp), and tells of the object that a point falls into. An object of `size`
 * bytes is told of with probability 1 - exp(-size / interval), however many points it holds; so it stands for
 * size / (1 - exp(-size / interval)) bytes, and sums are right for small and for huge objects alike.
 *
 * The callback runs in the allocating thread, which has left Java by way of its anchor. It allocates
 * nothing and takes no lock.
 */
#include "sampler/engine/engine.h"

#include "base/clock.h"
#include "sampler/engine/alloc_live.h"
#include "sampler/jvm/jvm.h"
#include "sampler/session/publisher.h"
#include "sampler/session/rooms.h"
#include "sampler/session/scan.h"
#include "sampler/signal/raw.h"
#include "sampler/signal/signal.h"

#include "walk/hotspot/oop.h"
#include "walk/load/mem.h"

#include <errno.h>

#define ALLOC_SINCE    11
#define CLASS_NAME     512 /* bytes of a class's name; longer ones are cut */
#define MEASURED_OF    8u
#define INTERVAL_MAX   INT32_MAX
#define ALLOC_START_NS (2500 * NS_PER_MS) /* the front end waits for 3 s */
#define ALLOC_STOP_NS  (1000 * NS_PER_MS)
#define LIVE_NS        (200 * NS_PER_MS)
/* What is allocated within this time before a collection waits for the next one. */
#define LIVE_STALE_NS (2 * NS_PER_S)

/* --- weights ---------------------------------------------------------------------------------- */

/* exp(-x) for x >= 0: halved until the series is short, then squared back. */
static double exp_minus(double x)
{
	double term = 1, sum = 1;
	int halvings = 0;

	if (x > 50)
		return 0;
	for (; x > 0.5; x /= 2)
		halvings++;
	for (int i = 1; i < 12; i++) {
		term *= -x / i;
		sum += term;
	}
	while (halvings-- > 0)
		sum *= sum;
	return sum;
}

uint64_t alloc_weight(uint64_t size, uint64_t interval)
{
	double x = interval ? (double)size / (double)interval : 50;

	/* 1 - exp(-x) loses its digits where x is small; there it is x - x^2/2 + x^3/6 */
	double told = x < 1e-4 ? x * (1 - x / 2) : 1 - exp_minus(x);

	return told > 0 ? (uint64_t)((double)size / told + 0.5) : size;
}

/* --- the callback ----------------------------------------------------------------------------- */

static uint32_t alloc_class(struct sampler *s, jclass class)
{
	char name[CLASS_NAME];
	uint64_t klass = oop_class(s->layout, &s->mem, (uint64_t)(uintptr_t) class);
	uint32_t bytes = oop_klass_name(s->layout, &s->mem, klass, name, sizeof(name));

	return bytes ? names_text(s->names, name, bytes) : NAMES_ID_UNLOADED;
}

/*
 * alloc_outside: is the object not in what its thread has filled of its buffer? A thread without a buffer has had none
 * yet, or a collection took it since: all that is known then is that a large object would not have had room.
 */
static bool alloc_outside(struct sampler *s, uint64_t java_thread, jobject object, uint64_t size)
{
	const struct walk_layout *l = s->layout;
	uint64_t tlab = java_thread + (uint64_t)l->thread_tlab.offset, start, top;
	uint64_t at = mem_u64(&s->mem, (uint64_t)(uintptr_t)object); /* a local handle */

	if (l->thread_tlab.offset < 0 || l->tlab_start.offset < 0 || l->tlab_top.offset < 0)
		return false;
	start = layout_load(&l->tlab_start, &s->mem, tlab);
	top = layout_load(&l->tlab_top, &s->mem, tlab);
	if (start && top && at)
		return at < start || at >= top;
	return l->tlab_words.offset >= 0 &&
	       size / sizeof(uint64_t) > layout_load(&l->tlab_words, &s->mem, tlab);
}

/* alloc_thread: the thread itself; one that is so new that nobody has listed it yet does so here. */
static struct thread_slot *alloc_thread(struct sampler *s, JNIEnv *jni)
{
	int32_t tid = raw_gettid();
	struct thread_slot *thread = threads_find(s->threads, tid);

	return thread ? thread : scan_thread_starts(s, tid, jvm_thread_of(jni));
}

static void alloc_sample(
	struct sampler *s, JNIEnv *jni, jobject object, jclass class, uint64_t size)
{
	struct thread_slot *thread = alloc_thread(s, jni);
	uint64_t interval =
		atomic_load_explicit(&s->events[WIRE_ALLOC].interval, memory_order_relaxed);
	struct stack_sample sample = {.event = WIRE_ALLOC,
		.before = 1,
		.count = 1,
		.weight = alloc_weight(size, interval)};
	struct live *live = atomic_load(&s->live_on);
	struct stack stack;
	bool outside;

	if (!thread) {
		sig_lose(s, WIRE_ALLOC, COUNTER_NO_THREAD, 1);
		return;
	}
	sig_stack_java(&stack, s, thread, jvm_thread_of(jni));
	outside = alloc_outside(s, jvm_thread_of(jni), object, size);
	stack.user[-1] =
		WALK_PACK(outside ? WALK_CLASS_OUTSIDE : WALK_CLASS, alloc_class(s, class));
	if (!live)
		sig_stack_put(&stack, &sample);
	else if (!live_remember(live, jni, object, &stack, sample.weight))
		sig_lose(s, WIRE_ALLOC, COUNTER_LIVE_FULL, 1);
	sig_stack_give(&stack);
}

void alloc_arrived(struct sampler *s, JNIEnv *jni, jobject object, jclass class, uint64_t size)
{
	bool measured;
	uint64_t start;

	if (!atomic_load(&s->events[WIRE_ALLOC].on))
		return;
	measured = atomic_fetch_add(&s->handlers, 1) % MEASURED_OF == 0;
	start = measured ? sig_clock() : 0;
	alloc_sample(s, jni, object, class, size);
	if (measured)
		atomic_fetch_add_explicit(&s->events[WIRE_ALLOC].cost_ns,
			(sig_clock() - start) * MEASURED_OF, memory_order_relaxed);
}

uint64_t alloc_round_after(struct sampler *s)
{
	struct live *live = atomic_load(&s->live_on);

	if (!live || !(live_due(live) || live_stale(live)))
		return UINT64_MAX;
	return live_due(live) ? LIVE_NS : LIVE_STALE_NS;
}

/* --- on and off ------------------------------------------------------------------------------- */

/*
 * The JVM is told by whoever visits it. Not in time: the event does not start, and the JVM is told nothing; or, when it
 * stops, it goes without saying so: callbacks do nothing meanwhile, and the visit is made as soon as the JVM lets one in.
 */

static void alloc_interval(struct sampler *s)
{
	uint64_t interval = atomic_load(&s->events[WIRE_ALLOC].interval);

	jvm_events_want(0, 0, (uint32_t)(interval < INTERVAL_MAX ? interval : INTERVAL_MAX));
}

static void alloc_stop(struct sampler *s, uint32_t event)
{
	atomic_store(&s->events[event].on, 0);
	atomic_store(&s->live_on, NULL);
	jvm_events_want(0, JVM_TELLS_ALLOCATIONS | JVM_TELLS_COLLECTIONS, 0);
	publisher_await(s, &s->visits.done, jvm_visit_ask(s), ALLOC_STOP_NS);
}

static int alloc_start(
	struct sampler *s, const struct engine_target *target, char *text, size_t bytes)
{
	uint32_t bits = JVM_TELLS_ALLOCATIONS;
	struct text out = text_into(text, bytes);
	int error = 0;

	if (target->flags & WIRE_START_LIVE) {
		if (!s->live && !(s->live = live_new())) {
			text_add(&out, "no memory for the objects to be watched");
			return -ENOMEM;
		}
		atomic_store(&s->live_on, s->live);
		bits |= JVM_TELLS_COLLECTIONS;
	}
	alloc_interval(s);
	jvm_events_want(bits, 0, 0);
	if (!publisher_await(s, &s->visits.done, jvm_visit_ask(s), ALLOC_START_NS)) {
		text_add(&out, "the JVM lets no thread of the agent in; try again");
		error = -ETIMEDOUT;
	} else if (!jvm_events_told(bits)) {
		error = atomic_load(&s->visits.error);
		text_add(&out,
			error ? s->visits.refused : "the JVM was not told to sample allocations");
		error = error ? error : -EAGAIN;
	}
	if (error)
		alloc_stop(s, WIRE_ALLOC);
	else if (s->layout->jdk >= 19)
		text_add(&out,
			"virtual threads run slower until this JVM ends: it was asked for JVMTI");
	return error;
}

static void alloc_repace(struct sampler *s, uint32_t event)
{
	alloc_interval(s);
	jvm_visit_ask(s);
}

static int alloc_probe(const struct engine_target *on_self, char *why, size_t bytes)
{
	struct sampler *s = rooms_session();
	struct text text = text_into(why, bytes);

	if (s && s->layout && s->layout->jdk >= ALLOC_SINCE && s->layout->class_klass)
		return 0;
	if (s && s->layout && s->layout->jdk < ALLOC_SINCE && on_self->perf->type)
		text_add(&text, "seen are new buffers of threads, and objects outside of them");
	else if (s && s->layout && s->layout->jdk < ALLOC_SINCE)
		text_add(&text, "a JVM before JDK 11 does not tell of allocations");
	else
		text_add(&text,
			"allocations need the JVM's structures, which this one does not export");
	return -ENOSYS;
}

const struct engine engine_alloc = {
	.id = WIRE_ENGINE_ALLOC,
	.name = "sampled allocations",
	.interval_min = 1,
	.probe = alloc_probe,
	.start = alloc_start,
	.stop = alloc_stop,
	.repace = alloc_repace,
};
