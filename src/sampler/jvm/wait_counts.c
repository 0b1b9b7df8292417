/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds where HotSpot counts the waits of a thread: JavaThread::_thread_stat, which it does not export, points to
 *
 *   jlong waits for contended monitors, elapsedTimer {jlong, jlong, bool}
 *   jlong parked or waited, elapsedTimer             jlong slept, elapsedTimer        (JDK 8 to 28)
 *
 * The VM-call thread parks itself several times, for a nanosecond each: the pointer is the only word of its JavaThread
 * that leads to a second counter which increased by exactly that number, twice. It calls Unsafe.park itself because
 * LockSupport may not be initialised yet.
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
