/* SPDX-License-Identifier: Apache-2.0 */
/* The JVM's thread list: its newest threads in order, up to a known one, and all; never from a list that was replaced during the reading. */
#include "tests/tap.h"

#include "walk/hotspot/layout.h"
#include "walk/hotspot/threads.h"

#define START 0x10000ull
#define AT(i) (START + 8ull * (i))

/* Words at START. 0: the list head. 1 to 2: a ThreadsList. 8 to 11: its array, oldest first. Threads from 16 on. */
static uint64_t memory[64];
static struct walk_layout layout;
static bool changes; /* the list is replaced while it is read */
static bool
	frees; /* the array is reused for other data, and another list is current, when it is read first */

enum { HEAD = 0, LIST = 1, ARRAY = 8, THREADS = 16, COUNTER = 60 };
#define THREAD(i) \
	(THREADS + 4 * (i)) /* OSThread*, the next older thread, and the OSThread with its tid */

static bool fake_load(const struct walk_mem *mem, uint64_t addr, void *out, size_t bytes)
{
	(void)mem;
	if (addr < START || addr - START + bytes > sizeof(memory))
		return false;
	if (frees && addr == AT(ARRAY)) {
		frees = false;
		memory[HEAD] = AT(LIST + 2);
		memory[LIST + 2] = 2;
		memory[LIST + 3] = AT(ARRAY + 2);
		memory[ARRAY] = AT(THREAD(4));
	}
	memcpy(out, (char *)memory + (addr - START), bytes);
	return true;
}

static const struct walk_mem mem = {.load = fake_load, .ctx = NULL};

static void set_up(void)
{
	layout.thread_list = AT(HEAD);
	layout.threads_length = (struct walk_field){0, 4};
	layout.threads_array = (struct walk_field){8, 8};
	layout.thread_osthread = (struct walk_field){0, 8};
	layout.thread_next = (struct walk_field){8, 8};
	layout.osthread_tid = (struct walk_field){0, 4};
	memory[HEAD] = AT(LIST);
	memory[LIST] = 4;
	memory[LIST + 1] = AT(ARRAY);
	for (unsigned i = 0; i < 4; i++) {
		memory[ARRAY + i] = AT(THREAD(i));
		memory[THREAD(i)] = AT(THREAD(i) + 2);
		memory[THREAD(i) + 1] = i ? AT(THREAD(i - 1)) : 0;
		memory[THREAD(i) + 2] = 101 + i;
	}
}

/* Whether the thread has the tid that ctx points to. */
static bool known(void *ctx, const struct walk_listed *thread)
{
	memory[HEAD] += changes ? 8 : 0;
	return thread->tid == *(int32_t *)ctx;
}

static bool newest_are(int32_t tid, uint32_t max, const char *wanted)
{
	struct walk_listed listed[8];
	int count = walk_threads_newest(&layout, &mem, listed, max, known, &tid);
	char text[64] = "";

	for (int i = 0; i < count; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%d", i ? " " : "",
			listed[i].tid);
	if (count >= 0 && !strcmp(text, wanted))
		return true;
	diag("%d: %s", count, text);
	return false;
}

static void add(void *ctx, uint64_t java_thread, int32_t tid)
{
	char *text = ctx;

	(void)java_thread;
	snprintf(text + strlen(text), 64 - strlen(text), "%s%d", text[0] ? " " : "", tid);
}

static void each_are(const char *wanted, const char *what)
{
	char text[64] = "";

	is_int(walk_threads_each(&layout, &mem, add, text), 0, what);
	is_str(text, wanted, what);
}

/* A freed thread that is no longer listed, whose memory still looks like a thread. */
static void test_freed(void)
{
	memory[THREAD(4)] = AT(THREAD(4) + 2);
	memory[THREAD(4) + 2] = 999;
	frees = true;
	each_are("103 104", "an array that is freed while it is read is read anew");
	memory[ARRAY] = AT(THREAD(0));
	memory[HEAD] = AT(LIST);
	memory[ARRAY + 1] = AT(THREAD(1)) + 1;
	each_are("101 103 104", "an entry that is not a thread is skipped");
	memory[ARRAY + 1] = AT(THREAD(1));
}

static void test_list(const char *kind)
{
	ok(newest_are(102, 8, "104 103"),
		"%s: the newest threads are listed first, up to a known one", kind);
	ok(newest_are(104, 8, ""), "%s: no thread is listed if the newest is known", kind);
	ok(newest_are(0, 8, "104 103 102 101"), "%s: all threads are listed if none is known",
		kind);
	ok(newest_are(0, 3, "104 103 102"), "%s: no more threads are listed than fit", kind);
	memory[THREAD(2)] = 0;
	ok(newest_are(0, 8, "104 102 101"), "%s: a thread without an OSThread is skipped", kind);
	memory[THREAD(2)] = AT(THREAD(2) + 2);
}

int main(void)
{
	struct walk_listed listed[8];
	int32_t none = 0;

	set_up();
	test_list("array");
	each_are("101 102 103 104", "array: all threads are listed, oldest first");
	test_freed();
	changes = true;
	is_int(walk_threads_newest(&layout, &mem, listed, 8, known, &none), -1,
		"a list that is replaced while it is read yields nothing");
	changes = false;
	memory[HEAD] = AT(LIST);
	memory[LIST] = UINT32_MAX;
	is_int(walk_threads_newest(&layout, &mem, listed, 8, known, &none), -1,
		"a list of impossible length yields nothing");
	layout.threads_array.offset = -1;
	memory[HEAD] = AT(THREAD(3));
	test_list("linked list");
	each_are("104 103 102 101", "linked list: all threads are listed, newest first");
	is_int((int)walk_threads_started(&layout, &mem), 0,
		"without a counter of started threads the number is 0");
	layout.threads_started = AT(COUNTER);
	memory[COUNTER] = 77;
	is_int((int)walk_threads_started(&layout, &mem), 77,
		"the JVM's counter of started threads is read");
	return tap_done();
}
