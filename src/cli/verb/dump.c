/* SPDX-License-Identifier: Apache-2.0 */
/* `jhot dump`: what every thread of a JVM is doing right now, even of one that does not respond. */
#include "dump/dump.h"

#include "base/clock.h"
#include "base/json.h"
#include "cli/agent.h"
#include "cli/line/verb.h"
#include "session/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sampling by the agent, when threads cannot be stopped. */
#define INTERVAL_NS (20 * NS_PER_MS)
#define SAMPLE_NS   (1 * NS_PER_S)
#define CYCLE_MOST  64

static void print_frames(const struct dump_thread *t)
{
	for (const struct dump_frame *f = t->frames; f < t->frames + t->count; f++) {
		printf("    %c  ", dump_types[f->type].letter);
		if (f->module[0] && f->type != DUMP_VM && f->type != DUMP_KERNEL)
			printf("[%s] ", f->module);
		fputs(f->name, stdout);
		if (f->line)
			printf(":%d", f->line);
		else if (f->bci >= 0)
			printf(" @%d", f->bci);
		putchar('\n');
	}
	if (t->truncated)
		puts("    ... (more frames)");
}

static void print_group(const struct dump_group *g)
{
	printf("%llu virtual thread%s, %s:", (unsigned long long)g->count, plural(g->count),
		g->state);
	for (uint32_t i = 0; i < g->named; i++)
		printf(" %s%s#%lld%s", g->names[i].name, g->names[i].name[0] ? " " : "",
			(long long)g->names[i].id, i + 1 < g->named ? "," : "");
	if (g->count > g->named)
		printf(" and %llu more", (unsigned long long)(g->count - g->named));
	putchar('\n');
	if (g->class_name[0])
		printf("    parked for %s\n", g->class_name);
	print_frames(&g->stack);
	putchar('\n');
}

static void print_groups(const struct dump *d)
{
	uint64_t counted = 0;

	for (uint32_t i = 0; i < d->group_count; i++) {
		print_group(&d->groups[i]);
		counted += d->groups[i].count;
	}
	if (!d->parked)
		return;
	printf("%s%llu virtual thread%s %s without a carrier, in %u stack%s",
		d->parked_scans < d->parked ? "about " : "", (unsigned long long)d->parked,
		plural(d->parked), d->parked == 1 ? "waits" : "wait", d->group_count,
		plural(d->group_count));
	if (d->parked_scans < counted)
		printf("; %llu of them were examined and extrapolated",
			(unsigned long long)d->parked_scans);
	if (counted < d->parked)
		printf("; %llu continued to run or could not be read",
			(unsigned long long)(d->parked - counted));
	putchar('\n');
}

static void print_cycles(const struct dump *d)
{
	uint32_t list[CYCLE_MOST];

	for (uint32_t i = 0; i < d->count; i++) {
		uint32_t n = dump_cycle(d, i, list, CYCLE_MOST);

		if (!n)
			continue;
		printf("DEADLOCK: %u threads wait for each other; confirm with a second dump\n", n);
		for (uint32_t k = 0; k < n; k++) {
			const struct dump_thread *t = &d->threads[list[k]];

			printf("    \"%s\" tid %d waits for %s 0x%llx, held by \"%s\"\n", t->name,
				(int)t->tid, t->lock.class_name,
				(unsigned long long)t->lock.address, t->lock.owner);
		}
		putchar('\n');
	}
}

