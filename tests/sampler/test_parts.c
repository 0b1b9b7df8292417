/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the agent without a JVM: the thread list, the reader of perf buffers, the memory maps, messages. */
#include "tests/tap.h"

#include "sampler/publish/modules.h"
#include "sampler/session/threads.h"
#include "sampler/signal/signal.h"
#include "sampler/task.h"
#include "sampler/text.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* --- threads ---------------------------------------------------------------------------------- */

static struct threads *list;

static void test_threads_basics(void)
{
	struct thread_slot *a = threads_add(list, 1000), *b = threads_add(list, 1001);

	ok(a && b && a != b && a->id != b->id, "two threads have different slots and ids");
	ok(threads_find(list, 1000) == a && threads_find(list, 1001) == b,
		"both threads are found");
	ok(!threads_add(list, 1000), "a tid cannot be added twice");
	ok(!threads_find(list, 999), "an unknown tid is not found");
	threads_unlist(list, a);
	ok(!threads_find(list, 1000) && threads_by_id(list, a->id) == a,
		"an unlisted thread is found only by its id");
	threads_free(list, a);
	ok(!threads_by_id(list, 1), "the id of a freed slot is not found");
	ok(threads_add(list, 2000) == a && a->id > b->id, "a freed slot is reused under a new id");
}

/* tids that hash to the same window of the index, which limits their number. */
static void test_threads_window(void)
{
	uint32_t added = 0, found = 0;

	for (int32_t i = 1; i <= 64; i++)
		added += threads_add(list, i * (int32_t)THREADS_INDEX + 7) != NULL;
	for (int32_t i = 1; i <= 64; i++)
		found += threads_find(list, i * (int32_t)THREADS_INDEX + 7) != NULL;
	is_int(added, THREADS_WINDOW, "a window of the index accepts as many threads as fit");
	is_int(found, THREADS_WINDOW, "all threads in a full window are found");
}

static void test_threads_names(void)
{
	struct thread_slot *slot = threads_add(list, 5000);
	char name[THREADS_NAME + 10];
	uint32_t seq;

	memset(name, 'x', sizeof(name));
	memcpy(name + THREADS_NAME - 2, "\xe2\x82\xac\xe2\x82\xac", 6);
	threads_name(slot, name, sizeof(name), WIRE_THREAD_JAVA, true);
	is_int(slot->name_bytes, THREADS_NAME - 2, "a long name is truncated before a character");
	seq = slot->name_seq;
	threads_name(slot, name, THREADS_NAME - 2, WIRE_THREAD_JAVA, true);
	is_int(slot->name_seq, seq, "setting the same name again changes nothing");
	threads_name(slot, "new", 3, WIRE_THREAD_JAVA, true);
	ok(slot->name_seq == seq + 2 && !memcmp(slot->name, "new", 3),
		"setting another name changes name and sequence number");
}

