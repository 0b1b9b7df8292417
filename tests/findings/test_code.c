/* SPDX-License-Identifier: Apache-2.0 */
/* The rules for compiled code and for changes, on both sides of each threshold. */
#include "findings/scene.h"
#include "tests/findings/judge.h"

static int compiled_s = 31; /* duration of anew() */

/* Compilations per second, and the KB by which the code cache grows per second. */
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
	is_found("jit", "at 20 compilations per second when the code cache does not grow");
	is_str(found("jit")->what,
		"20 methods per second are still being compiled 3600 s after the start, and their "
		"code is discarded",
		"the finding of jit names the rate and the JVM's age");
	anew(19, 0);
	is_silent("jit", "at 19 compilations per second");
	anew(100, 24);
	is_found("jit", "when the code cache grows by less than 256 bytes per compilation");
	anew(100, 25);
	is_silent("jit", "when the code cache grows by 256 bytes per compilation");
	compiled_s = 29;
	anew(20, 0);
	is_silent("jit", "when the rate has lasted for 29 s");
	compiled_s = 31;
	anew(20, 0);
	v.uptime_s = 59;
	second();
	is_silent("jit", "59 s after the start");
	anew(20, 0);
	v.code_used = -1;
	second();
	is_silent("jit", "when the use of the code cache is not known");
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
	is_silent("codecache", "with 10 % free");
	cache((90 << 10) + 1, 100 << 10, 3, 10);
	is_found("codecache", "with less than 10 % free");
	is_str(found("codecache")->what,
		"the code cache is nearly full: 90.0 of 100.0 MB are in use",
		"the finding of codecache names use and size");
	ok(strstr(found("codecache")->proof, "3.0 per second"),
		"the finding of codecache names the rate of compilations");
	cache(3457, 4096, 0, 10);
	is_found("codecache", "with less than 640 KB free");
	ok(strstr(found("codecache")->proof, "nothing was compiled"),
		"the finding of codecache says that nothing was compiled");
	cache(3456, 4096, 0, 10);
	is_silent("codecache", "with 640 KB free");
	cache(4000, 4096, 0, 6);
	is_silent("codecache", "with 6 s of vitals");
	cache(1000, 4096, 0, 10);
	v.code_used = 4000 << 10;
	second();
	is_silent("codecache", "when it has filled up in the last second");
	begin();
	for (int i = 0; i <= 10; i++)
		second();
	is_silent("codecache", "when its use is not known");
}

/* CPU samples of deoptimization of "shop.Orders.read", and of its other code. */
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
	is_found("deopt", "when deoptimization takes 5 % of the CPU time");
	is_str(found("deopt")->what,
		"5 % of the CPU time is spent on deoptimization, most of it from Orders.read",
		"the finding of deopt names the share and the method");
	leaving(30, 580);
	is_silent("deopt", "when deoptimization takes less than 5 % of the CPU time");
	leaving(29, 0);
	is_silent("deopt", "with 29 samples of deoptimization");
	leaving(30, 0);
	v.uptime_s = 30;
	second();
	is_found("deopt", "30 s after the start");
	v.uptime_s = 29;
	second();
	is_silent("deopt", "29 s after the start");
}

/* CPU samples of searches among keys with colliding hash codes in "shop.Orders.read", and of its other code. */
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
	is_found("collisions", "when searches among colliding keys take 10 % of the CPU time");
	is_str(found("collisions")->what,
		"10 % of the CPU time is spent on hash table keys with colliding hash codes, most "
		"of it in Orders.read",
		"the finding of collisions names the share and the method");
	colliding(30, 280);
	is_silent("collisions",
		"when searches among colliding keys take less than 10 % of the CPU time");
	colliding(29, 0);
	is_silent("collisions", "with 29 samples of searches");
}

static uint32_t
	early_at = 2,
	late_at = 8; /* the seconds that interpreting() uses, one in each half of the window */

/* CPU samples: interpreted, `early` of "shop.Orders.sum" and `late` of second_method; in each half also `other`. */
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

