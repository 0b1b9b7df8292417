/* SPDX-License-Identifier: Apache-2.0 */
/* The options table: every option of every verb, for parsing, help, man page and completions. */
#include "cli/line/args.h"
#include "cli/line/verb.h"

#include <stddef.h>

#define SAMPLING (VERB_TOP | VERB_RECORD)
#define WRITING  (VERB_RECORD | VERB_CONVERT)
#define READING  (VERB_CONVERT | VERB_VIEW | VERB_DIFF)
#define SHOWING  (VERB_TOP | VERB_VIEW | VERB_DIFF)

const struct option_def options[] = {
	{OPT_EVENT, "event", 'e', "EVENT[=INTERVAL][,...]", SAMPLING | READING,
		"what to sample: cpu (the default), alloc, lock, wall, all at once if you like"},
	{OPT_DURATION, "duration", 'd', "SECONDS", VERB_RECORD | VERB_WHY,
		"stop after so long; without it, at Ctrl-C or when the JVM ends (why: after 10)"},
	{OPT_DELAY, "delay", 'd', "SECONDS", VERB_TOP, "seconds between two screens, 1 by default"},
	{OPT_INTERVAL, "interval", 'i', "INTERVAL", SAMPLING,
		"between two samples, of events of that unit: 10ms, 500us, 100000 (ns), 512k"},
	{OPT_ONLY_THREADS, "only-threads", 0, "PATTERN", SAMPLING,
		"sample only threads whose names match: 'http-*'"},
	{OPT_USER, "user", 'u', NULL, SAMPLING, "leave out the kernel"},
	{OPT_KERNEL, "kernel", 'k', NULL, SAMPLING, "only the kernel"},
	{OPT_ENGINE, "engine", 0, "perf|ctimer|lent", SAMPLING,
		"cpu: only by perf_events, or CPU timers; lent: perf_events that root opens for a "
		"container"},
	{OPT_LIVE, "live", 0, NULL, SAMPLING,
		"alloc: only objects that survived a garbage collection"},
	{OPT_BUDGET, "budget", 0, "PERCENT|off", SAMPLING,
		"what sampling may cost; 2% of one core by default, but then intervals you set "
		"stay"},
	{OPT_DEPTH, "depth", 0, "N", SAMPLING,
		"keep stacks of up to N frames whole, 2048 by default and at most; of deeper ones"},
	{OPT_KEEP_TOP, "keep-top", 0, "N", SAMPLING, "so many from the top, where the thread is"},
	{OPT_KEEP_ROOT, "keep-root", 0, "N", SAMPLING,
		"and so many from the root, 0 by default; a frame between says how many are "
		"missing"},
	{OPT_OUTPUT, "output", 'o', "FILE", WRITING | VERB_DIFF,
		"write this file (again for more); its suffix is the format, %p %n %h %t %e are "
		"filled in"},
	{OPT_FORMAT, "format", 0, "FORMAT", WRITING,
		"of \"-o -\" and of names whose suffix tells none: collapsed, pprof, text"},
	{OPT_LABEL, "label", 0, "NAME=VALUE", WRITING,
		"note this in the files (again for more): --label version=1.4"},
	{OPT_TITLE, "title", 0, "TEXT", WRITING | VERB_DIFF,
		"of the .svg and .html, in place of the program's name"},
	{OPT_MINWIDTH, "minwidth", 0, "PERCENT", WRITING,
		"in .svg and .html, join frames with less of all than this: 0.1"},
	{OPT_REVERSE, "reverse", 0, NULL, WRITING,
		"in .svg and .html, begin with where stacks end: who called the leaves"},
	{OPT_INVERTED, "inverted", 0, NULL, WRITING,
		"in .svg and .html, draw flames: the root at the bottom"},
	{OPT_COLORS, "colors", 0, "type|safe|package|self", WRITING,
		"of .svg and .html: safe is for eyes that do not tell red from green"},
	{OPT_WIDTH, "width", 0, "PX", WRITING, "of the .svg and .html, in place of the window's"},
	{OPT_THREADS, "threads", 't', NULL, WRITING,
		"keep threads apart: each stack begins with its thread"},
	{OPT_IO, "io", 0, NULL, WRITING,
		"wall: what a system call waits for is a frame of its own, on top: [socket read "
		"10.0.0.5:5432]"},
	{OPT_HOLDERS, "holders", 0, NULL, WRITING,
		"lock: not who waited, but what those who held the locks did meanwhile"},
	{OPT_FOLD, "fold", 0, NULL, WRITING | VERB_DIFF,
		"as the live view shows them: without threads' entry frames, runs of native frames "
		"as one"},
	{OPT_INCLUDE, "include", 'I', "NAME", WRITING | VERB_DIFF,
		"only stacks with a frame whose name has this in it; again: and this"},
	{OPT_EXCLUDE, "exclude", 'X', "NAME", WRITING | VERB_DIFF,
		"only stacks without such a frame"},
	{OPT_TOTAL, "total", 0, NULL, WRITING,
		"values are nanoseconds or bytes, not numbers of samples"},
	{OPT_ANNOTATE, "annotate", 'a', NULL, WRITING,
		"mark in .collapsed how each frame ran: _[j] compiled, _[1] by C1, _[i] inlined, "
		"_[0] "
		"interpreted, _[k] kernel"},
	{OPT_DOT, "dot", 0, NULL, WRITING | VERB_DIFF,
		"in .collapsed write pkg.Class.method, not pkg/Class.method"},
	{OPT_MODE, "mode", 0, "rate|share|raw", VERB_DIFF,
		"compare what there was per second (the default if files tell their time), shares, "
		"or counts"},
	{OPT_FAIL_OVER, "fail-over", 0, "PERCENT", VERB_DIFF,
		"exit with 10 if something has surely become slower by more than so much of all"},
	{OPT_ROWS, "rows", 0, "N", VERB_DIFF,
		"print so many methods, 30 by default; those that surely differ always"},
	{OPT_VIEW, "view", 0, NULL, VERB_DIFF,
		"show B in the live view, with what it has gained over A beside each row"},
	{OPT_WHY, "why", 0, NULL, VERB_RECORD,
		"also tell what is wrong with the JVM, as far as these events show it"},
	{OPT_FROM, "from", 0, "TIME", READING | VERB_WHY,
		"only from here on: seconds from the begin, as in 90 or 2m, or a time, as in "
		"14:05:30"},
	{OPT_TO, "to", 0, "TIME", READING | VERB_WHY, "only up to here"},
	{OPT_MEMORY, "memory", 0, "SIZE", READING | VERB_WHY,
		"what the stacks of a file may take, 1g by default"},
	{OPT_BATCH, "batch", 'b', NULL, VERB_TOP,
		"print plain screens, for files and pipes; Ctrl-C ends it"},
	{OPT_SCREENS, "count", 'n', "N", VERB_TOP, "with -b: so many screens"},
	{OPT_DUMP_SCREEN, "dump-screen", 0, "COLSxROWS", SHOWING,
		"print only the last screen, in this size"},
	{OPT_KEYS, "keys", 0, "KEYS", SHOWING, "type these keys first: T shows the tree"},
	{OPT_PRINT_CONFIG, "print-config", 0, NULL, VERB_TOP,
		"print a settings file with all there is to set, and end"},
	{OPT_JSON, "json", 0, NULL,
		VERB_TOP | VERB_WHY | VERB_LIST | VERB_STATUS | VERB_DUMP | VERB_EVENTS | VERB_DIFF,
		"print JSON; with top, an object per screen"},
	{OPT_TAKE_OVER, "take-over", 0, NULL, SAMPLING | VERB_WHY,
		"end another jhot's session with this JVM"},
	{OPT_AGENT, "agent", 0, "FILE", SAMPLING | VERB_WHY,
		"load this libjhot.so, not the one inside jhot"},
	{OPT_REPLAY, "replay", 0, "FILE", VERB_TOP, NULL},
	{OPT_CLOCK, "clock", 0, "step", VERB_TOP, NULL},
	{OPT_FRAME_FD, "frame-fd", 0, "N", SHOWING, NULL},
	{OPT_ASCII, "ascii", 0, NULL, SHOWING, "draw with ASCII only"},
	{OPT_COLOR, "color", 0, "never|16|256", SHOWING,
		"how many colours to use; by default what the terminal has"},
	{OPT_KEEP, "keep", 0, NULL, SHOWING, "leave the last screen on the terminal"},
	{OPT_HELP, "help", 'h', NULL, (unsigned)VERB_ALL, "print this text"},
	{OPT_VERSION, "version", 'V', NULL, (unsigned)VERB_ALL, "print the version"},
	{.name = NULL},
};
