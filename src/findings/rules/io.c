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
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

#define LEAST   0.5 /* threads at any moment, */
#define MUCH    0.5 /* and of the time that tasks want to go on */
#define INNER   3   /* own frames that are asked for their names */
#define SERVERS 8   /* classes that accept */
#define ALL     0.9 /* of a group, as good as all */

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

/* Threads that wait in one method, or for one peer. */
struct group {
	uint32_t where, thread, stack, threads, methods;
	uint64_t weight;
	uint64_t most; /* of the thread and stack */
	uint32_t peer; /* a stack that waits for what most of them wait for, if more than half do */
	uint64_t lead; /* of that over all others */
};

/* --- what for ---------------------------------------------------------------------------------------- */

#define PEER 200

/* "10.0.0.5:5432", "/var/log/x", "a pipe"; false: not known. */
static bool peer_of(const struct io *io, uint32_t stack, char out[PEER])
{
	struct profile_io what;
	const char *verb;

	out[0] = '\0';
	if (!profile_stack_io(io->scene->profile, stack, &what))
		return false;
	verb = strrchr(what.what, ' ');
	if (*what.where)
		snprintf(out, PEER, "%s", what.where);
	else
		snprintf(out, PEER, "%s %.*s", strchr("aeiou", *what.what) ? "an" : "a",
			(int)(verb ? verb - what.what : PROFILE_IO_WHAT), what.what);
	return true;
}

static bool same_peer(const struct io *io, uint32_t a, uint32_t b)
{
	char text[PEER], other[PEER];

	return a == b || (peer_of(io, a, text) && peer_of(io, b, other) && !strcmp(text, other));
}

/* It waits for somebody to ask: that is no problem of its own. */
static bool is_asked(const struct io *io, uint32_t stack)
{
	struct profile_io what;

	return profile_stack_io(io->scene->profile, stack, &what) &&
	       (!strcmp(what.what, "accept") || !strncmp(what.where, "clients of ", 11));
}

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
	if (waits && (at.owns < 2 || at.waits & PLACE_CALLERS || is_asked(io, part->stack) ||
			     serves(io, at.own)))
		return;
	if (waits || part->state == THREAD_ON_CPU || part->state == THREAD_RUNNABLE ||
		part->state == THREAD_MONITOR)
		io->wanting += part->weight;
	if (waits)
		part->where = scene_frame(io->scene, at.own)->method;
}

static uint32_t method_of(const struct io *io, const struct place_part *part)
{
	return scene_frame(io->scene, places_of(io->places, part->stack).own)->method;
}

static int by_place(const void *a, const void *b)
{
	const struct place_part *x = a, *y = b;

	if (x->where != y->where)
		return x->where < y->where ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

/* One more vote for what it waits for: who has more than half of all is there at the end. */
static void vote(const struct io *io, struct group *g, const struct place_part *part)
{
	if (same_peer(io, g->peer, part->stack)) {
		g->lead += part->weight;
	} else if (g->lead >= part->weight) {
		g->lead -= part->weight;
	} else {
		g->lead = part->weight - g->lead;
		g->peer = part->stack;
	}
}

/* The group that begins at part *i, which moves to the next; the parts are sorted. */
static struct group take_group(const struct io *io, uint32_t *i)
{
	struct group g = {.where = io->parts[*i].where, .peer = io->parts[*i].stack};
	uint32_t last = PROFILE_NONE, method = PROFILE_NONE;

	for (; *i < io->count && io->parts[*i].where == g.where; ++*i) {
		const struct place_part *part = &io->parts[*i];

		g.threads += part->thread != last;
		last = part->thread;
		g.weight += part->weight;
		g.methods += method_of(io, part) != method;
		method = method_of(io, part);
		vote(io, &g, part);
		if (part->weight > g.most) {
			g.most = part->weight;
			g.thread = part->thread;
			g.stack = part->stack;
		}
	}
	return g;
}

/* How much of the parts [from, to) waits for the same. */
static double share_of_peer(const struct io *io, const struct group *g, uint32_t from, uint32_t to)
{
	uint64_t same = 0;

	for (uint32_t i = from; i < to; i++)
		if (same_peer(io, g->peer, io->parts[i].stack))
			same += io->parts[i].weight;
	return (double)same / (double)g->weight;
}

/* What the parts [from, to) of a group wait for. */
static void say_peer(
	const struct io *io, const struct group *g, uint32_t from, uint32_t to, char out[PEER])
{
	unsigned waits = places_of(io->places, g->stack).waits;
	double share = share_of_peer(io, g, from, to);

	if (peer_of(io, g->peer, out) && share > 0.5) {
		if (share < ALL)
			strncat(out, " and others", PEER - strlen(out) - 1);
		return;
	}
	snprintf(out, PEER, "%s",
		waits & PLACE_PEER   ? "its peer"
		: waits & PLACE_FILE ? "a file or a pipe"
				     : "I/O");
}

static void tell(const struct io *io, const struct group *g, const char *peer, double seconds)
{
	uint32_t method = scene_frame(io->scene, places_of(io->places, g->stack).own)->method;
	double share = (double)g->weight / (double)io->wanting;
	struct finding *f = scene_found(io->scene, FINDING_WORTH_KNOWING, share, method);

	if (!f)
		return;
	snprintf(f->what, sizeof(f->what), "%s%s for %s: %.1f threads at any moment",
		scene_method(io->scene, method), g->methods > 1 ? " and others wait" : " waits",
		peer, (double)g->weight / NS_PER_S / seconds);
	scene_proof(f, "%s, %.0f %% of its time:", scene_thread(io->scene, g->thread),
		100.0 * (double)g->most / NS_PER_S / seconds);
	scene_proof_stack(io->scene, f, g->stack, 4);
	snprintf(f->look, sizeof(f->look),
		"how long the other side takes to answer; fewer calls, or several at once");
	f->event = EVENT_WALL;
	f->thread = g->thread;
	f->method = method;
}

/* Tells of the groups that are worth it; false: there are none. */
static bool tell_groups(const struct io *io, double seconds)
{
	bool told = false;

	if (io->count)
		qsort(io->parts, io->count, sizeof(*io->parts), by_place);
	for (uint32_t i = 0, from = 0; i < io->count; from = i) {
		bool executor = places_of(io->places, io->parts[i].stack).executor;
		struct group g = take_group(io, &i);
		char peer[PEER];

		/* A thread of its own that does nothing but read may be meant so. */
		if ((double)g.weight < LEAST * seconds * NS_PER_S ||
			(double)g.weight < MUCH * (double)io->wanting ||
			(!executor && g.threads == 1))
			continue;
		say_peer(io, &g, from, i, peer);
		tell(io, &g, peer, seconds);
		told = true;
	}
	return told;
}

/* Those of which is known what they wait for are counted for that; the others leave. */
static void count_for_peers(struct io *io)
{
	uint32_t kept = 0;
	char peer[PEER];

	for (uint32_t i = 0; i < io->count; i++) {
		if (!peer_of(io, io->parts[i].stack, peer))
			continue;
		io->parts[kept] = io->parts[i];
		io->parts[kept++].where = (uint32_t)hash_bytes(peer, strlen(peer), 0);
	}
	io->count = kept;
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
	if (!tell_groups(&io, seconds)) { /* by methods; what several of them ask for may be one */
		count_for_peers(&io);
		tell_groups(&io, seconds);
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
