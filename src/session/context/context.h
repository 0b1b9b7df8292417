/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data that the target publishes about itself and its threads, in the formats of OpenTelemetry:
 *
 *   process context (OTEP 4719)  a mapping named OTEL_CTX: attributes of the service, and names of the threads' attributes
 *   thread context (OTEP 4947)   a thread-local variable, whose place the agent needs to read it: struct wire_contexts
 *
 * Reads /proc/PID/maps and /proc/PID/mem. Everything read is foreign: sizes are limited, pointers are followed by pread only, and
 * texts are cleaned. Single-threaded. Functions with a struct context_mem block as long as reading the target's memory does; the
 * others do not.
 */
#ifndef JHOT_SESSION_CONTEXT_CONTEXT_H
#define JHOT_SESSION_CONTEXT_CONTEXT_H

#include "base/buf.h"
#include "wire/control.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Copies bytes of the target's memory; false unless all of them are readable. */
struct context_mem {
	bool (*read)(void *ctx, uint64_t addr, void *out, size_t bytes);
	void *ctx;
};

/* --- process.c ---------------------------------------------------------------------------------------- */

#define CONTEXT_BYTES_MAX (64u << 10)
#define CONTEXT_LABELS    64

struct process_context {
	char *keys[WIRE_CONTEXT_KEYS]; /* names of the threads' attributes; NULL: unknown */
	char *labels[CONTEXT_LABELS];  /* attributes of the service: "service.name=shop" */
	int label_count;
};

void process_context_done(struct process_context *c);
/* Reads the context that begins at addr into *out, which must be done. False, with *out empty: none, or it is being written. */
bool process_context_read(
	const struct context_mem *mem, uint64_t addr, struct process_context *out);
/* The payload alone, a protobuf ProcessContext. False: malformed. */
bool process_context_parse(const void *bytes, size_t len, struct process_context *out);
/* Reads the context of a process, which is empty if it has none, or if its memory cannot be read within that time. */
void process_context_of(pid_t pid, uint64_t wait_ns, struct process_context *out);

/* --- places.c ----------------------------------------------------------------------------------------- */

enum context_found {
	CONTEXT_NONE,  /* the module does not define the variable */
	CONTEXT_LATER, /* it does, but the loader has not resolved its place yet */
	CONTEXT_FOUND
};
/*
 * Looks for the variable otel_thread_ctx_v1 in the ELF file mapped at base, by its dynamic symbols, and for its place in threads
 * by what the loader has stored for the relocation that refers to it. musl: the C library.
 */
enum context_found context_place_find(
	const struct context_mem *mem, uint64_t base, bool musl, struct wire_context_place *out);

/* --- contexts.c --------------------------------------------------------------------------------------- */

struct contexts;
struct contexts *contexts_new(pid_t pid);
void contexts_free(struct contexts *c);
/*
 * Starts another search if one is due, and waits up to wait_ns for the result of the one that runs. True: *out has changed and is to
 * be sent to the agent. The context of the process stays valid until the next call.
 */
bool contexts_poll(struct contexts *c, uint64_t wait_ns, struct wire_contexts *out);
const struct process_context *contexts_process(const struct contexts *c);

#endif
