/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wire format: the memory that the agent and a front end share, byte for byte. doc/wire.md explains it in words.
 *
 * One memfd, created and sealed (size) by the agent, mapped by both:
 *
 *   0        4096      8192      12288          12288+S        +R
 *   | header | control | status  | cursors page | ring data R  | staging area |
 *     agent    front end agent     one line each  agent          front end
 *     once
 *
 * This header defines the rules for all areas, how a session begins, and the first page. Each other area has its own header:
 *
 *   control.h  the lease, one command at a time     record.h  the ring and its records
 *   status.h   the agent's state, cost and losses   frame.h   a frame in a trace
 *   unwind.h   chunks in the staging area           event.h   ids of events, engines and states
 *
 * Each area has one writer, as drawn above. Integers are in host byte order, which is little-endian; both sides run on one
 * host. Times are CLOCK_MONOTONIC ns unless named wall. Only _Atomic fields may be read while the other side writes them.
 * Readers trust nothing: offsets, sizes and strings are checked, and every value is read once. A different major version is
 * refused. Both sides include this header, so it includes nothing of either.
 */
#ifndef JHOT_WIRE_LAYOUT_H
#define JHOT_WIRE_LAYOUT_H

#include "wire/control.h"
#include "wire/record.h"
#include "wire/status.h"
#include "wire/unwind.h"

#define WIRE_MAGIC        0x544f484aul /* "JHOT" */
#define WIRE_MAJOR        1
#define WIRE_MINOR        15
#define WIRE_MEMFD_PREFIX "jhot-" /* memfd name = prefix + token */
#define WIRE_TOKEN_MAX    32      /* with NUL; [0-9a-z]+ */
/* The library for -agentpath has a field of WIRE_PROGRAM bytes: this mark, then the path of jhot and a NUL. */
#define WIRE_PROGRAM       512
#define WIRE_PROGRAM_MARK  "jhot program:"
#define WIRE_PAGE          4096u
#define WIRE_RING_BYTES    (2u << 20)
#define WIRE_STAGING_BYTES (256u << 10)

/* --- how a session begins ------------------------------------------------------------------------------ */

/*
 * Return values of Agent_OnAttach, shown by the attach reply as its return code: values never change. The agent's options are
 * "token=TOKEN[,take=1][,walker=agct]". It checks them, starts its own thread and returns at once; the session begins when the
 * memfd "jhot-TOKEN" appears in /proc/PID/fd.
 */
enum agent_result {
	AGENT_OK = 0,
	AGENT_BAD_OPTIONS = 200,
	AGENT_BUSY = 201,     /* another session is active, see its header */
	AGENT_NO_MEMFD = 202, /* Linux too old, or no memory or descriptor left */
	AGENT_NO_MEMORY = 203,
	AGENT_NO_THREAD = 204,
	AGENT_NO_JVMTI = 205,
	AGENT_OTHER = 206, /* a session of another agent (version) is active */
	/* RLIMIT_FSIZE, which applies to memfds, is below the size of the shared memory */
	AGENT_NO_FILE_SIZE = 208,
	AGENT_UNTRIED = 207, /* the JVM's seccomp filter cannot be probed for allowed calls */
	/* plus an enum wire_call: the seccomp filter forbids a call that is needed */
	AGENT_FORBIDDEN = 300,
};

/* --- page 0, written once by the agent before the memfd can be found --------------------------------- */

struct wire_header {
	uint32_t magic;
	uint16_t major;
	uint16_t minor;
	uint32_t header_bytes; /* sizeof(struct wire_header) of the writer */
	uint32_t reserved;
	uint64_t features; /* no bits defined yet */
	uint64_t map_bytes;
	uint32_t control_off, control_bytes;
	uint32_t status_off, status_bytes;
	uint32_t cursors_off, cursors_bytes;
	uint32_t ring_off, ring_bytes; /* ring_bytes: a power of two */
	uint32_t staging_off, staging_bytes;
	uint64_t start_mono_ns, start_wall_ns; /* one instant on both clocks */
	int32_t target_pid;                    /* in the target's own PID namespace */
	uint32_t page_bytes;                   /* page size of the target's kernel */
	char writer[64];                       /* "libjhot VERSION HASH" */
	char vm[128];                          /* java.vm.name and version */
	char token[WIRE_TOKEN_MAX];
};

_Static_assert(sizeof(struct wire_header) == 320, "wire_header");
_Static_assert(offsetof(struct wire_header, writer) == 96, "wire_header.writer");
_Static_assert(sizeof(struct wire_control) <= WIRE_PAGE, "control page");
_Static_assert(sizeof(struct wire_status) <= WIRE_PAGE, "status page");

#endif
