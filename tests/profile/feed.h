/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pseudo-random program to profile: realistic names and stacks, known true shares, the same bytes for the same seed.
 *
 *   struct feed f;
 *   feed_init(&f, p, &(struct feed_options){.stacks = 1000, .rate = 200});
 *   for (uint32_t s = 0; s < 60; s++)
 *           feed_second(&f, s);
 *   feed_done(&f);
 *
 * Stack i of the program (0 ..) has a share of about 1 / (i + 4), as in real profiles. Options left 0 take the
 * defaults beside them.
 */
#ifndef JHOT_TESTS_PROFILE_FEED_H
#define JHOT_TESTS_PROFILE_FEED_H

#include "profile/profile.h"
#include "tests/profile/add.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct feed_options {
	uint64_t seed;     /* 1 */
	uint32_t stacks;   /* 1000 distinct ones */
	uint32_t methods;  /* 400 Java methods, beside some native, VM and kernel ones */
	uint32_t depth;    /* 24 frames of Java, give or take half */
	uint32_t threads;  /* 16 Java threads, beside 2 GC and 2 compiler threads */
	uint32_t rate;     /* 200 samples per second */
	uint64_t interval; /* that of the event */
	int event;
};

struct feed {
	struct profile *p;
	struct feed_options o;
	uint64_t rng;
	uint32_t *methods;         /* ids of the Java methods in the profile */
	uint32_t *stacks, *leaves; /* per stack: its id, its leaf's method */
	double *cumulative;        /* per stack: cumulative share */
	uint64_t *fed;             /* per stack: samples added so far */
	uint64_t samples, weight;
};

static inline uint64_t feed_random(struct feed *f)
{
	f->rng ^= f->rng << 13;
	f->rng ^= f->rng >> 7;
	f->rng ^= f->rng << 17;
	return f->rng * 0x2545f4914f6cdd1dull >> 11;
}

static inline uint32_t feed_below(struct feed *f, uint32_t n)
{
	return (uint32_t)(feed_random(f) % n);
}

static inline double feed_unit(struct feed *f)
{
	return (double)(feed_random(f) & 0xfffffffffffffull) / 4503599627370496.0;
}

static inline uint32_t feed_java_method(struct feed *f, uint32_t i)
{
	static const char *const packages[] = {"java.util", "java.util.concurrent", "java.lang",
		"com.acme.shop.pricing", "com.acme.shop.cart", "com.acme.shop.search",
		"org.springframework.web.servlet", "io.netty.buffer",
		"com.fasterxml.jackson.core.json", "org.apache.kafka.clients.consumer.internals"};
	static const char *const classes[] = {"HashMap", "PriceEngine", "CartService", "Tokenizer",
		"UTF8StreamJsonParser", "DispatcherServlet", "PoolArena", "ConcurrentHashMap",
		"OrderController", "StringLatin1", "Fetcher$FetchManager",
		"Pipeline$$Lambda+0x00007f1c3c0a1200"};
	static const char *const names[] = {"get", "put", "compute", "next", "parse", "allocate",
		"total", "list", "inflate", "<init>", "lambda$apply$0", "readValue", "doDispatch",
		"equals", "hashCode"};
	char class_name[160], name[64];

	snprintf(class_name, sizeof(class_name), "%s.%s", packages[i % 10], classes[i / 3 % 12]);
	if (i < 180)
		snprintf(name, sizeof(name), "%s", names[i % 15]);
	else
		snprintf(name, sizeof(name), "%s%u", names[i % 15], i / 180);
	return profile_method(f->p, class_name, name, i % 4 ? "()V" : "(I)V", "");
}

static inline uint32_t feed_push(
	struct feed *f, uint32_t stack, uint32_t method, enum frame_type type, unsigned bci)
{
	int line = frame_is_java(type) ? (int)(bci * 7 + method) : 0;

	return profile_stack_child(f->p, stack,
		profile_frame(f->p, method, type, frame_is_java(type) ? bci : 0xffff, line));
}

