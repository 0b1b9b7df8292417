/* SPDX-License-Identifier: Apache-2.0 */
/* The rule about slow requests on both sides of each threshold, on calls made by hand. */
#include "profile/calls/calls.h"
#include "tests/findings/judge.h"

#include <stdio.h>
#include <stdlib.h>

#define INTERVAL (5 * MS)
#define SERVICE  "javax.servlet.http.HttpServlet.service"
#define POLLS    1000u

/* A model of requests: `calls` of them, of which the last `slow` are slow. */
struct requests {
	const char *method;
	unsigned calls, slow;
	double ms, slow_ms;    /* durations */
	double waits;          /* share of a slow call's time in `state`; the rest computes */
	enum call_state state; /* of slow calls */
	double also;           /* share of the time of the others in the same place and state */
};
static const struct requests usual = {SERVICE, 200, 8, 10, 200, 0.9, CALL_LOCK, 0};

/* Adds a call that begins at begin_ms, on a thread of its own for each of eight. */
static void add_call(const struct requests *r, unsigned i, double begin_ms, bool slow)
{
	static struct call_poll polls[POLLS];
	double ms = slow ? r->slow_ms : r->ms, waits = slow ? r->waits : r->also, computes = 0;
	uint64_t begin = (uint64_t)(begin_ms * (double)MS),
		 end = begin + (uint64_t)(ms * (double)MS);
	uint32_t top = stack_of(PROFILE_ROOT_STACK, "java.lang.Thread", "run"), count = 0;
	uint32_t entry = stack_of(top, "javax.servlet.http.HttpServlet", "service");
	uint32_t parse = stack_of(entry, "shop.Parser", "parse");
	uint32_t save = stack_of(entry, "shop.Repo", "save");
	struct call call = {.thread = i % 8,
		.gap_ns = INTERVAL,
		.begin_from = begin,
		.begin_to = begin,
		.end_from = end,
		.end_to = end,
		.counted = true};

	for (uint64_t at = begin; at < end && count < POLLS; at += MS) {
		bool in_wait = (double)(at - begin) >= (1 - waits) * (double)(end - begin);
		struct call_poll *poll = &polls[count++];

		*poll = (struct call_poll){.time_ns = at,
			.still_ns = at,
			.cpu_ns = (uint64_t)(computes * (double)MS),
			.delay_ns = 0,
			.stack = in_wait ? save : parse,
			.state = in_wait ? r->state : CALL_CPU};
		computes += in_wait ? r->state == CALL_CPU : 1;
		call.state_ns[poll->state] += MS;
	}
	for (uint32_t a = 0, b = count - 1; a < b; a++, b--) {
		struct call_poll swap = polls[a];

		polls[a] = polls[b];
		polls[b] = swap;
	}
	call.polls = count;
	calls_restore(profile, &call, polls, count);
}

static void model(const struct requests *r)
{
	begin();
	for (uint32_t i = 0; i < 8; i++)
		thread_of(i, "http");
	calls_begin(profile, r->method, INTERVAL);
	add_call(r, 0, 100, false); /* the first poll, which is too early */
	for (unsigned i = 0; i < r->calls; i++)
		add_call(r, i, 1000 + 40.0 * i,
			r->slow && i % (r->calls / r->slow) == 0 &&
				i / (r->calls / r->slow) < r->slow);
	for (int s = 0; s < SECONDS; s++) {
		profile_advance(profile, (uint32_t)s);
		second();
	}
}

static void finds(struct requests r, const char *what)
{
	model(&r);
	is_found("requests", what);
}

static void silent(struct requests r, const char *what)
{
	model(&r);
	is_silent("requests", what);
}

#define WITH(...)                           \
	({                                  \
		struct requests r_ = usual; \
		struct requests *r = &r_;   \
		__VA_ARGS__;                \
		r_;                         \
	})

