/* SPDX-License-Identifier: Apache-2.0 */
/* Sends unwind rows to the agent under test, with the code that a session uses. */
#ifndef JHOT_TESTS_SAMPLER_DRIVER_ROWS_H
#define JHOT_TESTS_SAMPLER_DRIVER_ROWS_H

#include "session/unwind_feed.h"
#include "tests/sampler/driver.h"

struct driver_rows;

struct driver_rows *driver_rows_new(pid_t pid);
void driver_rows_free(struct driver_rows *r);

/* Sends the rows of newly announced modules. Drains meanwhile. */
void driver_rows_send(struct driver_rows *r, struct driver *d);

/* Sends invalid chunks; returns how many the agent accepted (it should be none). */
unsigned driver_rows_send_junk(struct driver *d);

void driver_rows_status(const struct driver_rows *r, struct unwind_feed_status *out);

#endif
