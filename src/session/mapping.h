/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An agent's memfd: found among the target's descriptors, checked, mapped; commands through it, with answers; the lease.
 *
 * The header is copied and checked once; all else is written by the agent and whoever else may write to that process:
 * read each value once, trust none. The memfd must be sealed against shrinking, so that reading it cannot fault. One
 * command at a time, waited for by its number, in short slices between which the caller may drain the ring. One thread.
 */
#ifndef JHOT_SESSION_MAPPING_H
#define JHOT_SESSION_MAPPING_H

#include "base/err.h"
#include "wire/layout.h"

#include <stdbool.h>
#include <sys/types.h>

struct mapping {
	unsigned char *base; /* NULL: not open */
	pid_t pid;           /* whose agent it is; 0: not known */
	size_t bytes;
	struct wire_header header; /* our copy, checked */
	struct wire_control *control;
	struct wire_status *status;
	struct wire_cursors *cursors;
	unsigned char *ring, *staging;
};

/* mapping_check: can this header describe a file of so many bytes that we can read? 0 or -1. */
int mapping_check(const struct wire_header *h, uint64_t file_bytes, struct err *err);

/* mapping_open_fd: map this descriptor (which stays the caller's). */
int mapping_open_fd(struct mapping *m, int fd, struct err *err);
void mapping_close(struct mapping *m);

/*
 * mapping_find: the target's memfd of this token; NULL: of any, the youngest session first. 1 = mapped,
 * 0 = there is none (any more), -1 with an error. Fails for descriptors that we may not look at.
 */
int mapping_find(struct mapping *m, pid_t pid, const char *token, struct err *err);

/* --- control.c ----------------------------------------------------------------------------------------- */

/* Called while waiting; false gives up (the JVM is gone). NULL: nothing to do. */
typedef bool control_idle_fn(void *ctx);

struct control_answer {
	int result;     /* 0 or -errno */
	char text[240]; /* the agent's words, cleaned */
};

/*
 * Time limits below follow the load of the machine. Time does not count while a thread of the agent runs, waits for a core
 * or waits for the kernel (swap), and each slice of waiting counts for its nominal length, however late we were woken.
 * CONTROL_STRETCH times the limit is the end in any case.
 */
#define CONTROL_STRETCH 20

/*
 * control_command: sends and waits for at most timeout_ms. 0 with the answer; -1 when there was none in time, idle
 * has given up, or the agent has left (ERR_GONE).
 */
int control_command(struct mapping *m, const struct wire_command *command, unsigned timeout_ms,
	control_idle_fn *idle, void *ctx, struct control_answer *answer, struct err *err);

/*
 * The same in two steps, for what must not wait: control_post sends when the command before is answered (control_is_idle),
 * control_answer reads what was answered last, before another is sent.
 */
bool control_is_idle(struct mapping *m);
void control_post(struct mapping *m, const struct wire_command *command);
void control_answer(struct mapping *m, struct control_answer *out);
/* control_wait_idle: until what was posted is answered; false when it was not in time. */
bool control_wait_idle(struct mapping *m, unsigned timeout_ms, control_idle_fn *idle, void *ctx);

/* control_wait_state: until the agent is READY or LEFT (its state is returned), or timeout_ms passed (-1). */
int control_wait_state(
	struct mapping *m, uint32_t state, unsigned timeout_ms, control_idle_fn *idle, void *ctx);

/* control_wait_publication: until publish_seq is no longer `seen`; true if so. */
bool control_wait_publication(struct mapping *m, uint32_t seen, unsigned timeout_ms);

/* control_hold: who we are, for others that ask. */
void control_hold(struct mapping *m);
/* The front end as read from a control page: "user@tty". */
void control_front_end(
	const struct mapping *m, char *out, size_t bytes, int *pid, uint64_t *since_wall_ns);

/* control_beats: is the front end heard? Watches for up to two beats. */
bool control_beats(const struct mapping *m);

/* --- the lease --------------------------------------------------------------------------------------- */

#define LEASE_BEAT_MS  250
#define LEASE_STALL_MS 30000 /* the main loop must have moved within this */

struct lease;
/* It beats as often, while lease_moved is called as often: both are other numbers in tests only. */
struct lease *lease_start(struct mapping *m, unsigned beat_ms, unsigned stall_ms, struct err *err);
void lease_moved(struct lease *l); /* the main loop is alive */
/* While busy, the main loop need not move: it writes a file, for as long as that takes. */
void lease_busy(struct lease *l, bool busy);
void lease_stop(struct lease *l); /* no beat after this */

#endif
