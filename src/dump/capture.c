/* SPDX-License-Identifier: Apache-2.0 */
/* Does all slow work in advance, then handles one thread at a time: stop, copy, resume, walk the copy. */
#include "dump/dump.h"

#include "attach/proc.h"
#include "base/buf.h"
#include "base/clean.h"
#include "dump/java.h"
#include "dump/modules.h"
#include "dump/parked.h"
#include "dump/remote.h"
#include "dump/stack.h"
#include "walk/hotspot/layout.h"
#include "walk/hotspot/threads.h"
#include "walk/load/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH        2048
#define JAVA_THREADS 65536 /* further ones are treated as native threads */
#define SCOPE_NAME   "kernel/yama/ptrace_scope"
#define SCOPE_NOBODY 3

const struct dump_type_info dump_types[DUMP_TYPES] = {
	[DUMP_COMPILED] = {'J', "compiled"},
	[DUMP_INTERPRETED] = {'I', "interpreted"},
	[DUMP_INLINED] = {'i', "inlined"},
	[DUMP_NATIVE] = {'n', "native"},
	[DUMP_VM] = {'v', "vm"},
	[DUMP_KERNEL] = {'k', "kernel"},
	[DUMP_BREAK] = {'?', "break"},
};

struct capture {
	pid_t pid;
	struct dump *out;
	struct modules *modules;
	struct remote *remote;
	struct walk_layout *layout; /* NULL: the walker does not know this JVM */
	struct stack_namer *namer;
	struct java_reader *reader; /* NULL: threads have the kernel's names and no Java states */
	struct java_thread *known;  /* Java threads whose facts were read */
	size_t known_count;
	struct java_facts facts;  /* of the current thread */
	uint64_t facts_of;        /* its JavaThread */
	struct walk_listed *java; /* all, in the JVM's order: since JDK 9, oldest first */
	size_t java_count;
	struct walk_frame *frames;
	int error;   /* errno of denied tracing; 0: none */
	bool denied; /* becomes dump.denied */
};

/* --- Java's threads ---------------------------------------------------------------------------------- */

/* JavaThreadState of globalDefinitions.hpp; odd values are transitions to the next state. */
static const char *java_state(uint64_t state)
{
	static const char *const names[] = {[2] = "new",
		[3] = "starting",
		[4] = "in native",
		[5] = "leaving native",
		[6] = "in VM",
		[7] = "leaving VM",
		[8] = "in Java",
		[9] = "leaving Java",
		[10] = "blocked",
		[11] = "unblocking"};
	bool known = state < sizeof(names) / sizeof(names[0]) && names[state];

	return known ? names[state] : "in an unknown state";
}

static void java_add(void *ctx, uint64_t address, int32_t tid)
{
	struct capture *c = ctx;

	if (c->java_count < JAVA_THREADS)
		c->java[c->java_count++] = (struct walk_listed){address, tid};
}

static uint64_t java_find(const struct capture *c, pid_t nstid)
{
	for (size_t i = 0; i < c->java_count; i++)
		if (c->java[i].tid == nstid)
			return c->java[i].java_thread;
	return 0;
}

/* The length of the prefix of a JavaThread that contains all fields that the walk reads. */
static uint32_t java_bytes(const struct walk_layout *l)
{
	const struct walk_field *const fields[] = {&l->thread_anchor, &l->thread_osthread,
		&l->thread_state, &l->thread_stack_base, &l->thread_stack_size, &l->cont_entry,
		&l->compiler_env, &l->thread_object, &l->thread_pending, &l->thread_waiting};
	int32_t last = 0;

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (fields[i]->offset > last)
			last = fields[i]->offset;
	return (uint32_t)last + 64;
}

static void while_stopped(void *ctx)
{
	struct capture *c = ctx;

	java_read_state(c->reader, c->facts_of, &c->facts);
}

/* Copies the facts read from Java into the dump; call only if it is still the thread of the list. */
static void add_facts(struct capture *c, uint64_t java, struct dump_thread *thread)
{
	const struct java_facts *f = &c->facts;

	if (f->name[0])
		memcpy(thread->name, f->name, sizeof(thread->name));
	thread->java_id = f->id;
	thread->java_status = f->state;
	c->known = xreallocarray(c->known, c->known_count + 1, sizeof(*c->known));
	c->known[c->known_count++] = (struct java_thread){c->out->count - 1, java, *f};
}

