/* SPDX-License-Identifier: Apache-2.0 */
/* The signal-safe part of the thread list: inserting and naming threads. */
#include "sampler/session/threads.h"

#include "sampler/signal/raw.h"
#include "wire/record.h"

#include <string.h>

#define COMM_LENGTH 15u

/* Allocates a free slot, lowest first, so that few pages are touched. */
static struct thread_slot *threads_take(struct threads *threads)
{
	for (uint32_t word = 0; word < THREADS_MAX / 64; word++) {
		uint64_t bits = atomic_load(&threads->taken[word]);

		while (~bits) {
			uint32_t bit = (uint32_t)__builtin_ctzll(~bits);
			uint32_t slot = word * 64 + bit;
			uint32_t high = atomic_load(&threads->high);

			if (!atomic_compare_exchange_weak(
				    &threads->taken[word], &bits, bits | 1ull << bit))
				continue;
			while (high <= slot &&
				!atomic_compare_exchange_weak(&threads->high, &high, slot + 1))
				;
			return &threads->slots[slot];
		}
	}
	return NULL;
}

void threads_free(struct threads *threads, struct thread_slot *slot)
{
	uint32_t number = threads_number(threads, slot);

	atomic_store(&slot->tid, 0);
	atomic_fetch_and(&threads->taken[number / 64], ~(1ull << number % 64));
}

static void threads_give_id(struct threads *threads, struct thread_slot *slot)
{
	uint32_t id = atomic_fetch_add(&threads->next_id, 1) + 1;

	atomic_store(
		&threads->by_id[id & (THREADS_INDEX - 1)], (uint16_t)threads_number(threads, slot));
	atomic_store(&slot->id, id);
}

void threads_renumber(struct threads *threads, struct thread_slot *slot)
{
	threads_give_id(threads, slot);
	slot->published_seq = 0;
	/* Its last activity must not be counted again under the old id; sig_wall_record checks for this as well. */
	atomic_store(&slot->wall.hash, 0);
}

