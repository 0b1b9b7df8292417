/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `jhot HOST:NAME`: runs `jhot relay NAME` on another host over ssh, and receives the profile that it sends
 * (share/share.h).
 *
 *   here: jhot top --- ssh ---> there: sh -> jhot relay -> agent
 *
 * If the host has no jhot, this program is sent there, into a new folder that is removed when the connection
 * ends. ssh asks for passwords on the terminal, so remote_begin must return before the screen is drawn.
 * Blocks until the relay has begun to send, or has failed. Single-threaded.
 */
#ifndef JHOT_CLI_LIVE_REMOTE_H
#define JHOT_CLI_LIVE_REMOTE_H

#include "base/err.h"
#include "cli/line/args.h"

struct remote;
/* True for HOST:PID, HOST:NAME and USER@HOST:NAME. */
bool remote_is(const char *target);
/* args: the options of sampling are passed on; --ssh: the command to use. NULL with an error; the far end's is printed. */
struct remote *remote_begin(const char *target, const struct args *args, struct err *err);
/* Calls fn with each option of `jhot relay` that was given, as one word: "--event=cpu". */
void remote_options(const struct args *args, void (*fn)(void *ctx, const char *word), void *ctx);
/* Returns the descriptor from which messages can be read, and transfers its ownership to the caller. Once. */
int remote_take_stream(struct remote *r);
/* Copies received bytes to a descriptor, until the connection or the reader ends. Blocks. */
void remote_copy(struct remote *r, int out);
/* Closes the connection; waits up to 2 s for ssh. NULL is allowed. */
void remote_end(struct remote *r);

#endif
