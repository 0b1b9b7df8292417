/* SPDX-License-Identifier: Apache-2.0 */
/* profile: thread states, thread pools, names of user events, waiters and owners. */
#include "profile/profile.h"
#include "profile/table/calltree.h"
#include "profile/table/flat.h"
#include "tests/profile/add.h"
#include "tests/tap.h"

#include <string.h>

#define S 1000000000ull

static uint32_t stack_of(struct profile *p, const char *name)
{
	uint32_t method = profile_method(p, "a.B", name, "()V", "");

	return profile_stack_child(
		p, PROFILE_ROOT_STACK, profile_frame(p, method, FRAME_COMPILED, 0, 1));
}

static void add(struct profile *p, uint32_t second, uint32_t stack, uint32_t thread,
	enum thread_state state, uint32_t count)
{
	profile_add_sample(p, EVENT_WALL, second,
		&(struct profile_sample){stack, thread, state, count, count * 10});
}

static uint64_t count(const struct profile *p, uint32_t pool, unsigned states)
{
	struct profile_query q = {.event = EVENT_WALL,
		.to = UINT32_MAX,
		.thread = PROFILE_ANY_THREAD,
		.pool = pool,
		.states = states};

	return profile_sum(p, &q).count;
}

/* --- user events ------------------------------------------------------------------------------------- */

static uint64_t user_count(const struct profile *p)
{
	struct profile_query q = {
		.event = EVENT_USER_FIRST, .to = UINT32_MAX, .thread = PROFILE_ANY_THREAD};

	return profile_sum(p, &q).count;
}

static void test_set_again(void)
{
	struct profile *p = profile_new();
	uint32_t a = stack_of(p, "a");
	const struct profile_sample sample = {a, 0, THREAD_STATE_NONE, 7, 7};

	profile_event_set(p, EVENT_USER_FIRST, "page-faults", "events", 1);
	profile_add_sample(p, EVENT_USER_FIRST, 1, &sample);
	profile_event_set(p, EVENT_USER_FIRST, "page-faults", "events", 2);
	is_int(user_count(p), 7,
		"a user event that is set again under the same name keeps its samples");
	profile_event_set(p, EVENT_USER_FIRST, "malloc", "events", 1);
	is_int(user_count(p), 0, "another user event with the same id starts without samples");
	profile_add_sample(p, EVENT_USER_FIRST, 2, &sample);
	is_int(user_count(p), 7, "the new user event has its own samples");
	profile_free(p);
}

/* --- states ------------------------------------------------------------------------------------------ */

static void by_state(void *ctx, const struct profile_part *part)
{
	((uint64_t *)ctx)[part->state] += part->count;
}

static void test_states(void)
{
	struct profile *p = profile_new();
	uint32_t a = stack_of(p, "a"), b = stack_of(p, "b");
	struct profile_query q = {
		.event = EVENT_WALL, .from = 1, .to = 3, .thread = PROFILE_ANY_THREAD};
	uint64_t states[THREAD_STATES] = {0};
	struct flat *flat;
	struct calltree *tree;

	add(p, 1, a, 0, THREAD_ON_CPU, 1);
	add(p, 1, a, 0, THREAD_PARKED, 2);
	add(p, 2, a, 1, THREAD_PARKED, 4);
	add(p, 2, b, 1, THREAD_IO, 8);
	add(p, 2, b, 1, (enum thread_state)77, 16);
	is_int(count(p, 0, 0), 31, "without a state mask all samples count");
	is_int(count(p, 0, 1u << THREAD_PARKED), 6, "a mask of one state selects its samples");
	is_int(count(p, 0, 1u << THREAD_PARKED | 1u << THREAD_ON_CPU), 7,
		"a mask of two states selects the samples of both");
	is_int(count(p, 0, 1u << THREAD_STATE_NONE), 16,
		"an invalid state is stored as THREAD_STATE_NONE");
	profile_each(p, &q, by_state, states);
	ok(states[THREAD_ON_CPU] == 1 && states[THREAD_PARKED] == 6 && states[THREAD_IO] == 8,
		"profile_each reports the state of each part");
	q.states = 1u << THREAD_PARKED;
	flat = flat_new(p, &q);
	ok(flat->count == 1 && flat->rows[0].self == 6 && flat->sum_count == 6,
		"a method table of one state has only its samples");
	is_int(flat->rows[0].trend[FLAT_TREND - 1], 4,
		"the trend of a table of one state has only its samples");
	tree = calltree_new(p, &q, &(struct calltree_options){.root_method = PROFILE_NONE});
	is_int(tree->nodes[0].total, 6, "a call tree of one state has only its samples");
	calltree_free(tree);
	flat_free(flat);
	for (int i = 0; i < THREAD_STATES; i++)
		ok(thread_states[i].letter && thread_states[i].name,
			"state %d has a letter and a name", i);
	profile_free(p);
}

/* --- pools ------------------------------------------------------------------------------------------- */

