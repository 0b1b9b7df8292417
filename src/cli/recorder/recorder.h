/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `jhot record` without an end: files of equal length (--rotate), and files around incidents (--when), for days.
 *
 *   recorder.c    one JVM: which seconds go into which file     options.c   the command line
 *   instances.c   all JVMs of a name: a child process per JVM
 *   join.c        the session of another jhot in place of an own one
 *   triggers.c    the rules of --when          keep.c   removing old files
 *   pusher.c      --push: the process that sends files to a receiver      unpushed.c  marks of files that wait for it
 *
 * Every file is a cut (profile/cut.h) of the session's profile, whose history is limited:
 *
 *   rotate 60 s       |---- file 1 ----|---- file 2 ----|---- fi
 *   an incident              |- before -|! after -|            starts before its cause and may overlap
 *   profile      ...[ history: 10 minutes or more                 ] now
 *
 * If a file cannot be written, the next one begins where that file would have begun. Seconds that leave the history before they
 * are written are reported as lost.
 *
 * Single-threaded; blocks until a signal or the end of the JVM.
 */
#ifndef JHOT_CLI_RECORDER_RECORDER_H
#define JHOT_CLI_RECORDER_RECORDER_H

#include "cli/line/args.h"
#include "cli/outputs/outputs.h"
#include "cli/recorder/keep.h"
#include "cli/recorder/pusher.h"
#include "cli/recorder/triggers.h"
#include "cli/sampling.h"

/* True if the options ask for a recorder instead of a single recording. */
bool recorder_requested(const struct args *args);
/* Refuses options that have no effect together, whether or not a recorder is requested. */
int recorder_check_options(const struct args *args, struct err *err);
int recorder_run(const struct args *args, struct err *err);

/* --- between the files of this folder ------------------------------------------------------------------ */

struct recorder {
	const struct args *args;
	struct sampling sampling;
	const struct events *events; /* in the files */
	struct events joined_events; /* those of a joined session, in the order of their ids */
	struct outputs outputs;
	struct triggers triggers;
	struct keep keep;
	uint32_t rotate_s; /* 0: only incidents */
	uint32_t before_s, after_s;
	unsigned per_hour;   /* incidents */
	const char *command; /* of --exec; NULL: none */
	struct pushing pushing;
	struct pusher pusher;
	int push_output;   /* whose files are pushed; -1: none */
	unsigned unmarked; /* files that could not be marked as unpushed */
	bool pushes;       /* the file being written is to be pushed */

	bool stopped; /* the last session was ended by `jhot stop` */
	bool joined;  /* the last session was another jhot's */

	uint32_t from[OUTPUTS_MAX]; /* per output: the first second that is in no file yet */
	uint32_t boundary;          /* the second at which the current file ends; 0: none */
	uint64_t largest;           /* bytes of the largest file written, for --keep */
	struct vitals base;         /* at the end of the last file, for the losses of the next */
	struct incident {
		char rule[64], what[240], word[48];
		uint32_t from, to; /* seconds; to 0: unused */
		uint32_t due;      /* second at which it is written, or tried again */
	} incidents[TRIGGERS_MAX];
	uint32_t fired[64]; /* seconds of the last incidents, a ring, for per_hour */
	uint64_t fired_count;
};

/*
 * Records one JVM until a signal (0) or its end (-1 with ERR_GONE), or that of the session that was joined. The caller has filled in
 * sampling.jvm.
 */
int recorder_one(struct recorder *r, struct err *err);
/* options.c: the command line. The host is not recorded if parse_fraction sets *selected to false; it is the same at each start. */
int recorder_parse(struct recorder *r, const struct args *args, struct err *err);
int recorder_parse_fraction(const struct args *args, bool *selected, struct err *err);
/* Prints messages of the pusher. */
void recorder_report_pushes(struct recorder *r);
/* Blocks until one of the signals that end a recorder. */
void recorder_wait_signal(void);
/* Records every JVM of this name, also those that start later, until a signal. */
int recorder_instances(struct recorder *r, const char *name, struct err *err);

#endif
