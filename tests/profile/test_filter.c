/* SPDX-License-Identifier: Apache-2.0 */
/* profile: searches, filters and snapshots against a naive implementation, on random programs. */
#include "profile/query/filter.h"
#include "profile/query/match.h"
#include "profile/table/calltree.h"
#include "profile/table/flat.h"

#include "tests/profile/feed.h"
#include "tests/tap.h"

#define SECONDS 20

static struct profile *program(struct feed *f, uint64_t seed)
{
	struct profile *p = profile_new();

	feed_init(f, p, &(struct feed_options){.seed = seed, .stacks = 300, .rate = 150});
	for (uint32_t s = 0; s < SECONDS; s++)
		feed_second(f, s);
	profile_advance(p, SECONDS);
	return p;
}

static struct profile_query all_of(const struct profile *p)
{
	return (struct profile_query){
		.to = profile_info(p).now, .thread = PROFILE_ANY_THREAD, .by_weight = true};
}

/* --- the naive implementation ------------------------------------------------------------------------ */

struct naive {
	const struct profile *p;
	const char *text;
	bool wanted;
	uint64_t count;
};

static const struct profile_frame *frame_of(const struct profile *p, uint32_t stack)
{
	return profile_get_frame(p, profile_get_stack(p, stack).frame);
}

