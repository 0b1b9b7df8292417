/* SPDX-License-Identifier: Apache-2.0 */
/* The list of threads: inserting, finding, naming and removing them. Signal-safe. */
#include "sampler/session/threads.h"

#include "sampler/signal/raw.h"
#include "wire/record.h"

#include <string.h>

#define COMM_LENGTH 15u

/* Allocates a free slot, lowest first, so that few pages are touched. */
static struct thread_slot *threads_allocate(struct threads *threads)
{
	for (uint32_t word = 0; word < THREADS_MAX / 64; word++) {
		uint64_t bits = atomic_load(&threads->used[word]);

		while (~bits) {
			uint32_t bit = (uint32_t)__builtin_ctzll(~bits);
			uint32_t slot = word * 64 + bit;
			uint32_t high = atomic_load(&threads->high);

			if (!atomic_compare_exchange_weak(
				    &threads->used[word], &bits, bits | 1ull << bit))
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
	uint32_t number = threads_index(threads, slot);

	atomic_store(&slot->tid, 0);
	atomic_fetch_and(&threads->used[number / 64], ~(1ull << number % 64));
}

static void threads_assign_id(struct threads *threads, struct thread_slot *slot)
{
	uint32_t id = atomic_fetch_add(&threads->next_id, 1) + 1;

	atomic_store(
		&threads->by_id[id & (THREADS_INDEX - 1)], (uint16_t)threads_index(threads, slot));
	atomic_store(&slot->id, id);
}

void threads_renumber(struct threads *threads, struct thread_slot *slot)
{
	threads_assign_id(threads, slot);
	slot->published_seq = 0;
	/* Its last trace must not be counted again under the old id; sig_wall_record checks for this as well. */
	thread_wall_forget(&slot->wall);
}

static void threads_reset(struct threads *threads, struct thread_slot *slot, int32_t tid)
{
	threads_assign_id(threads, slot);
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
	slot->found_ns = raw_clock_ns(CLOCK_MONOTONIC);
	memset(&slot->collect, 0, sizeof(slot->collect));
	memset(slot->arms, 0, sizeof(slot->arms));
	slot->borrowed = 0;
	/* The previous thread's unanswered requests, and its stack as a lock's owner */
	memset(slot->asked, 0, sizeof(slot->asked));
	memset(&slot->held, 0, sizeof(slot->held));
	memset(&slot->call, 0, sizeof(slot->call));
	slot->trap_bytes = 0;
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
	struct thread_slot *slot = threads_allocate(threads);

	if (!slot)
		return NULL;
	threads_reset(threads, slot, tid);
	uint64_t entry = (uint64_t)(uint32_t)tid << 32 | threads_index(threads, slot);
	for (uint32_t i = 0; i < THREADS_WINDOW && !threads_find(threads, tid); i++) {
		uint32_t at = ((uint32_t)tid + i) & (THREADS_INDEX - 1);
		uint64_t empty = 0;

		if (atomic_compare_exchange_strong(&threads->index[at], &empty, entry))
			return slot;
	}
	threads_free(threads, slot);
	return NULL;
}

void threads_unlist(struct threads *threads, struct thread_slot *slot)
{
	uint32_t tid = (uint32_t)atomic_load(&slot->tid);
	uint64_t entry = (uint64_t)tid << 32 | threads_index(threads, slot);

	for (uint32_t i = 0; i < THREADS_WINDOW; i++) {
		uint64_t found = entry;

		if (atomic_compare_exchange_strong(
			    &threads->index[(tid + i) & (THREADS_INDEX - 1)], &found, 0))
			return;
	}
}

struct thread_slot *threads_by_id(struct threads *threads, uint32_t id)
{
	uint32_t high = atomic_load(&threads->high);
	uint16_t hint = atomic_load(&threads->by_id[id & (THREADS_INDEX - 1)]);

	if (threads->slots[hint].id == id && atomic_load(&threads->slots[hint].tid))
		return &threads->slots[hint];
	for (uint32_t i = 0; i < high; i++) {
		if (threads->slots[i].id == id && atomic_load(&threads->slots[i].tid))
			return &threads->slots[i];
	}
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
	{"RuntimeWorker", WIRE_THREAD_GC, false}, /* of ZGC and Shenandoah, for safepoints */
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

int threads_kind(const char *name, size_t bytes, enum threads_owner owner)
{
	bool java = owner >= THREADS_JAVA_UNPROVED;

	for (size_t i = 0; i < sizeof(threads_kinds) / sizeof(threads_kinds[0]); i++) {
		const char *prefix = threads_kinds[i].prefix;
		bool plain = threads_kinds[i].plain;
		size_t length = strlen(prefix);

		if (owner == THREADS_NATIVE || (owner == THREADS_JAVA && !plain) ||
			(java && threads_kinds[i].kind == WIRE_THREAD_GC))
			continue; /* garbage collectors are not JavaThreads */
		if (plain && bytes == COMM_LENGTH && length > bytes)
			length = bytes; /* the kernel has cut it off */
		if (bytes >= length && !memcmp(name, prefix, length) && (!plain || bytes == length))
			return threads_kinds[i].kind;
	}
	if (owner == THREADS_HOTSPOT)
		return WIRE_THREAD_VM;
	return java ? WIRE_THREAD_JAVA : WIRE_THREAD_NATIVE;
}