static void print_text(const struct hotspot *jvm, const struct dump *d)
{
	printf("%d %s, %s %s\n\n", (int)jvm->pid, jvm->name, jvm->vm, jvm->jdk);
	for (uint32_t i = 0; i < d->count; i++) {
		const struct dump_thread *t = &d->threads[i];
		const struct dump_lock *l = &t->lock;

		printf("\"%s\" tid %d", t->name, (int)t->tid);
		if (t->java_id)
			printf(" #%lld", (long long)t->java_id);
		printf(" %c", t->state);
		if (t->java_status)
			printf(" %s,", t->java_status);
		if (t->java)
			printf(" %s", t->java);
		printf("  (%u of %u)\n", i + 1, d->count);
		if (l->what) {
			printf("    %s %s 0x%llx", l->what, l->class_name,
				(unsigned long long)l->address);
			if (l->owner)
				printf(", held by \"%s\" tid %d", l->owner, (int)l->owner_tid);
			putchar('\n');
		}
		print_frames(t);
		if (t->note)
			printf("    no stack: %s\n", t->note);
		putchar('\n');
	}
	print_groups(d);
	print_cycles(d);
	if (d->note[0])
		printf("Note: %s\n", d->note);
	if (d->by_agent) {
		printf("%u thread%s, sampled by the agent, because the kernel does not allow you "
		       "to trace the JVM: the most frequent stack of each within one second\n",
			d->count, plural(d->count));
		return;
	}
	printf("%u thread%s, paused one at a time, at most %.*f ms\n", d->stopped,
		plural(d->stopped), d->longest_pause_ns < 10000000 ? 2 : 0,
		(double)d->longest_pause_ns / 1e6);
}

