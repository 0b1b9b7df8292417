/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by all readers: the file being read, and functions that add its events, threads, frames
 * and samples to the profile. Private to this module.
 *
 * Texts need not be clean or short: the model cleans and truncates them, and feed_end reports how
 * many. Ids stay valid while the file is read. One thread.
 */
#ifndef JHOT_IMPORT_FEED_H
#define JHOT_IMPORT_FEED_H

#include "base/buf.h"
#include "base/intern.h"
#include "import/import.h"
#include "import/input.h"

#define FEED_SECONDS (100u * 24 * 3600) /* the longest profile; times of files are not trusted */
/* Bytes of a name that are read. The model keeps half of them. */
#define FEED_TEXT_MAX (2 * PROFILE_TEXT_MAX)

struct import {
	const char *path;
	struct input *in;
	struct imported *out;
	struct profile *p; /* of out */
	const struct import_options *options;
	/* feed.c */
	unsigned events;       /* bit set of event ids in use */
	struct intern threads; /* keys of name and ids; their id + 1 is the profile's */
	struct intern frames;  /* texts */
	uint32_t *frame_of;    /* by id in frames; PROFILE_NONE: not resolved yet */
	uint32_t frames_cap;
	struct buf text;
	size_t reader_bytes;    /* allocated by the reader, for feed_check */
	unsigned unchecked;     /* samples since the last feed_check */
	size_t unchecked_bytes; /* bytes of names since the last feed_check */
};

struct imported *feed_begin(
	struct import *im, const char *path, const struct import_options *options);
void feed_end(struct import *im);

/*
 * The id of an event by its name: "cpu", "alloc" etc. are jhot's own, of others up to four are
 * possible. unit: of its weights, "ns", "bytes", ... interval: 0 if unknown. Returns -1 with an
 * error if there are too many.
 */
int feed_event(
	struct import *im, const char *name, const char *unit, uint64_t interval, struct err *err);

/* The id of a thread by its name and ids (0, -1: unknown); PROFILE_NONE if all are unknown. */
uint32_t feed_thread(struct import *im, const struct profile_thread *t);

/*
 * A frame in the notation of collapsed stacks: "java/util/HashMap.get_[j]", "memcpy",
 * "do_syscall_64_[k]". leaf: it may be a class that was allocated or locked.
 */
uint32_t feed_frame_text(struct import *im, const char *text, size_t len, bool leaf);
/* A frame as structured formats represent it: "java.util.HashMap.get" and its properties. */
struct feed_name {
	const char *text;
	const char *signature; /* of Java methods, else "" */
	const char *module;    /* of native code, else "" */
	int line;
	bool inlined, native; /* native: not a Java method, even if its name looks like one */
	bool leaf;            /* may be a class */
};
uint32_t feed_frame_name(struct import *im, const struct feed_name *n);
/* The file's name if it is a shared library, "" if it is a source file. */
const char *feed_library(const char *file);
/* True for a source file of a language that does not run on the JVM. */
bool feed_is_native_source(const char *file);
/*
 * The id of the thread with a label "[name tid=7]" or "[name #7]", given as a text or as the name
 * of a frame. PROFILE_NONE if it has another form.
 */
uint32_t feed_thread_text(struct import *im, const char *text, size_t len);
uint32_t feed_thread_frame(struct import *im, uint32_t frame);
/* The id of a method. class_name: with dots or slashes. */
uint32_t feed_method(struct import *im, const char *class_name, const char *name,
	const char *signature, const char *module);

/* A sample, or several of one place; count is not limited to 32 bits. */
struct feed_sample {
	int event;
	bool holders; /* of the event lock: attributed to lock owners (profile_add_holder) */
	uint8_t part; /* of its second, 1 to PROFILE_PULSE; 0: unknown */
	uint32_t second, stack, thread;
	enum thread_state state;
	uint64_t count, weight;
};
/* Returns 0, or -1 with an error if the memory limit is reached or the user cancels. */
int feed_sample(struct import *im, const struct feed_sample *s, struct err *err);
/* The check that feed_sample() makes now and then. To be called in long loops that add no samples. */
int feed_check(struct import *im, struct err *err);

/* Copies a text into a field of fixed size, cleaned. */
void feed_copy(char *to, size_t bytes, const char *text, size_t len);
/* Adds a label; labels beyond IMPORT_LABELS are ignored. */
void feed_label(struct import *im, const char *key, const char *value);
/* Applies a fact of jhot's own exports (export/facts.h): the target, labels. Unknown ones are ignored. */
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
