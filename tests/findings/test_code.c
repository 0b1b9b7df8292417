/* SPDX-License-Identifier: Apache-2.0 */
/* The rules about compiled code, just beyond their thresholds and just below them. */
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
		"20 methods a second are compiled, 3600 s after the start, and what is compiled "
		"does not "
		"stay",
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
		"the code cache is nearly full: compiled code takes 90.0 of 100.0 MB",
		"what it says");
	ok(strstr(found("codecache")->proof, "3.0 a second"), "and how much is compiled");
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
		"5 % of the CPU time goes from compiled code back to the interpreter, most of it "
		"from Orders.read",
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
	for (unsigned i = 0, n = findings_look(findings, profile, from, to); i < n; i++)
		if (!strcmp(findings_get(findings, i)->rule->name, "interpreted"))
			return true;
	return false;
}

static void test_interpreted(void)
{
	interpreting(25, 25, 75, "sum");
	is_found("interpreted", "25 % of the CPU time in one method");
	is_str(found("interpreted")->what,
		"25 % of the CPU time is interpreted, not compiled, 3600 s after the start, most "
		"in Orders.sum",
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

int main(void)
{
	test_jit_anew();
	test_codecache();
	test_deopt();
	test_interpreted();
	findings_free(findings);
	profile_free(profile);
	return tap_done();
}
