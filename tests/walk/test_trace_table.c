/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace table: every insertion is returned exactly once or refused, across flips, signals and threads.
 *
 * The storm: threads insert traces of known content, signals interrupt them to insert more from handlers, and one
 * reader flips the table and sums up. Every entry's frames are recomputed from its key, and counts and weights must
 * add up to what was inserted and not refused. Build with -fsanitize=thread to find races.
 */
#include "tests/tap.h"
#include "walk/trace_table.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>

#define WALK_AGAIN_A  0x0600000000001234ull
#define WALK_AGAIN_B  0x0600000000005678ull

#define STORM_THREADS 4
#define STORM_PUTS    200000u
#define STORM_SIGNALS 500u
#define STORM_DEPTH   40u

static _Atomic uint64_t added_count, added_weight, refused;
static struct trace_table *storm_table;
static _Atomic uint32_t in_handler;
static _Atomic bool stop;

static struct trace_table *table_new(size_t bytes, void **memory)
{
	*memory = calloc(1, bytes);
	return trace_table_init(*memory, bytes);
}

/* storm_frames: the frames of the trace (thread, seed). */
static uint32_t storm_frames(uint64_t *frames, uint32_t thread, uint32_t seed)
{
	uint32_t count = 1 + seed % STORM_DEPTH;

	for (uint32_t i = 0; i < count; i++)
		frames[i] = ((uint64_t)seed << 32) | (thread << 8) | i;
	return count;
}

static void storm_add(uint32_t thread, uint32_t seed)
{
	uint64_t frames[STORM_DEPTH];
	struct trace_key key = {.frames = frames, .thread = thread, .event = 1};

	key.count = storm_frames(frames, thread, seed);
	if (trace_table_add(storm_table, &key, 2, seed)) {
		atomic_fetch_add(&added_count, 2);
		atomic_fetch_add(&added_weight, seed);
	} else {
		atomic_fetch_add(&refused, 1);
	}
}

static void storm_signal(int sig)
{
	(void)sig;
	storm_add(99, atomic_fetch_add(&in_handler, 1) % 5000);
}

static void *storm_thread(void *arg)
{
	uint32_t thread = (uint32_t)(uintptr_t)arg;

	for (uint32_t i = 0; !atomic_load(&stop); i++)
		storm_add(thread, (i * 7919u) % 3000);
	return NULL;
}

struct storm_sum {
	uint64_t count, weight, entries, wrong, flips;
};

static void storm_drain(struct storm_sum *sum)
{
	struct trace_entry entry;
	uint32_t cursor = 0;

	if (!trace_table_flip(storm_table))
		return;
	sum->flips++;
	while (trace_table_next(storm_table, &cursor, &entry)) {
		uint64_t want[STORM_DEPTH];
		uint32_t n =
			storm_frames(want, entry.key.thread, (uint32_t)(entry.key.frames[0] >> 32));

		sum->entries++;
		sum->wrong += n != entry.key.count || entry.key.event != 1 || entry.hash == 0 ||
			      memcmp(want, entry.key.frames, n * sizeof(want[0])) != 0;
		sum->count += entry.count;
		sum->weight += entry.weight;
	}
	trace_table_clear(storm_table);
}

/* storm_run: threads add traces, signals interrupt them, and the caller drains until all are done. */
static void storm_run(struct storm_sum *sum, bool drain)
{
	struct sigaction action = {.sa_handler = storm_signal, .sa_flags = SA_RESTART};
	pthread_t threads[STORM_THREADS];

	sigaction(SIGPROF, &action, NULL);
	atomic_store(&stop, false);
	for (uintptr_t i = 0; i < STORM_THREADS; i++)
		pthread_create(&threads[i], NULL, storm_thread, (void *)(i + 1));
	while (atomic_load(&in_handler) < STORM_SIGNALS || added_count + refused < STORM_PUTS) {
		for (int i = 0; i < STORM_THREADS; i++)
			pthread_kill(threads[i], SIGPROF);
		if (drain)
			storm_drain(sum);
	}
	atomic_store(&stop, true);
	for (int i = 0; i < STORM_THREADS; i++)
		pthread_join(threads[i], NULL);
	for (uint64_t before = sum->flips; sum->flips < before + 3;)
		storm_drain(sum);
}

