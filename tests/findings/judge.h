/* SPDX-License-Identifier: Apache-2.0 */
/* A synthetic program, second by second, and what the rules report about it. */
#ifndef JHOT_TESTS_FINDINGS_JUDGE_H
#define JHOT_TESTS_FINDINGS_JUDGE_H

#include "findings/findings.h"

#include "base/clock.h"
#include "tests/profile/add.h"
#include "tests/tap.h"

#define MS      1000000ull
#define SECONDS 12

static struct findings *findings;
static struct profile *profile;
static struct vitals v;
static uint32_t window_from; /* first second that evaluate() judges */

/* A new program, an hour old, with all events sampled; no other vitals are known. */
static void begin(void)
{
	findings_free(findings);
	profile_free(profile);
	findings = findings_new();
	profile = profile_new();
	memset(&v, 0x80, sizeof(v));
	vitals_bound(&v); /* impossible values become "not known" */
	v.time_ns = 100 * NS_PER_S;
	v.gc_name[0] = '\0';
	v.uptime_s = 3600;
	v.alive = true;
	for (int i = 0; i < VITALS_EVENTS; i++)
		v.events[i].state = VITALS_ON;
}

static void second(void)
{
	v.time_ns += NS_PER_S;
	findings_vitals(findings, &v);
}

static unsigned evaluate(void)
{
	return findings_evaluate(findings, profile, window_from, SECONDS);
}

static const struct finding *found(const char *rule)
{
	for (unsigned i = 0, n = evaluate(); i < n; i++)
		if (!strcmp(findings_get(findings, i)->rule->name, rule))
			return findings_get(findings, i);
	return NULL;
}

static void is_found(const char *rule, const char *what)
{
	const struct finding *f = found(rule);

	if (ok(f && *f->what && *f->proof && *f->advice, "%s is reported %s", rule, what) && f)
		diag("%s  %s", f->rule->title, f->what);
}

static void is_silent(const char *rule, const char *what)
{
	const struct finding *f = found(rule);

	if (!ok(!f, "%s is not reported %s", rule, what))
		diag("%s", f->what);
}

static uint32_t stack_of(uint32_t parent, const char *class_name, const char *name)
{
	uint32_t method = profile_method(profile, class_name, name, "()V", "");

	return profile_stack_child(
		profile, parent, profile_frame(profile, method, FRAME_COMPILED, 0, 7));
}

static void thread_of(uint32_t number, const char *name)
{
	profile_thread_set(profile, number,
		&(struct profile_thread){
			.tid = (int)number + 100, .kind = THREAD_JAVA, .name = name});
}

#endif
