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
	struct scene_spending waits; /* by method, or by what is waited for */
	uint32_t servers;
	const char *server[SERVERS]; /* classes that accept */
	uint64_t wanting;            /* ns in which tasks wanted to go on */
};

/* Threads that wait in one method, or for one peer. */
struct group {
	struct scene_group all;
	uint32_t methods;
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
	for (uint32_t i = 0; i < io->scene->wall_count && io->servers < SERVERS; i++) {
		struct place at;

		if (!scene_is_java(io->scene, io->scene->wall[i].thread) ||
			io->scene->wall[i].state != THREAD_IO)
			continue;
		at = places_of(io->scene->places, io->scene->wall[i].stack);
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

/* It has connected to what it waits for: known where the peer is. */
static bool is_outgoing(const struct io *io, uint32_t stack)
{
	struct profile_io what;

	return profile_stack_io(io->scene->profile, stack, &what) && *what.where &&
	       strstr(what.what, "socket") && strncmp(what.where, "clients of ", 11) != 0;
}

/* outgoing: only its names can say that it waits for messages; which class accepts connections does not matter. */
static bool serves(const struct io *io, uint32_t own, bool outgoing)
{
	bool beside = false, client = false;

	for (int i = 0; i < INNER && own != PROFILE_NONE; i++) {
		const struct profile_method *m = places_method(io->scene, own);
		const char *dot = strrchr(m->class_name, '.');
		const char *simple = dot ? dot + 1 : m->class_name;

		if (places_says(m->name, server_methods) || places_says(simple, server_classes) ||
			(!outgoing && of_server(io, m->class_name)))
			return true;
		beside |= !outgoing && beside_server(io, m->class_name);
		client |= places_says(m->name, clients) || places_says(simple, clients);
		own = places_outwards(io->scene->places, own);
	}
	return beside && !client;
}

/* --- groups ------------------------------------------------------------------------------------------ */

static void sort_out(struct io *io, const struct profile_part *part)
{
	struct place at = places_of(io->scene->places, part->stack);
	bool waits = part->state == THREAD_IO;

	if (at.own == PROFILE_NONE || at.idle)
		return;
	if (waits && (at.owns < 2 || at.waits & PLACE_CALLERS || is_asked(io, part->stack) ||
			     serves(io, at.own, is_outgoing(io, part->stack))))
		return;
	if (waits || part->state == THREAD_ON_CPU || part->state == THREAD_RUNNABLE ||
		part->state == THREAD_MONITOR)
		io->wanting += part->weight;
	if (waits)
		scene_spend(&io->waits, scene_frame(io->scene, at.own)->method, part);
}

static uint32_t method_of(const struct io *io, uint32_t stack)
{
	return scene_frame(io->scene, places_of(io->scene->places, stack).own)->method;
}

/* One more vote for what it waits for: who has more than half of all is there at the end. */
static void vote(const struct io *io, struct group *g, const struct scene_spent *part)
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

/* In how many methods a group waits, and what for. */
static struct group look_closer(const struct io *io, const struct scene_group *all)
{
	struct group g = {.all = *all, .peer = all->stack};
	uint32_t method = PROFILE_NONE;

	for (uint32_t i = all->first; i < all->end; i++) {
		const struct scene_spent *part = &io->waits.list[i];

		g.methods += method_of(io, part->stack) != method;
		method = method_of(io, part->stack);
		vote(io, &g, part);
	}
	return g;
}

/* How much of a group waits for the same. */
static double share_of_peer(const struct io *io, const struct group *g)
{
	uint64_t same = 0;

	for (uint32_t i = g->all.first; i < g->all.end; i++)
		if (same_peer(io, g->peer, io->waits.list[i].stack))
			same += io->waits.list[i].weight;
	return (double)same / (double)g->all.weight;
}

/* What a group waits for. */
static void say_peer(const struct io *io, const struct group *g, char out[PEER])
{
	unsigned waits = places_of(io->scene->places, g->all.stack).waits;
	double share = share_of_peer(io, g);

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

static void tell(const struct io *io, const struct group *g, double seconds)
{
	uint32_t method = method_of(io, g->all.stack);
	double share = (double)g->all.weight / (double)io->wanting;
	struct finding *f = scene_found(io->scene, FINDING_WORTH_KNOWING, share, method);
	char peer[PEER];

	if (!f)
		return;
	say_peer(io, g, peer);
	snprintf(f->what, sizeof(f->what), "%s%s for %s: %.1f threads at any moment",
		scene_method(io->scene, method), g->methods > 1 ? " and others wait" : " waits",
		peer, (double)g->all.weight / NS_PER_S / seconds);
	scene_proof(f, "%s, %.0f %% of its time:", scene_thread(io->scene, g->all.thread),
		100.0 * (double)g->all.most / NS_PER_S / seconds);
	scene_proof_stack(io->scene, f, g->all.stack, 4);
	snprintf(f->look, sizeof(f->look),
		"how long the other side takes to answer; fewer calls, or several at once");
	f->event = EVENT_WALL;
	f->thread = g->all.thread;
	f->method = method;
}

/* Tells of the groups that are worth it; false: there are none. */
static bool tell_groups(struct io *io)
{
	double seconds = scene_seconds(io->scene, EVENT_WALL);
	struct scene_group all = {0};
	bool told = false;

	while (scene_group_next(&io->waits, &all)) {
		struct group g;

		/* A thread of its own that does nothing but read may be meant so. */
		if ((double)all.weight < LEAST * seconds * NS_PER_S ||
			(double)all.weight < MUCH * (double)io->wanting ||
			(all.threads == 1 && !places_of(io->scene->places, all.stack).executor))
			continue;
		g = look_closer(io, &all);
		tell(io, &g, seconds);
		told = true;
	}
	return told;
}

/* Those of which is known what they wait for are counted for that; the others leave. */
static void count_for_peers(struct io *io)
{
	uint32_t kept = 0;
	char peer[PEER];

	for (uint32_t i = 0; i < io->waits.count; i++) {
		if (!peer_of(io, io->waits.list[i].stack, peer))
			continue;
		io->waits.list[kept] = io->waits.list[i];
		io->waits.list[kept++].what = (uint32_t)hash_bytes(peer, strlen(peer), 0);
	}
	io->waits.count = kept;
}

static void look(const struct scene *scene)
{
	struct io io = {.scene = scene};

	find_servers(&io);
	for (uint32_t i = 0; i < scene->wall_count; i++)
		if (scene_is_java(scene, scene->wall[i].thread))
			sort_out(&io, &scene->wall[i]);
	if (!tell_groups(&io)) { /* by methods; what several of them ask for may be one */
		count_for_peers(&io);
		tell_groups(&io);
	}
	free(io.waits.list);
}

const struct finding_rule rule_io = {
	.name = "io",
	.title = "I/O",
	.what = "threads in the middle of a task that wait for one peer or file",
	.events = 1u << EVENT_WALL,
	.look = look,
};