static uint64_t threads_now_ns(void)
{
	struct timespec now = {0, 0};

	raw(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void threads_reset(struct threads *threads, struct thread_slot *slot, int32_t tid)
{
	threads_give_id(threads, slot);
	atomic_store(&slot->task, 0);
	atomic_store(&slot->java_thread, 0);
	atomic_store(&slot->proof.java_thread, 0);
	slot->proof.compiler = 0;
	slot->proof.unknown = 0;
	atomic_store(&slot->gone, 0);
	atomic_store(&slot->inside, 0);
	atomic_store(&slot->pins, 0);
	atomic_store(&slot->hotspot_own, 0);
	atomic_store(&slot->failed, 0);
	atomic_store(&slot->unselected, 0);
	atomic_store(&slot->share, 1);
	slot->select_seq = 0;
	slot->found_ns = threads_now_ns();
	memset(&slot->collect, 0, sizeof(slot->collect));
	memset(slot->arms, 0, sizeof(slot->arms));
	slot->borrowed = 0;
	memset(&slot->wall, 0, sizeof(slot->wall));
	memset(&slot->alloc, 0, sizeof(slot->alloc));
	slot->java_tid = 0;
	slot->sleeps_ns = 0;
	slot->switches_often = false;
	atomic_store(&slot->name_seq, 0);
	slot->kind = WIRE_THREAD_NATIVE;
	slot->name_bytes = 0;
	slot->named_by_jvm = false;
	slot->published_seq = 0;
	slot->published_by_jvm = false;
	slot->name_seen = (struct java_name_seen){0};
	slot->scan = 0;
	slot->gone_flips = 0;
	atomic_store(&slot->tid, tid);
}

struct thread_slot *threads_add(struct threads *threads, int32_t tid)
{
	struct thread_slot *slot = threads_take(threads);
	uint64_t entry;

	if (!slot)
		return NULL;
	threads_reset(threads, slot, tid);
	entry = (uint64_t)(uint32_t)tid << 32 | threads_number(threads, slot);
	for (uint32_t i = 0; i < THREADS_WINDOW && !threads_find(threads, tid); i++) {
		uint32_t at = ((uint32_t)tid + i) & (THREADS_INDEX - 1);
		uint64_t empty = 0;

		if (atomic_compare_exchange_strong(&threads->index[at], &empty, entry))
			return slot;
	}
	threads_free(threads, slot);
	return NULL;
}

void threads_name(struct thread_slot *slot, const char *name, size_t bytes, int kind, bool by_jvm)
{
	uint32_t seq = atomic_load(&slot->name_seq);

	if (bytes > THREADS_NAME) {
		for (bytes = THREADS_NAME; bytes && ((unsigned char)name[bytes] & 0xc0) == 0x80;)
			bytes--; /* not in the middle of a character */
	}
	if (bytes == slot->name_bytes && !memcmp(name, slot->name, bytes) && kind == slot->kind &&
		by_jvm == slot->named_by_jvm)
		return;
	if (seq & 1 || !atomic_compare_exchange_strong(&slot->name_seq, &seq, seq + 1))
		return;
	memcpy(slot->name, name, bytes);
	slot->name_bytes = (uint8_t)bytes;
	slot->kind = (uint8_t)kind;
	slot->named_by_jvm = by_jvm;
	atomic_store_explicit(&slot->name_seq, seq + 2, memory_order_release);
}

/*
 * HotSpot's own threads by the beginnings of their names (src/hotspot, set_native_thread_name and NamedThread). The
 * kernel keeps 15 characters: JDK 26 and newer omit the middle ("C2 Comp..hread0").
 */
static const struct {
	const char *prefix;
	uint8_t kind;
	/* True when its JavaThread is of no subclass in some JDKs; `prefix` is then the whole name. */
	bool plain;
} threads_kinds[] = {
	/* Of ZGC and Shenandoah, for safepoints. */
	{"C1 Comp", WIRE_THREAD_COMPILER, false},
	{"C2 Comp", WIRE_THREAD_COMPILER, false},
	{"JVMCI", WIRE_THREAD_COMPILER, false},
	{"Compiler", WIRE_THREAD_COMPILER, false},
	{"GC Thread", WIRE_THREAD_GC, false},
	{"GC task thread", WIRE_THREAD_GC, false},
	{"G1 ", WIRE_THREAD_GC, false},
	{"ParGC", WIRE_THREAD_GC, false},
	{"Concurrent Mark", WIRE_THREAD_GC, false},
	{"Gang worker", WIRE_THREAD_GC, false},
	{"ZWorker", WIRE_THREAD_GC, false},
	{"ZDirector", WIRE_THREAD_GC, false},
	{"ZDriver", WIRE_THREAD_GC, false},
	{"ZStat", WIRE_THREAD_GC, false},
	{"ZUncommit", WIRE_THREAD_GC, false},
	{"ZUnmap", WIRE_THREAD_GC, false},
	{"RuntimeWorker", WIRE_THREAD_GC, false},
	{"Shenandoah", WIRE_THREAD_GC, false},
	{"Shen", WIRE_THREAD_GC, false},
	{"VM Thread", WIRE_THREAD_VM, false},
	{"VM Peri", WIRE_THREAD_VM, false},
	{"Signal Dispatcher", WIRE_THREAD_VM, true},
	{"Signal ..atcher", WIRE_THREAD_VM, true},
	{"Monitor..", WIRE_THREAD_VM, false},
	{"Notific..", WIRE_THREAD_VM, false},
	{"Surrogate Locker Thread", WIRE_THREAD_VM, true},
	{"Service Thread", WIRE_THREAD_VM, false},
	{"Monitor Deflat", WIRE_THREAD_VM, false},
	{"Sweeper thread", WIRE_THREAD_VM, false},
	{"Attach Listener", WIRE_THREAD_VM, true},
	{"Notification T", WIRE_THREAD_VM, false},
	{"StringDedup", WIRE_THREAD_VM, false},
	{"JFR Recorder Thread", WIRE_THREAD_VM, true},
	{"JFR ", WIRE_THREAD_VM, false},
};

/* True when the name may be the row's; the kernel keeps only its first COMM_LENGTH characters. */
static bool kind_named(size_t row, const char *name, size_t bytes)
{
	const char *prefix = threads_kinds[row].prefix;
	size_t length = strlen(prefix);

	if (threads_kinds[row].plain && bytes == COMM_LENGTH && length > bytes)
		length = bytes;
	return bytes >= length && !memcmp(name, prefix, length) &&
	       (!threads_kinds[row].plain || bytes == length);
}

int threads_kind(const char *name, size_t bytes, enum threads_owner owner)
{
	bool java = owner >= THREADS_JAVA_UNPROVED;

	for (size_t i = 0; i < sizeof(threads_kinds) / sizeof(threads_kinds[0]); i++) {
		if (owner == THREADS_NATIVE || (owner == THREADS_JAVA && !threads_kinds[i].plain) ||
			(java && threads_kinds[i].kind == WIRE_THREAD_GC))
			continue; /* garbage collectors are not JavaThreads */
		if (kind_named(i, name, bytes))
			return threads_kinds[i].kind;
	}
	if (owner == THREADS_HOTSPOT)
		return WIRE_THREAD_VM;
	return java ? WIRE_THREAD_JAVA : WIRE_THREAD_NATIVE;
}
