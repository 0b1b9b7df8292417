/* SPDX-License-Identifier: Apache-2.0 */
/* One function per command, one table row per function. */
#include "sampler/session/publisher.h"

#include "sampler/engine/borrowed.h"
#include "sampler/engine/events.h"
#include "sampler/session/headroom.h"
#include "sampler/session/scan.h"
#include "sampler/session/unwind_recv.h"
#include "sampler/signal/raw.h"
#include "sampler/text.h"

#include <errno.h>
#include <string.h>

static int command_start(struct sampler *s, const struct wire_command *c, char *text, size_t bytes)
{
	headroom_count(s);
	borrowed_receive_all(s); /* borrowed events must be available before threads are armed */
	return events_start(s, c, text, bytes);
}

static int command_stop(struct sampler *s, const struct wire_command *c, char *text, size_t bytes)
{
	return events_stop(s, c->event, text, bytes);
}

static int command_detach(struct sampler *s, const struct wire_command *c, char *text, size_t bytes)
{
	s->leave_asked = true;
	return 0;
}

static int command_flush(struct sampler *s, const struct wire_command *c, char *text, size_t bytes)
{
	return 0; /* a publication follows every command */
}

static int command_unwind(struct sampler *s, const struct wire_command *c, char *text, size_t bytes)
{
	int taken =
		unwind_recv_pieces(s->unwind_recv, s->shared.staging, WIRE_STAGING_BYTES, c->arg);

	text_set(text, bytes, taken < 0 ? "unwind rows were not accepted" : "");
	return taken;
}

static int command_threads(
	struct sampler *s, const struct wire_command *c, char *text, size_t bytes)
{
	select_set(s, c->text);
	return 0;
}

static int command_budget(struct sampler *s, const struct wire_command *c, char *text, size_t bytes)
{
	budget_set(s, c->arg < UINT32_MAX ? (uint32_t)c->arg : UINT32_MAX,
		(c->flags & WIRE_BUDGET_CHOSEN) != 0);
	return 0;
}

static int command_depth(struct sampler *s, const struct wire_command *c, char *text, size_t bytes)
{
	uint32_t limit = WIRE_DEPTH_LIMIT(c->arg), top = WIRE_DEPTH_TOP(c->arg);
	uint32_t root = WIRE_DEPTH_ROOT(c->arg);

	if (!top || limit > WIRE_DEPTH_MAX || top > limit || (root && top + root >= limit)) {
		text_set(text, bytes, "invalid depth");
		return -EINVAL;
	}
	atomic_store(&s->depth, c->arg);
	return 0;
}

static int command_lend(struct sampler *s, const struct wire_command *c, char *text, size_t bytes)
{
	return borrowed_open(s);
}

static const struct {
	uint32_t op;
	int (*run)(struct sampler *s, const struct wire_command *c, char *text, size_t bytes);
} command_rows[] = {
	{WIRE_OP_EVENT_START, command_start},
	{WIRE_OP_EVENT_STOP, command_stop},
	{WIRE_OP_DETACH, command_detach},
	{WIRE_OP_UNWIND, command_unwind},
	{WIRE_OP_FLUSH, command_flush},
	{WIRE_OP_THREADS, command_threads},
	{WIRE_OP_BUDGET, command_budget},
	{WIRE_OP_DEPTH, command_depth},
	{WIRE_OP_LEND, command_lend},
};

static int command_run(struct sampler *s, const struct wire_command *c, char *text, size_t bytes)
{
	struct text out = text_into(text, bytes);

	for (size_t i = 0; i < sizeof(command_rows) / sizeof(command_rows[0]); i++) {
		if (command_rows[i].op == c->op)
			return command_rows[i].run(s, c, text, bytes);
	}
	text_add(&out, "this agent does not support command ");
	text_add_number(&out, c->op);
	return -ENOSYS;
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