/* A thread that runs inside the VM: shallow, native. */
static inline uint32_t feed_vm_stack(struct feed *f)
{
	static const char *const names[] = {"GangWorker::run(WorkData)",
		"G1ParTask::work(unsigned int)",
		"G1ParScanThreadState::copy_to_survivor_space(InCSetState, oopDesc*, markOopDesc*)",
		"PhaseIdealLoop::build_and_optimize(LoopOptsMode)",
		"PhaseChaitin::Register_Allocate()",
		"Compile::Compile(ciEnv*, ciMethod*, int, bool)"};
	uint32_t stack = PROFILE_ROOT_STACK, n = 2 + feed_below(f, 6);

	stack = feed_push(f, stack, profile_method(f->p, "", "start_thread", "", "libc.so.6"),
		FRAME_NATIVE, 0);
	while (n--)
		stack = feed_push(f, stack,
			profile_method(f->p, "", names[feed_below(f, 6)], "", "libjvm.so"),
			FRAME_VM, 0);
	return stack;
}

/* Branches off an existing stack near its end, as programs do; the first stacks start afresh. */
static inline uint32_t feed_java_start(struct feed *f, uint32_t made)
{
	uint32_t stack = PROFILE_ROOT_STACK, up;

	if (made >= 8)
		stack = f->stacks[feed_below(f, made)];
	for (up = 1 + feed_below(f, 3) * feed_below(f, 8); up && stack; up--)
		stack = profile_get_stack(f->p, stack).parent;
	if (profile_get_stack(f->p, stack).depth < 4)
		return feed_push(f, PROFILE_ROOT_STACK,
			profile_method(f->p, "java.lang.Thread", "run", "()V", ""),
			FRAME_INTERPRETED, 11);
	return stack;
}

static inline uint32_t feed_java_stack(struct feed *f, uint32_t made)
{
	static const enum frame_type types[] = {FRAME_COMPILED, FRAME_INLINED, FRAME_INLINED,
		FRAME_COMPILED, FRAME_C1, FRAME_INTERPRETED};
	uint32_t stack = feed_java_start(f, made), depth = profile_get_stack(f->p, stack).depth;
	uint32_t n = 1 + feed_below(f, 8), at, method;

	if (depth + n < f->o.depth / 2)
		n = f->o.depth / 2 + feed_below(f, f->o.depth / 2 + 1) - depth;
	if (depth + n > f->o.depth * 2)
		n = 1;
	/* Each method calls one of a few others. */
	at = profile_get_frame(f->p, profile_get_stack(f->p, stack).frame)->method * 5;
	for (uint32_t i = 0; i < n; i++) {
		at += 1 + feed_below(f, 3) * feed_below(f, 5);
		method = f->methods[at % f->o.methods];
		stack = feed_push(f, stack, method, types[(at + i) % 6], at % 40);
		at = at * 5 % (f->o.methods * 8);
	}
	switch (feed_below(f, 12)) {
	case 0:
		stack = feed_push(f, stack, profile_method(f->p, "", "inflate", "", "libz.so.1"),
			FRAME_NATIVE, 0);
		break;
	case 1:
		stack = feed_push(f, stack,
			profile_method(f->p, "", "__libc_write", "", "libc.so.6"), FRAME_NATIVE, 0);
		stack = feed_push(f, stack, profile_method(f->p, "", "do_syscall_64", "", ""),
			FRAME_KERNEL, 0);
		stack = feed_push(f, stack,
			profile_method(f->p, "", "copy_user_enhanced_fast_string", "", ""),
			FRAME_KERNEL, 0);
		break;
	default: break;
	}
	return stack;
}

static inline void feed_threads(struct feed *f)
{
	static const char *const extra[] = {
		"G1 Conc#0", "GC Thread#0", "C2 CompilerThread0", "C1 CompilerThread0"};
	struct profile_thread t = {0};
	char name[64];

	for (uint32_t i = 0; i < f->o.threads + 4; i++) {
		bool java = i < f->o.threads;

		snprintf(name, sizeof(name), "http-nio-8080-exec-%u", i + 1);
		t.name = java ? name : extra[i - f->o.threads];
		t.kind = java ? THREAD_JAVA : i < f->o.threads + 2 ? THREAD_GC : THREAD_COMPILER;
		t.tid = 41300 + (int)i;
		t.java_tid = java ? 20 + (int64_t)i : -1;
		profile_thread_set(f->p, i, &t);
	}
}

