/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of a flight recording: one chunk of version 2, made in memory.
 *
 *   head | events | constants | metadata
 *
 * Numbers are big-endian in the head and of variable length elsewhere. Events name constants (threads, stack traces,
 * methods, classes, symbols) by number, and all of them come behind the events, where their tables are complete.
 * Time is in ns since the session's start. One thread.
 */
#ifndef JHOT_EXPORT_JFR_JFR_H
#define JHOT_EXPORT_JFR_JFR_H

#include "base/intern.h"
#include "export/export.h"
#include "export/numbers.h"

/* Types by the numbers that they have in our files; 0 and 1 are the metadata's and the constants' own. */
enum jfr_type {
	JFR_METADATA,
	JFR_CONSTANTS,
	/* as the JVM has them */
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
	JFR_SPACE, /* of memory; stands in events as it is */
	/* events */
	JFR_EXECUTION_SAMPLE,
	JFR_NATIVE_SAMPLE,
	JFR_WALL_SAMPLE,
	JFR_PERF_SAMPLE,
	JFR_ALLOCATION,
	JFR_MONITOR_ENTER,
	JFR_THREAD_PARK,
	JFR_ACTIVE_SETTING,
	JFR_JVM_INFORMATION,
	JFR_CPUS,
	JFR_CPU_LOAD,
	JFR_COLLECTION,
	JFR_HEAP_SUMMARY,
	/* what says of a field how it is to be read */
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

void jfr_number(struct buf *out, uint64_t value);
#define JFR_UNKNOWN ((uint64_t)INT64_MIN)         /* of times and sizes: tools show "N/A" */
void jfr_text(struct buf *out, const char *text); /* UTF-8 */
/* One event, constants or metadata: the bytes behind their size. */
void jfr_block(struct buf *out, const struct buf *body);

/* --- constants ----------------------------------------------------------------------------------------- */

struct jfr_pool {
	struct numbers ids;
	struct buf bytes; /* of all constants that have one */
};

struct jfr {
	const struct profile *p;
	struct intern symbols; /* number: that of the text, + 1 */
	struct jfr_pool threads, traces, methods, classes, packages;
	struct buf events, body, text;
	uint64_t lump;   /* samples of the event at hand that one of the file stands for */
	uint32_t spread; /* counts the entries that were spread over their seconds */
};

#define JFR_THE_COLLECTOR 1 /* the one name of collectors */
#define JFR_EACH_SECOND   1 /* when the heap was looked at */
enum jfr_state {
	JFR_STATE_DEFAULT = 1,
	JFR_STATE_RUNNABLE,
	JFR_STATE_SLEEPING,
	JFR_STATE_MONITOR,
	JFR_STATE_WAITING,
	JFR_STATE_PARKED,
	JFR_STATE_IO
};

/* The number of a constant, which is made if there is none yet. */
uint32_t jfr_thread(struct jfr *j, uint32_t thread);
uint32_t jfr_trace(struct jfr *j, uint32_t stack); /* 0: the empty one */
uint32_t jfr_class(struct jfr *j, const char *name);
/* collector: the name of the target's. */
void jfr_constants(struct jfr *j, const char *collector, struct buf *out);
void jfr_constants_done(struct jfr *j);

/* --- types --------------------------------------------------------------------------------------------- */

void jfr_metadata(struct buf *out);

/* --- events -------------------------------------------------------------------------------------------- */

/*
 * How many samples each event of the file stands for. Most often 1: only of samples that are counted by the thousands, as
 * collapsed stacks can be, several become one, so that a file has not more than about a million and 1,024 for each entry.
 */
uint64_t jfr_lump(const struct profile *p, const struct profile_query *q);
bool jfr_full(const struct jfr *j);
/* All samples of an event into j->events. */
void jfr_event(struct jfr *j, const struct profile_query *q);
void jfr_locks(struct jfr *j, const struct profile_query *q);
/* Of the whole process, as far as the query's seconds go. */
void jfr_vitals(struct jfr *j, const struct profile_query *q);

#endif
