/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads in the middle of a task wait for one peer or file.
 *
 * Who serves connections waits for the next request in the same system call. Its frames give it away: by their names, by
 * being in a class that accepts, or in such a one's package without a name that says that it asks somebody, or by there
 * being but one of them.
 */
#include "findings/places.h"
#include "findings/rules.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

#define LEAST   0.5 /* threads at any moment, */
#define MUCH    0.5 /* and of the time that tasks want to go on */
#define INNER   3   /* own frames that are asked for their names */
#define SERVERS 8   /* classes that accept */

/* Of who waits for requests: in methods, in classes. */
static const char *const server_methods[] = {"next", "accept", "listen", "poll", "receive",
	"subscribe", "serve", "readRequest", "parseRequest", "readCommand", "keepAlive",
	"handleConnection", "handleClient", "awaitRequest", "consume", NULL};
static const char *const server_classes[] = {"Server", "Listener", "Acceptor", "Consumer",
	"Subscri", "ConnectionHandler", "ClientHandler", "Console", NULL};

/* Of who asks somebody. */
static const char *const clients[] = {"client", "query", "fetch", "charge", "lookup", "remote",
	"gateway", "jdbc", "rpc", "invoke", "send", "download", "upstream", "backend", NULL};

struct io {
	const struct scene *scene;
	struct places *places;
	struct place_part *parts;
	uint32_t count, servers;
	const char *server[SERVERS]; /* classes that accept */
	uint64_t wanting;            /* ns in which tasks wanted to go on */
};

/* Threads that wait in one method. */
struct group {
	uint32_t where, thread, stack, threads;
	uint64_t weight;
	uint64_t most; /* of the thread and stack */
};

/* --- who serves -------------------------------------------------------------------------------------- */

static void find_servers(struct io *io)
{
	for (uint32_t i = 0; i < io->count && io->servers < SERVERS; i++) {
		struct place at;

		if (io->parts[i].state != THREAD_IO)
			continue;
		at = places_of(io->places, io->parts[i].stack);
		if (at.own != PROFILE_NONE && at.waits & PLACE_ACCEPTS)
			io->server[io->servers++] = places_method(io->scene, at.own)->class_name;
	}
}

/* In a class that accepts, or one inside of it. */
static bool of_server(const struct io *io, const char *class_name)
{
	for (uint32_t i = 0; i < io->servers; i++) {
		size_t bytes = strlen(io->server[i]);

		if (!strncmp(class_name, io->server[i], bytes) &&
			(!class_name[bytes] || class_name[bytes] == '$'))
			return true;
	}
	return false;
}

/* In the package of a class that accepts; where there are none, in one class with it. */
static bool beside_server(const struct io *io, const char *class_name)
{
	for (uint32_t i = 0; i < io->servers; i++) {
		const char *end = strrchr(io->server[i], '.');
		size_t bytes =
			end ? (size_t)(end - io->server[i]) + 1 : strcspn(io->server[i], "$");

		if (!strncmp(class_name, io->server[i], bytes) &&
			(end ? !strchr(class_name + bytes, '.')
			     : !class_name[bytes] || class_name[bytes] == '$'))
			return true;
	}
	return false;
}

static bool serves(const struct io *io, uint32_t own)
{
	bool beside = false, client = false;

	for (int i = 0; i < INNER && own != PROFILE_NONE; i++) {
		const struct profile_method *m = places_method(io->scene, own);
		const char *dot = strrchr(m->class_name, '.');
		const char *simple = dot ? dot + 1 : m->class_name;

		if (places_says(m->name, server_methods) || places_says(simple, server_classes) ||
			of_server(io, m->class_name))
			return true;
		beside |= beside_server(io, m->class_name);
		client |= places_says(m->name, clients) || places_says(simple, clients);
		own = places_outwards(io->places, own);
	}
	return beside && !client;
}

/* --- groups ------------------------------------------------------------------------------------------ */

