/* SPDX-License-Identifier: Apache-2.0 */
/* Searches the target's mappings, now and then, for what it publishes. */
#include "session/context/context.h"

#include "attach/jvm/libjvm.h"
#include "base/clock.h"
#include "base/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define POLL_NS    (5 * NS_PER_S)
#define POLL_SHARE 500u /* searching takes at most this part of the time: 1/500 */

struct module {
	uint64_t start, inode;
	enum context_found found;
	bool there; /* in the present search */
	bool code;  /* some of the file is mapped as executable */
	struct wire_context_place place;
};

struct contexts {
	pid_t pid;
	bool musl;
	uint64_t due_ns;
	struct module *modules;
	uint32_t count, cap;
	uint64_t process_at; /* of the mapping OTEL_CTX; 0: none */
	struct process_context process;
	struct wire_contexts where;
};

struct contexts *contexts_new(pid_t pid)
{
	struct contexts *c = xcalloc(1, sizeof(*c));

	c->pid = pid;
	c->musl = exe_is_musl(pid);
	return c;
}

void contexts_free(struct contexts *c)
{
	if (!c)
		return;
	process_context_done(&c->process);
	free(c->modules);
	free(c);
}

static bool mem_read(void *ctx, uint64_t addr, void *out, size_t bytes)
{
	return pread(*(int *)ctx, out, bytes, (off_t)addr) == (ssize_t)bytes;
}

static int mem_open(pid_t pid)
{
	char path[PROC_PATH_BYTES];

	return open(proc_path_living(path, pid, "mem"), O_RDONLY | O_CLOEXEC);
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

static struct module *contexts_module(struct contexts *c, const struct proc_map *map)
{
	for (uint32_t i = 0; i < c->count; i++)
		if (c->modules[i].start == map->start && c->modules[i].inode == map->inode)
			return &c->modules[i];
	c->modules = xgrow(c->modules, c->count, &c->cap, sizeof(*c->modules));
	c->modules[c->count] =
		(struct module){.start = map->start, .inode = map->inode, .found = CONTEXT_LATER};
	return &c->modules[c->count++];
}

/* Lists the first mapping of each file, and whether a mapping of code follows, as of a library. */
static bool contexts_map(void *ctx, const struct proc_map *map)
{
	struct contexts *c = ctx;

	if (is_process_context(map))
		c->process_at = map->start;
	if (*map->path != '/' || !map->inode)
		return true;
	if (!map->offset && map->perms[0] == 'r')
		contexts_module(c, map)->there = true;
	for (uint32_t i = 0; map->perms[2] == 'x' && i < c->count; i++)
		if (c->modules[i].there && c->modules[i].inode == map->inode)
			c->modules[i].code = true;
	return true;
}

static void contexts_forget(struct contexts *c)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->count; i++)
		if (c->modules[i].there)
			c->modules[n++] = c->modules[i];
	c->count = n;
	for (uint32_t i = 0; i < n; i++)
		c->modules[i].there = false;
}

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

static void contexts_collect(const struct contexts *c, struct wire_contexts *out)
{
	uint32_t n = 0;

	*out = (struct wire_contexts){0};
	for (uint32_t i = 0; i < c->count && n < WIRE_CONTEXT_PLACES; i++)
		if (c->modules[i].found == CONTEXT_FOUND)
			out->places[n++] = c->modules[i].place;
	for (int key = 0; n && key < WIRE_CONTEXT_KEYS; key++)
		if (key_is_group(c->process.keys[key]))
			out->keys[key / 8] |= (uint8_t)(1u << key % 8);
}

bool contexts_poll(struct contexts *c, struct wire_contexts *out)
{
	uint64_t now_ns = clock_mono_ns(), took_ns;
	struct context_mem mem;
	bool changed = false;
	int fd;

	if (now_ns < c->due_ns)
		return false;
	fd = mem_open(c->pid);
	mem = (struct context_mem){mem_read, &fd};
	c->process_at = 0;
	if (fd < 0 || proc_maps(c->pid, contexts_map, c))
		goto out;
	contexts_forget(c);
	process_context_read(&mem, c->process_at, &c->process);
	for (uint32_t i = 0; i < c->count; i++)
		if (c->modules[i].code && c->modules[i].found == CONTEXT_LATER)
			c->modules[i].found = context_place_find(
				&mem, c->modules[i].start, c->musl, &c->modules[i].place);
	contexts_collect(c, out);
	changed = memcmp(out, &c->where, sizeof(*out)) != 0;
	c->where = *out;
out:
	if (fd >= 0)
		close(fd);
	took_ns = (clock_mono_ns() - now_ns) * POLL_SHARE;
	c->due_ns = now_ns + (took_ns > POLL_NS ? took_ns : POLL_NS);
	return changed;
}

const struct process_context *contexts_process(const struct contexts *c)
{
	return &c->process;
}

bool process_context_of(pid_t pid, struct process_context *out)
{
	struct contexts c = {.pid = pid};
	int fd = mem_open(pid);
	struct context_mem mem = {mem_read, &fd};
	bool found = fd >= 0 && !proc_maps(pid, contexts_map, &c) && c.process_at &&
		     process_context_read(&mem, c.process_at, out);

	free(c.modules);
	if (fd >= 0)
		close(fd);
	return found;
}
