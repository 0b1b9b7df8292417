/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events the JVM is asked to report through JVMTI.
 *
 * There is one environment. It is created on first use and never disposed of: HotSpot frees an environment's per-thread
 * data at a collection, while threads that are reporting an allocation still use it; JVMs of JDK 21 and 25 crashed for
 * this reason after some twenty sessions in a tiny heap. Between sessions it is silent.
 *
 * The wanted events are a word written by the session's publisher. The events in force in the JVM are changed by VM
 * calls only, of which one runs at a time, be it of this session or of an earlier one that the JVM has admitted only
 * now. So after the last VM call the JVM has the events wanted at that time.
 */
#include "sampler/jvm/own.h"

#include "base/clock.h"
#include "sampler/engine/alloc/alloc.h"
#include "sampler/session/scan.h"
#include "sampler/signal/raw.h"
#include "sampler/signal/signal.h"

#include "walk/hotspot/code_cache.h"

#include <errno.h>
#include <string.h>

/* JVMTI's sampling interval of allocations, in bytes, unless an agent sets it. */
#define DEFAULT_INTERVAL (512 << 10)
#define APPLY_POLL_NS    (1 * NS_PER_MS)
#define WANT_GROUPS      32 /* the bits below are the interval of allocations, in bytes */
#define INTERVAL(w)      ((uint32_t)(w))
#define GROUPS(w)        ((uint32_t)((w) >> WANT_GROUPS))

static _Atomic uint64_t events_wanted, events_set;
static _Atomic uint32_t events_interval = DEFAULT_INTERVAL; /* in force in the JVM */
static _Atomic uint32_t events_applying; /* true while a VM call updates the JVM */
static _Atomic(jvmtiEnv *) events_jvmti;

/* --- callbacks -------------------------------------------------------------------------------- */

static void JNICALL on_thread_start(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
	_Atomic uint32_t *inside;
	struct sampler *s = sig_enter(&inside);
	int32_t tid = raw_gettid();
	struct thread_slot *slot;

	if (s && starts_unlisted(s)) {
		atomic_fetch_add(&s->shares.started, 1);
	} else if (s && tid != atomic_load(&s->vm_calls.tid)) {
		slot = scan_thread_starts(s, tid, jvm_java_thread(jni, thread));
		if (slot) {
			jvm_name(s, jni, thread, slot);
			select_named(s, slot);
			sig_arms_request(s, slot);
		}
	}
	sig_leave(inside);
}

static void JNICALL on_thread_end(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
	_Atomic uint32_t *inside;
	struct sampler *s = sig_enter(&inside);

	if (s)
		scan_thread_ends(s, raw_gettid());
	sig_leave(inside);
}

static void JNICALL on_allocated(
	jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object, jclass class, jlong size)
{
	_Atomic uint32_t *inside;
	struct sampler *s = sig_enter(&inside);

	if (s && raw_gettid() != atomic_load(&s->vm_calls.tid))
		alloc_arrived(s, jni, object, class, (uint64_t)size);
	sig_leave(inside);
}

static void JNICALL on_collected(jvmtiEnv *jvmti)
{
	_Atomic uint32_t *inside;
	struct sampler *s = sig_enter(&inside);
	struct live *live = s ? atomic_load(&s->live_on) : NULL;

	if (live)
		live_collected(live);
	sig_leave(inside);
}

/*
 * HotSpot's stubs (arraycopy, CRC32, AES, virtual and interface calls) share a few large blobs; only JVMTI reports
 * their boundaries and names. They are requested once per session, if the session has a JVMTI environment for other
 * reasons: up to JDK 18 from the start, later when allocations are sampled. Call stubs generated afterwards are all
 * called "vtable stub".
 */
static _Atomic(struct sampler *) stubs_session; /* the session whose VM call requests the stubs */

static void JNICALL on_code(jvmtiEnv *jvmti, const char *name, const void *address, jint bytes)
{
	struct sampler *s = atomic_load(&stubs_session);
	struct code_blob blob;

	/* Other threads may report generated code at the same time; that is never a stub. */
	if (!s || raw_gettid() != atomic_load(&s->vm_calls.tid) || bytes <= 0)
		return;
	if (code_cache_find(s->layout, &s->mem, (uint64_t)(uintptr_t)address, &blob) &&
		(blob.kind == CODE_STUBS || blob.kind == CODE_VTABLE))
		names_stub_add(s->names, (uint64_t)(uintptr_t)address, (uint32_t)bytes, name);
}

