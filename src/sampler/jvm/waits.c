/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HotSpot's own count and time of the waits of each thread.
 *
 * Counts: JavaThread::_thread_stat, which it does not export, points to
 *
 *   jlong waits for contended monitors, elapsedTimer {jlong, jlong, bool}
 *   jlong parked or waited, elapsedTimer             jlong slept, elapsedTimer        (JDK 8 to 28)
 *
 * The VM-call thread parks itself several times, for a nanosecond each: the pointer is the only word of its JavaThread
 * that leads to a second counter which increased by exactly that number, twice. It calls Unsafe.park itself because
 * LockSupport may not be initialized yet.
 *
 * Times: HotSpot measures them only on request: "thread contention monitoring", which
 * java.lang.management turns on through libjvm's function table for that purpose (jmm.h). The index of SetBoolAttribute
 * depends on the version the table reports:
 *
 *   0x2001vvvv  JDK 8, 9: function 15      0x20020000  10 to 13: 13      0x20030000  14 to 20: 14
 *   0x20040000  21 to 25: 15               0x20050000  26 to 28: 15
 *
 * At the end of the session it is turned off if it was off before, unless the program has turned it on during the
 * session. java.lang.management, if it has been loaded, keeps the program's own setting in a field, which is read then.
 */
#include "sampler/jvm/own.h"

#include "walk/hotspot/layout.h"
#include "walk/load/mem.h"

#define COUNT_BYTES 32u /* a counter and its timer */
#define TIMER_TIME  8u  /* from a counter to its timer's time, in ns */
#define TIMER_RUNS  24u /* from a counter to its timer's bool */
#define WORDS_MAX   1024u
#define FEW         (1u << 20)

static const uint32_t parks[] = {5, 3};
#define ROUNDS (sizeof(parks) / sizeof(parks[0]))

static _Atomic int32_t counts_at;

int32_t jvm_wait_counts(void)
{
	return atomic_load(&counts_at);
}

uint64_t jvm_wait_count_at(enum jvm_wait_count which)
{
	return (uint64_t)which * COUNT_BYTES;
}

uint64_t jvm_wait_time_at(enum jvm_wait_count which)
{
	return jvm_wait_count_at(which) + TIMER_TIME;
}

void jvm_wait_counts_request(struct sampler *s)
{
	if (atomic_load(&counts_at))
		return;
	atomic_store(&s->vm_calls.counts, 1);
	jvm_vm_call_request(s);
}

/* --- searching --------------------------------------------------------------------------------- */

struct candidate {
	uint64_t at, parked; /* at 0: excluded */
};

/* Reads a candidate; excluded unless the bytes look like counters of a thread that has hardly run yet. */
static struct candidate candidate_read(struct sampler *s, uint64_t java_thread, uint32_t word)
{
	uint64_t at = mem_u64(&s->mem, java_thread + 8ull * word), counts[JVM_WAIT_COUNTS];
	uint8_t runs[JVM_WAIT_COUNTS];

	/* A pointer into its own stack is none of HotSpot's structs. */
	if (!at || at & 7 || walk_thread_on_stack(s->layout, &s->mem, java_thread, at))
		return (struct candidate){0};
	for (uint64_t i = 0; i < JVM_WAIT_COUNTS; i++) {
		uint64_t count_at = at + i * COUNT_BYTES;

		if (!mem_load(&s->mem, count_at, &counts[i], 8) ||
			!mem_load(&s->mem, count_at + TIMER_RUNS, &runs[i], 1) || counts[i] > FEW ||
			runs[i] > 1)
			return (struct candidate){0};
	}
	return (struct candidate){at, counts[JVM_PARKS]};
}

static bool park(JNIEnv *jni, uint32_t times)
{
	for (; times && !(*jni)->ExceptionCheck(jni); times--)
		(*jni)->CallVoidMethod(jni, jvm.unsafe, jvm.park, JNI_FALSE, (jlong)1);
	return !(*jni)->ExceptionCheck(jni);
}

/* The only word not excluded; 0: there is none, or there are several. */
static uint32_t only_one(const struct candidate *all, uint32_t count)
{
	uint32_t found = 0;

	for (uint32_t i = 1; i < count; i++) {
		if (!all[i].at)
			continue;
		if (found)
			return 0;
		found = i;
	}
	return found;
}

