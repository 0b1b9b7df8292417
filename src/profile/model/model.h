/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of struct profile: what was sampled, and the names of it. For the files of this module only.
 *
 * Data flows model -> query -> table -> users; nothing here knows of queries, but that readers want numbers to be kept
 * and that a profile carries their scratch. What a reader, who has the profile const, may change (names are interned
 * as folded views make them, seconds are marked, numbers are kept) is not in struct profile itself but behind its pointers.
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

/* How texts come in: cleaned into `clean`, which is scratch. */
struct model_texts {
	struct buf clean;
	uint64_t cut; /* texts that were too long */
};

struct model_method {
	struct profile_method pub;
	uint32_t ids[4]; /* of its strings: class, name, signature, module */
	uint32_t full;   /* of pub.full: the same for overloads */
	uint32_t full_bytes;
	uint64_t hash_full; /* of pub.full */
};

struct model_methods {
	struct intern strings;
	struct model_texts texts;
	bool jvm; /* some are of Java, or of the JVM: it is no profile of another kind of program */
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

/* What a roll-up asks of every stack it touches, in eight bytes. */
struct model_stack {
	uint32_t path;
	uint32_t bits; /* method << 5 | type << 1 | the method stands further up too */
};
_Static_assert(FRAME_TYPES <= 16, "a type has four bits");

/* How long a stack is, in frames and in names. */
struct model_extent {
	uint32_t depth : 12, closed : 1, names : 19; /* closed: it ends in PROFILE_DEEPER */
};
_Static_assert(PROFILE_DEPTH_MAX < (1u << 12) - 1, "a depth has 12 bits");
_Static_assert(PROFILE_NAMES_MAX < 1u << 19, "names have 19 bits");

#define MODEL_METHODS_MAX (1u << 27)

/* The stack that was asked about last, from the root on, and how often each method stands on it. */
struct model_chain {
	uint32_t *stacks, *on;
	uint32_t depth, stacks_cap, on_cap;
};

/*
 * Stacks, as they were sampled or as a folded view has them: a trie of frames, and beside it one of names: frames of
 * methods that lists show alike in one place, whatever line and however run, are one path. Tables sum over the
 * first, which is exact about types, and report by the second.
 */
struct model_stacks {
	struct trie trie, paths;
	struct model_stack *info;    /* per stack */
	struct model_extent *extent; /* likewise */
	uint32_t info_cap, extent_cap;
	struct model_chain chain;
};

/* A user event as it was set; pub.name is NULL before. */
struct model_event {
	struct profile_event pub;
	char name[64], unit[16];
};

struct model_threads {
	struct profile_thread *list;
	char **names; /* theirs, which are owned here */
	uint32_t count, cap, names_cap;
	struct vacant vacant;
	struct model_texts texts;
	uint32_t serial;
	uint32_t ended;      /* stands for those that left; 0: none did */
	struct intern pools; /* number 0 is no pool */
};

/* Waits as they came, in a ring; each knows the one before of its thread. */
struct model_wait {
	struct profile_wait pub;
	uint64_t before; /* number + 1, 0 = none */
};

struct model_waits {
	struct model_wait *ring;
	uint32_t cap;
	uint64_t count; /* ever set: the number of the next */
	uint64_t *last; /* per thread: number + 1, 0 = none */
	uint32_t last_cap;
};

struct model_gap {
	uint32_t from, to;
};

/*
 * What threads in one place have waited for in system calls of late, by hashes: of a place that reads thousands of files
 * only so many are told by their names. A place takes the slot of another one with the same last bits of its hash.
 */
#define MODEL_IO_PLACES 256u
#define MODEL_IO_NAMES  24u
#define MODEL_IO_S      60u /* then a name makes space for another */
struct model_io_place {
	uint64_t place; /* 0: none yet */
	struct {
		uint64_t name; /* 0: none yet */
		uint32_t second;
	} names[MODEL_IO_NAMES];
};

/* Numbers to keep, while a step of sweep.c is made: a bit for each below limit. */
struct model_keep {
	uint64_t *bits;
	uint32_t limit;
};

/* What readers ask of the model, and what tells them that answers may be others. */
struct model_readers {
	struct {
		profile_keeper_fn *fn;
		void *ctx;
	} keepers[PROFILE_KEEPERS];
	unsigned keeper_count;
	uint32_t hold;        /* the history before this second; PROFILE_NONE: none */
	uint32_t unwritten;   /* from this second on all stay as they are; PROFILE_NONE: no */
	size_t scratch_bytes; /* of what is made for them, as of the last question */
	uint64_t fed;         /* rises whenever answers may change */
	/* sweep.c: how far it is */
	unsigned step;
	uint32_t due;   /* the second of the next step */
	size_t limit;   /* bytes from which on it is worth it; 0: none was made yet */
	uint32_t swept; /* steps that gave numbers free */
	struct model_keep keep;
};

/*
 * Behind the events: what holders of locks did while others waited, which is asked for as EVENT_LOCK, and the CPU time of
 * the process itself, beside which that of the samples stands.
 */
#define MODEL_HELD    PROFILE_EVENTS
#define MODEL_SAMPLED (PROFILE_EVENTS + 1) /* so many have samples of threads */
#define MODEL_PROCESS MODEL_SAMPLED
#define MODEL_SLICES  (MODEL_SAMPLED + 1)

struct profile {
	struct model_methods *methods;
	struct model_frames *frames;
	struct model_stacks stacks;
	struct model_threads threads;
	struct model_waits waits;
	struct model_waits held_waits; /* as they were at held_waits_to, for a reader; or none */
	uint32_t held_waits_to;
	struct model_event user_events[PROFILE_EVENTS - EVENT_USER_FIRST];
	struct slices *events; /* MODEL_SLICES */
	struct profile_intervals intervals[PROFILE_EVENTS];
	struct model_gap *gaps;
	uint32_t gap_count, gap_cap;
	uint64_t cut_samples;
	uint32_t now, oldest, merged_before, history_s;
	uint64_t start_wall_ns;
	size_t budget;
	struct model_io_place *io_places; /* NULL: nothing of that is known */
	struct model_readers *readers;
	struct model_vitals *vitals; /* NULL: none were told */
	struct scratch *scratch;     /* query/query.h */
};

/* feed.c: a profile without scratch. */
struct profile *model_new(void);
void model_free(struct profile *p);

/*
 * text.c: the text as the model keeps it: itself, or clean and cut in t->clean, valid until the next call. in_parts: its
 * first tab stays.
 */
const char *model_text(struct model_texts *t, const char *text, bool in_parts);

/* stacks.c */
void model_stacks_init(struct model_stacks *s, const struct model_stacks *like); /* like: or NULL */
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
 * resting.c: the leaf of a stack that waits for something known as two frames: where, "Client.charge is in I/O", and for
 * what, "[socket read 10.0.0.5:5432]". false: it is no such leaf, or has no place.
 */
bool model_io_apart(const struct profile *p, uint32_t leaf, uint32_t apart[2]);

/* waits.c */
void model_waits_done(struct model_waits *w);
size_t model_waits_bytes(const struct model_waits *w);

/* vitals.c */
size_t model_vitals_bytes(const struct profile *p);
void model_vitals_free(struct model_vitals *v);

/*
 * feed.c: evicts what was sampled from the held second on and before `to` (slices_evict): to free memory. With to = 0 it evicts
 * nothing, and only determines which pairs occur in held seconds.
 */
void model_evict(const struct profile *p, uint32_t to);
/* sweep.c: one step of what is to leave, if it is time for one. */
#define MODEL_SWEEP_S \
	30 /* between steps: whatever an answer has is still there when the next one comes */
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
