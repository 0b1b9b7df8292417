/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Searches the target's mappings for its process context and for the variables of thread contexts, every few seconds.
 *
 * Reading memory may hang if a file system or another process provides it, possibly in a state that no signal ends. So a thread of
 * its own searches, and is abandoned with its struct search if that is necessary.
 */
#include "session/context/context.h"

#include "attach/jvm/libjvm.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/maps.h"
#include "base/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define POLL_NS    (5 * NS_PER_S)
#define POLL_SHARE 500u /* searching uses at most 1/500 of the time */
/* Limits for a hostile process: of one search, which the next one continues, and of mapped files. */
#define SEARCH_NS (50 * NS_PER_MS)
#define STEP_NS   (1 * NS_PER_MS)
#define FILES_MAX 4096u

struct module {
	uint64_t start, inode;
	enum context_found found;
	bool there; /* in the present search */
	bool code;  /* some of the file is mapped as executable */
	struct wire_context_place place;
};

enum { SEARCH_RUNS, SEARCH_DONE, SEARCH_ABANDONED };

/*
 * The owner of a search depends on its state, which is exchanged atomically:
 *
 *   SEARCH_RUNS       the thread
 *   SEARCH_DONE       the caller, which reads the results and may start the next search
 *   SEARCH_ABANDONED  the thread, which frees it when the search returns
 */
struct search {
	_Atomic int state;
	pid_t pid;
	bool musl;
	struct module *modules;
	uint32_t count, cap;
	uint64_t process_at; /* of the mapping OTEL_CTX; 0: none */
	struct process_context process;
	uint64_t took_ns;
};

struct contexts {
	struct search *search;
	bool running;
	uint64_t due_ns;
	struct process_context process; /* as of the last search */
	struct wire_contexts where;
};

struct contexts *contexts_new(pid_t pid)
{
	struct contexts *c = xcalloc(1, sizeof(*c));

	c->search = xcalloc(1, sizeof(*c->search));
	c->search->pid = pid;
	return c;
}

static void search_free(struct search *s)
{
	process_context_done(&s->process);
	free(s->modules);
	free(s);
}

void contexts_free(struct contexts *c)
{
	if (!c)
		return;
	if (!c->running || atomic_exchange(&c->search->state, SEARCH_ABANDONED) == SEARCH_DONE)
		search_free(c->search);
	process_context_done(&c->process);
	free(c);
}

/* --- in the thread ------------------------------------------------------------------------------------ */

static bool mem_read(void *ctx, uint64_t addr, void *out, size_t bytes)
{
	return pread(*(int *)ctx, out, bytes, (off_t)addr) == (ssize_t)bytes;
}

static bool is_process_context(const struct proc_map *map)
{
	static const char *const names[] = {
		"[anon_shmem:OTEL_CTX]", "[anon:OTEL_CTX]", "/memfd:OTEL_CTX"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(map->path, names[i]))
			return true;
	return false;
}

/* The module of a file; adds it if it is new. NULL: there are too many. */
static struct module *search_module(struct search *s, const struct proc_map *map)
{
	for (uint32_t i = 0; i < s->count; i++)
		if (s->modules[i].start == map->start && s->modules[i].inode == map->inode)
			return &s->modules[i];
	if (s->count == FILES_MAX)
		return NULL;
	s->modules = xgrow(s->modules, s->count, &s->cap, sizeof(*s->modules));
	s->modules[s->count] =
		(struct module){.start = map->start, .inode = map->inode, .found = CONTEXT_LATER};
	return &s->modules[s->count++];
}

/* Lists the first mapping of each file, and whether a mapping of code follows, as of a library. */
static bool search_map(void *ctx, const struct proc_map *map)
{
	struct search *s = ctx;

	if (is_process_context(map))
		s->process_at = map->start;
	if (*map->path != '/' || !map->inode)
		return true;
	struct module *first = !map->offset && map->perms[0] == 'r' ? search_module(s, map) : NULL;
	if (first)
		first->there = true;
	for (uint32_t i = 0; map->perms[2] == 'x' && i < s->count; i++)
		if (s->modules[i].there && s->modules[i].inode == map->inode)
			s->modules[i].code = true;
	return true;
}