static void test_storm(size_t bytes, bool drain)
{
	struct storm_sum sum = {0};
	void *memory;

	atomic_store(&added_count, 0);
	atomic_store(&added_weight, 0);
	atomic_store(&refused, 0);
	atomic_store(&in_handler, 0);
	storm_table = table_new(bytes, &memory);
	storm_run(&sum, drain);
	is_int(sum.wrong, 0, "every entry's frames, event and hash are intact");
	is_int(sum.count, added_count, "the counts add up to the accepted ones");
	is_int(sum.weight, added_weight, "the weights add up to the accepted ones");
	diag("handlers interrupted the threads %u times", in_handler);
	if (drain)
		diag("refused: %" PRIu64, refused);
	else
		ok(refused > 0, "a full table refuses traces: %" PRIu64, refused);
	diag("%" PRIu64 " entries in %" PRIu64 " flips", sum.entries, sum.flips);
	free(memory);
}

static void test_basics(void)
{
	uint64_t a[] = {1, 2, 3}, b[] = {1, 2, 4};
	struct trace_key ka = {a, 3, 7, 0, 0}, kb = {b, 3, 7, 0, 0}, kc = {a, 3, 8, 0, 1};
	struct trace_entry e;
	uint32_t cursor = 0, entries = 0;
	void *memory;
	struct trace_table *table = table_new(1 << 20, &memory);

	ok(!trace_table_init(memory, 64), "a table of 64 bytes is refused");
	ok(trace_table_add(table, &ka, 1, 10) && trace_table_add(table, &kb, 1, 20) &&
			trace_table_add(table, &ka, 2, 30) && trace_table_add(table, &kc, 1, 5),
		"traces are added");
	ok(!trace_table_next(table, &cursor, &e), "the inactive half is empty before a flip");
	ok(trace_table_flip(table), "the halves are flipped");
	while (trace_table_next(table, &cursor, &e)) {
		entries++;
		if (e.key.thread == 7 && e.key.frames[2] == 3)
			ok(e.count == 3 && e.weight == 40, "equal keys are added up");
		if (e.key.thread == 8)
			ok(e.count == 1 && e.key.flags == 1,
				"thread and flags are part of the key");
	}
	is_int(entries, 3, "there are three distinct traces");
	trace_table_clear(table);
	cursor = 0;
	ok(trace_table_flip(table) && !trace_table_next(table, &cursor, &e),
		"no trace is returned twice");
	free(memory);
}

static void test_full(void)
{
	uint64_t frame = 0;
	struct trace_key key = {&frame, 1, 1, 0, 0};
	uint32_t stored = 0, cursor = 0, read = 0;
	struct trace_entry e;
	void *memory;
	struct trace_table *table = table_new(96 << 10, &memory);

	is_int(trace_table_fill(table), 0, "an empty half is 0 % full");
	for (frame = 1; frame < 100000; frame++)
		stored += trace_table_add(table, &key, 1, 1);
	ok(stored > 100 && stored < 10000, "a full table refuses traces (%u stored)", stored);
	ok(trace_table_fill(table) > 50, "a full table reports its fill (%u %%)",
		trace_table_fill(table));
	frame = 1;
	ok(trace_table_add(table, &key, 1, 1), "a known trace is still counted in a full table");
	trace_table_flip(table);
	while (trace_table_next(table, &cursor, &e))
		read++;
	is_int(read, stored, "all stored traces are read");
	free(memory);
}

/* A trace referred to by its hash alone is distinguished from the trace itself. */
static void test_by_hash(void)
{
	uint64_t frames[2] = {WALK_AGAIN_A, WALK_AGAIN_B};
	struct trace_key key = {
		.frames = frames, .count = 2, .thread = 7, .event = 3, .flags = 0x51};
	uint64_t hash = trace_table_hash(&key);
	struct trace_entry entry;
	uint32_t cursor = 0, whole = 0, bare = 0;
	void *memory;
	struct trace_table *table = table_new(128 << 10, &memory);

	ok(trace_table_again(table, hash, &key, 1, 50) && trace_table_add(table, &key, 1, 100) &&
			trace_table_again(table, hash, &key, 2, 60),
		"a trace is added with frames and by its hash");
	trace_table_flip(table);
	while (trace_table_next(table, &cursor, &entry)) {
		whole += !entry.again && entry.hash == hash && entry.key.count == 2 &&
			 entry.weight == 100 && entry.count == 1;
		bare += entry.again && entry.hash == hash && entry.key.count == 0 &&
			entry.weight == 110 && entry.count == 3 && entry.key.thread == 7 &&
			entry.key.event == 3 && entry.key.flags == 0x51;
	}
	is_int(whole, 1, "the trace has one entry with its frames");
	is_int(bare, 1, "the additions by hash are summed up in one entry");
	free(memory);
}

