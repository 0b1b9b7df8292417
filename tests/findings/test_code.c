/* SPDX-License-Identifier: Apache-2.0 */
/* The rules for compiled code and for changes, on both sides of each threshold. */
#include "findings/scene.h"
#include "tests/findings/judge.h"

static int compiled_s = 31; /* for so long */

/* Compilations a second, a minute after the start, and KB of code that are more a second. */
static void anew(int64_t rate, int64_t kb)
{
	begin();
	v.code_used = 3 << 20;
	v.code_max = 240 << 20;
	v.compilations = 9000;
	for (int i = 0; i <= compiled_s; i++, v.compilations += rate, v.code_used += kb << 10)
		second();
}

static void test_jit_anew(void)
{
	anew(20, 0);
	is_found("jit", "20 compilations a second of which nothing stays");
	is_str(found("jit")->what,
		"20 methods per second are still being compiled 3600 s after the start, and their "
		"code is discarded",
		"what it says");
	anew(19, 0);
	is_silent("jit", "at 19 a second");
	anew(100, 24);
	is_found("jit", "a little of it stays");
	anew(100, 25);
	is_silent("jit", "code that stays, 256 bytes of each");
	compiled_s = 29;
	anew(20, 0);
	is_silent("jit", "after 29 s");
	compiled_s = 31;
	anew(20, 0);
	v.uptime_s = 59;
	second();
	is_silent("jit", "in the first minute");
	anew(20, 0);
	v.code_used = -1;
	second();
	is_silent("jit", "where the code cache is not known");
}

static void cache(int64_t used_kb, int64_t max_kb, int64_t rate, int seconds)
{
	begin();
	v.code_used = used_kb << 10;
	v.code_max = max_kb << 10;
	v.compilations = 9000;
	for (int i = 0; i <= seconds; i++, v.compilations += rate)
		second();
}

static void test_codecache(void)
{
	cache(90 << 10, 100 << 10, 3, 10);
	is_silent("codecache", "with a tenth free");
	cache((90 << 10) + 1, 100 << 10, 3, 10);
	is_found("codecache", "with less");
	is_str(found("codecache")->what,
		"the code cache is nearly full: 90.0 of 100.0 MB are in use", "what it says");
	ok(strstr(found("codecache")->proof, "3.0 per second"), "and how much is compiled");
	cache(3457, 4096, 0, 10);
	is_found("codecache", "with less than 640 KB free");
	ok(strstr(found("codecache")->proof, "nothing was compiled"), "that nothing is");
	cache(3456, 4096, 0, 10);
	is_silent("codecache", "with 640 KB");
	cache(4000, 4096, 0, 6);
	is_silent("codecache", "before 8 s are known");
	cache(1000, 4096, 0, 10);
	v.code_used = 4000 << 10;
	second();
	is_silent("codecache", "that has just been filled");
	begin();
	for (int i = 0; i <= 10; i++)
		second();
	is_silent("codecache", "where it is not known");
}

/* Samples of compiled code that gives up, in "shop.Orders.read", and of other code. */
static void leaving(uint32_t left, uint32_t other)
{
	uint32_t shop, blob;

	begin();
	thread_of(0, "worker");
	shop = stack_of(PROFILE_ROOT_STACK, "shop.Orders", "read");
	blob = profile_stack_child(profile, shop,
		profile_frame(profile, profile_method(profile, "", "UncommonTrapBlob", "", ""),
			FRAME_VM, 0xffff, 0));
	profile_add(profile, EVENT_CPU, 1, blob, 0, left, left * 10 * MS);
	profile_add(profile, EVENT_CPU, 1, shop, 0, other, other * 10 * MS);
	profile_advance(profile, SECONDS);
	second();
}

static void test_deopt(void)
{
	leaving(30, 570);
	is_found("deopt", "5 % of the CPU time");
	is_str(found("deopt")->what,
		"5 % of the CPU time is spent on deoptimisation, most of it from Orders.read",
		"what it says");
	leaving(30, 580);
	is_silent("deopt", "below");
	leaving(29, 0);
	is_silent("deopt", "of 29 samples");
	leaving(30, 0);
	v.uptime_s = 30;
	second();
	is_found("deopt", "half a minute after the start");
	v.uptime_s = 29;
	second();
	is_silent("deopt", "in the first half minute");
}