static bool naive_has(const struct profile *p, uint32_t stack, const char *text)
{
	bool capital = strpbrk(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != NULL;

	for (; stack; stack = profile_get_stack(p, stack).parent) {
		const char *name = profile_get_method(p, frame_of(p, stack)->method)->full;

		if (*text == '='  ? !strcmp(name, text + 1)
			: capital ? strstr(name, text) != NULL
				  : strcasestr(name, text) != NULL)
			return true;
	}
	return false;
}

static void naive_add(void *ctx, const struct profile_part *part)
{
	struct naive *naive = ctx;

	if (naive_has(naive->p, part->stack, naive->text) == naive->wanted)
		naive->count += part->count;
}

static uint64_t naive_count(const struct profile *p, const char *text, bool wanted)
{
	struct naive naive = {p, text, wanted, 0};
	struct profile_query q = all_of(p);

	profile_each(p, &q, naive_add, &naive);
	return naive.count;
}

/* --- searching --------------------------------------------------------------------------------------- */

static const char *const texts[] = {"parse", "Parse", "hashmap.get", "HashMap", "jackson",
	"::", "nothing has this", "=java.util.HashMap.get", "=java.util", "[libc"};
#define TEXTS (sizeof(texts) / sizeof(texts[0]))

static void test_match(const struct profile *p)
{
	struct profile_query q = all_of(p);
	int wrong = 0, found = 0;

	for (size_t i = 0; i < TEXTS; i++) {
		struct match *m = match_new();
		char typed[64] = "";

		for (size_t n = 0; texts[i][n]; n++) {
			uint64_t want;

			typed[n] = texts[i][n];
			typed[n + 1] = '\0';
			match_set(m, typed);
			want = strcmp(typed, "=") != 0 ? naive_count(p, typed, true) : 0;
			wrong += match_sum(m, p, &q).count != want;
			found += want > 0;
		}
		match_set(m, "a");
		wrong += match_sum(m, p, &q).count != naive_count(p, "a", true);
		match_set(m, "");
		wrong += match_sum(m, p, &q).count != 0;
		match_free(m);
	}
	ok(!wrong && found > 30,
		"match_sum counts each matching sample once, for every prefix of every text (%d "
		"matched)",
		found);
}

/* --- terms ------------------------------------------------------------------------------------------- */

static void test_terms(const struct profile *p)
{
	struct profile_query q = all_of(p);
	uint64_t whole = profile_sum(p, &q).count;
	int wrong = 0;
	struct flat *flat;
	struct calltree *tree;
	struct calltree_options options = {.root_method = PROFILE_NONE};
	bool only;

	q.filter = filter_new();
	ok(filter_is_identity(q.filter) && profile_sum(p, &q).count == whole,
		"an empty filter selects everything");
	for (size_t i = 0; i < TEXTS; i++) {
		for (int wanted = 0; wanted < 2; wanted++) {
			uint32_t before = filter_generation(q.filter);

			filter_push(q.filter, wanted, texts[i]);
			wrong += profile_sum(p, &q).count != naive_count(p, texts[i], wanted);
			wrong += filter_generation(q.filter) == before;
			wrong += !filter_pop(q.filter);
		}
	}
	ok(!wrong, "a term of either kind selects the same samples as the naive implementation");
	filter_push(q.filter, true, "hashmap");
	filter_push(q.filter, false, "netty");
	ok(!strcmp(filter_term(q.filter, 1, &only), "netty") && !only &&
			filter_count(q.filter) == 2,
		"terms are listed in order");
	flat = flat_new(p, &q);
	tree = calltree_new(p, &q, &options);
	ok(flat->sum_count == profile_sum(p, &q).count && flat->sum_count < whole &&
			tree->nodes[0].total_count == flat->sum_count,
		"method table and call tree have the filtered sum");
	for (uint32_t i = 0; i < flat->count; i++)
		wrong += flat->rows[i].self &&
			 strstr(profile_get_method(p, flat->rows[i].method)->full, "netty");
	ok(!wrong, "no method that is filtered out has self samples");
	flat_free(flat);
	calltree_free(tree);
	ok(filter_pop(q.filter) && filter_pop(q.filter) && !filter_pop(q.filter) &&
			profile_sum(p, &q).count == whole,
		"popping all terms restores the whole sum");
	for (int i = 0; i < FILTER_TERMS; i++)
		filter_push(q.filter, false, "x");
	ok(!filter_push(q.filter, false, "x"), "a filter accepts at most FILTER_TERMS terms");
	filter_free(q.filter);
}

/* --- folded forms ------------------------------------------------------------------------------------- */

static const char *hidden_as(const struct profile *p, uint32_t stack)
{
	const char *name = profile_get_method(p, frame_of(p, stack)->method)->class_name;

	switch (frame_of(p, stack)->type) {
	case FRAME_KERNEL: return "[kernel frames]";
	case FRAME_NATIVE:
	case FRAME_VM: return "[native frames]";
	default:
		return !strncmp(name, "java.", 5) || !strncmp(name, "io.netty.", 9)
			       ? "[framework frames]"
			       : NULL;
	}
}

/* Whether the names of a folded stack follow from those of the sampled one. */
static bool is_folded(
	const struct profile *p, const struct filter *f, uint32_t stack, uint32_t shown)
{
	uint32_t run = 0;

	while (stack) {
		const char *as = hidden_as(p, stack);
		const char *name = profile_get_method(p, frame_of(p, shown)->method)->full;

		if (!shown)
			return false;
		if (!as && strcmp(name, profile_get_method(p, frame_of(p, stack)->method)->full))
			return false;
		if (as && strcmp(name, as))
			return false;
		run = as ? run + 1 : 0;
		stack = profile_get_stack(p, stack).parent;
		if (as && stack && hidden_as(p, stack) && !strcmp(hidden_as(p, stack), as))
			continue;
		if (as && filter_collapsed_frames(p, shown) < run)
			return false;
		run = 0;
		shown = profile_get_stack(p, shown).parent;
	}
	return !shown;
}

static void test_hide(const struct profile *p)
{
	struct profile_query q = all_of(p);
	uint64_t whole = profile_sum(p, &q).count;
	uint32_t stacks = profile_info(p).stacks, shown, folded = 0;
	int wrong = 0;
	struct flat *flat;

	q.filter = filter_new();
	filter_set_frameworks(q.filter, " java.  io.netty.");
	filter_set_hide(q.filter, FILTER_FRAMEWORK | FILTER_NATIVE | FILTER_KERNEL);
	for (uint32_t i = 1; i < stacks; i++) {
		shown = filter_map_stack(q.filter, p, i);
		wrong += !is_folded(p, q.filter, i, shown);
		folded += profile_get_stack(p, shown).depth < profile_get_stack(p, i).depth;
	}
	ok(!wrong && folded > stacks / 10,
		"runs of hidden frames are folded into one frame (%u of %u stacks)", folded,
		stacks);
	ok(profile_info(p).stacks == stacks, "folding adds no stacks to the sampled ones");
	filter_set_hide(q.filter, filter_hide(q.filter));
	ok(filter_prepare(p, &q, 8), "setting the same hide flags again keeps the prepared form");
	flat = flat_new(p, &q);
	ok(flat->sum_count == whole, "folding loses no samples");
	for (uint32_t i = 0; i < flat->count; i++)
		wrong += !strncmp(
			profile_get_method(p, flat->rows[i].method)->full, "java.util.", 10);
	ok(!wrong, "no hidden method has a row");
	flat_free(flat);
	filter_push(q.filter, true, "java.util.");
	ok(profile_sum(p, &q).count == naive_count(p, "java.util.", true),
		"terms match hidden frames");
	filter_pop(q.filter);
	filter_push(q.filter, true, "[framework");
	ok(profile_sum(p, &q).count > 0, "terms match the frame that replaces hidden ones");
	filter_free(q.filter);
}

static void test_lines(const struct profile *p)
{
	struct profile_query q = all_of(p);
	uint32_t stacks = profile_info(p).stacks, shown;
	int wrong = 0, lines = 0;
	char name[512];

	q.filter = filter_new();
	filter_set_lines(q.filter, true);
	for (uint32_t i = 1; i < stacks; i++) {
		const struct profile_frame was = *frame_of(p, i);

		shown = filter_map_stack(q.filter, p, i);
		snprintf(name, sizeof(name), was.line > 0 ? "%s:%d" : "%s",
			profile_get_method(p, was.method)->full, was.line);
		wrong += strcmp(name, profile_get_method(p, frame_of(p, shown)->method)->full) != 0;
		wrong += frame_of(p, shown)->type != was.type;
		lines += was.line > 0;
	}
	ok(!wrong && lines > 1000, "with lines each frame is named by its line (%d)", lines);
	filter_free(q.filter);
}

/* A checksum of all paths in the tree with their samples. */
static uint64_t shown_sum(const struct profile *p, struct filter *f)
{
	struct profile_query q = all_of(p);
	struct calltree_options options = {.root_method = PROFILE_NONE};
	struct calltree *t;
	uint64_t sum = 0;

	q.filter = f;
	t = calltree_new(p, &q, &options);
	for (uint32_t i = 0; i < t->count; i++)
		sum += t->nodes[i].path * (t->nodes[i].total + 1);
	calltree_free(t);
	return sum;
}

/* Only one form is cached: queried alternately, each gives its previous result, unaffected by the other's ids. */
static void test_forms(struct profile *p, struct feed *f)
{
	struct filter *lines = filter_new(), *hide = filter_new();
	struct profile_query q = all_of(p);
	uint64_t want[2];
	uint32_t old[2];
	int slices = 0;

	filter_set_lines(lines, true);
	filter_set_frameworks(hide, "java.");
	filter_set_hide(hide, FILTER_FRAMEWORK | FILTER_KERNEL);
	want[0] = shown_sum(p, lines);
	old[0] = filter_map_stack(lines, p, f->stacks[0]);
	ok(profile_get_stack(p, old[0]).depth > 1, "a stack has a form by lines");
	want[1] = shown_sum(p, hide);
	ok(want[0] != want[1] && !profile_get_stack(p, old[0]).depth &&
			profile_get_stack(p, old[0]).parent == PROFILE_ROOT_STACK &&
			!filter_collapsed_frames(p, old[0]),
		"a stack id of a form that was replaced is empty");
	old[1] = filter_map_stack(hide, p, f->stacks[0]);
	ok(shown_sum(p, lines) == want[0] && shown_sum(p, hide) == want[1] && old[0] != old[1],
		"two forms queried alternately give their previous results");
	q.filter = lines;
	while (!filter_prepare(p, &q, 100))
		slices++;
	ok(slices > 10 && shown_sum(p, lines) == want[0],
		"a form prepared in slices gives the same result (%d slices)", slices);
	feed_second(f, SECONDS);
	profile_advance(p, SECONDS + 1);
	ok(shown_sum(p, lines) != want[0], "samples added after the preparation are included");
	filter_push(lines, true, "hashmap");
	q = all_of(p);
	q.filter = lines;
	ok(profile_sum(p, &q).count == naive_count(p, "hashmap", true),
		"terms match the sampled frames of a form by lines");
	filter_free(lines);
	filter_free(hide);
}

/* A match in a pruned part of the tree counts at the node above it, once per path. */
static void test_hidden_hits(const struct profile *p)
{
	struct profile_query q = all_of(p);
	struct calltree_options all = {.root_method = PROFILE_NONE};
	struct calltree_options some = all;
	struct calltree *whole = calltree_new(p, &q, &all), *part;
	struct match *m = match_new();
	uint32_t want = 0, shown = 0, hidden = 0;

	match_set(m, "hashmap");
	some.min_share = 0.01;
	some.find = m;
	part = calltree_new(p, &q, &some);
	for (uint32_t i = 1; i < whole->count; i++)
		want += match_method(m, p, whole->nodes[i].method);
	for (uint32_t i = 0; i < part->count; i++) {
		shown += i && match_method(m, p, part->nodes[i].method);
		hidden += part->nodes[i].hidden_hits;
	}
	ok(shown && hidden && shown + hidden == want,
		"%u matches shown and %u in pruned nodes add up to all %u", shown, hidden, want);
	calltree_free(whole);
	calltree_free(part);
	match_free(m);
}

/* --- snapshots --------------------------------------------------------------------------------------- */

static void test_snapshot(struct profile *p, struct feed *f)
{
	struct profile_query q = all_of(p), frozen;
	struct calltree_options options = {.root_method = PROFILE_NONE};
	struct profile_snapshot *s;
	struct calltree *before, *after;
	uint64_t count;
	bool same;

	q.from = 5;
	q.to = 15;
	count = profile_sum(p, &q).count;
	before = calltree_new(p, &q, &options);
	s = profile_snapshot_new(p, &q);
	for (uint32_t i = SECONDS; i < 2 * PROFILE_HISTORY_S; i += 50)
		feed_second(f, i);
	profile_advance(p, 2 * PROFILE_HISTORY_S);
	ok(profile_sum(p, &q).count == 0, "the window was evicted from the history");
	frozen = q;
	frozen.snapshot = s;
	ok(profile_sum(p, &frozen).count == count && count,
		"the snapshot of an evicted window still has all samples");
	after = calltree_new(p, &frozen, &options);
	same = before->count == after->count;
	for (uint32_t i = 0; same && i < after->count; i++)
		same = before->nodes[i].path == after->nodes[i].path &&
		       before->nodes[i].total == after->nodes[i].total;
	ok(same, "the snapshot gives the same tree");
	frozen.filter = filter_new();
	filter_push(frozen.filter, true, "parse");
	ok(profile_sum(p, &frozen).count < count && profile_sum(p, &frozen).count,
		"filters apply to a snapshot");
	frozen.filter = (filter_free(frozen.filter), NULL);
	frozen.thread = 3;
	ok(profile_sum(p, &frozen).count < count && profile_sum(p, &frozen).count,
		"a thread selection applies to a snapshot");
	calltree_free(before);
	calltree_free(after);
	profile_snapshot_free(s);
}

int main(void)
{
	for (uint64_t seed = 1; seed <= 3; seed++) {
		struct feed f;
		struct profile *p = program(&f, seed);

		test_match(p);
		test_terms(p);
		test_hide(p);
		test_lines(p);
		test_hidden_hits(p);
		test_forms(p, &f);
		test_snapshot(p, &f);
		feed_done(&f);
		profile_free(p);
	}
	return tap_done();
}