static void json_frames(struct json *j, const struct dump_thread *t)
{
	json_bool(j, "truncated", t->truncated);
	json_begin(j, "frames", '[');
	for (const struct dump_frame *f = t->frames; f < t->frames + t->count; f++) {
		json_begin(j, NULL, '{');
		json_str(j, "type", dump_types[f->type].name);
		json_str(j, "name", f->name);
		if (f->module[0])
			json_str(j, "module", f->module);
		if (f->line)
			json_int(j, "line", f->line);
		if (f->bci >= 0)
			json_int(j, "bci", f->bci);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void json_thread(struct json *j, const struct dump_thread *t)
{
	char state[2] = {t->state, 0};

	json_begin(j, NULL, '{');
	json_str(j, "name", t->name);
	json_int(j, "tid", t->tid);
	json_int(j, "nstid", t->nstid);
	json_str(j, "state", state);
	if (t->java)
		json_str(j, "java_state", t->java);
	if (t->java_id)
		json_int(j, "java_id", t->java_id);
	if (t->java_status)
		json_str(j, "java_status", t->java_status);
	if (t->lock.what) {
		char address[24];

		snprintf(address, sizeof(address), "0x%llx", (unsigned long long)t->lock.address);
		json_begin(j, "lock", '{');
		json_str(j, "what", t->lock.what);
		json_str(j, "class", t->lock.class_name);
		json_str(j, "address", address);
		if (t->lock.owner) {
			json_str(j, "owner", t->lock.owner);
			json_int(j, "owner_tid", t->lock.owner_tid);
		}
		json_end(j, '}');
	}
	if (t->note)
		json_str(j, "note", t->note);
	json_frames(j, t);
	json_end(j, '}');
}

static void json_group(struct json *j, const struct dump_group *g)
{
	json_begin(j, NULL, '{');
	json_int(j, "count", (int64_t)g->count);
	json_str(j, "state", g->state);
	if (g->class_name[0])
		json_str(j, "parked_for", g->class_name);
	json_begin(j, "threads", '[');
	for (uint32_t i = 0; i < g->named; i++) {
		json_begin(j, NULL, '{');
		json_str(j, "name", g->names[i].name);
		json_int(j, "java_id", g->names[i].id);
		json_end(j, '}');
	}
	json_end(j, ']');
	json_frames(j, &g->stack);
	json_end(j, '}');
}

static void print_json(const struct hotspot *jvm, const struct dump *d)
{
	struct buf text = {0};
	struct json j = {.out = &text};

	json_begin(&j, NULL, '{');
	json_int(&j, "pid", jvm->pid);
	json_str(&j, "name", jvm->name);
	json_str(&j, "jdk", jvm->jdk);
	json_str(&j, "vm", jvm->vm);
	json_str(&j, "note", d->note);
	json_bool(&j, "by_agent", d->by_agent);
	json_int(&j, "longest_pause_ns", (int64_t)d->longest_pause_ns);
	json_begin(&j, "threads", '[');
	for (uint32_t i = 0; i < d->count; i++)
		json_thread(&j, &d->threads[i]);
	json_end(&j, ']');
	json_begin(&j, "virtual_threads", '{');
	json_int(&j, "count", (int64_t)d->parked);
	json_int(&j, "looked_at", (int64_t)d->parked_scans);
	json_begin(&j, "stacks", '[');
	for (uint32_t i = 0; i < d->group_count; i++)
		json_group(&j, &d->groups[i]);
	json_end(&j, ']');
	json_end(&j, '}');
	/* The tids of each deadlock: each thread waits for the next, and the last for the first. */
	uint32_t list[CYCLE_MOST];
	json_begin(&j, "deadlocks", '[');
	for (uint32_t i = 0; i < d->count; i++) {
		uint32_t n = dump_cycle(d, i, list, CYCLE_MOST);
		if (!n)
			continue;
		json_begin(&j, NULL, '[');
		for (uint32_t k = 0; k < n; k++)
			json_int(&j, NULL, d->threads[list[k]].tid);
		json_end(&j, ']');
	}
	json_end(&j, ']');
	json_end(&j, '}');
	json_print(&j, stdout);
}

/* --- through the agent -------------------------------------------------------------------------------- */

/*
 * Fallback for users who may not trace their own JVM (kernel.yama.ptrace_scope): a wall-clock
 * session of one second. Needs a JVM that responds and can be attached.
 */

/* The most frequent stack of one of the profile's threads. */
struct seen {
	uint32_t stack;
	enum thread_state state;
	uint64_t count;
};

struct seen_all { /* by thread */
	struct seen *threads;
	uint32_t count;
};

static int sample(const struct hotspot *jvm, struct profile *profile, struct err *err)
{
	const struct session_options usual = {.agent = cli_agent(NULL)};
	struct session *s = session_open(jvm, &usual, profile, err);
	uint64_t begin_ns = clock_mono_ns();

	if (!s)
		return -1;
	int rc = session_event_start(s, EVENT_WALL, INTERVAL_NS, err);
	while (!rc && clock_mono_ns() - begin_ns < SAMPLE_NS) {
		session_wait(s, 100);
		rc = session_drain(s, err) < 0 ? -1 : 0;
	}
	session_close(s);
	return rc;
}

static void count_stack(void *ctx, const struct profile_part *part)
{
	struct seen_all *all = ctx;

	if (part->thread < all->count && part->count > all->threads[part->thread].count)
		all->threads[part->thread] = (struct seen){part->stack, part->state, part->count};
}

static enum dump_type type_of(enum frame_type type)
{
	static const enum dump_type types[FRAME_TYPES] = {[FRAME_COMPILED] = DUMP_COMPILED,
		[FRAME_C1] = DUMP_COMPILED,
		[FRAME_INLINED] = DUMP_INLINED,
		[FRAME_NO_INLINING] = DUMP_COMPILED,
		[FRAME_C1_NO_INLINING] = DUMP_COMPILED,
		[FRAME_INTERPRETED] = DUMP_INTERPRETED,
		[FRAME_JAVA] = DUMP_COMPILED,
		[FRAME_NATIVE] = DUMP_NATIVE,
		[FRAME_VM] = DUMP_VM,
		[FRAME_KERNEL] = DUMP_KERNEL,
		[FRAME_CLASS] = DUMP_VM,
		[FRAME_CLASS_OUTSIDE] = DUMP_VM,
		[FRAME_BREAK] = DUMP_BREAK,
		[FRAME_CONTEXT] = DUMP_VM};

	return types[type];
}

static void add_thread(
	const struct profile *p, uint32_t thread, const struct seen *seen, struct dump *out)
{
	const struct profile_thread *t = profile_get_thread(p, thread);
	struct dump_thread *to = &out->threads[out->count++];

	/* A virtual thread is listed with the tid of its carrier. */
	*to = (struct dump_thread){.tid = t->kind == THREAD_VIRTUAL ? t->carrier : t->tid,
		.nstid = t->kind == THREAD_VIRTUAL ? t->carrier : t->tid,
		.state = thread_states[seen->state].letter,
		.java_id = t->java_tid,
		.java_status = thread_states[seen->state].name};
	snprintf(to->name, sizeof(to->name), "%s", t->name);
	uint32_t stack = seen->stack;
	struct profile_stack s = profile_get_stack(p, stack);
	to->frames = xcalloc(s.depth + 1, sizeof(*to->frames));
	for (; stack != PROFILE_ROOT_STACK && to->count <= s.depth; stack = s.parent) {
		s = profile_get_stack(p, stack);
		const struct profile_frame *f = profile_get_frame(p, s.frame);
		const struct profile_method *m = profile_get_method(p, f->method);
		if (f->type == FRAME_WAITS)
			continue; /* not a frame */
		to->frames[to->count++] = (struct dump_frame){
			/* without the library, which has a column of its own */
			.name = xstrdup(m->class_name[0] || !m->name[0] ? m->full : m->name),
			.module = xstrdup(m->module),
			.line = f->line,
			.bci = f->bci == 0xffff ? -1 : f->bci,
			.type = type_of((enum frame_type)f->type)};
	}
}

/*
 * On failure err keeps the original error, whose hints explain how to get permission to trace; the
 * new one is a detail.
 */
static int by_agent(const struct hotspot *jvm, struct dump *out, struct err *err)
{
	struct profile *profile = profile_new();
	struct err why = {0};
	int rc = sample(jvm, profile, &why);

	if (rc) {
		err_detail(err, "through the agent: %s", why.what);
	} else {
		*out = (struct dump){.by_agent = true};
		const struct profile_query all = profile_whole(EVENT_WALL);
		struct seen_all seen = {.count = profile_thread_count(profile)};
		seen.threads = xcalloc(seen.count + 1, sizeof(*seen.threads));
		profile_each(profile, &all, count_stack, &seen);
		out->threads = xcalloc(seen.count + 1, sizeof(*out->threads));
		for (uint32_t i = 0; i < seen.count; i++)
			if (seen.threads[i].count &&
				profile_get_thread(profile, i)->kind != THREAD_AGENT)
				add_thread(profile, i, &seen.threads[i], out);
		free(seen.threads);
	}
	profile_free(profile);
	return rc;
}

/* --- the verb ------------------------------------------------------------------------------------------ */

static int run_dump(const struct args *args, struct err *err)
{
	struct hotspot jvm;
	struct dump dump;

	if (hotspot_find(args->operands[0], &jvm, err))
		return -1;
	if (!jvm.is_java)
		return hotspot_refusal(&jvm, err);
	if (dump_capture(&jvm, &dump, err) &&
		(!dump.denied || jvm.verdict > HOTSPOT_UNKNOWN || by_agent(&jvm, &dump, err)))
		return -1;
	(args_has(args, OPT_JSON) ? print_json : print_text)(&jvm, &dump);
	dump_done(&dump);
	return 0;
}

const struct verb verb_dump = {
	.bit = VERB_DUMP,
	.name = "dump",
	.synopsis = "[--json] PID|NAME",
	.help = "print the stacks of all threads, even if the JVM hangs",
	.text = "Prints what every thread is doing, as seen from outside: its full name and Java "
		"id; its state according to the kernel (R, S, D, T), Java and the JVM; the lock "
		"that it waits for, and the owner of the lock; its Java frames with line numbers, "
		"native frames and kernel frames. Nothing is loaded and the JVM need not respond, "
		"so this works if it is stopped, hangs, or refuses attach requests. Threads are "
		"stopped one at a time, only while their stack is copied; the last line gives the "
		"longest pause. A system call that signals can interrupt (epoll_wait) may return "
		"early in a thread that was stopped. Threads that wait for each other are listed "
		"at the end, as DEADLOCK.\n\n"
		"The letter before a frame is\n"
		"  J  compiled    i  inlined    I  interpreted Java\n"
		"  n  native      v  the JVM    k  the kernel (only visible to root)\n"
		"  ?  why the stack ends here\n\n"
		"On JDK 21 and later, virtual threads that wait without a carrier follow, grouped "
		"by equal stacks, the largest group first. If there are very many, a random part "
		"of them is examined, and the output says so.\n\n"
		"A number after a colon is a line, one after @ a bytecode index. Requires the "
		"right to trace the process: root, or the same user if kernel.yama.ptrace_scope "
		"is 0. Without it, a JVM that can be attached is sampled by the agent for one "
		"second instead; the stack shown for each thread is its most frequent one, and "
		"the last line says so.",
	.min_operands = 1,
	.max_operands = 1,
	.run = run_dump,
};
