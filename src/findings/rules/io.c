/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule io: threads wait, in the middle of a task, for one peer or file, or for child processes.
 *
 * A server thread waits for its next request in the same system call and is no problem. It is
 * recognized by its frames: by names, by a class that accepts connections or the package of one
 * (unless a name says that it is a client), or by having only one own frame.
 *
 * A thread that waits for one long-lived child process is no problem either. So child processes
 * count only in tasks of executors, and if samples show that more are started.
 */
#include "findings/places.h"
#include "findings/rules.h"

#include "base/clock.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

#define IO_LEAST 0.5 /* waiting threads on average, ... */
/* ... and of the time in which tasks run or wait for I/O, a monitor, or outside of I/O calls a core */
#define IO_SHARE   0.5
#define IO_INNER   3   /* own frames whose names are compared */
#define IO_FORKS   2   /* samples in which child processes are started */
#define IO_SERVERS 8   /* classes that accept */
#define IO_ALL     0.9 /* share that counts as all of it: of a group, or of a thread's time */

/* Words in names of methods and classes that wait for requests. */
static const char *const server_methods[] = {"next", "accept", "listen", "poll", "receive",
	"subscribe", "serve", "readRequest", "parseRequest", "readCommand", "keepAlive",
	"handleConnection", "handleClient", "awaitRequest", "consume", NULL};
static const char *const server_classes[] = {"Server", "Listener", "Acceptor", "Consumer",
	"Subscri", "ConnectionHandler", "ClientHandler", "Console", NULL};

/*
 * Words in names of methods that wait for an answer, also in "receiveReply"; of other methods and
 * classes of clients.
 */
static const char *const answers[] = {"answer", "reply", "response", "result", NULL};
static const char *const clients[] = {"client", "query", "fetch", "charge", "lookup", "remote",
	"gateway", "jdbc", "rpc", "invoke", "send", "download", "upstream", "backend", NULL};

struct io {
	const struct scene *scene;
	struct scene_spending waits; /* by method, or by peer */
	uint32_t servers;
	const char *server[IO_SERVERS]; /* classes that accept */
	uint64_t busy;                  /* ns of tasks, as for IO_SHARE */
};

/* Threads that wait in one method, or for one peer. */
struct group {
	struct scene_group all;
	uint32_t methods; /* in how many they wait */
	uint32_t peer; /* a stack with the peer that more than half wait for, by a majority vote */
	uint64_t lead; /* its votes over those of all others */
};

/* --- peers ------------------------------------------------------------------------------------------- */

#define PEER 200