/* --- one thread -------------------------------------------------------------------------------------- */

/* Walks the copy of a stopped thread's stack. java: its JavaThread; 0: none. */
static void walk(
	struct capture *c, const struct walk_regs *regs, uint64_t java, struct dump_thread *thread)
{
	const struct walk_mem *mem = remote_mem(c->remote);
	struct walk_thread where = {.java_thread = java, .rows = modules_rows(c->modules)};

	/* The thread of the list may have ended, and its JavaThread may have been reused. */
	if (java && walk_thread_tid(c->layout, mem, java) != thread->nstid)
		where.java_thread = 0;
	if (where.java_thread) {
		thread->java = java_state(layout_load(&c->layout->thread_state, mem, java));
		if (c->reader)
			add_facts(c, java, thread);
	} else {
		where.stack_lo = regs->sp & ~(uint64_t)4095;
		where.stack_hi = modules_mapping_end(c->modules, regs->sp);
	}
	struct walk_result result = walk_stack(c->layout, mem, regs, &where, c->frames, DEPTH);
	stack_add(c->namer, mem, c->frames, result.count, thread);
	thread->truncated = result.truncated;
}

static void capture_thread(void *ctx, pid_t tid)
{
	static const char *const notes[] = {[REMOTE_GONE] = "it ended during the dump",
		[REMOTE_STUCK] = "it does not stop: it is busy in the kernel",
		[REMOTE_DENIED] = "the kernel does not allow tracing it"};
	struct capture *c = ctx;
	struct dump *d = c->out;
	struct remote_want want = {0};
	struct proc_status status;
	struct walk_regs regs;

	if (c->error || proc_thread_status(c->pid, tid, &status) || strchr("ZXx", status.state))
		return;
	d->threads = xreallocarray(d->threads, d->count + 1, sizeof(*d->threads));
	struct dump_thread *thread = &d->threads[d->count++];
	*thread = (struct dump_thread){
		.tid = tid, .nstid = status.nspid ? status.nspid : tid, .state = status.state};
	clean_text(thread->name, sizeof(thread->name), status.name, strlen(status.name));
	if (thread->state != 'R') /* the kernel stack of a running thread is meaningless */
		stack_add_kernel(c->pid, thread);
	want.address = c->layout ? java_find(c, thread->nstid) : 0;
	want.bytes = want.address ? java_bytes(c->layout) : 0;
	if (want.address && c->reader) {
		remote_forget(c->remote);
		java_read_name(c->reader, want.address, &c->facts);
		c->facts_of = want.address;
		want.while_stopped = while_stopped;
		want.while_stopped_ctx = c;
	}
	enum remote_result result =
		remote_capture(c->remote, tid, &want, modules_mapping_end, c->modules, &regs);
	if (result == REMOTE_DENIED)
		c->error = errno;
	if (result != REMOTE_OK) {
		if (want.while_stopped && walk_thread_tid(c->layout, remote_mem(c->remote),
						  want.address) == thread->nstid)
			add_facts(c, want.address, thread);
		thread->note = notes[result];
		return;
	}
	d->stopped++;
	walk(c, &regs, want.address, thread);
}

/* --- all of them ------------------------------------------------------------------------------------- */

static int refused(const struct hotspot *jvm, int error, struct err *err)
{
	int scope = proc_setting(SCOPE_NAME, 0);
	struct proc_status status;

	err_set(err, ERR_ATTACH, "No permission to read process %d (%s) of user %s: %s.",
		(int)jvm->pid, jvm->name, jvm->user, strerror(error));
	if (!proc_status(jvm->pid, &status) && status.tracer) {
		err_hint(err, "end the debugger or tracer attached to it: process %d",
			(int)status.tracer);
	} else {
		/* Remedies for this process only come first. Scope 3 cannot be changed until reboot. */
		if (scope < SCOPE_NOBODY)
			err_hint(err, "sudo jhot dump %d     runs as root", (int)jvm->pid);
		err_hint(err, "jcmd %d Thread.print     Java's own dump, if the JVM still answers",
			(int)jvm->pid);
		if (scope && scope < SCOPE_NOBODY)
			err_hint(err,
				"sudo sysctl kernel.yama.ptrace_scope=0     allows each program "
				"to trace all others of its user; set it back to %d afterwards",
				scope);
	}
	err_detail(
		err, "/proc/sys/" SCOPE_NAME ": %d; ptrace and process_vm_readv are needed", scope);
	return -1;
}

