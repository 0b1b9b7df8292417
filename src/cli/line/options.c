/* SPDX-License-Identifier: Apache-2.0 */
/* The table of all options of all verbs, for parsing, help, man page and completions. */
#include "cli/line/args.h"
#include "cli/line/verb.h"

#include <stddef.h>

#define RECORDING (VERB_RECORD | VERB_START)
#define SAMPLING  (VERB_TOP | VERB_RELAY | RECORDING)
#define WRITING   (RECORDING | VERB_CONVERT | VERB_MERGE | VERB_SAVE | VERB_STOP)
#define READING   (VERB_CONVERT | VERB_MERGE | VERB_VIEW | VERB_DIFF)
#define SHOWING   (VERB_TOP | VERB_VIEW | VERB_DIFF)

const struct option_def options[] = {
	{OPT_EVENT, "event", 'e', "EVENT[=INTERVAL][,...]", SAMPLING | READING | VERB_SAVE,
		"which events: cpu (sampled by default), alloc, lock, wall, or any that `jhot "
		"events` lists"},
	{OPT_DURATION, "duration", 'd', "SECONDS", RECORDING | VERB_WHY | VERB_SLOW,
		"sampling time; default: until Ctrl-C or the end of the JVM (why, slow: 10)"},
	{OPT_DELAY, "delay", 'd', "SECONDS", VERB_TOP, "seconds between screens, default 1"},
	{OPT_INTERVAL, "interval", 'i', "INTERVAL", SAMPLING | VERB_SLOW,
		"sampling interval, for the events of its unit: 10ms, 500us, 100000 (ns), 512k "
		"(bytes)"},
	{OPT_ONLY_THREADS, "only-threads", 0, "PATTERN", SAMPLING,
		"sample only threads whose names match: 'http-*'"},
	{OPT_USER, "user", 'u', NULL, SAMPLING, "sample user space only"},
	{OPT_KERNEL, "kernel", 'k', NULL, SAMPLING, "sample the kernel only"},
	{OPT_ENGINE, "engine", 0, "perf|ctimer|lent", SAMPLING,
		"how to sample cpu: perf_events, CPU timers, or perf_events that root opens for a "
		"container"},
	{OPT_LIVE, "live", 0, NULL, SAMPLING,
		"alloc: only objects that survived a garbage collection"},
	{OPT_BUDGET, "budget", 0, "PERCENT|off", SAMPLING,
		"overhead limit in percent of one core; the default, 2%, never lengthens "
		"intervals that you set"},
	{OPT_DEPTH, "depth", 0, "N", SAMPLING,
		"record stacks of up to N frames in full, default and maximum 2048; deeper ones "
		"are cut"},
	{OPT_KEEP_TOP, "keep-top", 0, "N", SAMPLING,
		"keep N frames at the top (leaf) of a cut stack"},
	{OPT_KEEP_ROOT, "keep-root", 0, "N", SAMPLING,
		"keep N frames at the root of a cut stack, default 0; one frame in between counts "
		"those left out"},
	{OPT_OUTPUT, "output", 'o', "FILE", WRITING | VERB_DIFF | VERB_AGENT,
		"write this file (repeatable); its suffix selects the format, %p %n %h %t %e are "
		"expanded"},
	{OPT_FORMAT, "format", 0, "FORMAT", WRITING,
		"format of \"-o -\" and of names without a known suffix: collapsed, pprof, text"},
	{OPT_LABEL, "label", 0, "NAME=VALUE", WRITING,
		"store this label in the files (repeatable): --label version=1.4"},
	{OPT_TITLE, "title", 0, "TEXT", WRITING | VERB_DIFF,
		"title of .svg and .html files, default: the program's name"},
	{OPT_MINWIDTH, "minwidth", 0, "PERCENT", WRITING,
		"in .svg and .html, merge frames below this share of the total: 0.1"},
	{OPT_REVERSE, "reverse", 0, NULL, WRITING,
		"in .svg and .html, merge stacks from the leaf: shows who called the leaves"},
	{OPT_INVERTED, "inverted", 0, NULL, WRITING,
		"in .svg and .html, draw the root at the bottom: flames instead of icicles"},
	{OPT_COLORS, "colors", 0, "type|safe|package|self", WRITING,
		"colour scheme of .svg and .html; safe does not rely on red against green"},
	{OPT_WIDTH, "width", 0, "PX", WRITING,
		"width of .svg and .html, default: that of the window"},
	{OPT_THREADS, "threads", 't', NULL, WRITING,
		"keep threads separate: each stack begins with its thread"},
	{OPT_IO, "io", 0, NULL, WRITING,
		"wall: add what a system call waits for as the leaf frame: [socket read "
		"10.0.0.5:5432]"},
	{OPT_HOLDERS, "holders", 0, NULL, WRITING,
		"lock: show what the owners of contended locks did, not who waited"},
	{OPT_FOLD, "fold", 0, NULL, WRITING | VERB_DIFF,
		"collapse frames as the live view does: no thread entry frames, runs of native "
		"frames as one"},
	{OPT_INCLUDE, "include", 'I', "NAME", WRITING | VERB_DIFF,
		"only stacks with a frame whose name contains NAME; if repeated, all must match"},
	{OPT_EXCLUDE, "exclude", 'X', "NAME", WRITING | VERB_DIFF,
		"only stacks without a frame whose name contains NAME"},
	{OPT_TOTAL, "total", 0, NULL, WRITING,
		"write weights (nanoseconds or bytes), not sample counts"},
	{OPT_ANNOTATE, "annotate", 'a', NULL, WRITING,
		"in .collapsed, mark frames: _[j] compiled, _[1] by C1, _[i] inlined, "
		"_[0] interpreted, _[k] kernel"},
	{OPT_DOT, "dot", 0, NULL, WRITING | VERB_DIFF,
		"in .collapsed, write pkg.Class.method, not pkg/Class.method"},
	{OPT_MODE, "mode", 0, "rate|share|raw", VERB_DIFF,
		"compare rates per second (default if the files record time), shares, or raw "
		"counts"},
	{OPT_FAIL_OVER, "fail-over", 0, "PERCENT", VERB_DIFF,
		"exit with status 10 if anything is significantly slower, by more than PERCENT of "
		"the "
		"total"},
	{OPT_ROWS, "rows", 0, "N", VERB_DIFF,
		"methods to print, default 30; significant differences are always printed"},
	{OPT_VIEW, "view", 0, NULL, VERB_DIFF,
		"open B in the live view, with its change from A beside each row"},
	{OPT_WHY, "why", 0, NULL, RECORDING,
		"also diagnose the JVM, as far as the sampled events allow"},
	{OPT_ROTATE, "rotate", 0, "DURATION", RECORDING,
		"write a file every DURATION (1m, 1h); given a NAME, of each of its JVMs, now and "
		"later"},
	{OPT_ROTATE, "loop", 0, "DURATION", RECORDING, NULL},
	{OPT_WHEN, "when", 0, "RULE", RECORDING,
		"write a file about each incident: 'heap>90%', 'cpu>80% for 5s', why, "
		"why:gc,locks"},
	{OPT_BEFORE, "before", 0, "DURATION", RECORDING,
		"--when: how much of the time before an incident is in its file, default 60s"},
	{OPT_AFTER, "after", 0, "DURATION", RECORDING,
		"--when: how much of the time after it, default 30s"},
	{OPT_AT_MOST, "at-most", 0, "N", RECORDING, "--when: files per hour, default 10"},
	{OPT_KEEP_FILES, "keep", 0, "AGE,SIZE,N", RECORDING,
		"--rotate, --when: remove the oldest files beyond these limits: 24h,2G,1000"},
	{OPT_EXEC, "exec", 0, "COMMAND", RECORDING,
		"--rotate, --when: run this shell command after each file, whose path is $1"},
	{OPT_FRACTION, "fraction", 0, "PERCENT", RECORDING,
		"--rotate, --when: record on this share of hosts only, chosen by the host's name"},
	{OPT_PUSH, "push", 0, "URL", RECORDING,
		"--rotate, --when: push each .jhot file to this receiver, after it has been "
		"written"},
	{OPT_HEADER, "header", 0, "NAME: VALUE", RECORDING | VERB_PUSH,
		"send this header with each push (repeatable): 'X-Scope-OrgID: team-a'"},
	{OPT_TOKEN_FILE, "token-file", 0, "FILE", RECORDING | VERB_PUSH,
		"send the token in this file with each push; it is read again for each"},
	{OPT_CA_FILE, "ca-file", 0, "FILE", RECORDING | VERB_PUSH,
		"trust the certificates in this file (PEM), not the system's, when pushing"},
	{OPT_TIMEOUT, "timeout", 0, "SECONDS", RECORDING | VERB_PUSH, NULL},
	{OPT_FROM, "from", 0, "TIME", READING | VERB_WHY,
		"start here: seconds from the beginning (90, 2m) or a time of day (14:05:30)"},
	{OPT_TO, "to", 0, "TIME", READING | VERB_WHY, "end here, in the same form"},
	{OPT_LAST, "last", 0, "DURATION", VERB_SAVE,
		"only the last DURATION (5m), default: everything"},
	{OPT_MEMORY, "memory", 0, "SIZE", READING | VERB_WHY,
		"memory limit for the stacks of a file, default 1g"},
	{OPT_BATCH, "batch", 'b', NULL, VERB_TOP,
		"print plain screens, for files and pipes, until Ctrl-C"},
	{OPT_SCREENS, "count", 'n', "N", VERB_TOP, "with -b: number of screens to print"},
	{OPT_DUMP_SCREEN, "dump-screen", 0, "COLSxROWS", SHOWING,
		"print only the last screen, in this size"},
	{OPT_KEYS, "keys", 0, "KEYS", SHOWING, "press these keys first: T shows the tree"},
	{OPT_PRINT_CONFIG, "print-config", 0, NULL, VERB_TOP,
		"print a settings file that lists every setting, and exit"},
	{OPT_JSON, "json", 0, NULL,
		VERB_TOP | VERB_WHY | VERB_SLOW | VERB_LIST | VERB_STATUS | VERB_DUMP |
			VERB_EVENTS | VERB_DIFF,
		"print JSON; with top, one object per screen"},
	{OPT_CALLS, "calls", 0, NULL, VERB_SLOW, "with --json: list every call that was seen"},
	{OPT_TAKE_OVER, "take-over", 0, NULL, SAMPLING | VERB_WHY | VERB_SLOW,
		"end another jhot's session with this JVM first"},
	{OPT_AGENT, "agent", 0, "FILE", SAMPLING | VERB_WHY | VERB_SLOW,
		"load this libjhot.so instead of the one inside jhot"},
	{OPT_SSH, "ssh", 0, "COMMAND", VERB_TOP,
		"HOST:NAME: how to connect, default: ssh; 'ssh -p 2222'"},
	{OPT_TOKEN, "token", 0, "TOKEN", VERB_RECORD, NULL},
	{OPT_LOADED, "loaded", 0, "TOKEN,OPTIONS", VERB_RECORD, NULL},
	{OPT_REPLAY, "replay", 0, "FILE", VERB_TOP, NULL},
	{OPT_CLOCK, "clock", 0, "step", VERB_TOP, NULL},
	{OPT_FRAME_FD, "frame-fd", 0, "N", SHOWING, NULL},
	{OPT_ASCII, "ascii", 0, NULL, SHOWING, "draw with ASCII characters only"},
	{OPT_COLOR, "color", 0, "never|16|256", SHOWING,
		"number of colours to use, default: what the terminal has"},
	{OPT_KEEP, "keep", 0, NULL, SHOWING, "leave the last screen on the terminal"},
	{OPT_HELP, "help", 'h', NULL, (unsigned)VERB_ALL, "print this help"},
	{OPT_VERSION, "version", 'V', NULL, (unsigned)VERB_ALL, "print the version"},
	{.name = NULL},
};
