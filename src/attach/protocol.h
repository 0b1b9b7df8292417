/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The attach protocol itself: wake the JVM's listener, send one request, read one answer.
 *
 * Runs in the helper, whose current folder is the target's temporary folder and whose ids are the target's. Every wait
 * ends early when the caller of jhot or the JVM is gone.
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
	int caller;              /* hangs up when the caller ends */
	int listen_ms, reply_ms; /* patience: for the socket to appear, for the answer */
};

/* A connected socket, or -1. */
int protocol_connect(const struct protocol *p, struct err *err);
int protocol_send(int sock, const char *op, const char *const args[3], struct err *err);
int protocol_receive(const struct protocol *p, int sock, struct buf *reply, struct err *err);

/* --- reply.c ----------------------------------------------------------------------------------- */

/*
 * Replies of HotSpot's attach listener: a number on the first line, then text.
 *
 * Hostile input, any bytes; text is NUL-terminated at len. Pure functions.
 */

/* reply_text: what follows a first line that says 0, else NULL with an error that quotes the JVM. */
const char *reply_text(const char *reply, size_t len, struct err *err);

/*
 * reply_load: the agent's result out of the reply to "load": -1 with an error unless its second line is
 * "return code: N" (9 and later) or "N" (8). The first line proves nothing: it is 0 also when the
 * agent failed, and on 21+ even when it could not be opened.
 */
int reply_load(const char *reply, size_t len, int *result, struct err *err);

/* Did a JVM answer so that has not finished starting? It is to be asked again. */
bool reply_is_starting(const char *reply);

#endif