static void read_layout(struct capture *c)
{
	struct walk_tables tables = modules_tables(c->modules);

	c->layout = xcalloc(1, sizeof(*c->layout));
	if (walk_layout_read(c->layout, remote_mem(c->remote), &tables, c->out->note,
		    sizeof(c->out->note))) {
		free(c->layout);
		c->layout = NULL;
		return;
	}
	remote_forget(c->remote);
	c->java = xcalloc(JAVA_THREADS, sizeof(*c->java));
	if (walk_threads_each(c->layout, remote_mem(c->remote), java_add, c))
		snprintf(c->out->note, sizeof(c->out->note),
			"the JVM's list of threads is not readable");
}

static int capture(struct capture *c, const struct hotspot *jvm, struct err *err)
{
	c->modules = modules_open(jvm->pid, jvm->nspid, err);
	if (!c->modules)
		return -1;
	c->remote = remote_open(jvm->pid, modules_tables(c->modules).libjvm_start, err);
	if (!c->remote) {
		c->denied = true;
		return refused(jvm, errno, err);
	}
	read_layout(c);
	modules_rows(c->modules); /* slow: compiles them before a thread is stopped */
	if (c->layout)
		c->reader = java_reader_new(c->layout, remote_mem(c->remote));
	c->namer = stack_namer_new(c->modules, c->layout);
	c->frames = xcalloc(DEPTH, sizeof(*c->frames));
	if (!c->namer)
		return err_set(err, ERR_FAILED, "Not enough memory for the names.");
	if (proc_threads(jvm->pid, capture_thread, c) < 0 || !c->out->count)
		return err_set(
			err, ERR_GONE, "Process %d (%s) has ended.", (int)jvm->pid, jvm->name);
	c->denied = c->error != 0;
	if (c->error)
		return refused(jvm, c->error, err);
	remote_forget(c->remote);
	java_locks_resolve(c->known, c->known_count, c->layout, remote_mem(c->remote), c->out);
	parked_capture(c->layout, c->remote, c->namer, c->reader, c->out);
	c->out->longest_pause_ns = remote_longest_pause_ns(c->remote);
	return 0;
}

int dump_capture(const struct hotspot *jvm, struct dump *out, struct err *err)
{
	struct capture c = {.pid = jvm->pid, .out = out};

	memset(out, 0, sizeof(*out));
	int rc = capture(&c, jvm, err);
	stack_namer_free(c.namer);
	java_reader_free(c.reader);
	free(c.known);
	remote_close(c.remote);
	modules_close(c.modules);
	free(c.layout);
	free(c.java);
	free(c.frames);
	if (rc)
		dump_done(out);
	out->denied = rc && c.denied;
	return rc;
}

static void frames_done(struct dump_thread *t)
{
	for (uint32_t k = 0; k < t->count; k++) {
		free(t->frames[k].name);
		free(t->frames[k].module);
	}
	free(t->frames);
}

void dump_done(struct dump *d)
{
	for (uint32_t i = 0; i < d->count; i++) {
		frames_done(&d->threads[i]);
		free(d->threads[i].lock.class_name);
	}
	for (uint32_t i = 0; i < d->group_count; i++) {
		frames_done(&d->groups[i].stack);
		free(d->groups[i].class_name);
	}
	free(d->groups);
	free(d->threads);
	memset(d, 0, sizeof(*d));
}

/* --- deadlocks --------------------------------------------------------------------------------------- */

/* Index of the owner of the lock that thread i waits for; count: unknown or none. */
static uint32_t owner_of(const struct dump *d, uint32_t i)
{
	const struct dump_lock *lock = &d->threads[i].lock;
	uint32_t k = 0;

	if (!lock->what || !lock->owner)
		return d->count;
	while (k < d->count && d->threads[k].tid != lock->owner_tid)
		k++;
	return k == i ? d->count : k;
}

uint32_t dump_cycle(const struct dump *d, uint32_t first, uint32_t *list, uint32_t most)
{
	uint32_t at = first, n = 0;

	do {
		if (n == most || at < first)
			return 0; /* a cycle through a lower index is found from there */
		list[n++] = at;
		at = owner_of(d, at);
	} while (at < d->count && at != first);
	return at == first ? n : 0;
}
