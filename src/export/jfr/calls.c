/* SPDX-License-Identifier: Apache-2.0 */
/* Measured calls as events: one per call, with its duration and the time that it spent in each state. */
#include "export/jfr/jfr.h"
#include "export/text.h"

#include "base/clock.h"
#include "profile/calls/report.h"

static void calls_text(struct jfr *j, const char *text)
{
	buf_clear(&j->text);
	if (*text)
		export_clean(&j->text, text, 0, 0);
	jfr_text(&j->body, buf_str(&j->text));
}

static void calls_add(void *ctx, const struct call *call)
{
	struct jfr *j = ctx;
	uint64_t ns = call_duration_ns(call);
	double states[CALL_STATES];
	char lock[CALLS_LOCK];

	if (jfr_full(j))
		return;
	call_shares(call, states);
	buf_clear(&j->body);
	jfr_varint(&j->body, JFR_CALL);
	jfr_varint(&j->body, call_begin_ns(call));
	jfr_varint(&j->body, ns);
	jfr_varint(&j->body, jfr_thread(j, call->thread));
	calls_text(j, calls_name(j->p));
	jfr_varint(&j->body, call_error_ns(call));
	buf_addc(&j->body, call->end_to != UINT64_MAX);
	for (unsigned s = 0; s < CALL_STATES; s++)
		jfr_varint(&j->body, (uint64_t)((double)ns * states[s] + 0.5));
	calls_text(j, call_lock_text(j->p, call, lock));
	jfr_block(&j->events, &j->body);
}

void jfr_calls(struct jfr *j, const struct profile_query *q)
{
	struct calls_query calls = {.from_ns = q->from * NS_PER_S,
		.to_ns = q->to == UINT32_MAX ? UINT64_MAX : q->to * NS_PER_S};

	calls_each(j->p, &calls, calls_add, j);
}
