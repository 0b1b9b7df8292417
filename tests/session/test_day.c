/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session: hours of a program whose threads and classes come and go (day.h), in a model with little memory: only
 * unused entries are evicted, and no id is mistaken for its previous owner. `make bench-day` is the long form.
 */
#include "base/hash.h"
#include "tests/session/day.h"
#include "tests/tap.h"

#define SAMPLES 40
#define HOUR    3600

static struct day day;
static uint32_t kept_method = PROFILE_NONE;

static void keep_method(void *ctx, enum profile_kind kind, bool leaving)
{
	if (kind == PROFILE_METHODS && !leaving)
		profile_pin(day.profile, kept_method);
}

struct look {
	uint64_t count, names; /* names: of threads and frames, each row alike */
	uint64_t earlier, unknown, ended;
};

static uint64_t text_hash(const char *text)
{
	return hash_bytes(text, strlen(text), 0);
}

static void look_at(void *ctx, const struct profile_part *part)
{
	uint32_t stack = part->stack;
	const char *name = profile_get_thread(day.profile, part->thread)->name;
	struct look *l = ctx;
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

static struct look look(uint32_t from, struct profile_snapshot *snapshot)
{
	struct profile_query q = {
		.from = from, .to = UINT32_MAX, .thread = PROFILE_ANY_THREAD, .snapshot = snapshot};
	struct look l = {0};

	profile_each(day.profile, &q, look_at, &l);
	return l;
}

/* Threads that live and are not called what they are called. */
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
	struct look before, after;
	struct most first, then;
	char kept[256];

	day_init(&day);
	profile_set_budget(day.profile, 8 << 20);
	profile_pin_register(day.profile, keep_method, NULL);
	for (int i = 0; i < 300; i++)
		day_second(&day, SAMPLES);
	kept_method = profile_method_count(day.profile) - 1;
	snprintf(kept, sizeof(kept), "%s", profile_get_method(day.profile, kept_method)->full);
	snapshot = profile_snapshot_new(day.profile, &window);
	before = look(0, snapshot);
	hour();
	first = hour();
	then = hour();
	diag("stacks %u, %u; methods %u, %u; threads %u, %u; bytes %u, %u; threads ever %u",
		first.stacks, then.stacks, first.methods, then.methods, first.threads, then.threads,
		(unsigned)first.bytes, (unsigned)then.bytes, day.next_thread);
	ok(then.bytes <= first.bytes + first.bytes / 10, "memory is the same an hour later");
	ok(then.stacks <= first.stacks + first.stacks / 10, "stacks");
	ok(then.methods <= first.methods + first.methods / 10, "methods");
	ok(then.threads <= first.threads + first.threads / 10, "threads");
	after = look(0, snapshot);
	ok(before.names == after.names && before.count == after.count,
		"a baseline of the first minutes is what it was");
	is_str(profile_get_method(day.profile, kept_method)->full, kept,
		"so is a method that is kept");
	after = look(0, NULL);
	is_int(after.count, day.samples, "of all samples none is lost");
	ok(after.earlier && after.ended && !after.unknown, "those of what left are in totals");
	after = look(day.second - 500, NULL);
	ok(after.count && !after.earlier && !after.unknown, "what the history has is whole");
	is_int(wrong_names(), 0, "threads that live have their names");
	ok(!day.wrong && !reader_stats(day.reader)->unknown_traces,
		"and all that the agent refers to is known");
	profile_snapshot_free(snapshot);
	day_done(&day);
	return tap_done();
}