/* The weight of the active half by event, without other halves and without traces that have the given flags. */
static void test_weigh(void)
{
	uint64_t frames[1] = {WALK_AGAIN_A}, weights[4];
	struct trace_key key = {.frames = frames, .count = 1, .thread = 7, .event = 1};
	void *memory;
	struct trace_table *table = table_new(128 << 10, &memory);

	trace_table_add(table, &key, 1, 1000);
	trace_table_flip(table);
	trace_table_add(table, &key, 1, 30);
	trace_table_add(table, &key, 1, 4);
	key.event = 3;
	trace_table_add(table, &key, 1, 500);
	key.flags = 0x80;
	trace_table_add(table, &key, 1, 6000);
	trace_table_again(table, trace_table_hash(&key), &key, 1, 70000);
	trace_table_weigh(table, 0x80, weights, 4);
	ok(weights[0] == 0 && weights[1] == 34 && weights[2] == 0 && weights[3] == 500,
		"each event has its weight, without flagged traces");
	trace_table_clear(table);
	trace_table_flip(table);
	trace_table_weigh(table, 0, weights, 4);
	ok(!weights[1] && !weights[3], "an empty half weighs nothing");
	free(memory);
}

/* --- a thread that does not leave the table ----------------------------------------------------------- */

static unsigned char *stuck_memory;
static size_t stuck_bytes;
static atomic_int stuck_inside, stuck_go;

/* Stays inside, as a thread stopped by a debugger does. */
static void stuck_fault(int sig)
{
	(void)sig;
	mprotect(stuck_memory, stuck_bytes, PROT_READ | PROT_WRITE);
	atomic_store(&stuck_inside, 1);
	while (!atomic_load(&stuck_go))
		sched_yield();
}

static void *stuck_thread(void *arg)
{
	const uint64_t frames[] = {1, 2, 3};

	trace_table_add(arg, &(struct trace_key){frames, 3, 1, 1, 0}, 1, 100);
	return NULL;
}

/* stuck_drain: flips after up to `tries` attempts; adds the weights of thread 1 and of others. */
static bool stuck_drain(struct trace_table *table, int tries, uint64_t weight[2])
{
	struct trace_entry entry;
	uint32_t cursor = 0;

	while (!trace_table_flip(table))
		if (!--tries)
			return false;
	while (trace_table_next(table, &cursor, &entry))
		weight[entry.key.thread != 1] += entry.weight;
	trace_table_clear(table);
	return true;
}

/*
 * The first access to a slot faults, between enter and leave: the header is on its own page before it. goes_on: the
 * handler leaves before the end.
 */
static void test_stuck(bool goes_on)
{
	struct sigaction action = {.sa_handler = stuck_fault}, before;
	size_t page = 4096, bytes = 64 * page;
	unsigned char *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct trace_table *table = trace_table_init(memory, bytes);
	const uint64_t frames[] = {4, 5, 6};
	uint64_t weight[2] = {0, 0};
	pthread_t thread;
	bool drained = true;

	atomic_store(&stuck_inside, 0);
	atomic_store(&stuck_go, 0);
	stuck_memory = memory + page;
	stuck_bytes = bytes - page;
	sigaction(SIGSEGV, &action, &before);
	mprotect(stuck_memory, stuck_bytes, PROT_NONE);
	pthread_create(&thread, NULL, stuck_thread, table);
	while (!atomic_load(&stuck_inside))
		sched_yield();

	ok(trace_table_untouched(table) > bytes / 2, "two of three halves are untouched at first");
	for (int i = 0; i < 5; i++) {
		trace_table_add(table, &(struct trace_key){frames, 3, 2, 1, 0}, 1, 10);
		drained &= stuck_drain(table, 20, weight);
	}
	ok(drained, "a handler that stays inside does not block draining");
	is_int((int64_t)weight[1], 40, "all other samples are read, except the one in its half");
	is_int((int64_t)weight[0], 0, "the stuck handler's sample is not read");
	atomic_store(&stuck_go, goes_on);
	if (goes_on) {
		pthread_join(thread, NULL);
		stuck_drain(table, 20, weight);
		is_int((int64_t)(weight[0] + weight[1]), 150,
			"after it leaves both missing samples are read");
	}
	is_int((int64_t)trace_table_untouched(table), 0, "the third half is in use");
	ok(trace_table_flip_aside(table) != goes_on,
		"a half is set aside exactly while the handler stays");
	if (!goes_on) {
		atomic_store(&stuck_go, 1);
		pthread_join(thread, NULL);
	}
	sigaction(SIGSEGV, &before, NULL);
	munmap(memory, bytes);
}

int main(void)
{
	test_basics();
	test_by_hash();
	test_weigh();
	test_full();
	test_storm(3 << 20, true);
	test_storm(128 << 10, false);
	test_stuck(false);
	test_stuck(true);
	return tap_done();
}
