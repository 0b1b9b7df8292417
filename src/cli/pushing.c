/* SPDX-License-Identifier: Apache-2.0 */
/* Pushing of files, by the exporters that also write files. */
#include "cli/pushing.h"

#include "base/clock.h"
#include "cli/line/events.h"
#include "cli/line/units.h"
#include "cli/outputs/outputs.h"

#include <stdio.h>
#include <stdlib.h>

#define TIMEOUT_MOST 3600u

int pushing_parse(struct pushing *p, const char *url, const struct args *args, struct err *err)
{
	const char *timeout = args_get(args, OPT_TIMEOUT);
	struct push_options *o = &p->options;
	struct buf token = {0};

	*p = (struct pushing){0};
	if (push_target_parse(&p->target, url, err))
		return -1;
	o->token_file = args_get(args, OPT_TOKEN_FILE);
	o->ca_file = args_get(args, OPT_CA_FILE);
	if (args_count(args, OPT_HEADER) > PUSH_HEADERS)
		return err_set(
			err, ERR_USAGE, "--header can be given at most %d times.", PUSH_HEADERS);
	for (; o->header_count < args_count(args, OPT_HEADER); o->header_count++) {
		o->headers[o->header_count] = args_nth(args, OPT_HEADER, o->header_count);
		if (push_header_check(o->headers[o->header_count], err))
			return -1;
	}
	if (timeout && units_count(timeout, "--timeout", TIMEOUT_MOST, &o->timeout_s, err))
		return -1;
	if (!o->token_file)
		return 0;
	int rc = push_token_read(
		&token, o->token_file, err); /* now, to report a wrong name at once */
	buf_done(&token);
	if (!rc && p->target.plain)
		fprintf(stderr, "note: the token is sent unencrypted to %s\n", p->target.shown);
	return rc;
}

int pushing_open(struct pushing *p, struct err *err)
{
	p->http = push_http_open(err);
	return p->http ? 0 : -1;
}

void pushing_done(struct pushing *p)
{
	push_http_close(p->http);
	p->http = NULL;
	push_target_done(&p->target);
}

/* --- one file ------------------------------------------------------------------------------------------ */

struct job {
	struct pushing *p;
	struct pushing_file *f;
	struct imported *in;
	struct events events;
	struct outputs_source source;
	struct export_options how;
	char host[OUTPUTS_HOST];
};

static int job_export(
	struct job *j, const char *format, int event, struct buf *out, struct err *err)
{
	j->how.query = profile_whole(event);
	return export_make(out, export_format_by_name(format), j->in->profile, &j->how, err);
}

/* Makes one event's profile; the caller frees its pprof. */
static int job_profile(struct job *j, int i, struct push_profile *out, struct err *err)
{
	const struct export_meta *m = &j->how.meta;

	*out = (struct push_profile){.event = j->events.names[i],
		.program = m->name,
		.host = m->host,
		.labels = m->labels,
		.label_count = m->label_count,
		.start_ns = m->start_wall_ns,
		.duration_ns = m->duration_ns};
	return job_export(j, "pprof", j->events.ids[i], &out->pprof, err);
}

static enum push_outcome job_send(
	struct job *j, const struct push_request *request, struct err *err)
{
	struct push_reply reply = {0};
	struct pushing *p = j->p;
	enum push_outcome outcome =
		push_http_send(p->http, &p->target, &p->options, request, &reply, err);

	j->f->status = reply.status;
	j->f->retry_after_s = reply.retry_after_s;
	if (outcome == PUSH_DONE) {
		j->f->sent++;
		j->f->bytes += request->body->len;
		j->f->rejected += reply.rejected;
		if (reply.rejected)
			snprintf(j->f->why, sizeof(j->f->why), "%.255s", err->what);
	}
	push_reply_clear(&reply);
	return outcome;
}

/* Compresses the body, sends it, and frees it. */
static enum push_outcome job_send_packed(
	struct job *j, const char *type, struct buf *body, struct err *err)
{
	struct buf packed = {0};
	const struct push_request request = {.type = type, .gzip = true, .body = &packed};

