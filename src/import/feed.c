/* SPDX-License-Identifier: Apache-2.0 */
/* Events, threads and samples by name; limits. */
#include "import/feed.h"

#include "base/clean.h"
#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIECES        16
#define CHECK_SAMPLES 4096u       /* samples between two checks of the limits, */
#define CHECK_BYTES   (16u << 20) /* or bytes of names */

/* The subject of error messages; a merge has no file name. */
static const char *feed_name(const struct import *im)
{
	return im->in ? input_name(im->in) : "The merged profile";
}

struct imported *feed_begin(
	struct import *im, const char *path, const struct import_options *options)
{
	static const struct import_options none;

	im->path = path;
	im->options = options ? options : &none;
	im->out = xcalloc(1, sizeof(*im->out));
	im->p = im->out->profile = profile_new();
	vitals_unknown(&im->out->vitals);
	/* No eviction: ids stay valid, and files have a limit of their own. */
	profile_set_history(im->p, UINT32_MAX);
	profile_set_budget(im->p, SIZE_MAX);
	return im->out;
}

void feed_end(struct import *im)
{
	/* If the interval of a time event is unknown, assume the weight of its samples. */
	for (int i = 0; i < PROFILE_EVENTS; i++) {
		const struct profile_query q = profile_whole(i);
		struct profile_sum sum = profile_sum(im->p, &q);

		if (!profile_get_intervals(im->p, i).least && i != EVENT_LOCK && sum.count &&
			profile_get_event(im->p, i)->weight_is_time)
			profile_interval_add(im->p, i, sum.weight / sum.count);
	}
	struct profile_info info = profile_info(im->p);
	char *note = im->out->note;
	size_t len = strlen(note);
	if (info.cut_samples)
		len += (size_t)snprintf(note + len, sizeof(im->out->note) - len,
			"%s%llu sample%s on stacks of more than %u frames or %u KiB of names: "
			"these end in %s.",
			len ? " " : "", (unsigned long long)info.cut_samples,
			plural(info.cut_samples), PROFILE_DEPTH_MAX, PROFILE_NAMES_MAX >> 10,
			PROFILE_DEEPER);
	if (info.cut_texts && len < sizeof(im->out->note))
		snprintf(note + len, sizeof(im->out->note) - len,
			"%s%llu name%s of more than %u bytes: the rest was cut off.",
			len ? " " : "", (unsigned long long)info.cut_texts, plural(info.cut_texts),
			PROFILE_TEXT_MAX);
	/* The last second is complete. */
	profile_advance(im->p, profile_info(im->p).now + 1);
	intern_done(&im->threads);
	intern_done(&im->frames);
	free(im->frame_of);
	buf_done(&im->text);
}

void feed_copy(char *to, size_t bytes, const char *text, size_t len)
{
	clean_text(to, bytes, text, len);
}

void feed_label(struct import *im, const char *key, const char *value)
{
	struct imported *out = im->out;

	if (out->label_count == IMPORT_LABELS || !*key || strchr(key, '='))
		return;
	buf_clear(&im->text);
	clean_add(&im->text, key, strlen(key));
	buf_addc(&im->text, '=');
	clean_add(&im->text, value, strlen(value));
	out->labels[out->label_count++] = xstrdup(buf_str(&im->text));
}

void feed_fact(struct import *im, const char *key, const char *value)
{
	struct vitals *v = &im->out->vitals;
	const struct {
		const char *key;
		char *to;
		size_t bytes;
	} rows[] = {
		{"host", im->out->host, sizeof(im->out->host)},
		{"name", v->name, sizeof(v->name)},
		{"command", v->command, sizeof(v->command)},
		{"jdk", v->jdk, sizeof(v->jdk)},
		{"jvm", v->vm, sizeof(v->vm)},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strcmp(rows[i].key, key))
			feed_copy(rows[i].to, rows[i].bytes, value, strlen(value));
	if (!strcmp(key, "pid"))
		v->pid = atoi(value) > 0 ? atoi(value) : 0;
	if (!strncmp(key, "label.", strlen("label.")))
		feed_label(im, key + strlen("label."), value);
}

/* --- events ------------------------------------------------------------------------------------------ */

