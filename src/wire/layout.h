/* SPDX-License-Identifier: Apache-2.0 */
/*
 * THE format: what the agent and a front end share, byte for byte. doc/wire.md explains it in words.
 *
 * One memfd, created and sealed (size) by the agent, mapped by both:
 *
 *   0        4096      8192      12288          12288+S        +R
 *   | header | control | status  | cursors page | ring data R  | staging area |
 *     agent    front end agent     one line each  agent          front end
 *     once
 *
 * Here is what holds for all of it, how a session begins, and the first page. The rest has headers of its own:
 *
 *   control.h  the lease, one command at a time     record.h  the ring and its records
 *   status.h   how the agent is, what got lost      frame.h   one level of a stack in a record
 *   unwind.h   what goes into the staging area      event.h   what is sampled, and by what
 *
 * Who writes what is fixed per area, above. Everything is little-endian as the host is; both sides run on
 * one host. Times are CLOCK_MONOTONIC ns unless named wall. Fields marked _Atomic are the only ones read
 * while the other side may write. Readers trust nothing: offsets, sizes and strings are checked, every
 * value is read once. A different major is refused.
 * Included by both sides, so it includes nothing of either.
 */
#ifndef JHOT_WIRE_LAYOUT_H
#define JHOT_WIRE_LAYOUT_H

#include "wire/control.h"
#include "wire/record.h"
#include "wire/status.h"
#include "wire/unwind.h"

#define WIRE_MAGIC         0x544f484aul /* "JHOT" */
#define WIRE_MAJOR         1
#define WIRE_MINOR         12
#define WIRE_MEMFD_PREFIX  "jhot-" /* memfd name = prefix + token */
#define WIRE_TOKEN_MAX     32      /* with NUL; [0-9a-z]+ */
#define WIRE_PAGE          4096u
#define WIRE_RING_BYTES    (2u << 20)
#define WIRE_STAGING_BYTES (256u << 10)

/* --- how a session begins ------------------------------------------------------------------------------ */

/*
 * What Agent_OnAttach returns, which the attach reply shows as its return code: numbers never change. Its options are
 * "token=TOKEN[,take=1][,walker=agct]". It checks them, starts the agent's own thread and returns at once; the session
 * begins when the memfd "jhot-TOKEN" can be found in /proc/PID/fd.
 */
enum agent_result {
	AGENT_OK = 0,
	AGENT_BAD_OPTIONS = 200,
	AGENT_BUSY = 201,     /* another session is alive, see its header */
	AGENT_NO_MEMFD = 202, /* Linux too old, no memory or descriptor left */
	AGENT_NO_MEMORY = 203,
	AGENT_NO_THREAD = 204,
	AGENT_NO_JVMTI = 205,
	AGENT_OTHER = 206, /* a session of another agent is alive: of another version */
	AGENT_NO_FILE_SIZE =
		208,         /* RLIMIT_FSIZE, which counts for memfds, is below the shared memory */
	AGENT_UNTRIED = 207, /* which calls the JVM's seccomp filter allows cannot be tried */
	AGENT_FORBIDDEN =
		300, /* plus an enum wire_call: the filter forbids a call that is needed */
};

/* --- page 0, written once by the agent before the memfd can be found --------------------------------- */

struct wire_header {
	uint32_t magic;
	uint16_t major;
	uint16_t minor;
	uint32_t header_bytes; /* sizeof(struct wire_header) of the writer */
	uint32_t reserved;
	uint64_t features; /* none defined yet */
	uint64_t map_bytes;
	uint32_t control_off, control_bytes;
	uint32_t status_off, status_bytes;
	uint32_t cursors_off, cursors_bytes;
	uint32_t ring_off, ring_bytes; /* ring_bytes: a power of two */
	uint32_t staging_off, staging_bytes;
	uint64_t start_mono_ns, start_wall_ns; /* one instant, read on both clocks */
	int32_t target_pid;                    /* as the target sees itself */
	uint32_t page_bytes;                   /* of the target's kernel */
	char writer[64];                       /* "libjhot VERSION HASH" */
	char vm[128];                          /* java.vm.name and version */
	char token[WIRE_TOKEN_MAX];
};

_Static_assert(sizeof(struct wire_header) == 320, "wire_header");
_Static_assert(offsetof(struct wire_header, writer) == 96, "wire_header.writer");
_Static_assert(sizeof(struct wire_control) <= WIRE_PAGE, "control page");
_Static_assert(sizeof(struct wire_status) <= WIRE_PAGE, "status page");

#endif
