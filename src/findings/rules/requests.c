/* SPDX-License-Identifier: Apache-2.0 */
/* Rule about the latency of requests: calls of a known entry point that were measured (profile/calls). */
#include "findings/findings.h"
#include "findings/rules.h"
#include "findings/scene.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/java_name.h"
#include "profile/calls/compare.h"
#include "profile/calls/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REQUESTS_SEEN  100               /* calls */
#define REQUESTS_SLOW  5                 /* slow ones among them */
#define REQUESTS_NS    (100 * NS_PER_MS) /* p99 */
#define REQUESTS_RATIO 10.0              /* p99 to median */
#define REQUESTS_PART  0.5               /* of the time of slow calls, in one place */
#define REQUESTS_OTHER 0.5 /* the others' share of time there, relative to that, at most */

/* Until all threads inside are polled. */
#define REQUESTS_WARM_NS (500 * NS_PER_MS)

/* Methods that a server calls once per request. Class and name have at most one "*" each. */
static const struct {
	const char *class_name, *name;
} entries[] = {
	{"javax.servlet.http.HttpServlet", "service"},
	{"jakarta.servlet.http.HttpServlet", "service"},
	{"org.springframework.web.servlet.DispatcherServlet", "doDispatch"},
	{"io.netty.channel.SimpleChannelInboundHandler", "channelRead"},
	{"io.grpc.stub.ServerCalls$*", "onHalfClose"},
	{"org.springframework.kafka.listener.KafkaMessageListenerContainer$ListenerConsumer",
		"doInvokeOnMessage"},
	{"org.springframework.kafka.listener.KafkaMessageListenerContainer$ListenerConsumer",
		"doInvokeBatchOnMessage"},
	{"sun.net.httpserver.ServerImpl$Exchange$LinkHandler", "handle"},
};

static bool is_entry(const struct profile_method *m, const char *const *more)
{
	for (; more && *more; more++)
		if (*m->class_name && calls_pattern_matches(*more, m->full))
			return true;
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		if (java_name_matches(m->class_name, entries[i].class_name) &&
			java_name_matches(m->name, entries[i].name))
			return true;
	return false;
}

/* --- which method to measure --------------------------------------------------------------------- */

struct entering {
	const struct profile *p;
	const char *const *more;
	uint8_t *kind;    /* per method: 0: not known, 1: no entry, 2: entry */
	uint64_t *weight; /* per method */
	uint32_t methods;
};

static void entering_part(void *ctx, const struct profile_part *part)
{
	struct entering *e = ctx;
	uint32_t outermost = PROFILE_NONE;

	for (uint32_t at = part->stack; at != PROFILE_ROOT_STACK;) {
		struct profile_stack s = profile_get_stack(e->p, at);
		const struct profile_frame *f = profile_get_frame(e->p, s.frame);

		at = s.parent;
		if (f->method >= e->methods || !frame_is_java(f->type))
			continue;
		if (!e->kind[f->method])
			e->kind[f->method] =
				is_entry(profile_get_method(e->p, f->method), e->more) ? 2 : 1;
		if (e->kind[f->method] == 2)
			outermost = f->method;
	}
	if (outermost != PROFILE_NONE)
		e->weight[outermost] += part->weight;
}

uint32_t findings_request_method(const struct findings *f, const struct profile *p)
{
	const struct profile_query q = profile_whole(EVENT_WALL);
	uint32_t methods = profile_method_count(p), most = PROFILE_NONE;
	struct entering e = {.p = p,
		.more = findings_requests(f),
		.kind = xcalloc(methods + 1, sizeof(*e.kind)),
		.weight = xcalloc(methods + 1, sizeof(*e.weight)),
		.methods = methods};

	profile_each(p, &q, entering_part, &e);
	for (uint32_t i = 0; i < methods; i++)
		if (e.weight[i] && (most == PROFILE_NONE || e.weight[i] > e.weight[most]))
			most = i;
	free(e.kind);
	free(e.weight);
	return most;
}

/* --- the rule -------------------------------------------------------------------------------------- */

/* True for the measured method if it is an entry point. */
static bool measures_requests(const struct scene *scene)
{
	const char *name = calls_name(scene->profile), *dot = name ? strrchr(name, '.') : NULL;
	char class_name[PROFILE_PATTERN];
	struct profile_method m = {.class_name = class_name, .full = name};

	if (!dot || (size_t)(dot - name) >= sizeof(class_name))
		return false;
	memcpy(class_name, name, (size_t)(dot - name));
	class_name[dot - name] = '\0';
	m.name = dot + 1;
	return is_entry(&m, scene->requests);
}

/*
 * Waits that a program does not choose: for locks, for I/O and for safepoints. A request that
 * computes, sleeps or waits for an event for a long time may be meant to, such as a report or a
 * long poll; waits for cores have rules of their own.
 */
static bool is_unintended(enum call_state state)
{
	return state == CALL_LOCK || state == CALL_IO || state == CALL_SAFEPOINT;
}

