/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The attach protocol: wakes the JVM's listener, sends one request, reads one reply.
 *
 * Runs in the helper, whose working folder is the target's temporary folder and whose ids are the target's. Blocks; every wait
 * ends early when the JVM ends or the process that started the helper hangs up. Single-threaded.
 */
#ifndef JHOT_ATTACH_PROTOCOL_H
#define JHOT_ATTACH_PROTOCOL_H

#include "attach/jvm/hotspot.h"
#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct protocol {
	const struct hotspot *jvm;
	int cwd;                 /* the JVM's working folder, or -errno */
	int pidfd;               /* readable when the JVM ends; -1 if not known */
	int caller;              /* readable when the caller ends or cancels */
	int listen_ms, reply_ms; /* timeouts: for the socket, for the reply */
};

/* A socket connected to the JVM, whose identity was checked; waits up to listen_ms. Negative with an error. */
int protocol_connect(const struct protocol *p, struct err *err);
/* Sends one operation with three arguments (NULL: ""). 0, or -1 with an error. */
int protocol_send(int sock, const char *op, const char *const args[3], struct err *err);
/* Appends the reply up to the end of the connection; waits up to reply_ms. 0, or -1 with an error. */
int protocol_receive(const struct protocol *p, int sock, struct buf *reply, struct err *err);

/* --- reply.c ----------------------------------------------------------------------------------- */

/*
 * Replies of HotSpot's attach listener: a number on the first line, then text.
 *
 * Hostile input, any bytes; text is NUL-terminated at len. Pure functions.
 */

/* The text after a first line of 0; otherwise NULL with an error that quotes the JVM. Points into reply. */
const char *reply_text(const char *reply, size_t len, struct err *err);

/*
 * Extracts the agent's result from the reply to "load": 0 with *result >= 0, or -1 with an error. Succeeds only if the second
 * line is "return code: N" (JDK 9 and later) or "N" (JDK 8): the first line is 0 even if the agent failed, and since JDK 21
 * even if its file could not be opened.
 */
int reply_load(const char *reply, size_t len, int *result, struct err *err);

/* True when the reply means that the JVM is still starting; the request may be repeated. */
bool reply_is_starting(const char *reply);

#endif