static void *search_main(void *arg)
{
	struct search *s = arg;
	uint64_t began_ns = clock_mono_ns();
	char path[PROC_PATH_BYTES];
	int fd = open(proc_path_living(path, s->pid, "mem"), O_RDONLY | O_CLOEXEC);
	struct context_mem mem = {mem_read, &fd};

	s->musl = exe_is_musl(s->pid);
	s->process_at = 0;
	if (fd >= 0 && !proc_maps(s->pid, search_map, s)) {
		uint32_t mapped = 0;

		for (uint32_t i = 0; i < s->count; i++)
			if (s->modules[i].there) {
				s->modules[mapped] = s->modules[i];
				s->modules[mapped++].there = false; /* for the next search */
			}
		s->count = mapped;
		process_context_read(&mem, s->process_at, &s->process);
		for (uint32_t i = 0; i < s->count && clock_mono_ns() - began_ns < SEARCH_NS; i++)
			if (s->modules[i].code && s->modules[i].found == CONTEXT_LATER)
				s->modules[i].found = context_place_find(
					&mem, s->modules[i].start, s->musl, &s->modules[i].place);
	}
	if (fd >= 0)
		close(fd);
	s->took_ns = clock_mono_ns() - began_ns;
	if (atomic_exchange(&s->state, SEARCH_DONE) == SEARCH_ABANDONED)
		search_free(s);
	return NULL;
}

/* --- in the caller's thread --------------------------------------------------------------------------- */

/* False for attributes that differ with each request: samples cannot be summed by them. */
static bool key_is_group(const char *name)
{
	const char *const ends[] = {"span_id", "trace_id", "span.id", "trace.id"};
	size_t len = name ? strlen(name) : 0;

	for (size_t i = 0; name && i < sizeof(ends) / sizeof(ends[0]); i++)
		if (len >= strlen(ends[i]) && !strcmp(name + len - strlen(ends[i]), ends[i]))
			return false;
	return !name || strncmp(name, "thread.", strlen("thread.")) != 0;
}

/* What the agent needs to know: the places of the variables, and which attributes to group by. */
static void contexts_collect(const struct contexts *c, struct wire_contexts *out)
{
	uint32_t n = 0;

	*out = (struct wire_contexts){0};
	for (uint32_t i = 0; i < c->search->count && n < WIRE_CONTEXT_PLACES; i++)
		if (c->search->modules[i].found == CONTEXT_FOUND)
			out->places[n++] = c->search->modules[i].place;
	for (int key = 0; n && key < WIRE_CONTEXT_KEYS; key++)
		if (key_is_group(c->process.keys[key]))
			out->keys[key / 8] |= (uint8_t)(1u << key % 8);
}

/* Starts a search. False if no thread can be created. */
static bool contexts_start(struct contexts *c)
{
	pthread_attr_t attr;
	pthread_t thread;

	atomic_store(&c->search->state, SEARCH_RUNS);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	c->running = !thread_start(&thread, &attr, search_main, c->search);
	pthread_attr_destroy(&attr);
	return c->running;
}

bool contexts_poll(struct contexts *c, uint64_t wait_ns, struct wire_contexts *out)
{
	uint64_t now_ns = clock_mono_ns(), rest_ns;
	struct timespec step = {0, STEP_NS};

	if (!c->running && (now_ns < c->due_ns || !contexts_start(c)))
		return false;
	while (atomic_load(&c->search->state) != SEARCH_DONE) {
		if (clock_mono_ns() - now_ns >= wait_ns)
			return false;
		nanosleep(&step, NULL);
	}
	c->running = false;
	rest_ns = c->search->took_ns * POLL_SHARE;
	c->due_ns = now_ns + (rest_ns > POLL_NS ? rest_ns : POLL_NS);
	process_context_done(&c->process);
	c->process = c->search->process;
	c->search->process = (struct process_context){0};
	contexts_collect(c, out);
	if (!memcmp(out, &c->where, sizeof(*out)))
		return false;
	c->where = *out;
	return true;
}

const struct process_context *contexts_process(const struct contexts *c)
{
	return &c->process;
}

void process_context_of(pid_t pid, uint64_t wait_ns, struct process_context *out)
{
	struct contexts *c = contexts_new(pid);
	struct wire_contexts where;

	process_context_done(out);
	contexts_poll(c, wait_ns, &where);
	*out = c->process;
	c->process = (struct process_context){0};
	contexts_free(c);
}
