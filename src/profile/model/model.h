/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of struct profile: samples and names. For this module only.
 *
 *   feed.c      adding samples; merging, dropping and evicting history
 *   slices.c    the history of one event                 sweep.c    frees unreferenced ids
 *   methods.c   texts, methods and frames                stacks.c   stacks and their paths
 *   threads.c   threads and their pools                  waits.c    lock waits
 *   events.c    tables of events, frame types, states    vitals.c   vitals per second
 *   resting.c   where and why a thread waits             tally.c, trie.c   data structures
 *
 * Dependencies: model <- query <- table <- users. The model does not depend on queries; it only
 * stores their caches, and calls their pin callbacks. State that readers change through a const
 * profile (interned names, anchors, pins) is behind pointers.
 */
#ifndef JHOT_PROFILE_MODEL_MODEL_H
#define JHOT_PROFILE_MODEL_MODEL_H

#include "base/buf.h"
#include "base/hash.h"
#include "base/intern.h"
#include "profile/model/slices.h"
#include "profile/model/tally.h"
#include "profile/model/trie.h"
#include "profile/profile.h"

/* Sanitizing of texts from outside. */
struct model_texts {
	struct buf clean; /* scratch */
	uint64_t cut;     /* number of texts truncated */
};

struct model_method {
	struct profile_method pub;
	uint32_t ids[4]; /* interned class, name, signature, module */
	uint32_t full;   /* interned pub.full, equal for overloads */
	uint32_t full_bytes;
	uint64_t hash_full; /* of pub.full */
};

struct model_methods {
	struct intern strings;
	struct model_texts texts;
	bool jvm; /* a method of Java or libjvm was interned: the profile is that of a JVM */
	struct hash_index index;
	struct model_method *list;
	uint32_t count, cap;
	struct vacant vacant;
};

struct model_frames {
	struct hash_index index;
	struct profile_frame *list;
	uint32_t count, cap;
	struct vacant vacant;
};

/* The input of a roll-up, 8 bytes per stack. */
struct model_stack {
	uint32_t path;
	uint32_t bits; /* method << 5 | type << 1 | the method also occurs further up */
};
_Static_assert(FRAME_TYPES <= 16, "a type has four bits");

/* Length of a stack in frames, and in bytes of names. */
struct model_extent {
	uint32_t depth : 12, closed : 1, names : 19; /* closed: ends in PROFILE_DEEPER */
};
_Static_assert(PROFILE_DEPTH_MAX < (1u << 12) - 1, "a depth has 12 bits");
_Static_assert(PROFILE_NAMES_MAX < 1u << 19, "names have 19 bits");

#define MODEL_METHODS_MAX (1u << 27)

/* Cache of stack_has(): the last stack, from the root on. */
struct model_chain {
	uint32_t *stacks, *on; /* on: occurrences on the stack, per method */
	uint32_t depth, stacks_cap, on_cap;
};

/*
 * Stacks, sampled or of a collapsed view. Stacks that differ only in the lines and types of frames
 * have the same path. Tables sum over stacks, which keeps types exact, and report by path.
 */
struct model_stacks {
	struct trie trie, paths;
	struct model_stack *info;    /* per stack */
	struct model_extent *extent; /* per stack */
	uint32_t info_cap, extent_cap;
	struct model_chain chain;
};

/* A user event; pub.name is NULL until it is defined. */
struct model_event {
	struct profile_event pub;
	char name[64], unit[16];
};

struct model_threads {
	struct profile_thread *list;
	char **names; /* owned; list[i].name points here */
	uint32_t count, cap, names_cap;
	struct vacant vacant;
	struct model_texts texts;
	uint32_t serial;
	uint32_t ended;      /* id of "[threads that ended]"; 0: none */
	struct intern pools; /* id 0 is no pool */
};

/* Lock waits: a ring in which each wait links to the previous one of its thread. */
struct model_wait {
	struct profile_wait pub;
	uint64_t before; /* number + 1, 0 = none */
};

struct model_waits {
	struct model_wait *ring;
	uint32_t cap;
	uint64_t count; /* ever recorded: number of the next */
	uint64_t *last; /* per thread: number + 1, 0 = none */
	uint32_t last_cap;
};

struct model_gap {
	uint32_t from, to;
};

struct model_links {
	struct profile_link *ring;
	uint32_t cap;
	uint64_t count; /* ever added */
};

/*
 * Recent peers of I/O per place, as hashes: a place that reads thousands of files shows a limited
 * number of names. Direct-mapped: a place replaces another one with the same low bits of its hash.
 */
#define MODEL_IO_PLACES 256u
#define MODEL_IO_NAMES  24u
#define MODEL_IO_S      60u /* a name that was not used for so long may be replaced */
struct model_io_place {
	uint64_t place; /* 0: none yet */
	struct {
		uint64_t name; /* 0: none yet */
		uint32_t second;
	} names[MODEL_IO_NAMES];
};

/* Pinned ids during a step of the sweep: a bitmap of `limit` bits. */
struct model_pins {
	uint64_t *bits;
	uint32_t limit;
};

/* State that readers set, and counters that invalidate their caches. */
struct model_readers {
	struct {
		profile_pin_fn *fn;
		void *ctx;
	} pin_callbacks[PROFILE_PIN_CALLBACKS];
	unsigned pin_callback_count;
	uint32_t frozen;      /* history before this second is frozen; PROFILE_NONE: none */
	uint32_t unwritten;   /* seconds from this one on stay as they are; PROFILE_NONE: none */
	size_t scratch_bytes; /* of struct scratch, as of the last query */
	uint64_t fed;         /* incremented when answers may change */
	/* sweep.c */
	unsigned step;
	uint32_t due;   /* second of the next step */
	size_t limit;   /* bytes above which a sweep starts; 0: none has completed */
	uint32_t swept; /* completed steps: ids may have been freed */
	struct model_pins pins;
};