/* Samples of a search among keys whose hash codes collide, for "shop.Orders.read", and of other code. */
static void colliding(uint32_t searches, uint32_t other)
{
	uint32_t shop, tree;

	begin();
	thread_of(0, "worker");
	shop = stack_of(PROFILE_ROOT_STACK, "shop.Orders", "read");
	tree = stack_of(
		stack_of(shop, "java.util.HashMap", "get"), "java.util.HashMap$TreeNode", "find");
	profile_add(profile, EVENT_CPU, 1, tree, 0, searches, searches * 10 * MS);
	profile_add(profile, EVENT_CPU, 1, shop, 0, other, other * 10 * MS);
	profile_advance(profile, SECONDS);
	second();
}

static void test_collisions(void)
{
	colliding(30, 270);
	is_found("collisions", "10 % of the CPU time");
	is_str(found("collisions")->what,
		"10 % of the CPU time is spent on hash table keys with colliding hash codes, most "
		"of it in Orders.read",
		"what it says");
	colliding(30, 280);
	is_silent("collisions", "below");
	colliding(29, 0);
	is_silent("collisions", "of 29 samples");
}

static uint32_t early_at = 2, late_at = 8; /* seconds of the first and of the second half */

/* Samples in both: interpreted ones of "shop.Orders.sum", and others. */
static void interpreting(uint32_t early, uint32_t late, uint32_t other, const char *second_method)
{
	uint32_t halves[2], shop, n[] = {early, late};
	const char *const names[] = {"sum", second_method};

	begin();
	thread_of(0, "worker");
	shop = stack_of(PROFILE_ROOT_STACK, "shop.Orders", "all");
	for (int i = 0; i < 2; i++) {
		uint32_t method = profile_method(profile, "shop.Orders", names[i], "()V", "");

		halves[i] = profile_stack_child(
			profile, shop, profile_frame(profile, method, FRAME_INTERPRETED, 3, 7));
		profile_add(profile, EVENT_CPU, i ? late_at : early_at, halves[i], 0, n[i],
			n[i] * 10 * MS);
		profile_add(profile, EVENT_CPU, i ? late_at : early_at, shop, 0, other,
			other * 10 * MS);
	}
	profile_advance(profile, SECONDS);
	second();
}

/* And one more sample in each half, of so many interpreted methods. */
static void interpreting_many(int methods)
{
	char name[20];

	for (int i = 0; i < methods; i++) {
		uint32_t method, stack;

		snprintf(name, sizeof(name), "rare%d", i);
		method = profile_method(profile, "shop.Rare", name, "()V", "");
		stack = profile_stack_child(profile, PROFILE_ROOT_STACK,
			profile_frame(profile, method, FRAME_INTERPRETED, 3, 7));
		profile_add(profile, EVENT_CPU, early_at, stack, 0, 1, 10 * MS);
		profile_add(profile, EVENT_CPU, late_at, stack, 0, 1, 10 * MS);
	}
}

/* Is it found in these seconds? */
static bool interprets_in(uint32_t from, uint32_t to)
{
	for (unsigned i = 0, n = findings_evaluate(findings, profile, from, to); i < n; i++)
		if (!strcmp(findings_get(findings, i)->rule->name, "interpreted"))
			return true;
	return false;
}

static void test_interpreted(void)
{
	interpreting(25, 25, 75, "sum");
	is_found("interpreted", "25 % of the CPU time in one method");
	is_str(found("interpreted")->what,
		"25 % of the CPU time is spent in the interpreter 3600 s after the start, most in "
		"Orders.sum",
		"what it says");
	interpreting(25, 25, 76, "sum");
	is_silent("interpreted", "below");
	interpreting(50, 0, 75, "sum");
	is_silent("interpreted", "that ends");
	interpreting(25, 25, 75, "total");
	is_silent("interpreted", "of one method, then of another");
	interpreting(24, 24, 1, "sum");
	is_silent("interpreted", "of 48 samples");
	interpreting(10, 10, 75, "sum");
	interpreting_many(15);
	is_found("interpreted", "25 % of the CPU time, 10 % in one method");
	interpreting(9, 9, 75, "sum");
	interpreting_many(16);
	is_silent("interpreted", "where no method has more than 9 %");
	early_at = 1, late_at = 3;
	interpreting(25, 25, 75, "sum");
	ok(interprets_in(0, 4), "interpreted: in 4 s");
	ok(!interprets_in(1, 4), "interpreted: silent in 3 s");
	early_at = 2, late_at = 8;
	interpreting(25, 25, 75, "sum");
	v.uptime_s = 60;
	second();
	is_found("interpreted", "a minute after the start");
	v.uptime_s = 59;
	second();
	is_silent("interpreted", "in the first minute");
}

