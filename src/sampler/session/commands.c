/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the front end's commands. */
#include "sampler/session/publisher.h"

#include "sampler/contexts.h"
#include "sampler/engine/borrowed.h"
#include "sampler/engine/events.h"
#include "sampler/engine/latency.h"
#include "sampler/session/headroom.h"
#include "sampler/session/scan.h"
#include "sampler/session/unwind_recv.h"
#include "sampler/signal/raw.h"
#include "sampler/text.h"

#include <errno.h>
#include <string.h>

static bool depth_is_valid(uint64_t depth)
{
	uint32_t limit = WIRE_DEPTH_LIMIT(depth), top = WIRE_DEPTH_TOP(depth);
	uint32_t root = WIRE_DEPTH_ROOT(depth);

	return top && limit <= WIRE_DEPTH_MAX && top <= limit && (!root || top + root < limit);
}

static int command_run(struct sampler *s, const struct wire_command *c, char *text, size_t bytes)
{
	struct text out = text_into(text, bytes);
	int result;

	switch (c->op) {
	case WIRE_OP_EVENT_START:
		headroom_count(s);
		/* Borrowed events must be available before threads are armed. */
		borrowed_receive_all(s);
		return events_start(s, c, text, bytes);
	case WIRE_OP_EVENT_STOP: return events_stop(s, c->event, text, bytes);
	case WIRE_OP_DETACH: s->leave_asked = true; return 0;
	case WIRE_OP_UNWIND:
		result = unwind_recv_chunks(
			s->unwind_recv, s->shared.staging, WIRE_STAGING_BYTES, c->arg);
		text_add(&out, result < 0 ? "unwind rows were not accepted" : "");
		return result;
	case WIRE_OP_FLUSH: return 0; /* a publication follows every command */
	case WIRE_OP_THREADS: select_set(s, c->text); return 0;
	case WIRE_OP_BUDGET:
		budget_set(s, c->arg < UINT32_MAX ? (uint32_t)c->arg : UINT32_MAX,
			(c->flags & WIRE_BUDGET_CHOSEN) != 0);
		return 0;
	case WIRE_OP_DEPTH:
		if (!depth_is_valid(c->arg)) {
			text_add(&out, "invalid depth");
			return -EINVAL;
		}
		atomic_store(&s->depth, c->arg);
		return 0;
	case WIRE_OP_LEND: return borrowed_open(s);
	case WIRE_OP_LATENCY: return latency_select(s, c, text, bytes);
	case WIRE_OP_CONTEXTS: return contexts_set(s, c->text);
	default:
		text_add(&out, "this agent does not support command ");
		text_add_number(&out, c->op);
		return -ENOSYS;
	}
}

bool commands_run(struct sampler *s, uint32_t seq)
{
	struct wire_status *status = s->shared.status;
	struct wire_command command;

	if (seq == s->command_seq)
		return false;
	s->command_seq = seq;
	memcpy(&command, &s->shared.control->command, sizeof(command));
	command.text[sizeof(command.text) - 1] = '\0';
	atomic_store(&status->done_result,
		command_run(s, &command, status->done_text, sizeof(status->done_text)));
	atomic_store(&status->done_seq, seq);
	raw_futex_wake(&status->done_seq);
	return true;
}
