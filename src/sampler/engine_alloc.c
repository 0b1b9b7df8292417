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
#include "sampler/engine.h"

#include "base/clock.h"
#include "sampler/alloc_live.h"
#include "sampler/jvm.h"
#include "sampler/raw.h"
#include "sampler/scan.h"
#include "sampler/sig.h"

#include "walk/mem.h"
#include "walk/oop.h"

#include <errno.h>

#define ALLOC_SINCE  11
#define CLASS_NAME   512 /* bytes of a class's name; longer ones are cut */
#define MEASURED_OF  8u
#define INTERVAL_MAX INT32_MAX
#define LIVE_NS      (200 * NS_PER_MS)
/* What is allocated within this time before a collection waits for the next one. */
#define LIVE_STALE_NS (2 * NS_PER_S)

/* The environment of the event; set and taken back on the naming thread. */
static jvmtiEnv *alloc_env;
static _Atomic uint32_t alloc_inside; /* callbacks under way */
static struct live *alloc_live;       /* NULL: all objects are samples */

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
	if (!alloc_live)
		sig_stack_put(&stack, &sample);
	else if (!live_remember(alloc_live, jni, object, &stack, sample.weight))
		sig_lose(s, WIRE_ALLOC, COUNTER_LIVE_FULL, 1);
	sig_stack_give(&stack);
}

static void alloc_arrived(
	struct sampler *s, JNIEnv *jni, jobject object, jclass class, uint64_t size)
{
	bool measured = atomic_fetch_add(&s->handlers, 1) % MEASURED_OF == 0;
	uint64_t start = measured ? sig_clock() : 0;

	alloc_sample(s, jni, object, class, size);
	if (measured)
		atomic_fetch_add_explicit(&s->events[WIRE_ALLOC].cost_ns,
			(sig_clock() - start) * MEASURED_OF, memory_order_relaxed);
}

static void JNICALL on_allocated(
	jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object, jclass class, jlong size)
{
	struct sampler *s;

	atomic_fetch_add(&alloc_inside, 1);
	s = sig_enter();
	if (s && atomic_load(&s->events[WIRE_ALLOC].on) &&
		raw_gettid() != atomic_load(&s->names_tid))
		alloc_arrived(s, jni, object, class, (uint64_t)size);
	sig_leave();
	atomic_fetch_sub_explicit(&alloc_inside, 1, memory_order_release);
}

static void JNICALL on_collected(jvmtiEnv *jvmti)
{
	atomic_fetch_add(&alloc_inside, 1);
	if (alloc_live)
		live_collected(alloc_live);
	atomic_fetch_sub_explicit(&alloc_inside, 1, memory_order_release);
}

void alloc_round(struct sampler *s, JNIEnv *jni)
{
	if (alloc_live && atomic_load(&s->events[WIRE_ALLOC].on))
		live_sweep(alloc_live, s, jni);
}

uint64_t alloc_round_after(void)
{
	if (!alloc_live || !(live_due(alloc_live) || live_stale(alloc_live)))
		return UINT64_MAX;
	return live_due(alloc_live) ? LIVE_NS : LIVE_STALE_NS;
}

/* --- on and off ------------------------------------------------------------------------------- */

struct alloc_request {
	uint64_t interval;
	struct text out;
	int error;
};

static const jvmtiCapabilities live_capabilities = {.can_generate_garbage_collection_events = 1};
static const jvmtiCapabilities alloc_capabilities = {.can_generate_sampled_object_alloc_events = 1};

static const char alloc_taken[] = "another agent of this JVM samples its allocations, and the JVM "
				  "lets only one: stop that one first";