/* Adds a sample of each of `count` other interpreted methods to each half. */
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

/* True when "interpreted" is reported for the seconds [from, to). */
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
	is_found("interpreted", "when one method takes 25 % of the CPU time in the interpreter");
	is_str(found("interpreted")->what,
		"25 % of the CPU time is spent in the interpreter 3600 s after the start, most in "
		"Orders.sum",
		"the finding of interpreted names the share, the JVM's age and the method");
	interpreting(25, 25, 76, "sum");
	is_silent("interpreted", "when the interpreter takes less than 25 % of the CPU time");
	interpreting(50, 0, 75, "sum");
	is_silent("interpreted", "when it ends in the first half of the window");
	interpreting(25, 25, 75, "total");
	is_silent("interpreted", "when the method is another one in the second half");
	interpreting(24, 24, 1, "sum");
	is_silent("interpreted", "with 48 samples of interpreted methods");
	interpreting(10, 10, 75, "sum");
	interpreting_many(15);
	is_found("interpreted",
		"when the interpreter takes 25 % of the CPU time, 10 % in one method");
	interpreting(9, 9, 75, "sum");
	interpreting_many(16);
	is_silent("interpreted", "when no method has more than 9 % of the CPU time");
	early_at = 1, late_at = 3;
	interpreting(25, 25, 75, "sum");
	ok(interprets_in(0, 4), "interpreted is reported in a window of 4 s");
	ok(!interprets_in(1, 4), "interpreted is not reported in a window of 3 s");
	early_at = 2, late_at = 8;
	interpreting(25, 25, 75, "sum");
	v.uptime_s = 60;
	second();
	is_found("interpreted", "60 s after the start");
	v.uptime_s = 59;
	second();
	is_silent("interpreted", "59 s after the start");
}

static struct profile_snapshot *baseline;

/* CPU samples of "shop.Report.build", and of all methods, in the 6 s of the baseline and in the 6 s after it. */
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
	window_from = 6;
}

static void test_new(void)
{
	becomes(1, 600, 186, 600);
	is_found("new", "when a method's share rises from 0.2 % to 31 %");
	is_str(found("new")->what,
		"31 % of the CPU time is in Report.build, up from 0.2 % in the baseline",
		"the finding of new names the method and both shares");
	ok(strstr(found("new")->proof, "Report.build"),
		"the finding of new shows the method's stack");
	findings_baseline(findings, NULL);
	is_silent("new", "without a baseline");
	becomes(0, 600, 66, 600);
	is_found("new", "when a method that was not there has 11 %");
	becomes(0, 600, 59, 600);
	is_silent("new", "when a method that was not there has less than 10 %");
	becomes(60, 600, 250, 600);
	is_found("new", "when a method has more than four times its share");
	becomes(60, 600, 230, 600);
	is_silent("new", "when a method has less than four times its share");
	becomes(186, 600, 186, 600);
	is_silent("new", "when nothing has changed");
	becomes(186, 600, 1, 600);
	is_silent("new", "when a method's share has shrunk");
	becomes(0, 100, 30, 100);
	is_found("new", "with 100 samples in each window");
	becomes(0, 99, 30, 99);
	is_silent("new", "with 99 samples in each window");
	becomes(0, 100, 14, 100);
	is_silent("new", "when the rise may be chance");
	becomes(0, 600, 186, 600);
	v.events[EVENT_CPU].state = VITALS_OFF;
	second();
	is_silent("new", "when cpu is not sampled");
	profile_snapshot_free(baseline);
	window_from = 0;
}

/* Method names in findings: native functions in full, with their library. */
static void test_native(void)
{
	struct scene scene = {.profile = profile};

	is_str(scene_method(&scene, profile_method(profile, "", "__futex_abstimed_wait_common", "",
					    "libc.so.6")),
		"[libc.so.6] __futex_abstimed_wait_common",
		"a native function is named with its library");
	is_str(scene_method(&scene, profile_method(profile, "shop.Cart", "total", "()V", "")),
		"Cart.total", "a Java method is named without its package");
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
