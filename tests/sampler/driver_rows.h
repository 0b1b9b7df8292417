/* SPDX-License-Identifier: Apache-2.0 */
/* Unwind rows for the agent under test, by the code that a session uses. */
#ifndef JHOT_TESTS_SAMPLER_DRIVER_ROWS_H
#define JHOT_TESTS_SAMPLER_DRIVER_ROWS_H

#include "session/unwind_feed.h"
#include "tests/sampler/driver.h"

struct driver_rows;

struct driver_rows *driver_rows_new(pid_t pid);
void driver_rows_free(struct driver_rows *r);

/* Sends what the modules that were announced since lack. Drains meanwhile. */
void driver_rows_send(struct driver_rows *r, struct driver *d);

/* Pieces that are no rows at all: how many the agent took (it should take none). */
unsigned driver_rows_send_junk(struct driver *d);

void driver_rows_status(const struct driver_rows *r, struct unwind_feed_status *out);

#endif