static struct profile_snapshot *baseline;

/* Of so many samples each: in the six seconds that are the baseline, and in the six after it. */
static void becomes(unsigned then, unsigned then_all, unsigned now, unsigned now_all)
{
	const struct {
		uint32_t second;
		unsigned mine, all;
	} parts[] = {{1, then, then_all}, {8, now, now_all}};
	struct profile_query q = profile_whole(EVENT_CPU);
	uint32_t page, report, text;

	profile_snapshot_free(baseline);
	begin();
	thread_of(0, "worker");
	page = stack_of(PROFILE_ROOT_STACK, "shop.Page", "show");
	report = stack_of(page, "shop.Report", "build");
	text = stack_of(report, "java.lang.StringBuilder", "append");
	for (int i = 0; i < 2; i++) {
		unsigned mine = parts[i].mine, own = mine - mine / 3, rest = parts[i].all - mine;

		profile_add(profile, EVENT_CPU, parts[i].second, report, 0, own, own * 10 * MS);
		profile_add(profile, EVENT_CPU, parts[i].second, text, 0, mine - own,
			(mine - own) * 10 * MS);
		profile_add(profile, EVENT_CPU, parts[i].second, page, 0, rest, rest * 10 * MS);
	}
	profile_advance(profile, SECONDS);
	q.to = 6;
	baseline = profile_snapshot_new(profile, &q);
	findings_baseline(findings, baseline);
	second();
	looks_from = 6;
}

static void test_new(void)
{
	becomes(1, 600, 186, 600);
	is_found("new", "what has become much");
	is_str(found("new")->what,
		"31 % of the CPU time is in Report.build, up from 0.2 % in the baseline",
		"what it says");
	ok(strstr(found("new")->proof, "Report.build"), "and its stack");
	findings_baseline(findings, NULL);
	is_silent("new", "without a baseline");
	becomes(0, 600, 66, 600);
	is_found("new", "what was not there, with 11 %");
	becomes(0, 600, 59, 600);
	is_silent("new", "with less than a tenth");
	becomes(60, 600, 250, 600);
	is_found("new", "four times as much");
	becomes(60, 600, 230, 600);
	is_silent("new", "not quite four times as much");
	becomes(186, 600, 186, 600);
	is_silent("new", "where all is as it was");
	becomes(186, 600, 1, 600);
	is_silent("new", "what was there, and no longer is");
	becomes(0, 100, 30, 100);
	is_found("new", "of 100 samples");
	becomes(0, 99, 30, 99);
	is_silent("new", "of 99 samples");
	becomes(0, 100, 14, 100);
	is_silent("new", "where chance may have it");
	becomes(0, 600, 186, 600);
	v.events[EVENT_CPU].state = VITALS_OFF;
	second();
	is_silent("new", "where CPU is not sampled");
	profile_snapshot_free(baseline);
	looks_from = 0;
}

/* Proofs name native methods whole, with their library. */
static void test_native(void)
{
	struct scene scene = {.profile = profile};

	is_str(scene_method(&scene, profile_method(profile, "", "__futex_abstimed_wait_common", "",
					    "libc.so.6")),
		"[libc.so.6] __futex_abstimed_wait_common", "a function of a library");
	is_str(scene_method(&scene, profile_method(profile, "shop.Cart", "total", "()V", "")),
		"Cart.total", "a method without its packages");
}

int main(void)
{
	test_jit_anew();
	test_codecache();
	test_deopt();
	test_collisions();
	test_interpreted();
	test_new();
	test_native();
	findings_free(findings);
	profile_free(profile);
	return tap_done();
}