/* "10.0.0.5:5432", "/var/log/x", "a pipe". False: not known. */
static bool peer_of(const struct io *io, uint32_t stack, char out[PEER])
{
	struct profile_io what;

	out[0] = '\0';
	if (!profile_stack_io(io->scene->profile, stack, &what))
		return false;
	const char *verb = strrchr(what.what, ' ');
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

/* True when the stack waits for a client of this JVM. */
static bool waits_for_client(const struct io *io, uint32_t stack)
{
	struct profile_io what;

	return profile_stack_io(io->scene->profile, stack, &what) &&
	       (!strcmp(what.what, "accept") || !strncmp(what.where, "clients of ", 11));
}

/* --- servers ------------------------------------------------------------------------------------------- */

static void find_servers(struct io *io)
{
	for (uint32_t i = 0; i < io->scene->wall_count && io->servers < IO_SERVERS; i++) {
		if (!scene_is_java(io->scene, io->scene->wall[i].thread) ||
			io->scene->wall[i].state != THREAD_IO)
			continue;
		struct place at = places_of(io->scene->places, io->scene->wall[i].stack);
		if (at.own != PROFILE_NONE && at.waits & PLACE_ACCEPTS)
			io->server[io->servers++] = places_method(io->scene, at.own)->class_name;
	}
}

/* A class that accepts, or a nested class of it. */
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

/* In the package of a class that accepts; without packages: nested in the same class. */
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

/* True for a connection that this JVM opened; false also when that is not known. */
static bool is_outgoing(const struct io *io, uint32_t stack)
{
	struct profile_io what;

	return profile_stack_io(io->scene->profile, stack, &what) && *what.where &&
	       strstr(what.what, "socket") && strncmp(what.where, "clients of ", 11) != 0;
}

/*
 * True when the frames are those of a server. outgoing: decided by names only, not by the classes
 * that accept connections.
 */
static bool serves(const struct io *io, uint32_t own, bool outgoing)
{
	bool beside = false, client = false;

	for (int i = 0; i < IO_INNER && own != PROFILE_NONE; i++) {
		const struct profile_method *m = places_method(io->scene, own);

		if (places_contains(m->name, answers))
			return false;
		if (places_contains(m->name, server_methods) ||
			places_contains(places_class(m), server_classes) ||
			(!outgoing && of_server(io, m->class_name)))
			return true;
		beside |= !outgoing && beside_server(io, m->class_name);
		client |= places_contains(m->name, clients) ||
			  places_contains(places_class(m), clients);
		own = places_outwards(io->scene->places, own);
	}
	return beside && !client;
}

/* --- child processes ----------------------------------------------------------------------------------- */

/* True when a task of an executor waits for a child process. */
static bool awaits_child(const struct io *io, const struct profile_part *part)
{
	return (part->state == THREAD_WAITING || part->state == THREAD_PARKED) &&
	       places_of(io->scene->places, part->stack).executor &&
	       places_find(io->scene->places, part->stack, METHOD_CHILD) != PROFILE_NONE;
}

static bool starts_children(const struct io *io)
{
	uint64_t starts = scene_cost_of(io->scene, METHOD_FORKS).count;

	for (uint32_t i = 0; i < io->scene->wall_count; i++)
		if (places_find(io->scene->places, io->scene->wall[i].stack, METHOD_FORKS) !=
			PROFILE_NONE)
			starts += io->scene->wall[i].count;
	return starts >= IO_FORKS;
}

static bool is_child(const struct io *io, uint32_t stack)
{
	return places_find(io->scene->places, stack, METHOD_CHILD) != PROFILE_NONE;
}

/* --- clients that wait for another thread --------------------------------------------------------------- */

static bool asks(const struct io *io, uint32_t stack)
{
	return places_find(io->scene->places, stack, METHOD_ASKS) != PROFILE_NONE;
}

/* --- groups ------------------------------------------------------------------------------------------ */

static void add_part(struct io *io, const struct profile_part *part)
{
	struct place at = places_of(io->scene->places, part->stack);
	bool child = awaits_child(io, part);
	bool call = (part->state == THREAD_PARKED || part->state == THREAD_WAITING) &&
		    asks(io, part->stack);
	bool waits = child || call || part->state == THREAD_IO;

	if (at.own == PROFILE_NONE || at.idle)
		return;
	/*
	 * A thread whose I/O has ended and that waits for a core inside the call: neither a wait
	 * for the peer nor other work.
	 */
	if (part->state == THREAD_RUNNABLE && at.waits & (PLACE_PEER | PLACE_FILE))
		return;
	if (waits && !child && !call &&
		(at.owns < 2 || at.waits & PLACE_CALLERS || waits_for_client(io, part->stack) ||
			serves(io, at.own, is_outgoing(io, part->stack))))
		return;
	if (waits || part->state == THREAD_ON_CPU || part->state == THREAD_RUNNABLE ||
		part->state == THREAD_MONITOR)
		io->busy += part->weight;
	if (waits)
		scene_spend(&io->waits, scene_frame(io->scene, at.own)->method, part);
}

static uint32_t method_of(const struct io *io, uint32_t stack)
{
	return scene_frame(io->scene, places_of(io->scene->places, stack).own)->method;
}

/* Boyer and Moore's majority vote: a peer with more than half of the time remains. */
static void vote_peer(const struct io *io, struct group *g, const struct scene_spent *part)
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

static struct group group_of(const struct io *io, const struct scene_group *all)
{
	struct group g = {.all = *all, .peer = all->stack};
	uint32_t method = PROFILE_NONE;

	for (uint32_t i = all->first; i < all->end; i++) {
		const struct scene_spent *part = &io->waits.list[i];

		g.methods += method_of(io, part->stack) != method;
		method = method_of(io, part->stack);
		vote_peer(io, &g, part);
	}
	return g;
}

/* The share of a group that waits for its peer. */
static double share_of_peer(const struct io *io, const struct group *g)
{
	uint64_t same = 0;

	for (uint32_t i = g->all.first; i < g->all.end; i++)
		if (same_peer(io, g->peer, io->waits.list[i].stack))
			same += io->waits.list[i].weight;
	return (double)same / (double)g->all.weight;
}

static void report_io(const struct io *io, const struct group *g, double seconds)
{
	uint32_t method = method_of(io, g->all.stack);
	unsigned waits = places_of(io->scene->places, g->all.stack).waits;
	double share = share_of_peer(io, g);
	struct finding *f = scene_found(
		io->scene, FINDING_WORTH_KNOWING, (double)g->all.weight / (double)io->busy, method);
	char peer[PEER];

	if (!peer_of(io, g->peer, peer) || share <= 0.5)
		snprintf(peer, PEER, "%s",
			is_child(io, g->all.stack)                     ? "child processes"
			: waits & PLACE_PEER || asks(io, g->all.stack) ? "its peer"
			: waits & PLACE_FILE                           ? "a file or a pipe"
								       : "I/O");
	else if (share < IO_ALL)
		strncat(peer, " and others", PEER - strlen(peer) - 1);
	finding_set_text(f, "%s%s for %s: %.1f threads on average", scene_method(io->scene, method),
		g->methods > 1 ? " and others wait" : " waits", peer,
		(double)g->all.weight / NS_PER_S / seconds);
	finding_prove(f, "%s, %.0f %% of its time:", scene_thread(io->scene, g->all.thread),
		100.0 * (double)g->all.most / NS_PER_S / seconds);
	scene_prove_stack(io->scene, f, g->all.stack, 4);
	finding_advise(f, "%s",
		is_child(io, g->all.stack)
			? "check what the child processes do (ps --ppid); start fewer, or keep one "
			  "running"
		: waits & PLACE_FILE
			? "check how busy the disk is; make fewer and larger writes, and sync less "
			  "often"
			: "check how long the other side takes to answer; make fewer calls, or "
			  "several at once");
	f->event = EVENT_WALL;
	f->thread = g->all.thread;
	f->method = method;
}

/* True when the group's threads do nothing else. */
static bool only_waits(const struct io *io, const struct scene_group *all)
{
	uint64_t lived = 0;

	for (uint32_t i = all->first, last = PROFILE_NONE; i < all->end; i++) {
		uint32_t thread = io->waits.list[i].thread;

		lived += thread != last ? io->scene->lived[thread] : 0;
		last = thread;
	}
	return (double)all->weight >= IO_ALL * (double)lived;
}

static bool reads_pipe(const struct io *io, uint32_t stack)
{
	struct profile_io what;

	return profile_stack_io(io->scene->profile, stack, &what) &&
	       !strcmp(what.what, "pipe read");
}

/*
 * True for threads that probably are readers by design: a single one outside of executors, or one
 * that does nothing but wait for a peer, as a long poll does; several that do nothing but read
 * pipes, such as the output of a child process that goes on.
 */
static bool is_reader(const struct io *io, const struct scene_group *all)
{
	struct place at = places_of(io->scene->places, all->stack);

	if (all->threads == 1 && (!at.executor || (at.waits & PLACE_PEER && only_waits(io, all))))
		return true;
	return reads_pipe(io, all->stack) && only_waits(io, all) && !starts_children(io);
}

/* Reports the groups beyond the thresholds. False: there are none. */
static bool report_groups(struct io *io)
{
	double seconds = scene_seconds(io->scene, EVENT_WALL);
	struct scene_group all = {0};
	bool reported = false;

	while (scene_group_next(&io->waits, &all)) {
		if ((double)all.weight < IO_LEAST * seconds * NS_PER_S ||
			(double)all.weight < IO_SHARE * (double)io->busy || is_reader(io, &all) ||
			(is_child(io, all.stack) && !starts_children(io)))
			continue;
		struct group g = group_of(io, &all);
		report_io(io, &g, seconds);
		reported = true;
	}
	return reported;
}

/* Regroups by peer; waits for unknown peers are dropped. */
static void regroup_by_peer(struct io *io)
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

static void judge_io(const struct scene *scene)
{
	struct io io = {.scene = scene};

	find_servers(&io);
	for (uint32_t i = 0; i < scene->wall_count; i++)
		if (scene_is_java(scene, scene->wall[i].thread))
			add_part(&io, &scene->wall[i]);
	/* By method first; otherwise several methods may wait for the same peer. */
	if (!report_groups(&io)) {
		regroup_by_peer(&io);
		report_groups(&io);
	}
	free(io.waits.list);
}

const struct finding_rule rule_io = {
	.name = "io",
	.title = "I/O",
	.what = "threads that wait for one peer, one file or child processes in the middle of a "
		"task",
	.events = 1u << EVENT_WALL,
	.judge = judge_io,
};