	push_body_gzip(&packed, body);
	buf_done(body);
	enum push_outcome outcome = job_send(j, &request, err);
	buf_done(&packed);
	return outcome;
}

static enum push_outcome push_otlp(struct job *j, struct err *err)
{
	struct buf body = {0};

	if (job_export(j, "otlp", j->events.ids[0], &body, err)) {
		buf_done(&body);
		return PUSH_REFUSED;
	}
	return job_send_packed(j, "application/x-protobuf", &body, err);
}

static enum push_outcome push_event(struct job *j, int i, struct err *err)
{
	enum push_outcome outcome = PUSH_REFUSED;
	struct push_profile one;
	struct buf query = {0};
	struct push_request request = {.type = "application/octet-stream", .body = &one.pprof};

	if (!job_profile(j, i, &one, err)) {
		push_query(&query, &one);
		request.query = query.data;
		outcome = job_send(j, &request, err);
	}
	buf_done(&query);
	buf_done(&one.pprof);
	return outcome;
}

/* One request per event. An event that is refused does not prevent the others from being sent. */
static enum push_outcome push_ingest(struct job *j, struct err *err)
{
	struct pushing_file *f = j->f;

	for (; f->next < j->events.count; f->next++) {
		enum push_outcome outcome = push_event(j, f->next, err);

		if (outcome == PUSH_REFUSED)
			f->rejected++;
		else if (outcome != PUSH_DONE)
			return outcome;
		if (outcome == PUSH_REFUSED)
			snprintf(f->why, sizeof(f->why), "%s: %.200s", j->events.names[f->next],
				err->what);
	}
	return f->sent ? PUSH_DONE : PUSH_REFUSED;
}

static enum push_outcome push_series(struct job *j, struct err *err)
{
	struct push_profile list[PROFILE_EVENTS];
	struct buf body = {0};
	int count = 0, rc = 0;

	while (!rc && count < j->events.count) {
		rc = job_profile(j, count, &list[count], err);
		count++;
	}
	if (!rc)
		push_body_series(&body, list, count);
	for (int i = 0; i < count; i++)
		buf_done(&list[i].pprof);
	return rc ? PUSH_REFUSED : job_send_packed(j, "application/json", &body, err);
}

enum push_outcome pushing_push(
	struct pushing *p, const char *path, struct pushing_file *f, struct err *err)
{
	struct job *j = xcalloc(1, sizeof(*j));
	enum push_outcome outcome = PUSH_REFUSED;
	const struct args none = {0};

	j->p = p;
	j->f = f;
	f->status = 0;
	f->retry_after_s = 0;
	j->in = import_read(path, NULL, err);
	if (j->in && !events_of_profile(&j->events, &none, j->in->profile, err)) {
		const struct imported *in = j->in;
		struct export_meta *m = &j->how.meta;

		j->source = (struct outputs_source){.profile = in->profile,
			.vitals = &in->vitals,
			.duration_ns = in->duration_ns,
			.file = in};
		outputs_meta(&j->source, 0, m, j->host);
		/* Receivers discard samples of 1970, so a file without a start time is assumed to end now. */
		if (!m->start_wall_ns)
			m->start_wall_ns = clock_wall_ns() - m->duration_ns;
		for (int i = 0; i < j->events.count; i++)
			outputs_meta_add(&j->source, j->events.ids[i], m);
		outcome = !events_sampled(j->in->profile, j->events.ids[0]) ? PUSH_DONE
			  : p->target.protocol == PUSH_OTLP                 ? push_otlp(j, err)
			  : p->target.protocol == PUSH_INGEST               ? push_ingest(j, err)
									    : push_series(j, err);
	}
	if (outcome == PUSH_DONE && f->rejected)
		err_set(err, ERR_PUSH, "%s", f->why);
	import_free(j->in);
	free(j);
	return outcome;
}
