/* SPDX-License-Identifier: Apache-2.0 */
/* jhot recordings, read by src/recording from the bytes of input.h. */
#include "import/feed.h"

#include "recording/recording.h"

#include <stdio.h>
#include <string.h>

bool import_is_jhot(const unsigned char *head, size_t bytes)
{
	return recording_is(head, bytes);
}

/* A truncated file simply ends there. */
static ssize_t jhot_input(void *ctx, void *bytes, size_t count, struct err *err)
{
	struct import *im = ctx;
	ssize_t n = feed_check(im, err) ? -1 : input_some(im->in, bytes, count, err);

	return n < 0 && input_is_truncated(im->in) ? 0 : n;
}

void import_describe(struct imported *out, const struct recording *r)
{
	const char *const *labels;
	int count = recording_labels(r, &labels);

	out->vitals = *recording_vitals_now(r);
	out->duration_ns = recording_duration_ns(r);
	out->timed = true;
	snprintf(out->host, sizeof(out->host), "%s", recording_host(r));
	for (int i = 0; i < count && out->label_count < IMPORT_LABELS; i++)
		out->labels[out->label_count++] = xstrdup(labels[i]);
}

int import_jhot(struct import *im, struct err *err)
{
	struct imported *out = im->out;
	struct recording *r = recording_open_input(jhot_input, im, im->p, err);

	if (!r)
		return -1;
	if (im->options->memory)
		recording_limit(r, im->options->memory);
	int rc = recording_read(r, UINT32_MAX, err);
	import_describe(out, r);
	/* An event is present if it has samples, even if it was off at the end. */
	for (int i = 0; i < PROFILE_EVENTS; i++) {
		const struct profile_query q = profile_whole(i);

		if (profile_sum(im->p, &q).count)
			out->vitals.events[i].state = VITALS_ON;
	}
	snprintf(out->note, sizeof(out->note), "%s", recording_note(r));
	recording_free(r);
	return rc;
}
