/* SPDX-License-Identifier: Apache-2.0 */
/* Receives the profile of another jhot's session. */
#include "cli/copying.h"

#include "base/buf.h"
#include "session/session.h"

#include <stdio.h>
#include <string.h>

#define WAIT_MS 30000

/* Explains why there is nothing to copy. */
static int not_shared(const struct hotspot *jvm, struct err *err)
{
	struct session_status status;

	if (session_status(jvm, &status, NULL) || !status.active) {
		err_set(err, ERR_NO_TARGET, "JVM %d is not being profiled.", (int)jvm->pid);
		err_hint(err, "jhot start %d", (int)jvm->pid);
		return -1;
	}
	return err_set(err, ERR_NO_TARGET,
		"JVM %d is being profiled by %s (jhot process %d), but its samples cannot be "
		"read from here: it belongs to another user, container or version.",
		(int)jvm->pid, status.front_end, status.front_end_pid);
}

int copying_begin(
	struct copying *c, const struct hotspot *jvm, enum share_request request, struct err *err)
{
	c->to = xcalloc(1, sizeof(*c->to));
	c->to->profile = profile_new();
	c->from = shared_open(jvm, request, c->to->profile, err);
	if (c->from)
		return 0;
	return err && err->kind == ERR_NO_TARGET ? not_shared(jvm, err) : -1;
}

struct imported *copying_finish(struct copying *c, struct err *err)
{
	struct imported *to = c->to;
	int rc = 1;

	while (rc > 0 && !shared_complete(c->from))
		rc = shared_read(c->from, WAIT_MS, err);
	if (!rc)
		err_set(err, ERR_FAILED,
			"The jhot process %d, which is profiling the JVM, does not "
			"respond.",
			(int)shared_server(c->from));
	if (rc <= 0)
		return NULL;
	/* The metadata that a file would have. */
	const struct recording *from = shared_recording(c->from);
	const char *const *labels;
	for (to->format = import_formats; strcmp(to->format->name, "jhot") != 0; to->format++)
		;
	to->vitals = *recording_vitals_now(from);
	to->duration_ns = recording_duration_ns(from);
	to->timed = true;
	snprintf(to->host, sizeof(to->host), "%s", recording_host(from));
	to->label_count = recording_labels(from, &labels);
	for (int i = 0; i < to->label_count; i++)
		to->labels[i] = xstrdup(labels[i]);
	c->to = NULL;
	shared_close(c->from);
	c->from = NULL;
	return to;
}

void copying_done(struct copying *c)
{
	shared_close(c->from);
	import_free(c->to);
}