static int alloc_listen(struct alloc_request *r)
{
	static const jvmtiEventCallbacks callbacks = {.SampledObjectAlloc = on_allocated,
		.GarbageCollectionFinish = on_collected,
		.DynamicCodeGenerated = jvm_on_code};

	if ((*alloc_env)->AddCapabilities(alloc_env, &alloc_capabilities) != JVMTI_ERROR_NONE) {
		text_add(&r->out, alloc_taken);
		return -EBUSY;
	}
	if ((*alloc_env)->SetEventCallbacks(alloc_env, &callbacks, sizeof(callbacks)) ||
		(*alloc_env)->SetHeapSamplingInterval(alloc_env, (jint)r->interval) ||
		(*alloc_env)
			->SetEventNotificationMode(
				alloc_env, JVMTI_ENABLE, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, NULL)) {
		text_add(&r->out, "the JVM refused to sample allocations");
		return -ENODEV;
	}
	if (alloc_live && ((*alloc_env)->AddCapabilities(alloc_env, &live_capabilities) ||
				  (*alloc_env)
					  ->SetEventNotificationMode(alloc_env, JVMTI_ENABLE,
						  JVMTI_EVENT_GARBAGE_COLLECTION_FINISH, NULL))) {
		text_add(&r->out, "the JVM does not tell of its collections");
		return -ENODEV;
	}
	return 0;
}

/* alloc_settle: no callback is under way. */
static void alloc_settle(void)
{
	struct timespec pause = {0, 200000};

	while (atomic_load(&alloc_inside))
		raw(SYS_nanosleep, &pause, 0);
}

static void alloc_close(struct sampler *s, JNIEnv *jni, void *arg)
{
	(*alloc_env)
		->SetEventNotificationMode(
			alloc_env, JVMTI_DISABLE, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, NULL);
	(*alloc_env)->RelinquishCapabilities(alloc_env, &alloc_capabilities);
	(*alloc_env)->DisposeEnvironment(alloc_env);
	alloc_env = NULL;
	atomic_store(&s->events[WIRE_ALLOC].on, 0);
	alloc_settle();
	live_free(alloc_live, jni);
	alloc_live = NULL;
}

static void alloc_open(struct sampler *s, JNIEnv *jni, void *arg)
{
	struct alloc_request *r = arg;

	r->error = jvm_jvmti_open(s, &alloc_env, &r->out);
	if (r->error == 0)
		r->error = alloc_listen(r);
	if (r->error == 0)
		jvm_stubs_name(s, alloc_env);
	else if (alloc_env)
		alloc_close(s, jni, NULL);
}

static int alloc_start(
	struct sampler *s, const struct engine_target *target, char *text, size_t bytes)
{
	struct alloc_request request = {
		.interval = target->interval, .out = text_into(text, bytes)};

	if (request.interval > INTERVAL_MAX)
		request.interval = INTERVAL_MAX;
	if (target->flags & WIRE_START_LIVE && !alloc_live && !(alloc_live = live_new())) {
		text_add(&request.out, "no memory for the objects to be watched");
		return -ENOMEM;
	}
	if (!jvm_do(s, alloc_open, &request)) {
		text_add(&request.out, "the JVM lets no thread of the agent in");
		return -ETIMEDOUT;
	}
	if (request.error == 0 && s->layout->jdk >= 19)
		text_add(&request.out,
			"virtual threads run slower until this JVM ends: it was asked for JVMTI");
	return request.error;
}

static void alloc_stop(struct sampler *s, uint32_t event)
{
	atomic_store(&s->events[event].on, 0);
	/* A JVM that ends lets nobody in; its events end with it. */
	if (alloc_env && atomic_load(&s->stop) != SAMPLER_EXIT)
		jvm_do(s, alloc_close, NULL);
	alloc_settle();
}

static void alloc_pace(struct sampler *s, JNIEnv *jni, void *arg)
{
	(*alloc_env)
		->SetHeapSamplingInterval(
			alloc_env, (jint)atomic_load(&s->events[WIRE_ALLOC].interval));
}

static void alloc_repace(struct sampler *s, uint32_t event)
{
	if (alloc_env)
		jvm_do(s, alloc_pace, NULL);
}

static int alloc_probe(const struct engine_target *on_self, char *why, size_t bytes)
{
	struct sampler *s = atomic_load(&sig_current);
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
