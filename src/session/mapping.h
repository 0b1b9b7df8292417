/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent's shared memory (a memfd): finding it among the target's descriptors, checking and mapping it; sending
 * commands through it; the lease.
 *
 * The header is copied and checked once. Everything else may change at any time, by the agent or the user who controls its
 * process: read each value once and trust none. The memfd must be sealed against shrinking, so that reads cannot fault.
 * One command is in flight at a time. Waits are sliced, so that the caller can drain the ring in between.
 * Single-threaded, but for the lease's own thread.
 */
#ifndef JHOT_SESSION_MAPPING_H
#define JHOT_SESSION_MAPPING_H

#include "base/err.h"
#include "wire/layout.h"

#include <stdbool.h>
#include <sys/types.h>

struct mapping {
	unsigned char *base; /* NULL: not open */
	pid_t pid;           /* the agent's process; 0: unknown */
	size_t bytes;
	struct wire_header header; /* our copy, checked */
	struct wire_control *control;
	struct wire_status *status;
	struct wire_cursors *cursors;
	unsigned char *ring, *staging;
};

/* Validates a header against the size of its file. 0, or -1 with an error. */
int mapping_check(const struct wire_header *h, uint64_t file_bytes, struct err *err);

/* Maps this descriptor, which stays the caller's. 0, or -1 with an error. */
int mapping_open_fd(struct mapping *m, int fd, struct err *err);
void mapping_close(struct mapping *m);

/*
 * Finds and maps the target's memfd with this token; token NULL: that of the most recent session. 1: mapped, 0: none,
 * -1 with an error, also if the descriptors may not be listed.
 */
int mapping_find(struct mapping *m, pid_t pid, const char *token, struct err *err);

/* --- control.c ----------------------------------------------------------------------------------------- */

/* Called between slices of a wait; false cancels it. May be NULL. */
typedef bool control_idle_fn(void *ctx);

struct control_answer {
	int result;     /* 0 or -errno */
	char text[240]; /* the agent's explanation, cleaned; "": none */
};

/*
 * Timeouts below stretch with the load of the machine: time in which a thread of the agent runs, waits for a core or is
 * blocked in the kernel (swap) does not count, and a slice counts with its nominal length even if we were woken late.
 * The hard limit is CONTROL_STRETCH times the timeout.
 */
#define CONTROL_STRETCH 20

/*
 * Sends a command and waits for its answer. -1 on timeout, if idle cancels, or if the agent has left (ERR_GONE). A
 * refusal by the agent is an answer.
 */
int control_command(struct mapping *m, const struct wire_command *command, unsigned timeout_ms,
	control_idle_fn *idle, void *ctx, struct control_answer *answer, struct err *err);

/*
 * The same without blocking: control_post sends, which requires control_is_idle (the previous command is answered);
 * control_answer reads the last answer, and must precede the next command.
 */
bool control_is_idle(struct mapping *m);
void control_post(struct mapping *m, const struct wire_command *command);
void control_answer(struct mapping *m, struct control_answer *out);
/* Waits until the posted command is answered; false on timeout. */
bool control_wait_idle(struct mapping *m, unsigned timeout_ms, control_idle_fn *idle, void *ctx);

/* Waits until the agent is in this state or has LEFT. Returns its state; -1 on timeout, or if idle cancels. */
int control_wait_state(
	struct mapping *m, uint32_t state, unsigned timeout_ms, control_idle_fn *idle, void *ctx);

/* Waits until publish_seq differs from `seen`; false on timeout. */
bool control_wait_publication(struct mapping *m, uint32_t seen, unsigned timeout_ms);

/* Writes our identity into the control page: user, terminal, pid. */
void control_identify(struct mapping *m);
/* Reads the identity of the front end: "user@tty". */
void control_front_end(
	const struct mapping *m, char *out, size_t bytes, int *pid, uint64_t *since_wall_ns);

/* True when the lease of the front end is live. Blocks for up to two beats. */
bool control_beats(const struct mapping *m);

/* --- the lease --------------------------------------------------------------------------------------- */

#define LEASE_BEAT_MS  250
#define LEASE_STALL_MS 30000 /* lease_renew must be called at least this often */

struct lease;
/*
 * Starts a thread that beats every beat_ms, as long as lease_renew was called within stall_ms. The agent ends the session
 * when beats cease. Other values than the defaults are for tests.
 */
struct lease *lease_start(struct mapping *m, unsigned beat_ms, unsigned stall_ms, struct err *err);
void lease_renew(struct lease *l); /* the main loop is alive */
/* While busy (writing a file), the lease beats without lease_renew. */
void lease_busy(struct lease *l, bool busy);
void lease_stop(struct lease *l); /* joins the thread: no beat after this */

#endif
