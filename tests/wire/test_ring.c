/* SPDX-License-Identifier: Apache-2.0 */
/* wire: the ring with wrap-around, a slow reader, two threads, and an invalid peer. */
#include "tests/tap.h"
#include "wire/ring.h"

#include <errno.h>
#include <pthread.h>

#define RING_BYTES (4u * WIRE_RECORD_MAX)

static struct wire_cursors cursors;
static _Alignas(8) unsigned char ring_data[RING_BYTES];
static _Alignas(8) unsigned char out[WIRE_RECORD_MAX];

static void ring_reset(struct ring_writer *w, struct ring_reader *r)
{
	atomic_store(&cursors.head, 0);
	atomic_store(&cursors.tail, 0);
	ring_writer_init(w, &cursors, ring_data, RING_BYTES);
	ring_reader_init(r, &cursors, ring_data, RING_BYTES);
}

static void test_order(void)
{
	struct ring_writer w;
	struct ring_reader r;
	uint64_t written = 0, read = 0;
	bool in_order = true;

	ring_reset(&w, &r);
	for (int round = 0; round < 2000; round++) {
		struct wire_tick *t;

		while (written < read + 50 + (uint64_t)(round % 900) &&
			(t = ring_reserve(&w, WIRE_REC_TICK, (uint32_t)(24 + written % 3000)))) {
			t->time_ns = written++;
			ring_commit(&w);
		}
		for (int n = 0; n < 40 && ring_read(&r, out) > 0; n++)
			in_order = in_order && ((struct wire_tick *)out)->time_ns == read++;
	}
	while (ring_read(&r, out) > 0)
		in_order = in_order && ((struct wire_tick *)out)->time_ns == read++;
	ok(in_order && read == written && read > 50000,
		"every record is read once and in order across many wraps");
}

static void test_full(void)
{
	struct ring_writer w;
	struct ring_reader r;
	int n = 0;

	ring_reset(&w, &r);
	while (ring_reserve(&w, WIRE_REC_NOTE, 40000))
		n++;
	ok(n >= 5 && n <= 6, "a full ring refuses a reservation");
	is_int(ring_read(&r, out), 0, "a reserved record is not visible yet");
	ring_commit(&w);
	is_int(ring_read(&r, out), 40000, "a committed record is visible");
	ok(!ring_reserve(&w, WIRE_REC_NOTE, WIRE_RECORD_MAX + 8), "an oversized record is refused");
}

static void test_hostile(void)
{
	struct ring_writer w;
	struct ring_reader r;
	struct wire_record *rec;

	ring_reset(&w, &r);
	atomic_store(&cursors.head, RING_BYTES * 3ull);
	is_int(ring_read(&r, out), -EPROTO, "a head beyond the ring is refused");
	for (uint32_t size = 0; size < 5; size++) {
		static const uint32_t sizes[] = {0, 4, 12, 0xfffffff8u, WIRE_RECORD_MAX + 8};

		ring_reset(&w, &r);
		rec = ring_reserve(&w, WIRE_REC_NOTE, 64);
		rec->size = sizes[size];
		ring_commit(&w);
		is_int(ring_read(&r, out), -EPROTO, "a record of an invalid size is refused");
	}
	ring_reset(&w, &r);
	atomic_store(&cursors.tail, 12345678901ull);
	ok(!ring_reserve(&w, WIRE_REC_NOTE, 64), "a writer treats an invalid tail as a full ring");
}

#define THREAD_RECORDS 300000u

static void *writer_thread(void *arg)
{
	struct ring_writer *w = arg;

	for (uint32_t i = 0; i < THREAD_RECORDS;) {
		struct wire_tick *t = ring_reserve(w, WIRE_REC_TICK, 24 + i % 512);

		if (!t)
			continue;
		t->time_ns = i++;
		ring_commit(w);
	}
	return NULL;
}

static void test_threads(void)
{
	struct ring_writer w;
	struct ring_reader r;
	pthread_t thread;
	uint32_t n = 0;
	bool good = true;

	ring_reset(&w, &r);
	pthread_create(&thread, NULL, writer_thread, &w);
	while (n < THREAD_RECORDS && good) {
		int size = ring_read(&r, out);

		if (size > 0)
			good = ((struct wire_tick *)out)->time_ns == n++;
		else
			good = size == 0;
	}
	pthread_join(thread, NULL);
	ok(good && n == THREAD_RECORDS, "with two threads no record is lost or torn");
}

int main(void)
{
	test_order();
	test_full();
	test_hostile();
	test_threads();
	return tap_done();
}
