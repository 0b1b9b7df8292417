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
	struct scene_spending waits; /* by method */
	uint32_t servers;
	const char *server[SERVERS]; /* classes that accept */
	uint64_t wanting;            /* ns in which tasks wanted to go on */
};

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
	if (waits && (at.owns < 2 || at.waits & PLACE_CALLERS || serves(io, at.own)))
		return;
	if (waits || part->state == THREAD_ON_CPU || part->state == THREAD_RUNNABLE ||
		part->state == THREAD_MONITOR)
		io->wanting += part->weight;
	if (waits)
		scene_spend(&io->waits, scene_frame(io->scene, at.own)->method, part);
}

static void tell(const struct io *io, const struct scene_group *g, double seconds)
{
	struct place at = places_of(io->scene->places, g->stack);
	double share = (double)g->weight / (double)io->wanting;
	struct finding *f = scene_found(io->scene, FINDING_WORTH_KNOWING, share, g->what);
	char own[120];

	if (!f)
		return;
	snprintf(own, sizeof(own), "%s", scene_method(io->scene, g->what));
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
	f->method = g->what;
}

static void look(const struct scene *scene)
{
	struct io io = {.scene = scene};
	double seconds = scene_seconds(scene, EVENT_WALL);
	struct scene_group g = {0};

	find_servers(&io);
	for (uint32_t i = 0; i < scene->wall_count; i++)
		if (scene_is_java(scene, scene->wall[i].thread))
			sort_out(&io, &scene->wall[i]);
	while (scene_group_next(&io.waits, &g))
		/* A thread of its own that does nothing but read may be meant so. */
		if ((double)g.weight >= LEAST * seconds * NS_PER_S &&
			(double)g.weight >= MUCH * (double)io.wanting &&
			(g.threads > 1 || places_of(scene->places, g.stack).executor))
			tell(&io, &g, seconds);
	free(io.waits.list);
}

const struct finding_rule rule_io = {
	.name = "io",
	.title = "I/O",
	.what = "threads in the middle of a task that wait for one peer or file",
	.events = 1u << EVENT_WALL,
	.look = look,
};
