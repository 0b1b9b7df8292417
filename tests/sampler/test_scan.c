/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scan of a task directory that does not list every thread, as /proc/self/task does while threads exit. The
 * directory is simulated with files; the threads are real.
 */
#include "tests/tap.h"

#include "sampler/engine/arms.h"
#include "sampler/engine/lock/lock.h"
#include "sampler/publish/publish.h"
#include "sampler/session/scan.h"
#include "sampler/signal/raw.h"
#include "sampler/signal/signal.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* --- functions that the scan calls, without engines or a JVM ------------------------------------- */

static uint64_t flips;

bool arms_any(const struct thread_slot *slot)
{
	(void)slot;
	return false;
}

bool arms_alive(const struct thread_slot *slot)
{
	(void)slot;
	return true;
}

void arms_new(struct sampler *s, struct thread_slot *slot)
{
	(void)s, (void)slot;
}

void arms_set(struct sampler *s, struct thread_slot *slot)
{
	(void)s, (void)slot;
}

void arms_stay(struct sampler *s, struct thread_slot *slot)
{
	(void)s, (void)slot;
}

void arms_disarm(struct sampler *s, struct thread_slot *slot)
{
	(void)s, (void)slot;
}

void arms_borrow_end(struct thread_slot *slot)
{
	(void)slot;
}

void select_new(struct sampler *s, struct thread_slot *slot)
{
	(void)s, (void)slot;
}

int32_t lock_tid(const struct sampler *s)
{
	(void)s;
	return 0;
}

uint64_t publish_flips(const struct publish *p)
{
	(void)p;
	return flips;
}

bool sig_java_name(
	struct sampler *s, const struct walk_mem *mem, struct thread_slot *slot, uint64_t java)
{
	(void)s, (void)mem, (void)slot, (void)java;
	return false;
}

/* --- the test ----------------------------------------------------------------------------------- */

struct worker {
	pthread_t thread;
	_Atomic int32_t tid;
	pthread_barrier_t ends;
};

static void *worker_body(void *arg)
{
	struct worker *worker = arg;

	atomic_store(&worker->tid, raw_gettid());
	pthread_barrier_wait(&worker->ends);
	return NULL;
}

static void worker_begin(struct worker *worker)
{
	atomic_store(&worker->tid, 0);
	pthread_barrier_init(&worker->ends, NULL, 2);
	pthread_create(&worker->thread, NULL, worker_body, worker);
	while (!atomic_load(&worker->tid))
		raw_sleep(100000);
}

static void worker_end(struct worker *worker)
{
	pthread_barrier_wait(&worker->ends);
	pthread_join(worker->thread, NULL);
	while (!raw(SYS_tgkill, getpid(), atomic_load(&worker->tid), 0))
		raw_sleep(100000);
}

static void list_task(int dir, int32_t tid, bool listed)
{
	char name[16];

	snprintf(name, sizeof(name), "%d", tid);
	if (listed)
		close(openat(dir, name, O_CREAT | O_WRONLY, 0600));
	else
		unlinkat(dir, name, 0);
}

int main(void)
{
	struct sampler *s = calloc(1, sizeof(*s));
	char path[] = "/tmp/jhot-test-scan-XXXXXX";
	struct worker a, b, c;
	struct thread_slot *slot_a, *slot_b, *slot_c;
	uint32_t id;
	int32_t tid_a, tid_b, tid_c;

	s->threads = calloc(1, sizeof(*s->threads));
	s->task.fd = open(mkdtemp(path), O_RDONLY | O_DIRECTORY);
	worker_begin(&a);
	worker_begin(&b);
	tid_a = atomic_load(&a.tid);
	tid_b = atomic_load(&b.tid);
	list_task(s->task.fd, tid_a, true);
	list_task(s->task.fd, tid_b, true);
	scan_threads(s, true);
	slot_a = threads_find(s->threads, tid_a);
	slot_b = threads_find(s->threads, tid_b);
	ok(slot_a && slot_b, "listed threads are found");
	scan_threads(s, true);
	ok(!s->scan_again, "after a complete scan the next one waits until threads start or end");
	id = slot_a ? atomic_load(&slot_a->id) : 0;

	list_task(s->task.fd, tid_a, false);
	scan_threads(s, true);
	ok(threads_find(s->threads, tid_a) == slot_a && slot_a && !atomic_load(&slot_a->gone) &&
			atomic_load(&slot_a->id) == id,
		"a live thread that the listing omits keeps its slot and id");
	ok(s->scan_again, "a scan that omitted a thread is repeated");

	worker_begin(&c);
	tid_c = atomic_load(&c.tid);
	list_task(s->task.fd, tid_c, true);
	scan_threads(s, true);
	slot_c = threads_find(s->threads, tid_c);
	atomic_store(&s->files.tid, tid_c);
	scan_threads(s, true);
	ok(slot_c && !threads_find(s->threads, tid_c) && atomic_load(&slot_c->gone),
		"a thread of the agent that was scanned before its tid was known loses its slot");
	atomic_store(&s->files.tid, 0);
	list_task(s->task.fd, tid_c, false);
	worker_end(&c);

	worker_end(&b);
	scan_threads(s, true);
	ok(threads_find(s->threads, tid_b) == slot_b, "a listed dead thread keeps its slot");
	list_task(s->task.fd, tid_b, false);
	scan_threads(s, true);
	ok(!threads_find(s->threads, tid_b) && slot_b && atomic_load(&slot_b->gone),
		"a dead thread that is no longer listed loses its slot");
	flips = 3;
	scan_threads(s, true);
	ok(slot_b && !atomic_load(&slot_b->tid), "the slot is free after the next publications");

	worker_end(&a);
	close(s->task.fd);
	rmdir(path);
	free(s->threads);
	free(s);
	return tap_done();
}
