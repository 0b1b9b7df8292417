/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gives other jhot processes of this host a copy of a running session's profile: once, or growing with it.
 *
 *   server: the front end that owns the session            client: any other jhot
 *   session -> profile -> recording_writer -> socket  ---> recording -> a profile of its own -> screen, file
 *
 * The socket is in the abstract namespace: no file is left behind, and a network namespace sees only its own. The server listens
 * in its own and, if permitted (root), in the JVM's; a client tries both. The name consists of the JVM's start time and its pid in its
 * own PID namespace. Each side checks the other's credentials (SO_PEERCRED), and accepts root, its own user and the user of the JVM.
 * A client can only read: it cannot make the server write a file or wait, and it cannot change the sampled events.
 *
 *   client: struct share_hello
 *   server: messages, each a uint32_t with the number of bytes that follow:
 *           SHARE_WATCH   a recording of all that is retained, then every second as it becomes complete; ends with the session
 *           SHARE_COPY    the same up to now, as a complete recording
 *
 * A message consists of whole chunks of an uncompressed recording (recording/format.h). Single-threaded.
 */
#ifndef JHOT_SHARE_SHARE_H
#define JHOT_SHARE_SHARE_H

#include "attach/jvm/hotspot.h"
#include "base/buf.h"
#include "base/err.h"
#include "profile/profile.h"
#include "profile/vitals.h"
#include "recording/recording.h"

#include <sys/socket.h>
#include <sys/un.h>

enum share_request { SHARE_NONE, SHARE_WATCH, SHARE_COPY };

/* --- server -------------------------------------------------------------------------------------------- */

struct share_options {
	struct hotspot jvm;
	const struct profile *profile;
	struct recording_meta meta; /* host NULL: this one */
};

struct share;
/* The options' pointers are borrowed. NULL with an error if another process has the name, or sockets are forbidden. */
struct share *share_open(const struct share_options *o, struct err *err);
/*
 * Accepts clients, answers requests and sends the seconds that are complete. Does not block: a client that does not read receives
 * nothing new until it has read the pending bytes. To be called a few times per second.
 */
void share_step(struct share *s, const struct vitals *v, uint64_t duration_ns);
/* After the end of the session: sends the rest to all clients. Blocks for at most 10 s, until they have read it. */
void share_finish(struct share *s, const struct vitals *v, uint64_t duration_ns);
void share_close(struct share *s); /* NULL is allowed */
/* Right after share_open: adds a client that watches through this pipe or socket, and owns the descriptor. */
void share_add(struct share *s, int fd);
bool share_has_clients(const struct share *s);

/* --- client -------------------------------------------------------------------------------------------- */

struct shared;
/*
 * Connects and requests. p: an empty profile, which the caller keeps until shared_close. NULL: ERR_NO_TARGET if no front end that can
 * be reached shares a profile of the JVM, else another error. Does not block.
 */
struct shared *shared_open(
	const struct hotspot *jvm, enum share_request request, struct profile *p, struct err *err);
/* The same through a descriptor to which another process writes (share_add), such as a pipe from ssh. Owns it. */
struct shared *shared_open_fd(int fd, struct profile *p);
/* Copies the stream of a SHARE_WATCH to a descriptor, until the session or the reader ends. Blocks. 0, or -1 as shared_open. */
int shared_relay(const struct hotspot *jvm, int out, struct err *err);
void shared_close(struct shared *s); /* NULL is allowed */
/*
 * Waits up to timeout_ms for a message, and reads all that have arrived into the profile. Returns 1 if there was one, 0 after a
 * timeout, -1 at the end: ERR_GONE if the recording is complete (shared_complete) or the server has ended.
 */
int shared_read(struct shared *s, int timeout_ms, struct err *err);
/* True once all of a recording has been read. */
bool shared_complete(const struct shared *s);
/* The server's pid; 0: not in our PID namespace, or not known. */
pid_t shared_server(const struct shared *s);
const struct vitals *shared_vitals(const struct shared *s);
/* The recording being read: its host, labels and duration. NULL before the first message. */
const struct recording *shared_recording(const struct shared *s);

/* --- between the files of this folder ------------------------------------------------------------------ */

struct share_hello {
	char magic[8];
	uint32_t version, request; /* enum share_request */
};
#define SHARE_MAGIC   "jhotshr"
#define SHARE_VERSION 1u
#define SHARE_MESSAGE (1u << 30) /* a message has fewer bytes */

/* A new socket. of_jvm: in the JVM's network namespace; -1 if that is ours, or we may not enter it. flags: of socket(2). */
int share_socket(const struct hotspot *jvm, bool of_jvm, int flags);
/* Returns the length of the address. */
socklen_t share_address(const struct hotspot *jvm, struct sockaddr_un *at);
/* True if the peer of a socket may have the profile of this JVM, or supply it; *pid: its process. */
bool share_trusts(int fd, const struct hotspot *jvm, pid_t *pid);

#endif
