/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Classifies stacks: where in its task a thread is, and what it waits for. Internal to this module.
 *
 * A task is what an executor's run loop or a thread's run method calls, of the program or its
 * libraries. Results are cached per node of the stack trie and per method, so an evaluation is
 * O(stacks). Valid for one scene: ids may be reused later.
 */
#ifndef JHOT_FINDINGS_PLACES_H
#define JHOT_FINDINGS_PLACES_H

#include "findings/scene.h"

/* The object of a wait, by the frames below the innermost own one. */
enum place_wait {
	PLACE_QUEUE = 1,    /* an element of a queue */
	PLACE_PERMIT = 2,   /* a semaphore */
	PLACE_CHANGE = 4,   /* a condition */
	PLACE_EVENT = 8,    /* an event: a future, a latch, the end of a thread */
	PLACE_LOCK = 16,    /* a lock that has an owner */
	PLACE_CALLERS = 32, /* clients: accept, select */
	PLACE_ACCEPTS = 64, /* accept only */
	PLACE_FILE = 128,   /* a file, or a pipe */
	PLACE_PEER = 256,   /* a socket */
};

/* Other kinds of methods; the bits are distinct from enum place_wait. */
#define METHOD_KIND(bit) (UINT64_C(1) << (bit))
#define METHOD_SYNC      METHOD_KIND(9)  /* a synchronizer of java.util.concurrent */
#define METHOD_TRIES     METHOD_KIND(10) /* waits with a timeout */
#define METHOD_INSERTS   METHOD_KIND(11) /* waits for space in a queue */
#define METHOD_CHILD     METHOD_KIND(12) /* waits until a child process has ended */
#define METHOD_FORKS     METHOD_KIND(13) /* starts a child process */
#define METHOD_STARTS    METHOD_KIND(14) /* starts a thread */
#define METHOD_WORKER    METHOD_KIND(15) /* the run method of a ForkJoinPool's thread */
#define METHOD_SCHEDULED METHOD_KIND(16) /* runs a task of a scheduled executor or a Timer */
#define METHOD_MOUNTS    METHOD_KIND(17) /* a carrier runs a virtual thread in it */
#define METHOD_FINALIZES METHOD_KIND(18)
#define METHOD_CLEANS    METHOD_KIND(29) /* runs the action of a java.lang.ref.Cleaner */
#define METHOD_CLEANER   METHOD_KIND(30) /* the run method of its thread */
#define METHOD_ASKS \
	METHOD_KIND(31) /* a client's call: waits until another thread has read the answer */
#define METHOD_STOPS    METHOD_KIND(19) /* requests a safepoint */
#define METHOD_COLLECTS METHOD_KIND(20) /* requests a collection */
#define METHOD_LARGE    METHOD_KIND(21) /* G1 allocates a humongous object */
#define METHOD_DIRECT   METHOD_KIND(22) /* allocates memory outside of the Java heap */
#define METHOD_DEFINES  METHOD_KIND(23) /* defines a class */
#define METHOD_CLINIT   METHOD_KIND(24) /* a static initializer */
/* The JVM initializes a class, or waits until another thread has done it. */
#define METHOD_INITIALIZES METHOD_KIND(25)
#define METHOD_TRACE       METHOD_KIND(26) /* fills in an exception's stack trace */
#define METHOD_LEAVES      METHOD_KIND(27) /* deoptimization: leaves compiled code */
#define METHOD_COLLIDES    METHOD_KIND(28) /* searches keys of equal hash codes in a hash table */

/* Waits for the task of another thread, by its class: a FutureTask, a CompletableFuture's stage, a ForkJoinTask. */
#define METHOD_AWAITS_TASK     METHOD_KIND(32)
#define METHOD_AWAITS_STAGE    METHOD_KIND(33)
#define METHOD_AWAITS_FORK     METHOD_KIND(34)
#define METHOD_AWAITS          (METHOD_AWAITS_TASK | METHOD_AWAITS_STAGE | METHOD_AWAITS_FORK)
#define METHOD_RUNNING(awaits) ((awaits) << 3) /* runs such a task */

struct place {
	uint32_t own; /* stack of the task's innermost own frame; PROFILE_NONE: none, or no task */
	uint32_t outer; /* stack of its outermost own frame that is no lambda; PROFILE_NONE: none */
	uint32_t java;  /* stack of the innermost Java frame */
	uint64_t seen;  /* private: the kinds of all its methods */
	uint16_t waits; /* enum place_wait */
	uint16_t owns;  /* own methods in the task; lambdas and direct recursion not counted */
	bool known;     /* private: cached */
	bool idle;      /* the executor's thread is between tasks */
	bool loop; /* private: idle, in a run loop that waits for tasks itself and so may call one */
	bool executor; /* below an executor's run loop */
};

struct places;
struct places *places_new(const struct scene *scene); /* borrows the scene */
void places_free(struct places *p);
struct place places_of(struct places *p, uint32_t stack);

/* The stack of the innermost frame whose method is of one of these kinds. PROFILE_NONE: none. */
uint32_t places_find(struct places *p, uint32_t stack, uint64_t kinds);
/* The kinds, of those given, of the method of the frame that places_find() returns. 0: none. */
uint64_t places_kinds(struct places *p, uint32_t stack, uint64_t kinds);

/* The stack of the task's next own frame outwards from `own`, without lambdas. PROFILE_NONE: none. */
uint32_t places_outwards(struct places *p, uint32_t own);
/* The method of a stack's leaf. */
const struct profile_method *places_method(const struct scene *scene, uint32_t stack);
const char *places_class(const struct profile_method *m); /* the class without its package */
/*
 * True when a word of the name begins with one of these, ignoring case: "serve" is in "doServe" and
 * "Servers", not in "reserve". NULL ends the words.
 */
bool places_contains(const char *name, const char *const *words);

#endif
