/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where in its task a thread is, read off its stack. For this module's files.
 *
 * A task is what an executor's run loop, or a thread's run method, has called of the program's own or its libraries'.
 * Each node of the stacks' trie is looked at once per look, each method's name is compared once.
 */
#ifndef JHOT_FINDINGS_PLACES_H
#define JHOT_FINDINGS_PLACES_H

#include "findings/scene.h"

/* What the frames inside of the innermost own one wait for, a bit each. */
enum place_wait {
	PLACE_QUEUE = 1,    /* an element of a queue */
	PLACE_PERMIT = 2,   /* a semaphore */
	PLACE_CHANGE = 4,   /* a condition */
	PLACE_EVENT = 8,    /* that something has happened: futures, latches, the end of a thread */
	PLACE_LOCK = 16,    /* one that is owned */
	PLACE_CALLERS = 32, /* whoever may call or write: accept, select */
	PLACE_ACCEPTS = 64, /* of these, accept alone */
	PLACE_FILE = 128,   /* a file, or a pipe */
	PLACE_PEER = 256,   /* a socket */
};

/* What else a method may be. */
#define METHOD_SYNC      0x0200u  /* of Java's own locks */
#define METHOD_TRIES     0x0400u  /* waits for a limited time */
#define METHOD_STOPS     0x0800u  /* stops all threads */
#define METHOD_TRACE     0x8000u  /* fills in an exception's stack trace */
#define METHOD_LEAVES    0x20000u /* compiled code goes back to the interpreter */
#define METHOD_MOUNTS    0x40000u /* a carrier runs a virtual thread in it */
#define METHOD_FINALIZES 0x80000u
#define METHOD_STARTS    0x100000u /* a thread */
#define METHOD_FUTURE    0x400000u /* waits for another thread's task */
#define METHOD_LARGE     0x200000u /* G1 allocates an array of half a region or more */

struct place {
	uint32_t own;   /* the task's innermost own frame, as a stack; PROFILE_NONE: in no task */
	uint32_t outer; /* the outermost of these that is no lambda; PROFILE_NONE: there is none */
	uint32_t java;  /* the innermost frame of Java */
	uint32_t seen;  /* for places.c: what the methods of all its frames are */
	uint16_t waits; /* enum place_wait */
	uint16_t owns;  /* methods of its own in a row, lambdas and recursion not counted */
	bool known;     /* for places.c */
	bool idle;      /* in what an executor does between tasks */
	bool executor;  /* below an executor's run loop */
};

struct places;
struct places *places_new(const struct scene *scene);
void places_free(struct places *p);
/* Valid until the next call. */
struct place places_of(struct places *p, uint32_t stack);

/* The innermost frame whose method is one of these, as a stack; PROFILE_NONE: there is none. */
uint32_t places_find(struct places *p, uint32_t stack, unsigned is);

/* The next own frame of the task outwards, as a stack, lambdas left out; PROFILE_NONE: there is none. */
uint32_t places_outwards(struct places *p, uint32_t own);
/* Of a stack's leaf. */
const struct profile_method *places_method(const struct scene *scene, uint32_t stack);
/* Does one of the words stand in the text, whatever its case? NULL ends them. */
bool places_says(const char *text, const char *const *words);

#endif
