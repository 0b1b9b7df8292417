/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors of the front end: an int says that something failed, a struct err says what.
 *
 * A failing function returns -1 (or NULL) and fills the last argument, a caller-owned struct err that
 * may be NULL. Whoever knows writes the whole sentence; callers may prefix it. Only cli/ and tui/ print:
 * the three parts are the three blocks of the error screen (what happened / try one of / details).
 * Plain data, no ownership; one thread at a time.
 */
#ifndef JHOT_BASE_ERR_H
#define JHOT_BASE_ERR_H

/* Why, in the few classes a script may act on. Each is also the process's exit code (jhot.1). */
enum err_kind {
	ERR_NONE = 0,
	ERR_FAILED = 1,    /* anything not named below */
	ERR_USAGE = 2,     /* bad option or argument */
	ERR_ATTACH = 3,    /* the target cannot be attached */
	ERR_NO_TARGET = 4, /* no such process, or no JVM of that name */
	ERR_BUSY = 5,      /* another front end holds the JVM */
	ERR_OUTPUT = 6,    /* a file could not be written: disk full, read-only folder */
	ERR_INPUT = 7,     /* a file to read is missing or corrupt */
	ERR_GONE = 8,      /* the JVM ended during the session */
	ERR_FOUND = 9,     /* what was looked for is there, and printed: no error, no sentence */
	ERR_SLOWER = 10,   /* likewise: what was compared has become slower than it may */
	ERR_UNSEEN = 11,   /* too little was seen to say that nothing is wrong */
};

struct err {
	enum err_kind kind;
	char what[640];    /* sentences: what happened, to which object */
	char hint[640];    /* lines, '\n' between them: each one thing to try; may be empty */
	char details[640]; /* lines for an expert: errno, paths; may be empty */
};

/* err_set: replace *e by a new sentence (clears hint and details). Always returns -1. */
int err_set(struct err *e, enum err_kind kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* err_set_errno: as err_set, with ": strerror(errno)" appended. Always returns -1. */
int err_set_errno(struct err *e, enum err_kind kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* err_prefix: put words before the sentence. Always returns -1. */
int err_prefix(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* err_hint, err_detail: add one line to the block. */
void err_hint(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void err_detail(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* err_clean: one that another process has filled in; the functions above clean what they are given. */
void err_clean(struct err *e);

#endif