static void sort_out(struct io *io, struct place_part *part)
{
	struct place at = places_of(io->places, part->stack);
	bool waits = part->state == THREAD_IO;

	if (at.own == PROFILE_NONE || at.idle)
		return;
	if (waits && (at.owns < 2 || at.waits & PLACE_CALLERS || serves(io, at.own)))
		return;
	if (waits || part->state == THREAD_ON_CPU || part->state == THREAD_RUNNABLE ||
		part->state == THREAD_MONITOR)
		io->wanting += part->weight;
	if (waits)
		part->where = scene_frame(io->scene, at.own)->method;
}

static int by_place(const void *a, const void *b)
{
	const struct place_part *x = a, *y = b;

	if (x->where != y->where)
		return x->where < y->where ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

/* The group that begins at part *i, which moves to the next; the parts are sorted. */
static struct group take_group(const struct io *io, uint32_t *i)
{
	struct group g = {.where = io->parts[*i].where};
	uint32_t last = PROFILE_NONE;

	for (; *i < io->count && io->parts[*i].where == g.where; ++*i) {
		const struct place_part *part = &io->parts[*i];

		g.threads += part->thread != last;
		last = part->thread;
		g.weight += part->weight;
		if (part->weight > g.most) {
			g.most = part->weight;
			g.thread = part->thread;
			g.stack = part->stack;
		}
	}
	return g;
}

static void tell(const struct io *io, const struct group *g, double seconds)
{
	struct place at = places_of(io->places, g->stack);
	double share = (double)g->weight / (double)io->wanting;
	struct finding *f = scene_found(io->scene, FINDING_WORTH_KNOWING, share, g->where);
	char own[120];

	if (!f)
		return;
	snprintf(own, sizeof(own), "%s", scene_method(io->scene, g->where));
	snprintf(f->what, sizeof(f->what), "%s waits for %s: %.1f threads at any moment, in %s",
		own,
		at.waits & PLACE_PEER   ? "its peer"
		: at.waits & PLACE_FILE ? "a file or a pipe"
					: "I/O",
		(double)g->weight / NS_PER_S / seconds,
		scene_method(io->scene, scene_frame(io->scene, at.java)->method));
	scene_proof(f, "%s, %.0f %% of its time:", scene_thread(io->scene, g->thread),
		100.0 * (double)g->most / NS_PER_S / seconds);
	scene_proof_stack(io->scene, f, g->stack, 4);
	snprintf(f->look, sizeof(f->look),
		"how long the other side takes to answer; fewer calls, or several at once");
	f->event = EVENT_WALL;
	f->thread = g->thread;
	f->method = g->where;
}

static void look(const struct scene *scene)
{
	struct io io = {.scene = scene, .places = places_new(scene)};
	uint32_t kept = 0;
	double seconds;

	io.parts = places_parts(scene, &io.count, &seconds);
	find_servers(&io);
	for (uint32_t i = 0; i < io.count; i++) {
		sort_out(&io, &io.parts[i]);
		if (io.parts[i].where != PROFILE_NONE)
			io.parts[kept++] = io.parts[i];
	}
	io.count = kept;
	if (io.count)
		qsort(io.parts, io.count, sizeof(*io.parts), by_place);
	for (uint32_t i = 0; i < io.count;) {
		bool executor = places_of(io.places, io.parts[i].stack).executor;
		struct group g = take_group(&io, &i);

		/* A thread of its own that does nothing but read may be meant so. */
		if ((double)g.weight >= LEAST * seconds * NS_PER_S &&
			(double)g.weight >= MUCH * (double)io.wanting &&
			(executor || g.threads > 1))
			tell(&io, &g, seconds);
	}
	free(io.parts);
	places_free(io.places);
}

const struct finding_rule rule_io = {
	.name = "io",
	.title = "I/O",
	.what = "threads in the middle of a task that wait for one peer or file",
	.events = 1u << EVENT_WALL,
	.look = look,
};
