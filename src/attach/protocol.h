/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The attach protocol itself: wake the JVM's listener, send one request, read one answer.
 *
 * Runs in the helper, whose current folder is the target's /tmp and whose ids are the target's. Every wait
 * ends early when the caller of jhot or the JVM is gone.
 */
#ifndef JHOT_ATTACH_PROTOCOL_H
#define JHOT_ATTACH_PROTOCOL_H

#include "attach/hotspot.h"
#include "base/buf.h"
#include "base/err.h"

struct protocol {
	const struct hotspot *jvm;
	int cwd;                 /* the JVM's working folder, -1 if closed */
	int pidfd;               /* readable when the JVM ends; -1 if not known */
	int caller;              /* hangs up when the caller ends */
	int listen_ms, reply_ms; /* patience: for the socket to appear, for the answer */
};

/* A connected socket, or -1. */
int protocol_connect(const struct protocol *p, struct err *err);
int protocol_send(int sock, const char *op, const char *const args[3], struct err *err);
int protocol_receive(const struct protocol *p, int sock, struct buf *reply, struct err *err);

#endif
