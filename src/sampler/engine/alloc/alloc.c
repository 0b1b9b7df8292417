/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocations, sampled by the JVM itself (JVMTI's SampledObjectAlloc, JDK 11 and newer).
 *
 * HotSpot places memoryless random points over the bytes that a thread allocates, on average one per `interval` bytes
 * (threadHeapSampler.cpp), and reports the object that a point falls into. An object of `size` bytes is reported with
 * probability 1 - exp(-size / interval), however many points fall into it. Its weight is therefore size / (1 -
 * exp(-size / interval)) bytes, and sums are unbiased for small and for huge objects alike.
 *
 * The callback runs in the allocating thread, which has left Java through its anchor. It allocates nothing and takes no
 * lock.
 */
#include "sampler/engine/engine.h"

#include "base/clock.h"
#include "sampler/engine/alloc/alloc.h"
#include "sampler/engine/events.h"
#include "sampler/jvm/jvm.h"
#include "sampler/session/lease.h"
#include "sampler/session/scan.h"
#include "sampler/signal/raw.h"
#include "sampler/signal/signal.h"

#include "walk/hotspot/oop.h"
#include "walk/load/mem.h"

#include <errno.h>

#define ALLOC_SINCE    11
#define MEASURED_OF    8u
#define INTERVAL_MAX   INT32_MAX
#define ALLOC_START_NS (2500 * NS_PER_MS) /* below the 3 s that the front end waits */
#define ALLOC_STOP_NS  (1000 * NS_PER_MS)
#define LIVE_NS        (200 * NS_PER_MS)
/*
 * Delay of the sweep that makes a new canary. Objects allocated within this time before a collection are decided by the
 * next one.
 */
#define LIVE_STALE_NS (2 * NS_PER_S)

#define ALLOC_SLOWS   19
#define ALLOC_SLOWER  "virtual threads are slower until this JVM exits"
#define ALLOC_UNEXACT \
	"this JVM misses small objects allocated among large ones, or overweights them"

/* --- the callback ----------------------------------------------------------------------------- */

static void alloc_sample(
	struct sampler *s, JNIEnv *jni, jobject object, jclass class, uint64_t size)
{
	int32_t tid = raw_gettid();
	struct thread_slot *thread = threads_find(s->threads, tid);
	uint64_t jvm_interval = jvm_events_interval();
	struct stack_sample sample = {.event = WIRE_ALLOC, .before = 1, .count = 1};
	struct live *live = atomic_load(&s->live_on);
	struct stack stack;

	if (!thread) /* too new to be listed */
		thread = scan_thread_starts(s, tid, jvm_thread_of(jni));
	if (!thread) {
		sig_lose(s, WIRE_ALLOC, COUNTER_NO_THREAD, 1);
		return;
	}
	sig_stack_java_own(&stack, s, thread, jvm_thread_of(jni));
	struct alloc_object o = alloc_object(
		s->layout, stack.mem, jvm_thread_of(jni), (uint64_t)(uintptr_t)object, size);
	sample.weight = alloc_weight(s->layout, &thread->alloc, &o, jvm_interval);
	stack.user[-1] = WALK_PACK(o.outside ? WALK_CLASS_OUTSIDE : WALK_CLASS,
		sig_class_id(s, stack.mem,
			oop_class(s->layout, stack.mem, (uint64_t)(uintptr_t) class)));
	if (!live)
		sig_stack_record(&stack, &sample);
	else if (!live_track(live, jni, object, &stack, sample.weight))
		sig_lose(s, WIRE_ALLOC, COUNTER_LIVE_FULL, 1);
	sig_stack_release(&stack);
}

void alloc_arrived(struct sampler *s, JNIEnv *jni, jobject object, jclass class, uint64_t size)
{
	if (!atomic_load(&s->events[WIRE_ALLOC].on))
		return;
	bool measured = atomic_fetch_add(&s->handlers, 1) % MEASURED_OF == 0;
	uint64_t start = measured ? sig_clock() : 0;
	alloc_sample(s, jni, object, class, size);
	if (measured)
		atomic_fetch_add_explicit(&s->events[WIRE_ALLOC].handlers_ns,
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
 * Events are set in the JVM by VM calls. If a call does not complete in time, a start fails and nothing stays set. A
 * stop does not wait for the call: callbacks do nothing from then on, and the call is made as soon as the JVM admits
 * the agent's thread.
 */

static void alloc_interval(struct sampler *s)
{
	uint64_t interval = atomic_load(&s->events[WIRE_ALLOC].interval);

	jvm_events_request(0, 0, (uint32_t)(interval < INTERVAL_MAX ? interval : INTERVAL_MAX));
}

static void alloc_stop(struct sampler *s, uint32_t event)
{
	atomic_store(&s->events[event].on, 0);
	atomic_store(&s->live_on, NULL);
	jvm_events_request(0, JVM_REPORTS_ALLOCATIONS | JVM_REPORTS_COLLECTIONS, 0);
	lease_await(s, &s->vm_calls.done, jvm_vm_call_request(s), ALLOC_STOP_NS);
}

static int alloc_start(
	struct sampler *s, const struct engine_target *target, char *text, size_t bytes)
{
	uint32_t bits = JVM_REPORTS_ALLOCATIONS;
	struct text out = text_into(text, bytes);
	int error = 0;

	if (target->flags & WIRE_START_LIVE) {
		if (!s->live && !(s->live = live_new(s))) {
			text_add(&out, "not enough memory to track sampled objects");
			return -ENOMEM;
		}
		atomic_store(&s->live_on, s->live);
		bits |= JVM_REPORTS_COLLECTIONS;
	}
	alloc_interval(s);
	jvm_events_request(bits, 0, 0);
	if (!lease_await(s, &s->vm_calls.configured, jvm_vm_call_request(s), ALLOC_START_NS)) {
		text_add(&out, "the JVM did not admit the agent's thread in time; try again");
		error = -ETIMEDOUT;
	} else if (!jvm_events_are_set(bits)) {
		error = atomic_load(&s->vm_calls.error);
		text_add(&out,
			error ? s->vm_calls.refused : "the JVM did not start sampling allocations");
		error = error ? error : -EAGAIN;
	}
	if (error)
		alloc_stop(s, WIRE_ALLOC);
	else if (s->layout->jdk == ALLOC_SINCE || !alloc_weighable(s->layout))
		text_add(&out, ALLOC_UNEXACT);
	else if (s->layout->jdk >= ALLOC_SLOWS)
		text_add(&out, ALLOC_SLOWER);
	return error;
}

static void alloc_repace(struct sampler *s, uint32_t event)
{
	alloc_interval(s);
	jvm_vm_call_request(s);
}

static int alloc_probe(const struct engine_target *on_self, char *why, size_t bytes)
{
	struct sampler *s = sig_session();
	struct text text = text_into(why, bytes);

	if (s && s->layout && s->layout->jdk >= ALLOC_SINCE && s->layout->class_klass)
		return 0;
	if (s && s->layout && s->layout->jdk < ALLOC_SINCE && on_self->perf->type)
		text_add(&text,
			"samples are taken at new TLABs and at objects allocated outside of TLABs");
	else if (s && s->layout && s->layout->jdk < ALLOC_SINCE)
		text_add(&text, "JVMs before JDK 11 do not report allocations");
	else
		text_add(&text, "sampling allocations requires the JVM's structures, which this "
				"JVM does not export");
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