/* The first cause that explains the tail with certainty. False: none. */
static bool requests_cause(
	const struct scene *scene, const struct calls_query *slow, struct calls_cause *cause)
{
	struct calls_comparison *both = calls_compare(scene->profile, slow);
	struct calls_cause causes[CALLS_CAUSES];
	uint32_t count = both ? calls_causes(scene->profile, slow, causes) : 0;
	bool found = count && is_unintended(causes[0].state) && causes[0].slow >= REQUESTS_PART &&
		     causes[0].other <= REQUESTS_OTHER * causes[0].slow &&
		     calls_comparison_confirms(both, scene->profile, &causes[0]);

	if (found)
		*cause = causes[0];
	calls_comparison_free(both);
	return found;
}

/* The end of "spend 71 % of their time ...". */
static void cause_text(const struct scene *scene, const struct calls_query *slow,
	const struct calls_cause *cause, char *out, size_t bytes)
{
	char lock[CALLS_LOCK] = "";
	struct call call;

	if (cause->state == CALL_LOCK && calls_slowest(scene->profile, slow, &call, 1))
		call_lock_text(scene->profile, &call, lock);
	if (*lock)
		snprintf(out, bytes, "waiting for the lock %s", lock);
	else if (cause->state == CALL_LOCK)
		snprintf(out, bytes, "waiting for a lock: %s", cause->where);
	else if (cause->state == CALL_IO)
		snprintf(out, bytes, "in I/O: %s", cause->where);
	else
		snprintf(out, bytes, "stopped by safepoints, such as those of collections");
}

static void report_requests(const struct scene *scene, const struct calls_summary *sum,
	const struct calls_query *slow, const struct calls_cause *cause)
{
	const char *name = calls_name(scene->profile);
	struct finding *f =
		scene_found(scene, FINDING_COSTS, cause->slow, hash_bytes(name, strlen(name), 0));
	char p99[CALLS_TEXT], p50[CALLS_TEXT], from[CALLS_TEXT], max[CALLS_TEXT];
	char text[CALLS_LOCK + 80];
	double states[CALL_STATES];
	size_t class_at, method_at;

	java_name_parts(name, &class_at, &method_at);
	cause_text(scene, slow, cause, text, sizeof(text));
	finding_set_text(f,
		"slow requests: %s p99 %s, median %s; those of %s or more spend %.0f %% of their "
		"time %s",
		name + class_at, calls_percentile_text(sum, sum->p99, p99),
		calls_percentile_text(sum, sum->p50, p50), calls_duration_text(slow->min_ns, from),
		100 * cause->slow, text);
	finding_prove(f, "%u calls seen, %u of them slow, the longest %s", sum->seen,
		calls_states(scene->profile, slow, states), calls_duration_text(sum->max, max));
	finding_prove(f, "%s: %.0f %% of the time of slow calls, %.0f %% of that of the others:",
		cause->where, 100 * cause->slow, 100 * cause->other);
	scene_prove_stack(scene, f, cause->stack, 4);
	finding_advise(f, "jhot slow %s %d     shows single calls", name, scene->now->pid);
	f->event = EVENT_WALL;
}

static void judge_requests(const struct scene *scene)
{
	struct calls_query slow = {.from_ns = scene->from * NS_PER_S,
		.to_ns = scene->to == UINT32_MAX ? UINT64_MAX : scene->to * NS_PER_S};
	struct calls_summary sum;
	struct calls_cause cause;
	double median, states[CALL_STATES];
	struct call oldest;
	uint64_t first, end;

	if (!measures_requests(scene))
		return;
	/* A call that the first poll of a thread found may have begun at any time before. */
	calls_range(scene->profile, &first, &end);
	if (!calls_get(scene->profile, first, &oldest))
		return;
	if (slow.from_ns < oldest.begin_to + REQUESTS_WARM_NS)
		slow.from_ns = oldest.begin_to + REQUESTS_WARM_NS;
	calls_query_counted(scene->profile, &slow);
	calls_summarize(scene->profile, &slow, &sum);
	if (sum.seen < REQUESTS_SEEN || sum.p99 == CALLS_UNKNOWN || sum.p99 < REQUESTS_NS)
		return;
	/* Shorter than two intervals: not known, but certainly not longer. */
	median = sum.p50 == CALLS_UNKNOWN ? 2 * (double)sum.interval_ns : (double)sum.p50;
	if ((double)sum.p99 < REQUESTS_RATIO * median)
		return;
	/* Calls of the tail, which may be more than 1 %: those nearer to p99 than to the median. */
	slow.min_ns = (uint64_t)sqrt(median * (double)sum.p99);
	if (calls_states(scene->profile, &slow, states) >= REQUESTS_SLOW &&
		requests_cause(scene, &slow, &cause))
		report_requests(scene, &sum, &slow, &cause);
}

const struct finding_rule rule_requests = {
	.name = "requests",
	.title = "SLOW",
	.what = "requests of known frameworks of which some wait long for a lock, I/O or "
		"safepoints",
	.events = 1u << EVENT_WALL,
	.judge = judge_requests,
};