/* Indexes after those of the events: samples of lock holders (EVENT_LOCK with `holders`), CPU time of the process. */
#define MODEL_HOLDERS PROFILE_EVENTS
#define MODEL_SAMPLED (PROFILE_EVENTS + 1) /* number of indexes with samples of threads */
#define MODEL_PROCESS MODEL_SAMPLED
#define MODEL_SLICES  (MODEL_SAMPLED + 1)

struct profile {
	struct model_methods *methods;
	struct model_frames *frames;
	struct model_stacks stacks;
	struct model_threads threads;
	struct model_waits waits;
	struct model_waits frozen_waits; /* copy for frozen history, or empty */
	uint32_t frozen_waits_to;        /* when it was made */
	struct model_links links;
	struct model_event user_events[PROFILE_EVENTS - EVENT_USER_FIRST];
	struct slices *events; /* MODEL_SLICES */
	struct profile_intervals intervals[PROFILE_EVENTS];
	struct model_gap *gaps;
	uint32_t gap_count, gap_cap;
	uint64_t cut_samples;
	uint32_t now, oldest, merged_before, history_s;
	uint64_t start_wall_ns;
	size_t budget;
	struct model_io_place *io_places; /* NULL until used */
	struct model_readers *readers;
	struct model_vitals *vitals; /* NULL until used */
	uint32_t calls_generation;
	struct model_calls *calls; /* calls/own.h; NULL: no method's calls are measured */
	struct scratch *scratch;   /* query/query.h */
};

/* feed.c: a profile without caches of queries. */
struct profile *model_new(void);
void model_free(struct profile *p);

/*
 * methods.c: the sanitized and truncated text: `text` itself or t->clean, valid until the next
 * call. in_parts: keeps the first tab.
 */
const char *model_text(struct model_texts *t, const char *text, bool in_parts);

/* stacks.c; like: stacks of the expected size, or NULL */
void model_stacks_init(struct model_stacks *s, const struct model_stacks *like);
void model_stacks_done(struct model_stacks *s);
uint32_t model_stacks_child(
	struct model_stacks *s, const struct profile *p, uint32_t parent, uint32_t frame);
void model_stacks_sweep(struct model_stacks *s, const uint64_t *keep);
size_t model_stacks_bytes(const struct model_stacks *s);

/* methods.c */
void model_methods_done(struct model_methods *m);
void model_methods_sweep(struct model_methods *m, const uint64_t *keep);
size_t model_methods_bytes(const struct model_methods *m);
void model_frames_done(struct model_frames *f);
void model_frames_sweep(struct model_frames *f, const uint64_t *keep);

/* threads.c */
#define MODEL_THREADS_MAX (1u << 20)
void model_threads_init(struct model_threads *t);
void model_threads_done(struct model_threads *t);
void model_threads_sweep(struct profile *p, const uint64_t *keep);
size_t model_threads_bytes(const struct model_threads *t);

/*
 * resting.c: true if the stack is a wait for work: it has a method of profile_method_idles() and
 * below that no frame of the program, or its frames are libjvm's and libc's only. O(depth).
 */
bool model_stack_idles(const struct profile *p, uint32_t stack);
/*
 * resting.c: splits a leaf with a target of I/O into two frames: "Client.charge is in I/O" and
 * "[socket read 10.0.0.5:5432]". False: not such a leaf, or without a place.
 */
bool model_io_apart(const struct profile *p, uint32_t leaf, uint32_t apart[2]);

/* waits.c */
void model_waits_done(struct model_waits *w);
size_t model_waits_bytes(const struct model_waits *w);

/* feed.c; refer: as model_calls_refer */
size_t model_links_bytes(const struct profile *p);
void model_links_refer(const struct profile *p, enum profile_kind kind,
	void (*fn)(const struct profile *p, uint32_t id));

/* vitals.c */
size_t model_vitals_bytes(const struct profile *p);
void model_vitals_free(struct model_vitals *v);

/* calls/store.c; refer: calls fn for each id of this kind that the calls refer to */
size_t model_calls_bytes(const struct profile *p);
void model_calls_refer(const struct profile *p, enum profile_kind kind,
	void (*fn)(const struct profile *p, uint32_t id));

/*
 * feed.c: evicts the slices from the frozen second up to `to` (slices_evict). 0 evicts nothing, but
 * anchors the frozen second.
 */
void model_evict(const struct profile *p, uint32_t to);
/* sweep.c: runs one step if it is due. */
#define MODEL_SWEEP_S 30 /* between steps: longer than between two queries of any view */
void model_sweep(struct profile *p);

static inline uint32_t model_parent(const struct model_stacks *s, uint32_t stack)
{
	return s->trie.nodes[stack].parent;
}

static inline uint32_t model_frame(const struct model_stacks *s, uint32_t stack)
{
	return s->trie.nodes[stack].item;
}

static inline uint32_t model_method(const struct model_stacks *s, uint32_t stack)
{
	return s->info[stack].bits >> 5;
}

static inline uint8_t model_type(const struct model_stacks *s, uint32_t stack)
{
	return s->info[stack].bits >> 1 & 15;
}

static inline bool model_repeats(const struct model_stacks *s, uint32_t stack)
{
	return s->info[stack].bits & 1;
}

#endif
