/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors of the front end: an int says that something failed, a struct err says what.
 *
 * A function that fails returns -1 (or NULL) and fills its last argument, a caller-owned struct err that may be NULL. Whoever
 * knows the cause writes the whole sentence; callers may prefix it. Only cli/ and tui/ print: the three parts are the three
 * blocks of the error screen (what happened / try one of / details). Plain data, no ownership; one thread at a time.
 */
#ifndef JHOT_BASE_ERR_H
#define JHOT_BASE_ERR_H

/* Classes of causes that a script can act on. Each is also the process's exit code (jhot.1). */
enum err_kind {
	ERR_NONE = 0,
	ERR_FAILED = 1,    /* anything not named below */
	ERR_USAGE = 2,     /* bad option or argument */
	ERR_ATTACH = 3,    /* the target cannot be attached */
	ERR_NO_TARGET = 4, /* no such process, or no JVM of that name */
	ERR_BUSY = 5,      /* another front end has a session in the JVM */
	ERR_OUTPUT = 6,    /* a file could not be written: disk full, read-only folder */
	ERR_INPUT = 7,     /* a file to read is missing or corrupt */
	ERR_GONE = 8,      /* the JVM ended during the session */
	ERR_FOUND = 9,     /* the search had a result, which was printed; not an error */
	ERR_SLOWER = 10,   /* likewise: a comparison exceeded its threshold */
	ERR_UNSEEN = 11,   /* too few samples to exclude a problem */
	ERR_PUSH = 12,     /* a receiver did not accept a profile, or cannot be reached */
};

struct err {
	enum err_kind kind;
	char what[640];    /* sentences: what happened, to which object */
	char hint[640];    /* lines separated by '\n', each one remedy; may be empty */
	char details[640]; /* likewise, for experts: errno, paths */
};

/* Headings of the three parts where an error is printed. */
#define ERR_HEADING_WHAT    "What happened"
#define ERR_HEADING_HINT    "Try one of"
#define ERR_HEADING_DETAILS "Details"
/* Begins the title of a printed error. */
#define ERR_TITLE "jhot: "

/* Replaces *e, including hints and details, by a new sentence. Returns -1. */
int err_set(struct err *e, enum err_kind kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Like err_set, with ": strerror(errno)" appended. Returns -1. */
int err_set_errno(struct err *e, enum err_kind kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Prepends words to the sentence. Returns -1. */
int err_prefix(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Append one line to the hints or details. */
void err_hint(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void err_detail(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Cleans an err that another process has filled in. The functions above clean their arguments themselves. */
void err_clean(struct err *e);

#endif