static void stubs_name(struct sampler *s, jvmtiEnv *jvmti)
{
	const jvmtiEvent event = JVMTI_EVENT_DYNAMIC_CODE_GENERATED;

	if (!s->layout || (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, event, NULL))
		return;
	atomic_store(&stubs_session, s);
	(*jvmti)->GenerateEvents(jvmti, event);
	atomic_store(&stubs_session, NULL);
	(*jvmti)->SetEventNotificationMode(jvmti, JVMTI_DISABLE, event, NULL);
	names_stubs_ready(s->names);
}

static const jvmtiEventCallbacks events_callbacks = {
	.ThreadStart = on_thread_start,
	.ThreadEnd = on_thread_end,
	.ClassLoad = jvm_on_class_load,
	.ClassPrepare = jvm_on_class_prepare,
	.DynamicCodeGenerated = on_code,
	.SampledObjectAlloc = on_allocated,
	.GarbageCollectionFinish = on_collected,
};

/* --- groups of events ------------------------------------------------------------------------- */

static const struct group {
	uint32_t bit;
	int error; /* returned when the JVM does not grant the capability */
	const char *refusal;
	jvmtiEvent events[2]; /* one event is listed twice */
	jvmtiCapabilities capabilities;
} groups[] = {
	{.bit = JVM_REPORTS_THREADS, .events = {JVMTI_EVENT_THREAD_START, JVMTI_EVENT_THREAD_END}},
	{.bit = JVM_REPORTS_CLASSES, .events = {JVMTI_EVENT_CLASS_LOAD, JVMTI_EVENT_CLASS_PREPARE}},
	{.bit = JVM_REPORTS_ALLOCATIONS,
		.error = -EBUSY,
		.refusal = "another agent samples this JVM's allocations, and the JVM supports "
			   "only one: stop that agent first",
		.events = {JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC},
		.capabilities = {.can_generate_sampled_object_alloc_events = 1}},
	{.bit = JVM_REPORTS_COLLECTIONS,
		.error = -ENODEV,
		.refusal = "the JVM does not report garbage collections",
		.events = {JVMTI_EVENT_GARBAGE_COLLECTION_FINISH,
			JVMTI_EVENT_GARBAGE_COLLECTION_FINISH},
		.capabilities = {.can_generate_garbage_collection_events = 1}},
};
#define GROUP_COUNT (sizeof(groups) / sizeof(groups[0]))

static bool group_set(jvmtiEnv *jvmti, const struct group *g, jvmtiEventMode mode)
{
	bool done = true;

	for (size_t i = 0; i < 2; i++)
		done &= (*jvmti)->SetEventNotificationMode(jvmti, mode, g->events[i], NULL) ==
			JVMTI_ERROR_NONE;
	return done;
}

static void interval_set(jvmtiEnv *jvmti, uint32_t interval)
{
	(*jvmti)->SetHeapSamplingInterval(jvmti, (jint)interval);
	atomic_store(&events_interval, interval);
}

/*
 * The interval of allocations outlives the capability. It cannot be read back, and the next agent that samples
 * allocations may rely on the default.
 */
static void group_off(jvmtiEnv *jvmti, const struct group *g)
{
	group_set(jvmti, g, JVMTI_DISABLE);
	if (g->bit == JVM_REPORTS_ALLOCATIONS)
		interval_set(jvmti, DEFAULT_INTERVAL);
	(*jvmti)->RelinquishCapabilities(jvmti, &g->capabilities);
}

static int group_on(jvmtiEnv *jvmti, const struct group *g, uint32_t interval, struct text *why)
{
	if ((*jvmti)->AddCapabilities(jvmti, &g->capabilities) != JVMTI_ERROR_NONE) {
		text_add(why, g->refusal);
		return g->error;
	}
	if (g->bit == JVM_REPORTS_ALLOCATIONS)
		interval_set(jvmti, interval);
	if (group_set(jvmti, g, JVMTI_ENABLE))
		return 0;
	group_off(jvmti, g);
	text_add(why, "the JVM refused to report events");
	return -ENODEV;
}

