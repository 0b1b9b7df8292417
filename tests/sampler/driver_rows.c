/* SPDX-License-Identifier: Apache-2.0 */
/* Uses the queue of session/ and the driver's commands. */
#include "tests/sampler/driver_rows.h"

#include <stdlib.h>
#include <string.h>

#define MODULES 65536u

struct driver_rows {
	struct unwind_feed *feed;
	bool announced[MODULES];
};

struct driver_rows *driver_rows_new(pid_t pid)
{
	struct driver_rows *r = calloc(1, sizeof(*r));

	r->feed = unwind_feed_new(pid);
	return r;
}

void driver_rows_free(struct driver_rows *r)
{
	if (r)
		unwind_feed_free(r->feed);
	free(r);
}

static void rows_announce(struct driver_rows *r, const struct wire_module *m)
{
	char *path = strndup(m->path, m->path_bytes);
	struct proc_map module = {.path = path,
		.start = m->start,
		.end = m->end,
		.offset = m->file_offset,
		.inode = m->inode,
		.dev_major = m->dev_major,
		.dev_minor = m->dev_minor};

	r->announced[m->id] = true;
	unwind_feed_module(r->feed, m->id, &module);
	free(path);
}

void driver_rows_send(struct driver_rows *r, struct driver *d)
{
	unsigned char *staging = d->base + d->header.staging_off;

	for (uint32_t i = 0; i < MODULES; i++)
		if (d->modules[i] && !r->announced[i])
			rows_announce(r, d->modules[i]);
	while (unwind_feed_busy(r->feed) && !driver_left(d)) {
		size_t bytes = unwind_feed_step(r->feed, staging, d->header.staging_bytes, 5000000);

		if (bytes)
			unwind_feed_answer(r->feed, driver_command_arg(d, WIRE_OP_UNWIND, bytes));
	}
}

unsigned driver_rows_send_junk(struct driver *d)
{
	struct wire_unwind_chunk *c = (void *)(d->base + d->header.staging_off);
	uint32_t module = 0, accepted = 0;
	static const struct {
		uint32_t total, offset, bytes, arg;
	} junk[] = {
		{64, 0, 64, 80},          /* complete, but random */
		{64, 0, 64, 84},          /* shorter than the command says */
		{64, 32, 64, 80},         /* extends past its end */
		{64, 32, 32, 48},         /* starts in the middle */
		{64, 0, 30, 46},          /* not a multiple of 4 */
		{0xfffffffcu, 0, 64, 80}, /* exceeds any budget */
		{64, 0, 0, 16},           /* empty */
		{64, 0, 64, 8},           /* without a header */
		{64, 0, 64, 0xffffffffu}, /* larger than the staging area */
	};

	for (uint32_t i = 1; i < MODULES && !module; i++)
		module = d->modules[i] ? i : 0;
	for (size_t i = 0; i < sizeof(junk) / sizeof(junk[0]); i++) {
		memset(c, 0xa5, 4096);
		c->module = module;
		c->total_bytes = junk[i].total;
		c->offset = junk[i].offset;
		c->bytes = junk[i].bytes;
		accepted += driver_command_arg(d, WIRE_OP_UNWIND, junk[i].arg) >= 0;
	}
	return accepted;
}

void driver_rows_status(const struct driver_rows *r, struct unwind_feed_status *out)
{
	unwind_feed_status(r->feed, out);
}