static uint32_t counts_find(struct sampler *s, JNIEnv *jni)
{
	uint64_t java_thread = jvm_thread_of(jni);
	uint32_t words = s->layout ? s->layout->thread_bytes / 8 : 0;
	struct candidate all[WORDS_MAX];

	if (!jvm.park || !java_thread || words > WORDS_MAX)
		return 0;
	for (uint32_t i = 0; i < words; i++)
		all[i] = candidate_read(s, java_thread, i);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		if (!park(jni, parks[round]))
			return 0;
		for (uint32_t i = 0; i < words; i++) {
			struct candidate now = {0};

			if (all[i].at)
				now = candidate_read(s, java_thread, i);
			if (now.at != all[i].at || now.parked != all[i].parked + parks[round])
				now.at = 0;
			all[i] = now;
		}
	}
	return only_one(all, words);
}

void jvm_wait_counts_find(struct sampler *s, JNIEnv *jni)
{
	uint32_t word = counts_find(s, jni);

	(*jni)->ExceptionClear(jni);
	atomic_store(&counts_at, word ? (int32_t)(8 * word) : -1);
}

/* --- times -------------------------------------------------------------------------------------- */

#define TIMES_ATTRIBUTE 23 /* JMM_THREAD_CONTENTION_MONITORING */
#define VERSION_AT      2u

typedef jint times_version(JNIEnv *jni);
typedef jboolean times_set(JNIEnv *jni, jint attribute, jboolean on);
typedef void *times_table(jint version);

static _Atomic int timing; /* the value of jvm_wait_times */
static bool set_by_agent;  /* VM-call thread: true when it was off before */

int jvm_wait_times(void)
{
	return atomic_load(&timing);
}

void jvm_wait_times_request(struct sampler *s, bool wanted)
{
	atomic_store(&s->vm_calls.times, wanted);
	jvm_vm_call_request(s);
}

/* SetBoolAttribute; NULL: this version is unknown. A caller must request the table by its version. */
static times_set *times_function(JNIEnv *jni)
{
	static const struct {
		jint version;
		uint32_t at;
	} rows[] = {{0x20010000, 15}, {0x20020000, 13}, {0x20030000, 14}, {0x20040000, 15},
		{0x20050000, 15}};
	times_table *table_of = (times_table *)(uintptr_t)jvm_symbol(NULL, "JVM_GetManagement");

	for (size_t i = 0; table_of && i < sizeof(rows) / sizeof(rows[0]); i++) {
		void *const *table = table_of(rows[i].version);

		if (table && (*(times_version *const *)&table[VERSION_AT])(jni) >> 16 ==
				     rows[i].version >> 16)
			return *(times_set *const *)&table[rows[i].at];
	}
	return NULL;
}

/*
 * True when the program has turned it on, through a bean whose class is then initialized, as is the bean's factory.
 */
static bool set_by_program(JNIEnv *jni)
{
	jclass factory =
		jvm_class_initialized(jni, "sun.management.ThreadImpl")
			? jvm_class_initialized(jni, "java.lang.management.ManagementFactory")
			: NULL;
	jmethodID get = factory ? (*jni)->GetStaticMethodID(jni, factory, "getThreadMXBean",
					  "()Ljava/lang/management/ThreadMXBean;")
				: NULL;
	jobject bean = get ? (*jni)->CallStaticObjectMethod(jni, factory, get) : NULL;
	jmethodID on = bean ? (*jni)->GetMethodID(jni, (*jni)->GetObjectClass(jni, bean),
				      "isThreadContentionMonitoringEnabled", "()Z")
			    : NULL;

	return on && (*jni)->CallBooleanMethod(jni, bean, on);
}

void jvm_wait_times_apply(struct sampler *s, JNIEnv *jni)
{
	bool wanted = atomic_load(&s->vm_calls.times) != 0;
	times_set *to;

	if ((!wanted && atomic_load(&timing) <= 0) || (*jni)->PushLocalFrame(jni, 8)) {
		(*jni)->ExceptionClear(jni);
		return;
	}
	to = times_function(jni);
	/* Again, in case the program has turned it off. */
	if (wanted && to && !to(jni, TIMES_ATTRIBUTE, JNI_TRUE))
		set_by_agent = true;
	if (!wanted && to && set_by_agent && !set_by_program(jni))
		to(jni, TIMES_ATTRIBUTE, JNI_FALSE);
	set_by_agent = set_by_agent && wanted;
	(*jni)->ExceptionClear(jni);
	(*jni)->PopLocalFrame(jni, NULL);
	atomic_store(&timing, to ? wanted : -1);
}
