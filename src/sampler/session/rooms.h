/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may still use a session's memory: handlers and callbacks that are in its room (signal/signal.h), its publisher, and
 * the thread that visits the JVM for it. Nothing here waits without bound: memory that somebody may still use is
 * kept, and given back when the next session finds its room empty.
 *
 * Publisher's thread, except for rooms_let_go.
 */
#ifndef JHOT_SAMPLER_SESSION_ROOMS_H
#define JHOT_SAMPLER_SESSION_ROOMS_H

#include "sampler/sampler.h"

/* A room for this session. false: in each one somebody has been lost. */
bool rooms_take(struct sampler *s);
/* From now on the session is found. */
void rooms_open(struct sampler *s);
/* Nobody finds the session any more. */
void rooms_close(struct sampler *s);
/* Waits until all who are inside have left; false: they have not for ns. */
bool rooms_drain(struct sampler *s, uint64_t ns);

/* A reference to the session's memory is no longer needed; with the last one it is given back. */
void rooms_let_go(struct sampler *s);
/* Bytes of sessions that could not be given back. */
uint64_t rooms_kept(void);

#endif
