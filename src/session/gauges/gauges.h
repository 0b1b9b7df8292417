/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the JVM is: hsperfdata and /proc, gathered into a struct vitals; and the agent's status page.
 *
 * Shares over the last 10 s come from a short history that each reading adds to. One thread.
 */
#ifndef JHOT_SESSION_GAUGES_GAUGES_H
#define JHOT_SESSION_GAUGES_GAUGES_H

#include "attach/hotspot.h"
#include "profile/vitals.h"
#include "wire/layout.h"

struct gauges;
struct gauges *gauges_new(const struct hotspot *jvm);
void gauges_free(struct gauges *g);

/* gauges_read: the JVM's part of the vitals; of a JVM that has gone the last values stay. */
void gauges_read(struct gauges *g, bool alive, struct vitals *out);

/* gauges_engine: enum wire_engine by its name in vitals; WIRE_ENGINE_NONE for NULL and others. */
uint32_t gauges_engine(const char *name);

/* gauges_status: the session's part, from the agent's page; each value is read once. */
void gauges_status(const struct wire_status *status, struct vitals *out);
/* gauges_shares: the *_pct_x10 fields, from what this and earlier readings said. */
void gauges_shares(struct gauges *g, struct vitals *out);

#endif
