/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What readers have in common: a file that is being read, and the way of its events, threads, frames and samples into the
 * profile. For the files of this module, and for readers elsewhere that have a row in its table.
 *
 * Texts need not be clean or short: the model sees to that, and feed_end says what it cut. Numbers that are given out stay valid while the file is read.
 */
#ifndef JHOT_IMPORT_FEED_H
#define JHOT_IMPORT_FEED_H

#include "base/buf.h"
#include "base/intern.h"
#include "import/import.h"
#include "import/input.h"

#define FEED_SECONDS \
	(100u * 24 * 3600) /* later ones are none: a file's time is not to be believed */
#define FEED_TEXT_MAX \
	(2 * PROFILE_TEXT_MAX) /* bytes of a name that are looked at: the model keeps half of them */

struct import {
	const char *path;
	struct input *in;
	struct imported *out;
	struct profile *p; /* of out */
	const struct import_options *options;
	/* feed.c */
	unsigned events;       /* a bit for each that has a number */
	struct intern threads; /* by all that tells them; number + 1 is the feeder's */
	struct intern frames;  /* texts */
	uint32_t *frame_of;    /* by their numbers; PROFILE_NONE: not asked yet */
	uint32_t frames_cap;
	struct buf text;
	size_t held;            /* bytes that the reader has beside the profile, for feed_check */
	unsigned unchecked;     /* samples since memory and patience were asked, */
	size_t unchecked_bytes; /* and bytes of names */
};

struct imported *feed_begin(
	struct import *im, const char *path, const struct import_options *options);
void feed_end(struct import *im);

/*
 * The number of an event by its name: "cpu", "alloc", or another, which is one of four that are not jhot's own. unit: of
 * its weights, "ns", "bytes", ... -1: there are too many. interval: 0 if not known.
 */
int feed_event(
	struct import *im, const char *name, const char *unit, uint64_t interval, struct err *err);

/* A thread by its name and numbers (0, -1: not known); none at all: PROFILE_NONE. */
uint32_t feed_thread(struct import *im, const struct profile_thread *t);

/*
 * A frame by a text as collapsed stacks have them: "java/util/HashMap.get_[j]", "memcpy", "do_syscall_64_[k]". leaf: it
 * may be a class that was allocated or locked.
 */
uint32_t feed_frame_text(struct import *im, const char *text, size_t len, bool leaf);
/* A frame by a name that other formats have, "java.util.HashMap.get", with what they tell beside it. */
struct feed_name {
	const char *text, *signature,
		*module; /* signature: of a method of Java's; module: of native code */
	int line;
	bool inlined, native; /* native: it is no method of Java's, whatever its name */
	bool leaf;            /* it may be a class */
};
uint32_t feed_frame_name(struct import *im, const struct feed_name *n);
const char *feed_library(
	const char *file); /* its name if it is a library's, "" if it is a source's */
bool feed_is_native_source(
	const char *file); /* a source of a language that does not run on the JVM */
/* A thread by a text "[name tid=7]", "[name #7]", or a frame that is called so; PROFILE_NONE: it is none. */
uint32_t feed_thread_text(struct import *im, const char *text, size_t len);
uint32_t feed_thread_frame(struct import *im, uint32_t frame);
/* A method by its parts; class_name with dots or slashes. */
uint32_t feed_method(struct import *im, const char *class_name, const char *name,
	const char *signature, const char *module);

/* -1: memory, or whoever waits, has had enough; count may be more than the model holds at once. */
struct feed_sample {
	int event;
	bool holders; /* of lock: profile_add_held */
	uint8_t part; /* of its second, from 1 to PROFILE_PULSE; 0: not known */
	uint32_t second, stack, thread;
	enum thread_state state;
	uint64_t count, weight;
};
int feed_sample(struct import *im, const struct feed_sample *s, struct err *err);
/* Whether to go on: for what takes long without a sample. */
int feed_check(struct import *im, struct err *err);

/* A text into a field of vitals and the like. */
void feed_copy(char *to, size_t bytes, const char *text, size_t len);
/* Another "key=value"; those that are too many are left out. */
void feed_label(struct import *im, const char *key, const char *value);
/* A fact that jhot's own exports have (export/facts.h): who was sampled, and labels; others are passed over. */
void feed_fact(struct import *im, const char *key, const char *value);

int import_jhot(struct import *im, struct err *err);
bool import_is_jhot(const unsigned char *head, size_t bytes);
int import_jfr(struct import *im, struct err *err);
bool import_is_jfr(const unsigned char *head, size_t bytes);
int import_pprof(struct import *im, struct err *err);
bool import_is_pprof(const unsigned char *head, size_t bytes);
int import_speedscope(struct import *im, struct err *err);
bool import_is_speedscope(const unsigned char *head, size_t bytes);
int import_perf(struct import *im, struct err *err);
bool import_is_perf(const unsigned char *head, size_t bytes);
int import_collapsed(struct import *im, struct err *err);
bool import_is_collapsed(const unsigned char *head, size_t bytes);

#endif