static void test_pools(void)
{
	static const struct {
		const char *name;
		enum thread_kind kind;
		const char *pool;
	} rows[] = {
		{"http-nio-8080-exec-1", THREAD_JAVA, "http-nio-8080-exec-*"},
		{"http-nio-8080-exec-12", THREAD_JAVA, "http-nio-8080-exec-*"},
		{"main", THREAD_JAVA, "main"},
		{"123", THREAD_JAVA, "123"},
		{"", THREAD_NATIVE, ""},
		{"G1 Conc#0", THREAD_GC, "GC threads"},
		{"GC Thread#1", THREAD_GC, "GC threads"},
		{"C2 CompilerThread0", THREAD_COMPILER, "JIT compiler threads"},
	};
	struct profile *p = profile_new();
	uint32_t a = stack_of(p, "a"), pool;

	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct profile_thread t = {.kind = rows[i].kind, .name = rows[i].name, .pool = 77};

		profile_thread_set(p, i, &t);
		is_str(profile_pool_name(p, profile_get_thread(p, i)->pool), rows[i].pool,
			rows[i].pool);
		add(p, 1, a, i, THREAD_ON_CPU, 1u << i);
	}
	pool = profile_get_thread(p, 0)->pool;
	ok(pool && pool == profile_get_thread(p, 1)->pool,
		"threads of one pool have the same pool id");
	is_int(count(p, pool, 0), 3, "a query of a pool has the samples of its threads");
	is_int(count(p, pool, 1u << THREAD_PARKED), 0,
		"a query of a pool and a state has none of another state");
	profile_thread_set(p, 1, &(struct profile_thread){.kind = THREAD_JAVA, .name = "other-1"});
	is_int(count(p, pool, 0), 1, "a renamed thread changes its pool");
	is_str(profile_pool_name(p, 12345), "", "an unknown pool has an empty name");
	profile_add(p, EVENT_WALL, 1, a, UINT32_MAX, 1, 1);
	is_int(count(p, 0, 0), 256, "samples of a thread id out of range count");
	profile_free(p);
}

/* --- user events ------------------------------------------------------------------------------------- */

static void test_events(void)
{
	struct profile *p = profile_new();
	int user = EVENT_USER_FIRST + 1;

	is_str(profile_get_event(p, user)->name, "user2", "a user event has a default name");
	profile_event_set(p, user, "cache-misses", "events", 5000);
	is_str(profile_get_event(p, user)->name, "cache-misses",
		"a user event has the name that was set");
	is_str(profile_get_event(p, user)->unit, "events",
		"a user event has the unit that was set");
	is_int(profile_get_event(p, user)->default_interval, 5000,
		"a user event has the interval that was set");
	ok(!profile_get_event(p, user)->weight_is_time, "the weight of \"events\" is not time");
	profile_event_set(p, user, "task-clock", "ns", 1000000);
	ok(profile_get_event(p, user)->weight_is_time, "the weight of \"ns\" is time");
	profile_event_set(p, EVENT_CPU, "x", "y", 1);
	is_str(profile_get_event(p, EVENT_CPU)->name, "cpu", "a built-in event cannot be renamed");
	is_str(profile_get_event(NULL, EVENT_LOCK)->name, "lock",
		"a built-in event has a name without a profile");
	is_str(profile_get_event(p, 99)->name, "cpu", "an event out of range falls back to cpu");
	profile_free(p);
}

/* --- owners of locks -------------------------------------------------------------------------------- */

/* What owners did is stored beside the waits, not added to them, and queried in the same way. */
static void test_owners(void)
{
	struct profile *p = profile_new();
	uint32_t waits = stack_of(p, "waits"), owns = stack_of(p, "owns");
	struct profile_query q = {.event = EVENT_LOCK,
		.to = UINT32_MAX,
		.thread = PROFILE_ANY_THREAD,
		.by_weight = true};
	struct flat *flat;

	profile_event_runs(p, EVENT_LOCK, 1, true);
	profile_add(p, EVENT_LOCK, 2, waits, 7, 3, 300);
	profile_add_holder(p, 2, &(struct profile_sample){owns, 8, THREAD_STATE_NONE, 2, 290});
	profile_add_holder(p, 3, &(struct profile_sample){owns, 9, THREAD_STATE_NONE, 1, 10000000});
	is_int(profile_sum(p, &q).weight, 300, "a query of waits has only the waits");
	q.holders = true;
	is_int(profile_sum(p, &q).weight, 10000290,
		"a query of owners has only the time that others waited for them");
	q.thread = 8;
	is_int(profile_sum(p, &q).weight, 290, "a query of one owner's thread has its part");
	q.thread = PROFILE_ANY_THREAD;
	q.from = 3;
	is_int(profile_sum(p, &q).count, 1, "a query of owners respects the window");
	is_int(profile_covered(p, &q), 1, "owners are covered for the same seconds as waits");
	flat = flat_new(p, &q);
	is_int(flat->count, 1, "a method table of owners has only their methods");
	is_str(profile_get_method(p, flat->rows[0].method)->full, "a.B.owns",
		"the method of an owner has its name");
	is_int(flat->rows[0].trend[FLAT_TREND - 1], 2,
		"the trend of an owner's method has its seconds");
	flat_free(flat);
	q.event = EVENT_CPU;
	is_int(profile_sum(p, &q).count, 0, "other events have no owners");
	profile_free(p);
}