static void test_threads_kinds(void)
{
	static const struct {
		const char *name;
		enum threads_owner owner;
		int kind;
	} rows[] = {
		{"GC Thread#3", THREADS_UNPROVED, WIRE_THREAD_GC},
		{"GC Thread#3", THREADS_HOTSPOT, WIRE_THREAD_GC},
		{"C2 CompilerThre", THREADS_UNPROVED, WIRE_THREAD_COMPILER},
		{"C2 CompilerThre", THREADS_JAVA_OWN, WIRE_THREAD_COMPILER},
		{"C2 CompilerThre", THREADS_JAVA_UNPROVED, WIRE_THREAD_COMPILER},
		{"C2 Comp..hread0", THREADS_JAVA_OWN, WIRE_THREAD_COMPILER},
		{"Signal Dispatcher", THREADS_JAVA, WIRE_THREAD_VM},
		{"Signal Dispatch", THREADS_JAVA, WIRE_THREAD_VM},
		{"Signal ..atcher", THREADS_JAVA, WIRE_THREAD_VM},
		{"Attach Listener", THREADS_JAVA_OWN, WIRE_THREAD_VM},
		{"Unheard-of", THREADS_HOTSPOT, WIRE_THREAD_VM},
		{"main", THREADS_JAVA, WIRE_THREAD_JAVA},
		{"G", THREADS_UNPROVED, WIRE_THREAD_NATIVE},
		/* threads of programs with names like HotSpot's */
		{"GC Thread pool", THREADS_JAVA, WIRE_THREAD_JAVA},
		{"GC Thread pool", THREADS_JAVA_UNPROVED, WIRE_THREAD_JAVA},
		{"GC Thread pool", THREADS_NATIVE, WIRE_THREAD_NATIVE},
		{"Compiler-1", THREADS_JAVA, WIRE_THREAD_JAVA},
		{"G1 worker", THREADS_JAVA, WIRE_THREAD_JAVA},
		{"VM Thread", THREADS_JAVA, WIRE_THREAD_JAVA},
		{"JFR consumer", THREADS_JAVA, WIRE_THREAD_JAVA},
		{"Signal Dispatcher 2", THREADS_JAVA, WIRE_THREAD_JAVA},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ok(threads_kind(rows[i].name, strlen(rows[i].name), rows[i].owner) == rows[i].kind,
			"the thread \"%s\" of owner %d is of kind %d", rows[i].name, rows[i].owner,
			rows[i].kind);
}

#define RACERS    4
#define RACE_TIDS 2000

static _Atomic uint32_t race_added;

static void *race_main(void *arg)
{
	(void)arg;
	for (int32_t tid = 1; tid <= RACE_TIDS; tid++)
		race_added += threads_add(list, 100000 + tid) != NULL;
	return NULL;
}

/* The publisher and callbacks add the same threads concurrently; each is listed once. */
static void test_threads_race(void)
{
	pthread_t racers[RACERS];
	uint32_t listed = 0;

	for (int i = 0; i < RACERS; i++)
		pthread_create(&racers[i], NULL, race_main, NULL);
	for (int i = 0; i < RACERS; i++)
		pthread_join(racers[i], NULL);
	for (int32_t tid = 1; tid <= RACE_TIDS; tid++)
		listed += threads_find(list, 100000 + tid) != NULL;
	is_int(race_added, RACE_TIDS, "threads that race to add tids add each once");
	is_int(listed, RACE_TIDS, "all tids added in the race are listed");
}

/* --- perf buffers ----------------------------------------------------------------------------- */

struct ring {
	struct perf_event_mmap_page *page;
	unsigned char *data;
};

static void ring_word(struct ring *r, uint64_t word)
{
	memcpy(r->data + (r->page->data_head & 4095), &word, sizeof(word));
	r->page->data_head += 8;
}

static void ring_header(struct ring *r, uint32_t type, uint16_t bytes)
{
	ring_word(r, type | (uint64_t)bytes << 48);
}

static void ring_sample(struct ring *r, const uint64_t *chain, uint32_t count)
{
	ring_header(r, PERF_RECORD_SAMPLE, (uint16_t)(16 + count * 8));
	ring_word(r, count);
	for (uint32_t i = 0; i < count; i++)
		ring_word(r, chain[i]);
}

static struct ring ring_new(uint64_t start)
{
	struct ring r = {.page = calloc(2, 4096)};

	r.data = (unsigned char *)r.page + 4096;
	r.page->data_offset = 4096;
	r.page->data_size = 4096;
	r.page->data_head = r.page->data_tail = start;
	return r;
}

static const uint64_t kernel_chain[] = {
	(uint64_t)PERF_CONTEXT_KERNEL, 0xffffffff81000010, 0xffffffff81000020};

static void test_perf_samples(void)
{
	struct ring r = ring_new(4096 - 24); /* the first record wraps around */
	const uint64_t user_chain[] = {(uint64_t)PERF_CONTEXT_USER, 0x1234};
	uint64_t out[8] = {0};
	struct perf_samples s;

	ring_sample(&r, kernel_chain, 3);
	ring_sample(&r, user_chain, 2);
	sig_perf_open(&s, r.page);
	is_int(sig_perf_next(&s, out + 8, 8), 2, "a kernel sample has its frames");
	ok(out[6] == WALK_PACK(WALK_KERNEL, 0xffffffff81000010) &&
			out[7] == WALK_PACK(WALK_KERNEL, 0xffffffff81000020),
		"frames are stored leaf first, at the end of the buffer");
	is_int(sig_perf_next(&s, out + 8, 8), 0, "a user-space sample has no kernel frames");
	is_int(sig_perf_next(&s, out + 8, 8), -1, "after the last sample there is none");
	sig_perf_close(&s);
	ok(r.page->data_tail == r.page->data_head, "closing frees the space in the ring");
	ring_sample(&r, kernel_chain, 3);
	sig_perf_open(&s, r.page);
	is_int(sig_perf_next(&s, out + 8, 1), 1, "no more frames are returned than fit");
	is_int(out[7], WALK_PACK(WALK_KERNEL, 0xffffffff81000010),
		"the leaf is among the frames returned");
	free(r.page);
}

static void test_perf_oddities(void)
{
	struct ring r = ring_new(0);
	struct perf_samples s;
	uint64_t out[8];

	ring_header(&r, PERF_RECORD_LOST, 24);
	ring_word(&r, 1);
	ring_word(&r, 17);
	ring_header(&r, 4242, 8);
	ring_header(&r, PERF_RECORD_SAMPLE, 16);
	ring_word(&r, 1000); /* more frames than fit into the record */
	sig_perf_open(&s, r.page);
	is_int(sig_perf_next(&s, out + 8, 8), 0,
		"a malformed sample and records of other types yield no frames");
	is_int(s.lost, 17, "the kernel's count of lost records is added up");
	ring_header(&r, PERF_RECORD_SAMPLE, 0);
	sig_perf_close(&s);
	sig_perf_open(&s, r.page);
	is_int(sig_perf_next(&s, out + 8, 8), -1, "a record of size 0 ends reading");
	ok(s.at == s.head, "the rest of the ring is skipped");
	is_int(s.lost, 1, "the skipped rest counts as one loss");
	free(r.page);
}

/* --- maps ------------------------------------------------------------------------------------- */

static void test_modules(void)
{
	struct modules *m = calloc(1, sizeof(*m));
	char path[4096];
	ssize_t bytes = readlink("/proc/self/exe", path, sizeof(path));
	uint64_t here = (uint64_t)(uintptr_t)test_modules, start, end;
	struct module *self, *other;
	bool full;
	int fd = open("/proc/self/exe", O_RDONLY);
	void *at;

	modules_refresh(m, &full);
	self = modules_find(m, here);
	ok(self && self->path_bytes == bytes && !memcmp(self->path, path, (size_t)bytes),
		"a function of this program is in this program's module");
	ok(self && self->id == 1 && here >= self->start && here < self->end,
		"the module has an id and an address range");
	ok(!modules_find(m, (uint64_t)(uintptr_t)m), "a data address is in no module");
	ok(modules_range(m, here, &start, &end) && start <= here && here < end,
		"the address range of a module is returned");

	at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	ok(!modules_find(m, (uint64_t)(uintptr_t)at), "a new mapping is unknown before a refresh");
	ok(!modules_refresh(m, &full) && !full, "a refresh loses no modules");
	other = modules_find(m, (uint64_t)(uintptr_t)at);
	ok(other && other->id == 2 && modules_find(m, here)->id == 1,
		"ids of known modules do not change");
	munmap(at, 4096);
	ok(modules_refresh(m, &full), "a refresh reports that a module with an id was unmapped");
	close(fd);
	free(m);
}

/* --- messages ----------------------------------------------------------------------------------- */

static void test_text(void)
{
	char buffer[16];
	struct text t = text_into(buffer, sizeof(buffer));

	text_add(&t, "n=");
	text_add_number(&t, 18446744073709551615ull);
	is_str(buffer, "n=1844674407370", "text is truncated to the buffer and NUL-terminated");
	t = text_into(buffer, sizeof(buffer));
	text_add_number(&t, 0);
	text_add_errno(&t, EPERM);
	text_add_errno(&t, 12345);
	is_str(buffer, "0EPERMerror 123", "numbers and errors are formatted");
}

static void test_patterns(void)
{
	static const struct {
		const char *pattern, *name;
		bool matches;
	} rows[] = {{"", "anything", true}, {"*", "", true}, {"main", "main", true},
		{"main", "main2", false}, {"http-*", "http-nio-8080-exec-1", true},
		{"http-*", "ahttp-1", false}, {"*exec-?", "http-nio-8080-exec-1", true},
		{"*exec-?", "http-nio-8080-exec-11", false}, {"a*b*c", "axxbyybzzc", true},
		{"a*b*c", "axxbyybzz", false}, {"main|pool-*", "pool-1-thread-2", true},
		{"main|pool-*", "worker", false}, {"main|", "", true}, {"?", "", false},
		{"*a*a*a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ok(glob_any(rows[i].pattern, rows[i].name, strlen(rows[i].name)) == rows[i].matches,
			"\"%s\" %s \"%s\"", rows[i].pattern,
			rows[i].matches ? "matches" : "does not match", rows[i].name);
}

/* A CPU outside the calling thread's mask may be isolated: its clock is not read. */
static void test_cpu_mask(void)
{
	int tasks = open("/proc/self/task", O_RDONLY | O_DIRECTORY), first = -1, second = -1;
	cpu_set_t all, one, after;
	uint64_t stamp;

	sched_getaffinity(0, sizeof(all), &all);
	for (int cpu = 0; cpu < CPU_SETSIZE && second < 0; cpu++)
		if (CPU_ISSET(cpu, &all))
			*(first < 0 ? &first : &second) = cpu;
	if (second < 0 || !task_ran_on(tasks, second, &stamp)) {
		tap_skip("a thread keeps its CPU mask", "one CPU, or no /proc/PID/sched");
		close(tasks);
		return;
	}
	CPU_ZERO(&one);
	CPU_SET(first, &one);
	sched_setaffinity(0, sizeof(one), &one);
	ok(!task_ran_on(tasks, second, &stamp),
		"a thread does not leave its CPU mask to read another CPU's clock");
	sched_getaffinity(0, sizeof(after), &after);
	ok(CPU_EQUAL(&one, &after), "the CPU mask is unchanged");
	sched_setaffinity(0, sizeof(all), &all);
	close(tasks);
}

int main(void)
{
	list = calloc(1, sizeof(*list));
	test_threads_basics();
	test_threads_window();
	test_threads_names();
	test_threads_kinds();
	test_threads_race();
	free(list);
	test_perf_samples();
	test_perf_oddities();
	test_modules();
	test_text();
	test_patterns();
	test_cpu_mask();
	return tap_done();
}
