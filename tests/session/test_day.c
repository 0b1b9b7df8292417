/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session: hours of a program whose threads and classes change all the time (day.h), in a model with little memory: only
 * unused entries are evicted, and no id is mistaken for its previous use. `make bench-day` is the long form.
 */
#include "base/hash.h"
#include "tests/session/day.h"
#include "tests/tap.h"

#define SAMPLES 40
#define HOUR    3600

static struct day day;
static uint32_t pinned_method = PROFILE_NONE;

static void pin_method(void *ctx, enum profile_kind kind, bool leaving)
{
	if (kind == PROFILE_METHODS && !leaving)
		profile_pin(day.profile, pinned_method);
}

struct contents {
	uint64_t count, names; /* names: a checksum of thread and frame names */
	uint64_t earlier, unknown, ended;
};

static uint64_t text_hash(const char *text)
{
	return hash_bytes(text, strlen(text), 0);
}

static void add_part(void *ctx, const struct profile_part *part)
{
	uint32_t stack = part->stack;
	const char *name = profile_get_thread(day.profile, part->thread)->name;
	struct contents *l = ctx;
	uint64_t names = text_hash(name);

	l->count += part->count;
	l->ended += strcmp(name, "[threads that ended]") ? 0 : part->count;
	l->unknown += !*name;
	for (; stack != PROFILE_ROOT_STACK; stack = profile_get_stack(day.profile, stack).parent) {
		uint32_t frame = profile_get_stack(day.profile, stack).frame;

		name = profile_get_method(
			day.profile, profile_get_frame(day.profile, frame)->method)
			       ->full;
		names = hash_pair(names, text_hash(name));
		l->earlier += strcmp(name, "[earlier]") ? 0 : part->count;
		l->unknown += !strncmp(name, "[unknown", 8);
	}
	l->names += names * part->count;
}

static struct contents contents(uint32_t from, struct profile_snapshot *snapshot)
{
	struct profile_query q = {
		.from = from, .to = UINT32_MAX, .thread = PROFILE_ANY_THREAD, .snapshot = snapshot};
	struct contents l = {0};

	profile_each(day.profile, &q, add_part, &l);
	return l;
}

/* The number of living threads with a wrong name. */
static int wrong_names(void)
{
	int wrong = 0;

	for (uint32_t i = 0; i < DAY_THREADS; i++) {
		const struct profile_thread *last = NULL, *t;
		char want[40];

		snprintf(want, sizeof(want), i % 3 ? "worker-%u" : "request %08x x",
			day.threads[i].id);
		for (uint32_t n = 0; n < profile_thread_count(day.profile); n++) {
			t = profile_get_thread(day.profile, n);
			if (t->serial && t->tid == (int)day.threads[i].tid &&
				(!last || last->serial < t->serial))
				last = t;
		}
		wrong += !last || strcmp(last->name, want) != 0;
	}
	return wrong;
}

struct most {
	uint32_t stacks, methods, threads;
	uint64_t bytes;
};

static struct most hour(void)
{
	struct most m = {0};

	for (int i = 0; i < HOUR; i++) {
		struct profile_info info;

		day_second(&day, SAMPLES);
		if (i % 10)
			continue;
		info = profile_info(day.profile);
		m.bytes = info.bytes > m.bytes ? info.bytes : m.bytes;
		m.stacks = info.stacks;
	}
	m.methods = profile_method_count(day.profile);
	m.threads = profile_thread_count(day.profile);
	return m;
}

int main(void)
{
	struct profile_query window = {.to = 300, .thread = PROFILE_ANY_THREAD};
	struct profile_snapshot *snapshot;
	struct contents before, after;
	struct most first, then;
	char name_before[256];

	day_init(&day);
	profile_set_budget(day.profile, 8 << 20);
	profile_pin_register(day.profile, pin_method, NULL);
	for (int i = 0; i < 300; i++)
		day_second(&day, SAMPLES);
	pinned_method = profile_method_count(day.profile) - 1;
	snprintf(name_before, sizeof(name_before), "%s",
		profile_get_method(day.profile, pinned_method)->full);
	snapshot = profile_snapshot_new(day.profile, &window);
	before = contents(0, snapshot);
	hour();
	first = hour();
	then = hour();
	diag("stacks %u, %u; methods %u, %u; threads %u, %u; bytes %u, %u; threads ever %u",
		first.stacks, then.stacks, first.methods, then.methods, first.threads, then.threads,
		(unsigned)first.bytes, (unsigned)then.bytes, day.next_thread);
	ok(then.bytes <= first.bytes + first.bytes / 10, "memory does not grow in the third hour");
	ok(then.stacks <= first.stacks + first.stacks / 10, "stacks do not grow in the third hour");
	ok(then.methods <= first.methods + first.methods / 10,
		"methods do not grow in the third hour");
	ok(then.threads <= first.threads + first.threads / 10,
		"threads do not grow in the third hour");
	after = contents(0, snapshot);
	ok(before.names == after.names && before.count == after.count,
		"a snapshot of the first minutes is unchanged");
	is_str(profile_get_method(day.profile, pinned_method)->full, name_before,
		"a pinned method is unchanged");
	after = contents(0, NULL);
	is_int(after.count, day.samples, "no sample is lost");
	ok(after.earlier && after.ended && !after.unknown,
		"samples of evicted stacks and ended threads are in the totals");
	after = contents(day.second - 500, NULL);
	ok(after.count && !after.earlier && !after.unknown,
		"the last 500 s have no evicted or unknown entries");
	is_int(wrong_names(), 0, "living threads have their names");
	ok(!day.rejected && !reader_stats(day.reader)->unknown_traces,
		"every record is accepted, and every trace is known");
	profile_snapshot_free(snapshot);
	day_done(&day);
	return tap_done();
}