/* --- wanted events ---------------------------------------------------------------------------- */

void jvm_events_request(uint32_t set, uint32_t clear, uint32_t interval)
{
	uint64_t wanted = atomic_load(&events_wanted), next;

	do {
		next = (uint64_t)((GROUPS(wanted) & ~clear) | set) << WANT_GROUPS |
		       (interval ? interval : INTERVAL(wanted));
	} while (!atomic_compare_exchange_weak(&events_wanted, &wanted, next));
}

bool jvm_events_are_set(uint32_t bits)
{
	return (GROUPS(atomic_load(&events_set)) & bits) == bits;
}

uint32_t jvm_events_interval(void)
{
	return atomic_load(&events_interval);
}

static void events_refused(struct sampler *s, uint32_t bits, int error)
{
	jvm_events_request(0, bits, 0);
	atomic_store(&s->vm_calls.error, error);
}

/* --- in a VM call ----------------------------------------------------------------------------- */

/* Returns the environment; creates it if an event is wanted. NULL, and a sentence in `why`, on failure. */
static jvmtiEnv *events_open(struct sampler *s, uint32_t bits, struct text *why)
{
	jvmtiEnv *jvmti = atomic_load(&events_jvmti);
	int error;

	if (jvmti || !bits)
		return jvmti;
	error = jvm_gate_open_jvmti(s, &jvmti, why);
	if (error) {
		events_refused(s, bits, error);
		return NULL;
	}
	(*jvmti)->SetEventCallbacks(jvmti, &events_callbacks, sizeof(events_callbacks));
	atomic_store(&events_jvmti, jvmti);
	return jvmti;
}

static void events_set_groups(struct sampler *s, jvmtiEnv *jvmti, uint64_t wanted, struct text *why)
{
	uint64_t in_force = atomic_load(&events_set);
	uint32_t bits = GROUPS(in_force);

	for (size_t i = 0; i < GROUP_COUNT; i++) {
		const struct group *g = &groups[i];
		int error;

		if (bits & ~GROUPS(wanted) & g->bit) {
			group_off(jvmti, g);
			bits &= ~g->bit;
		}
		if (!(GROUPS(wanted) & ~bits & g->bit))
			continue;
		error = group_on(jvmti, g, INTERVAL(wanted), why);
		if (error)
			events_refused(s, g->bit, error);
		else
			bits |= g->bit;
	}
	if (bits & JVM_REPORTS_ALLOCATIONS && INTERVAL(wanted) != INTERVAL(in_force))
		interval_set(jvmti, INTERVAL(wanted));
	atomic_store(&events_set, (uint64_t)bits << WANT_GROUPS | INTERVAL(wanted));
}

void jvm_events_apply(struct sampler *s, JNIEnv *jni)
{
	struct text why;
	jvmtiEnv *jvmti;
	uint64_t wanted;
	bool first;

	while (atomic_exchange(&events_applying, 1))
		raw_sleep(APPLY_POLL_NS);
	atomic_store(&s->vm_calls.error, 0);
	why = text_into(s->vm_calls.refused, sizeof(s->vm_calls.refused));
	wanted = atomic_load(&events_wanted);
	jvmti = events_open(s, GROUPS(wanted), &why);
	if (jvmti && wanted != atomic_load(&events_set))
		events_set_groups(s, jvmti, wanted, &why);
	if (jvmti && !atomic_load(&s->vm_calls.leave)) {
		first = !s->vm_calls.stubs_named;
		s->vm_calls.stubs_named = true;
		if (first)
			stubs_name(s, jvmti);
		if (s->agct->call)
			jvm_agct_names(s->agct, jvmti, jni, first);
	}
	atomic_store(&events_applying, 0);
}

bool jvm_events_prepare(void)
{
	jvmtiEnv *jvmti = NULL;

	if ((*jvm.vm)->GetEnv(jvm.vm, (void **)&jvmti, JVMTI_VERSION_1_1) != JNI_OK)
		return false;
	(*jvmti)->SetEventCallbacks(jvmti, &events_callbacks, sizeof(events_callbacks));
	atomic_store(&events_jvmti, jvmti);
	return true;
}