static inline void feed_init(struct feed *f, struct profile *p, const struct feed_options *o)
{
	double sum = 0;

	memset(f, 0, sizeof(*f));
	f->p = p;
	f->o = *o;
	f->o.stacks = o->stacks ? o->stacks : 1000;
	f->o.methods = o->methods ? o->methods : 400;
	f->o.depth = o->depth ? o->depth : 24;
	f->o.threads = o->threads ? o->threads : 16;
	f->o.rate = o->rate ? o->rate : 200;
	f->o.interval = o->interval ? o->interval : profile_events[o->event].default_interval;
	f->rng = 0x9e3779b97f4a7c15ull * (o->seed ? o->seed : 1);
	f->methods = calloc(f->o.methods, sizeof(*f->methods));
	f->stacks = calloc(f->o.stacks, sizeof(*f->stacks));
	f->leaves = calloc(f->o.stacks, sizeof(*f->leaves));
	f->cumulative = calloc(f->o.stacks, sizeof(*f->cumulative));
	f->fed = calloc(f->o.stacks, sizeof(*f->fed));
	feed_threads(f);
	for (uint32_t i = 0; i < f->o.methods; i++)
		f->methods[i] = feed_java_method(f, i);
	for (uint32_t i = 0; i < f->o.stacks; i++) {
		f->stacks[i] = i % 8 == 5 ? feed_vm_stack(f) : feed_java_stack(f, i);
		f->leaves[i] =
			profile_get_frame(p, profile_get_stack(p, f->stacks[i]).frame)->method;
		sum += 1.0 / (i + 4);
		f->cumulative[i] = sum;
	}
	for (uint32_t i = 0; i < f->o.stacks; i++)
		f->cumulative[i] /= sum;
}

static inline void feed_done(struct feed *f)
{
	free(f->methods);
	free(f->stacks);
	free(f->leaves);
	free(f->cumulative);
	free(f->fed);
	memset(f, 0, sizeof(*f));
}

/* Adds a sample of one stack of the program. */
static inline void feed_sample(struct feed *f, uint32_t second, uint32_t i)
{
	uint32_t thread = feed_below(f, f->o.threads);

	if (i % 8 == 5)
		thread = f->o.threads + i / 8 % 4;
	profile_add(f->p, f->o.event, second, f->stacks[i], thread, 1, f->o.interval);
	f->fed[i]++;
	f->samples++;
	f->weight += f->o.interval;
}

/* Adds a second of samples, distributed by the program's true shares. */
static inline void feed_second(struct feed *f, uint32_t second)
{
	profile_advance(f->p, second);
	for (uint32_t n = 0; n < f->o.rate; n++) {
		double x = feed_unit(f);
		uint32_t lo = 0, hi = f->o.stacks - 1;

		while (lo < hi) {
			uint32_t mid = lo + (hi - lo) / 2;

			if (f->cumulative[mid] <= x)
				lo = mid + 1;
			else
				hi = mid;
		}
		feed_sample(f, second, lo);
	}
}

/* Adds one sample of every stack of the program. */
static inline void feed_all(struct feed *f, uint32_t second)
{
	profile_advance(f->p, second);
	for (uint32_t i = 0; i < f->o.stacks; i++)
		feed_sample(f, second, i);
}

/* The true share of samples whose leaf is this method. */
static inline double feed_share(const struct feed *f, uint32_t method)
{
	double share = 0;

	for (uint32_t i = 0; i < f->o.stacks; i++) {
		if (f->leaves[i] == method)
			share += f->cumulative[i] - (i ? f->cumulative[i - 1] : 0);
	}
	return share;
}

#endif