static void test_thresholds(void)
{
	const struct finding *f;

	finds(usual, "when 8 of 200 requests wait for a lock");
	f = found("requests");
	ok(f && strstr(f->what, "HttpServlet.service p99") &&
			strstr(f->what, "waiting for a lock") &&
			strstr(f->proof, "shop.Repo.save") &&
			strstr(f->advice, "jhot slow " SERVICE),
		"with figures, the cause, its place and the next command");
	finds(WITH(r->calls = 100, r->slow = 5), "with 100 calls");
	silent(WITH(r->calls = 99, r->slow = 5), "with 99 calls");
	silent(WITH(r->slow = 4), "with four slow calls");
	finds(WITH(r->slow = 5), "with five slow calls");
	silent(WITH(r->slow_ms = 98, r->ms = 8), "when the slow ones take less than 100 ms");
	finds(WITH(r->slow_ms = 102, r->ms = 8), "when they take 100 ms");
	silent(WITH(r->ms = 21), "when they take less than ten times the median");
	finds(WITH(r->ms = 19), "when they take ten times the median");
	silent(WITH(r->waits = 0.46), "when they wait for less than half of their time");
	finds(WITH(r->waits = 0.54), "when they wait for half of their time");
	silent(WITH(r->also = 0.7), "when other calls wait nearly as much, for their duration");
	finds(WITH(r->also = 0.2), "when other calls wait much less");
	silent(WITH(r->slow = 0), "when none is slow");
}

static void test_states(void)
{
	static const enum call_state intended[] = {
		CALL_CPU, CALL_RUNNABLE, CALL_SLEEP, CALL_WAIT, CALL_PARK, CALL_SHORT};

	finds(WITH(r->state = CALL_IO), "when they wait for I/O");
	finds(WITH(r->state = CALL_SAFEPOINT), "when safepoints stop them");
	for (size_t i = 0; i < sizeof(intended) / sizeof(intended[0]); i++)
		silent(WITH(r->state = intended[i]), call_state_names[intended[i]]);
}

static void test_entries(void)
{
	static const char *const more[] = {"shop.Gateway.handle", NULL};
	static const char *const known[] = {"jakarta.servlet.http.HttpServlet.service",
		"io.grpc.stub.ServerCalls$UnaryServerCallHandler$UnaryServerCallListener."
		"onHalfClose",
		"sun.net.httpserver.ServerImpl$Exchange$LinkHandler.handle",
		"org.springframework.web.servlet.DispatcherServlet.doDispatch"};

	struct requests gateway = usual;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		finds(WITH(r->method = known[i]), known[i]);
	silent(WITH(r->method = "shop.Gateway.handle"), "for a method that is no entry point");
	gateway.method = more[0];
	model(&gateway);
	findings_set_requests(findings, more);
	is_found("requests", "for one that the settings add");
}

static void test_method(void)
{
	static const char *const more[] = {"Parser.parse", NULL};
	uint32_t top, service, spring, parse, other, got;

	begin();
	thread_of(0, "http");
	top = stack_of(PROFILE_ROOT_STACK, "java.lang.Thread", "run");
	other = stack_of(top, "shop.Batch", "run");
	got = findings_request_method(findings, profile);
	is_int(got, PROFILE_NONE, "without samples there are no requests");
	profile_add(profile, EVENT_WALL, 0, other, 0, 50, 50 * MS);
	is_int(findings_request_method(findings, profile), PROFILE_NONE,
		"nor in a program without a known entry point");
	service = stack_of(top, "javax.servlet.http.HttpServlet", "service");
	spring = stack_of(
		service, "org.springframework.web.servlet.DispatcherServlet", "doDispatch");
	parse = stack_of(spring, "shop.Parser", "parse");
	profile_add(profile, EVENT_WALL, 0, parse, 0, 5, 5 * MS);
	is_str(profile_get_method(profile, findings_request_method(findings, profile))->full,
		SERVICE, "the outermost entry point is measured");
	profile_add(profile, EVENT_WALL, 0, stack_of(other, "shop.Parser", "parse"), 0, 9, 9 * MS);
	findings_set_requests(findings, more);
	is_str(profile_get_method(profile, findings_request_method(findings, profile))->full,
		"shop.Parser.parse", "of several that in which threads spend most time");
}

int main(void)
{
	test_thresholds();
	test_states();
	test_entries();
	test_method();
	findings_free(findings);
	profile_free(profile);
	return tap_done();
}
