/* SPDX-License-Identifier: Apache-2.0 */
/* `jhot push`: pushes files to a receiver. */
#include "base/clock.h"
#include "base/hash.h"
#include "cli/line/verb.h"
#include "cli/pushing.h"
#include "cli/report.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ATTEMPTS    5u
#define PATIENCE_NS (60 * NS_PER_S) /* no retry if Retry-After is longer */

/* Tries again while that may help and does not take long. */
static enum push_outcome push_patiently(
	struct pushing *p, const char *path, struct pushing_file *f, struct err *err)
{
	for (unsigned failures = 1;; failures++) {
		*err = (struct err){0};
		enum push_outcome outcome = pushing_push(p, path, f, err);
		uint64_t ns = push_wait_ns(
			failures, f->retry_after_s, hash_pair(clock_mono_ns(), (uint64_t)getpid()));

		if (outcome != PUSH_LATER || failures == ATTEMPTS)
			return outcome;
		if (ns > PATIENCE_NS) {
			err_hint(err, "try again in %llu s: the receiver asks for it",
				(unsigned long long)f->retry_after_s);
			return outcome;
		}
		if (failures == 1)
			fprintf(stderr, "%s Trying again.\n", err->what);
		nanosleep(&(const struct timespec){(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)},
			NULL);
	}
}

/* An error also if the receiver accepted only a part of the file. */
static enum push_outcome push_one(struct pushing *p, const char *path, struct err *err)
{
	struct pushing_file f = {0};
	enum push_outcome outcome = push_patiently(p, path, &f, err);

	if (err->kind != ERR_NONE && err->kind != ERR_INPUT)
		err_prefix(err, "%s: ", path);
	else if (f.sent)
		fprintf(stderr, "pushed %s to %s (%llu bytes)\n", path, p->target.shown,
			(unsigned long long)f.bytes);
	else if (outcome == PUSH_DONE)
		fprintf(stderr, "%s has no samples: nothing to push\n", path);
	return outcome;
}

static int run_push(const struct args *args, struct err *err)
{
	int files = args->operand_count - 1;
	const char *url = args->operands[files];
	struct pushing p = {0};

	if (!strstr(url, "://")) {
		err_set(err, ERR_USAGE,
			"The last argument must be the URL of a receiver, not \"%s\".", url);
		err_hint(err, "jhot push %s http://localhost:4040/ingest", args->operands[0]);
		return -1;
	}
	int rc = pushing_parse(&p, url, args, err);
	if (!rc)
		rc = pushing_open(&p, err);
	if (!rc) {
		/* Go on after an unreadable or refused file, but not if the receiver accepts nothing. */
		const char *const *paths = args->operands;
		enum push_outcome outcome = PUSH_DONE;
		int failed = 0;

		for (int i = 0; i < files && outcome != PUSH_LATER && outcome != PUSH_DENIED; i++) {
			struct err why = {0};

			outcome = push_one(&p, paths[i], &why);
			if (why.kind == ERR_NONE)
				continue;
			if (failed++)
				report_error(stderr, err);
			*err = why;
			if (outcome != PUSH_DONE && outcome != PUSH_REFUSED && i + 1 < files)
				err_hint(err, "push the other files, from %s on, again",
					paths[i + 1]);
		}
		rc = failed ? -1 : 0;
	}
	pushing_done(&p);
	return rc;
}

const struct verb verb_push = {
	.bit = VERB_PUSH,
	.name = "push",
	.synopsis = "[OPTION]... FILE... URL",
	.help = "send profiles to a receiver: OTLP, Pyroscope",
	.text = "Sends each FILE, which may have any format that `jhot convert` reads, to the "
		"receiver at URL, one after the other. The path of the URL selects the "
		"protocol:\n\n"
		"  /v1development/profiles      OTLP, the default of URLs without a path\n"
		"  /v1/profiles                 the same\n"
		"  /ingest                      Pyroscope: pprof\n"
		"  /push.v1.PusherService/Push  Pyroscope: JSON\n\n"
		"A token is read from a file. If it contains a space, the text is used as it is "
		"for "
		"the header Authorization (\"Basic dXNlcjpwYXNz\"), otherwise after \"Bearer "
		"\".\n\n"
		"  jhot push monday.jhot http://localhost:4040/ingest\n"
		"  jhot push --token-file token *.jhot https://otel.example:4318\n\n"
		"If the receiver is away or overloaded, jhot tries five times. `jhot record "
		"--push` does "
		"the same for each file it writes, and keeps trying.",
	.min_operands = 2,
	.max_operands = 10000,
	.run = run_push,
};