/* The event of this name, or an unused one for it; -1 if there is none. */
static int feed_event_id(struct import *im, const char *name)
{
	for (int i = 0; i < PROFILE_EVENTS; i++)
		if ((i < EVENT_USER_FIRST || im->events & 1u << i) &&
			!strcmp(profile_get_event(im->p, i)->name, name))
			return i;
	for (int i = EVENT_USER_FIRST; i < PROFILE_EVENTS; i++)
		if (!(im->events & 1u << i))
			return i;
	return -1;
}

int feed_event(
	struct import *im, const char *name, const char *unit, uint64_t interval, struct err *err)
{
	char clean[64];

	feed_copy(clean, sizeof(clean), name, strlen(name));
	int event = feed_event_id(im, clean);
	if (event < 0)
		return err_set(err, ERR_INPUT,
			"%s has more than %d kinds of samples besides jhot's own events; \"%s\" is "
			"one too many.",
			feed_name(im), PROFILE_EVENTS - EVENT_USER_FIRST, clean);
	if (event >= EVENT_USER_FIRST && !(im->events & 1u << event))
		profile_event_set(im->p, event, clean, unit, interval);
	im->events |= 1u << event;
	profile_interval_add(im->p, event, interval);
	struct vitals_event *v = &im->out->vitals.events[event];
	v->state = VITALS_ON;
	v->interval = (int64_t)(interval < INT64_MAX ? interval : 0);
	return event;
}

/* --- threads ----------------------------------------------------------------------------------------- */

uint32_t feed_thread(struct import *im, const struct profile_thread *t)
{
	struct buf key = {0};
	uint32_t known = im->threads.count;

	buf_printf(&key, "%d %lld %d ", t->tid, (long long)t->java_tid, (int)t->kind);
	buf_add(&key, t->name, strnlen(t->name, FEED_TEXT_MAX));
	uint32_t id = intern_add(&im->threads, buf_str(&key), key.len);
	if (id == known)
		profile_thread_set(im->p, id, t);
	buf_done(&key);
	return id;
}

/* --- samples ----------------------------------------------------------------------------------------- */

int feed_check(struct import *im, struct err *err)
{
	uint64_t limit = im->options->memory ? im->options->memory : IMPORT_MEMORY;
	uint64_t done = 0, total = 0;

	im->unchecked = 0;
	im->unchecked_bytes = 0;
	if (profile_info(im->p).bytes + im->reader_bytes > limit) {
		err_set(err, ERR_INPUT,
			"%s does not fit into %llu MiB of memory (read so far: %llu bytes).",
			feed_name(im), (unsigned long long)(limit >> 20),
			(unsigned long long)(im->in ? input_offset(im->in) : 0));
		err_hint(err, "--memory SIZE raises the limit");
		return -1;
	}
	if (!im->options->progress)
		return 0;
	if (im->in)
		input_progress(im->in, &done, &total);
	return im->options->progress(im->options->ctx, done, total)
		       ? 0
		       : err_set(err, ERR_FAILED, "%s: reading was cancelled.", feed_name(im));
}

int feed_sample(struct import *im, const struct feed_sample *s, struct err *err)
{
	struct profile_sample one = {s->stack, s->thread, s->state, 0, s->weight};
	uint64_t left = s->count;
	struct vitals_event *v = &im->out->vitals.events[s->event];
	uint64_t at = s->second * NS_PER_S + (s->part - 1ull) * (NS_PER_S / PROFILE_PULSE);

	/* The model adds up to 32 bits at once; absurdly large counts are clamped. */
	for (int i = 0; i < PIECES && (!i || left); i++) {
		one.count = left < UINT32_MAX ? (uint32_t)left : UINT32_MAX;
		if (s->holders)
			profile_add_holder(im->p, s->second, &one);
		else if (one.count || one.weight)
			profile_add_sample(im->p, s->event, s->second, &one);
		v->samples += s->holders ? 0 : one.count;
		left -= one.count;
		one.weight = 0;
	}
	if (s->part)
		profile_add_pulse(im->p, s->event, at, at, s->weight);
	if (++im->unchecked < CHECK_SAMPLES && im->unchecked_bytes < CHECK_BYTES)
		return 0;
	return feed_check(im, err);
}