/* --- waits ------------------------------------------------------------------------------------------- */

static void wait_set(struct profile *p, uint32_t thread, uint32_t owner, uint64_t lock,
	uint64_t since, uint64_t until)
{
	profile_wait_set(p, &(struct profile_wait){.thread = thread,
				    .owner = owner,
				    .method = PROFILE_NONE,
				    .lock = lock,
				    .since_ns = since,
				    .until_ns = until});
}

static uint32_t owner_at(const struct profile *p, uint32_t thread, uint32_t to)
{
	struct profile_wait w;

	return profile_wait_at(p, thread, to, &w) ? w.owner : 9999;
}

static void test_longest_owner(void)
{
	struct profile *p = profile_new();
	struct profile_waited most;

	ok(!profile_waited(p, 3, 0, 10, &most), "a thread without waits has no longest owner");
	wait_set(p, 3, 7, 0x10, 1 * S, 3 * S);
	wait_set(p, 3, 8, 0x20, 4 * S, 5 * S);
	wait_set(p, 3, 7, 0x10, 6 * S, 9 * S);
	wait_set(p, 4, 9, 0x10, 1 * S, 9 * S);
	ok(profile_waited(p, 3, 0, 10, &most) && most.owner == 7 && most.ns == 5 * S &&
			most.all_ns == 6 * S,
		"the owner waited for longest is reported, with the sum of all waits");
	ok(profile_waited(p, 3, 4, 6, &most) && most.owner == 8 && most.ns == 1 * S,
		"only waits in the window count");
	ok(profile_waited(p, 3, 8, 20, &most) && most.ns == 1 * S,
		"a wait is clipped to the window");
	ok(!profile_waited(p, 3, 9, 20, &most), "a window after the last wait has none");
	wait_set(p, 3, 8, 0x20, 10 * S, PROFILE_STILL);
	ok(profile_waited(p, 3, 9, 14, &most) && most.owner == 8 && most.ns == 4 * S,
		"an ongoing wait counts up to the window's end");
	profile_free(p);
}

static void test_waits(void)
{
	struct profile *p = profile_new();
	struct profile_wait w;

	is_int(owner_at(p, 3, 5), 9999, "without waits there is no owner");
	wait_set(p, 3, 7, 0x10, 2 * S + 5, PROFILE_STILL);
	is_int(owner_at(p, 3, 2), 9999, "there is no owner in a second before the wait began");
	is_int(owner_at(p, 3, 3), 7, "the owner is known in the second in which the wait began");
	is_int(owner_at(p, 3, 500), 7, "an ongoing wait has an owner at any later time");
	wait_set(p, 3, 8, 0x10, 2 * S + 5, PROFILE_STILL);
	is_int(owner_at(p, 3, 5), 8, "an update of the wait changes its owner");
	wait_set(p, 3, 8, 0x10, 2 * S + 5, 6 * S + 1);
	is_int(owner_at(p, 3, 7), 8, "the owner is known in the second in which the wait ended");
	is_int(owner_at(p, 3, 8), 9999, "there is no owner after the wait ended");
	is_int(owner_at(p, 3, 4), 8, "a finished wait still has its owner in earlier seconds");
	wait_set(p, 3, 1, 0x20, 9 * S, PROFILE_STILL);
	wait_set(p, 3, 2, 0x30, 11 * S, PROFILE_STILL);
	is_int(owner_at(p, 3, 12), 2, "a new wait has its own owner");
	ok(profile_wait_at(p, 3, 10, &w) && w.owner == 1 && w.until_ns == 11 * S,
		"a new wait of the thread ends its previous one");
	is_int(owner_at(p, 4, 12), 9999, "a wait of one thread does not concern another");
	profile_wait_end_all(p, 13 * S);
	is_int(owner_at(p, 3, 13), 2,
		"profile_wait_end_all keeps the owner in the second in which it ends the wait");
	is_int(owner_at(p, 3, 15), 9999, "profile_wait_end_all ends the ongoing waits");
	wait_set(p, 3, 1, 0x20, 9 * S, 8 * S);
	wait_set(p, UINT32_MAX, 1, 0x20, 9 * S, PROFILE_STILL);
	is_int(owner_at(p, 3, 15), 9999,
		"waits that end before they begin, or of a thread out of range, are ignored");
	for (uint64_t i = 0; i < 40000; i++)
		wait_set(p, (uint32_t)(i % 100) + 10, (uint32_t)i, i, 20 * S + i, 20 * S + i);
	is_int(owner_at(p, 109, 21), 39999, "of more waits than fit the newest are kept");
	is_int(owner_at(p, 3, 10), 9999, "of more waits than fit the oldest are evicted");
	ok(profile_info(p).bytes < 8u << 20, "the waits use bounded memory");
	profile_free(p);
}

int main(void)
{
	test_set_again();
	test_states();
	test_pools();
	test_events();
	test_owners();
	test_longest_owner();
	test_waits();
	return tap_done();
}
