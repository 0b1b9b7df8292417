/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A JFR file, version 2: a single chunk, built in memory.
 *
 *   header | events | constants | metadata
 *
 * Integers are big-endian in the header and varints elsewhere. Events refer to constants (threads,
 * stack traces, methods, classes, symbols) by id, so the constants are written after the events.
 * Time is in ns since the start of the session. Private to this folder. One thread.
 *
 *   chunk.c      the file: header, metadata of the session, order of the parts     samples.c   samples and calls as events
 *   constants.c  constant pools: an id on first use                                vitals.c    vitals as events
 *   types.c      metadata: every type with its fields
 */
#ifndef JHOT_EXPORT_JFR_JFR_H
#define JHOT_EXPORT_JFR_JFR_H

#include "base/intern.h"
#include "export/export.h"
#include "export/ids.h"

#include <string.h>

/* Type ids in our files. 0 and 1 are defined by the format. */
enum jfr_type {
	JFR_METADATA,
	JFR_CONSTANTS,
	/* primitives */
	JFR_BOOLEAN,
	JFR_CHAR,
	JFR_FLOAT,
	JFR_DOUBLE,
	JFR_BYTE,
	JFR_SHORT,
	JFR_INT,
	JFR_LONG,
	JFR_STRING,
	/* constants */
	JFR_CLASS,
	JFR_THREAD,
	JFR_CLASS_LOADER,
	JFR_FRAME_TYPE,
	JFR_THREAD_STATE,
	JFR_THREAD_GROUP,
	JFR_STACK_TRACE,
	JFR_STACK_FRAME,
	JFR_METHOD,
	JFR_PACKAGE,
	JFR_SYMBOL,
	JFR_GC_NAME,
	JFR_GC_CAUSE,
	JFR_GC_WHEN,
	JFR_SPACE, /* of memory; inline in events */
	/* events */
	JFR_EXECUTION_SAMPLE,
	JFR_NATIVE_SAMPLE,
	JFR_WALL_SAMPLE,
	JFR_PERF_SAMPLE,
	JFR_ALLOCATION,
	JFR_MONITOR_ENTER,
	JFR_THREAD_PARK,
	JFR_CALL,
	JFR_ACTIVE_SETTING,
	JFR_JVM_INFORMATION,
	JFR_CPUS,
	JFR_CPU_LOAD,
	JFR_COLLECTION,
	JFR_HEAP_SUMMARY,
	/* annotations: how a field is to be displayed */
	JFR_CONTENT,
	JFR_LABEL,
	JFR_CATEGORY,
	JFR_TIMESTAMP,
	JFR_TIMESPAN,
	JFR_AMOUNT,
	JFR_ADDRESS,
	JFR_PERCENTAGE,
	JFR_TYPES
};

/* --- bytes --------------------------------------------------------------------------------------------- */

#define JFR_UNKNOWN ((uint64_t)INT64_MIN) /* unknown times and sizes; tools show "N/A" */

static inline void jfr_varint(struct buf *out, uint64_t value)
{
	/* the ninth byte, if there is one, has eight bits of payload */
	for (int i = 0; value >= 0x80 && i < 8; i++, value >>= 7)
		buf_addc(out, (char)(value | 0x80));
	buf_addc(out, (char)value);
}

/* UTF-8, also if it is empty: some readers accept no other encoding of symbols. */
static inline void jfr_text(struct buf *out, const char *text)
{
	size_t len = strlen(text);

	buf_addc(out, 3);
	jfr_varint(out, len);
	buf_add(out, text, len);
}

/* The same for a text of the target, which is cleaned first. NULL: an empty text. */
void jfr_clean_text(struct buf *out, const char *text);

/* Appends a body, preceded by the size of both. */
static inline void jfr_block(struct buf *out, const struct buf *body)
{
	size_t own = 1;

	while ((body->len + own) >> (7 * own))
		own++;
	jfr_varint(out, body->len + own);
	buf_add(out, body->data, body->len);
}

/* --- constants ----------------------------------------------------------------------------------------- */

struct jfr_pool {
	struct ids ids;
	struct buf bytes; /* their constants, encoded */
};

struct jfr {
	const struct profile *p;
	struct intern symbols; /* id in the file: that of the text, + 1 */
	struct jfr_pool threads, traces, methods, classes, packages;
	struct buf events, body, text;
	uint64_t per_event; /* samples of the current kind per event of the file */
	uint32_t spread;    /* entries spread over their seconds so far */
};

#define JFR_THE_COLLECTOR 1 /* id of the only GC name */
#define JFR_EACH_SECOND   1 /* id of the only "when" of heap summaries */
enum jfr_state {
	JFR_STATE_DEFAULT = 1,
	JFR_STATE_RUNNABLE,
	JFR_STATE_SLEEPING,
	JFR_STATE_MONITOR,
	JFR_STATE_WAITING,
	JFR_STATE_PARKED,
	JFR_STATE_IO
};

/* The id of a constant, created on first use. */
uint32_t jfr_thread(struct jfr *j, uint32_t thread);
uint32_t jfr_trace(struct jfr *j, uint32_t stack); /* 0: the empty stack */
uint32_t jfr_class(struct jfr *j, const char *name);
/* Appends all constants. collector: the name of the target's GC. */
void jfr_constants(struct jfr *j, const char *collector, struct buf *out);
void jfr_constants_done(struct jfr *j);

/* --- types --------------------------------------------------------------------------------------------- */

void jfr_metadata(struct buf *out);

/* --- events -------------------------------------------------------------------------------------------- */

/*
 * The number of samples that one event of the file represents: usually 1, more if entries have
 * thousands of samples, as those of collapsed stacks can. Limits a file to about a million events,
 * plus 1,024 per entry.
 */
uint64_t jfr_samples_per_event(const struct profile *p, const struct profile_query *q);
/* True when the file would exceed EXPORT_BYTES_MAX. */
bool jfr_full(const struct jfr *j);
/* Append all samples of the event to j->events. */
void jfr_event(struct jfr *j, const struct profile_query *q);
void jfr_locks(struct jfr *j, const struct profile_query *q);
/* Appends the measured calls (profile/calls) that began in the seconds of the query. */
void jfr_calls(struct jfr *j, const struct profile_query *q);
/* Appends the vitals of the process in the seconds of the query. */
void jfr_vitals(struct jfr *j, const struct profile_query *q);

#endif
