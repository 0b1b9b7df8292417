/* SPDX-License-Identifier: Apache-2.0 */
/* A profile into a file, second by second. */
#include "recording/recording.h"

#include "base/file.h"
#include "base/hash.h"
#include "profile/whole.h"
#include "recording/fields.h"
#include "recording/format.h"
#include "recording/told.h"
#include "recording/zip.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define LATE_S   2u         /* how far back a profile may be fed */
#define WAITS    16384u     /* that a profile keeps */
#define VITALS_S (1u << 18) /* seconds without anything else in which they are looked for */
#define BUFFER   65536u     /* bytes for the disk */

/* What was told of an event's runs. */
struct run_told {
	uint32_t run, off; /* off: the end that was told, 0: none */
	bool on;
};

struct wait_told {
	uint64_t number, hash; /* number + 1 */
};

struct vitals_due { /* with the second that they are of */
	uint32_t second;
	struct vitals v;
};

struct recording_writer {
	struct file file;
	char *path;
	struct zip_out *zip;
	struct buf packed, chunk, framed;
	int error; /* errno of the first failure */
	const struct profile *profile;
	uint32_t next; /* the first second that is not written */
	bool any;      /* one is */
	bool follows;  /* it is written while the profile grows, and good for what it has so far */
	struct told told;
	struct fields_told fields;
	struct vitals_due *due;
	uint32_t due_count, due_cap;
	struct vitals vitals;            /* the last that were due */
	uint64_t events[PROFILE_EVENTS]; /* hashes of what user events are called; 0: not told */
	struct profile_intervals intervals[PROFILE_EVENTS];
	struct run_told runs[PROFILE_EVENTS];
	struct profile_run gap; /* the last told */
	struct wait_told *waits;
	struct written_part { /* of a second of an event */
		uint32_t stack, thread, state;
		uint64_t count, weight;
	} * parts;
	uint32_t part_count, part_cap;
};

/* --- bytes ------------------------------------------------------------------------------------------- */

static void send(struct recording_writer *w)
{
	if (w->file.path && !w->error && w->packed.len &&
		file_write(w->file.fd, w->packed.data, w->packed.len))
		w->error = errno ? errno : EIO;
	buf_clear(&w->packed);
}

static void pack(struct recording_writer *w, const struct buf *plain, enum zip_flush flush)
{
	zip_out_add(w->zip, &w->packed, plain, flush);
	if (flush != ZIP_GOES_ON || w->packed.len >= BUFFER)
		send(w);
}

/* Empties the body. */
static void put(struct recording_writer *w, enum format_type type, struct buf *body)
{
	struct format_chunk head = {htole32((uint32_t)body->len), htole32(type)};

	buf_clear(&w->framed);
	buf_add(&w->framed, &head, sizeof(head));
	buf_add(&w->framed, buf_str(body), body->len);
	pack(w, &w->framed, ZIP_GOES_ON);
	buf_clear(body);
}

static void put_some(struct recording_writer *w, enum format_type type, struct buf *body)
{
	if (body->len)
		put(w, type, body);
}

static void put_numbers(
	struct recording_writer *w, enum format_type type, const uint64_t *numbers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		format_put(&w->chunk, numbers[i]);
	put(w, type, &w->chunk);
}
#define PUT(w, type, ...)                                     \
	put_numbers(w, type, (const uint64_t[]){__VA_ARGS__}, \
		sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

/* --- what a second has beside its samples ------------------------------------------------------------ */

/* What the buffers of struct told hold comes before what uses it. */
static void put_told(struct recording_writer *w)
{
	if (w->told.forgot)
		put(w, CHUNK_FORGET, &w->chunk);
	w->told.forgot = false;
	put_some(w, CHUNK_METHODS, &w->told.methods_out);
	put_some(w, CHUNK_FRAMES, &w->told.frames_out);
	put_some(w, CHUNK_STACKS, &w->told.stacks_out);
	put_some(w, CHUNK_THREADS, &w->told.threads_out);
}

static void put_told_if_much(struct recording_writer *w)
{
	const struct told *t = &w->told;

	if (t->methods_out.len + t->frames_out.len + t->stacks_out.len + t->threads_out.len >=
		FORMAT_PIECE)
		put_told(w);
}

static void write_event(struct recording_writer *w, int event)
{
	const struct profile_event *e = profile_get_event(w->profile, event);
	uint64_t hash;

	if (e == &profile_events[event])
		return;
	hash = hash_bytes(e->unit, strlen(e->unit), hash_bytes(e->name, strlen(e->name), 1));
	hash = hash_pair(hash, e->default_interval) | 1;
	if (w->events[event] == hash)
		return;
	w->events[event] = hash;
	w->runs[event] = (struct run_told){0};
	w->intervals[event] = (struct profile_intervals){0};
	format_put(&w->chunk, (unsigned)event);
	format_put_text(&w->chunk, e->name);
	format_put_text(&w->chunk, e->unit);
	format_put(&w->chunk, e->default_interval);
	put(w, CHUNK_EVENT, &w->chunk);
}

static void write_intervals(struct recording_writer *w, int event)
{
	struct profile_intervals i = profile_get_intervals(w->profile, event);

	if (i.least == w->intervals[event].least && i.most == w->intervals[event].most)
		return;
	w->intervals[event] = i;
	PUT(w, CHUNK_INTERVAL, (unsigned)event, i.least, i.most);
}

/* Where it began and ended, as far as that was not after this second. */
static void write_runs(struct recording_writer *w, int event, uint32_t second)
{
	struct run_told *t = &w->runs[event];
	struct profile_run r, next;

	while (profile_get_run(w->profile, event, t->run, &r) && r.from <= second) {
		if (!t->on || (t->off && r.to > t->off)) {
			PUT(w, CHUNK_RUN, (unsigned)event, t->off ? t->off : r.from, 1);
			t->on = true;
			t->off = 0;
		}
		if (!t->off && r.to != UINT32_MAX && r.to - 1 <= second) {
			PUT(w, CHUNK_RUN, (unsigned)event, r.to - 1, 0);
			t->off = r.to;
		}
		if (!t->off || !profile_get_run(w->profile, event, t->run + 1, &next))
			break;
		*t = (struct run_told){.run = t->run + 1};
	}
}

/* Those at the end that are new, or longer than they were. */
static void write_gaps(struct recording_writer *w)
{
	struct profile_run gap;
	uint32_t count = 0, i;

	while (profile_get_gap(w->profile, count, &gap))
		count++;
	for (i = count; i > 0 && profile_get_gap(w->profile, i - 1, &gap); i--)
		if (gap.to <= w->gap.to)
			break;
	for (; profile_get_gap(w->profile, i, &gap); i++) {
		PUT(w, CHUNK_GAP, gap.from, gap.to);
		w->gap = gap;
	}
}

static void write_wait(struct recording_writer *w, uint64_t number)
{
	struct wait_told *told = &w->waits[number % WAITS];
	struct profile_wait wait = {.thread = 0}; /* its padding is part of the hash */
	uint64_t hash;
	struct buf *out = &w->chunk;

	if (!profile_get_wait(w->profile, number, &wait))
		return;
	hash = hash_pair((uint64_t)wait.owner << 32 | wait.method, wait.until_ns);
	hash = hash_pair(hash, hash_pair(wait.before_ns, wait.at_least));
	if (told->number == number + 1 && told->hash == hash)
		return;
	*told = (struct wait_told){number + 1, hash};
	format_put(out, told_thread(&w->told, w->profile, wait.thread));
	format_put(out, wait.owner == PROFILE_NONE
				? 0
				: told_thread(&w->told, w->profile, wait.owner) + 1ull);
	format_put(out, wait.method == PROFILE_NONE
				? 0
				: told_method(&w->told, w->profile, wait.method) + 1ull);
	format_put(out, wait.lock);
	format_put(out, wait.since_ns);
	format_put(out, wait.until_ns == PROFILE_STILL ? 0 : wait.until_ns - wait.since_ns + 1);
	format_put(out, wait.before_ns);
	format_put(out, wait.at_least);
}

static void write_waits(struct recording_writer *w)
{
	uint64_t count = profile_wait_count(w->profile);
	struct buf waits;

	if (count && !w->waits)
		w->waits = xcalloc(WAITS, sizeof(*w->waits));
	for (uint64_t i = count > WAITS ? count - WAITS : 0; i < count; i++)
		write_wait(w, i);
	waits = w->chunk;
	w->chunk = (struct buf){0};
	put_told(w);
	put_some(w, CHUNK_WAITS, &waits);
	buf_done(&waits);
}

/* What a profile keeps of those of a second. */
static void past_vitals(const struct vitals_second *s, struct vitals *v)
{
	v->time_ns = s->time_ns;
	v->cpu_pct = s->cpu_pct;
	v->gc_pct_x10 = s->gc_pct_x10;
	v->safepoint_pct_x10 = s->safepoint_pct_x10;
	v->threads_running = s->threads_running;
	v->cost_pct_x10 = s->cost_pct_x10;
	v->cpu = s->cpu;
	v->rss_bytes = s->rss_bytes;
	v->heap_used = s->heap_used;
	v->heap_committed = s->heap_committed;
	v->heap_max = s->heap_max;
	v->gc_count = s->gc_count;
	v->gc_whole = s->gc_whole;
	v->gc_time_ns = s->gc_time_ns;
	v->gc_time_ms = s->gc_time_ns < 0 ? -1 : s->gc_time_ns / 1000000;
	v->cpu_user_ms = s->cpu_user_ms;
	v->cpu_system_ms = s->cpu_system_ms;
	v->machine_busy_ms = s->machine_busy_ms;
	v->machine_cpus = s->machine_cpus;
	v->threads_live = s->threads_live;
	v->threads_daemon = s->threads_daemon;
	v->uptime_s = s->uptime_s;
}

static void put_vitals(struct recording_writer *w, enum format_type type, const struct vitals *v)
{
	struct buf fields = {0}, vitals = {0};

	fields_tell(&w->fields, v, &fields, &vitals);
	put_some(w, CHUNK_FIELDS, &fields);
	put(w, type, &vitals);
	buf_done(&fields);
	buf_done(&vitals);
}

/* What the profile keeps of a second, and of the rest what was told then. */
static void write_vitals(struct recording_writer *w, uint32_t second)
{
	const struct vitals_second *kept = profile_vitals(w->profile, second);
	struct vitals v;
	uint32_t n = 0;

	while (n < w->due_count && w->due[n].second <= second)
		w->vitals = w->due[n++].v;
	w->due_count -= n;
	if (n)
		memmove(w->due, w->due + n, w->due_count * sizeof(*w->due));
	if (!kept)
		return;
	v = w->vitals;
	past_vitals(kept, &v);
	put_vitals(w, CHUNK_VITALS, &v);
}

/* --- samples ----------------------------------------------------------------------------------------- */

static void take_part(void *ctx, const struct profile_part *part)
{
	struct recording_writer *w = ctx;

	w->parts = xgrow(w->parts, w->part_count, &w->part_cap, sizeof(*w->parts));
	w->parts[w->part_count++] = (struct written_part){
		part->stack, part->thread, part->state, part->count, part->weight};
}

static int part_compare(const void *a, const void *b)
{
	const struct written_part *x = a, *y = b;

	if (x->stack != y->stack)
		return x->stack < y->stack ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->state < y->state ? -1 : x->state > y->state;
}

static void write_samples(
	struct recording_writer *w, int event, bool holders, uint32_t from, uint32_t to)
{
	enum format_type type = holders ? CHUNK_HOLDERS : CHUNK_SAMPLES;
	struct profile_query q = profile_whole(event);
	uint32_t before = 0;

	q.holders = holders;
	q.from = from;
	q.to = to;
	w->part_count = 0;
	profile_each(w->profile, &q, take_part, w);
	for (uint32_t i = 0; i < w->part_count; i++) {
		struct written_part *part = &w->parts[i];

		part->stack = told_stack(&w->told, w->profile, part->stack);
		part->thread = told_thread(&w->told, w->profile, part->thread);
		put_told_if_much(w);
	}
	put_told(w);
	if (w->part_count)
		qsort(w->parts, w->part_count, sizeof(*w->parts), part_compare);
	for (uint32_t i = 0; i < w->part_count; i++) {
		const struct written_part *part = &w->parts[i];

		if (!w->chunk.len) {
			format_put(&w->chunk, (unsigned)event);
			before = 0;
		}
		format_put_signed(&w->chunk, (int64_t)part->stack - before);
		format_put(&w->chunk, part->thread);
		format_put(&w->chunk, part->state);
		format_put(&w->chunk, part->count);
		format_put(&w->chunk, part->weight);
		before = part->stack;
		if (w->chunk.len >= FORMAT_PIECE)
			put(w, type, &w->chunk);
	}
	put_some(w, type, &w->chunk);
}

static void write_pulse(struct recording_writer *w, uint32_t second)
{
	uint8_t parts[PROFILE_PULSE];

	for (unsigned e = 0; e < PROFILE_EVENTS; e++) {
		if (!profile_pulse(w->profile, (int)e, second, parts))
			continue;
		format_put(&w->chunk, e);
		for (int i = 0; i < PROFILE_PULSE; i++)
			format_put(&w->chunk, parts[i]);
	}
	put_some(w, CHUNK_PULSE, &w->chunk);
}

/* The samples of [from, to) are of this second, or of the step that begins with it, or of all before what is held. */
static void write_second(struct recording_writer *w, uint32_t from, uint32_t to)
{
	uint64_t process_ns = profile_process_ns(w->profile, from, to);

	PUT(w, CHUNK_SECOND, from);
	told_check(&w->told, w->profile);
	told_threads(&w->told, w->profile);
	for (int e = 0; e < PROFILE_EVENTS; e++) {
		write_event(w, e);
		write_intervals(w, e);
		write_runs(w, e, to - 1);
		write_samples(w, e, false, from, to);
	}
	write_samples(w, EVENT_LOCK, true, from, to);
	write_pulse(w, from);
	if (process_ns)
		PUT(w, CHUNK_PROCESS, process_ns);
	write_gaps(w);
	write_waits(w);
	write_vitals(w, from);
	w->any = true;
}

/* The next second up to this one in which there is something; PROFILE_NONE: there is none. */
static uint32_t next_second(const struct recording_writer *w, uint32_t last)
{
	uint32_t next = profile_next_held(w->profile, w->next);

	for (uint32_t s = w->next; s < next && s <= last && s - w->next < VITALS_S; s++)
		if (profile_vitals(w->profile, s))
			return s;
	return next <= last ? next : PROFILE_NONE;
}

/* All seconds up to this one. */
static void write_until(struct recording_writer *w, uint32_t last)
{
	uint32_t second, oldest = profile_info(w->profile).oldest;

	if (!w->any && oldest) {
		write_second(w, 0, oldest);
		w->next = oldest;
	}
	while ((second = next_second(w, last)) != PROFILE_NONE) {
		write_second(w, second, second + 1);
		w->next = second + 1;
	}
	if (last >= w->next)
		w->next = last + 1;
	if (w->follows)
		profile_hold_unwritten(w->profile, w->next);
}

/* --- from the beginning to the end ------------------------------------------------------------------- */

struct recording_writer *recording_create(const char *path, struct err *err)
{
	struct recording_writer *w = xcalloc(1, sizeof(*w));

	if (file_create(&w->file, path, err)) {
		free(w);
		return NULL;
	}
	w->path = xstrdup(path);
	w->zip = zip_out_new();
	return w;
}

static void meta_put(struct recording_writer *w, const char *name, const char *text)
{
	format_put_text(&w->chunk, name);
	format_put_text(&w->chunk, text);
}

static void begin(
	struct recording_writer *w, const struct profile *p, const struct recording_meta *meta)
{
	struct format_head head = {.magic = FORMAT_MAGIC,
		.major = htole16(FORMAT_MAJOR),
		.minor = htole16(FORMAT_MINOR)};
	struct profile_info info = profile_info(p);
	char number[32];

	w->profile = p;
	buf_add(&w->framed, &head, sizeof(head));
	pack(w, &w->framed, ZIP_GOES_ON);
	snprintf(number, sizeof(number), "%llu", (unsigned long long)info.start_wall_ns);
	meta_put(w, "start_ns", number);
	if (meta->host)
		meta_put(w, "host", meta->host);
	for (int i = 0; i < meta->label_count; i++)
		meta_put(w, "label", meta->labels[i]);
	put(w, CHUNK_META, &w->chunk);
	if (info.oldest || info.merged_before)
		PUT(w, CHUNK_HELD, info.oldest, info.merged_before);
}

void recording_begin(
	struct recording_writer *w, const struct profile *p, const struct recording_meta *meta)
{
	begin(w, p, meta);
	w->follows = true;
	pack(w, &w->chunk, ZIP_FLUSH);
	file_appear(&w->file);
	profile_hold_unwritten(p, profile_info(p).oldest);
}

void recording_vitals(struct recording_writer *w, const struct vitals *v)
{
	w->due = xgrow(w->due, w->due_count, &w->due_cap, sizeof(*w->due));
	w->due[w->due_count++] = (struct vitals_due){profile_info(w->profile).now, *v};
	if (w->any || w->fields.begun)
		return;
	w->vitals = *v;
	put_vitals(w, CHUNK_STATE, v); /* whose it is, before there is any second */
	pack(w, &w->chunk, ZIP_FLUSH);
}

static int failed(const struct recording_writer *w, struct err *err)
{
	if (!w->error)
		return 0;
	errno = w->error;
	err_set_errno(err, ERR_OUTPUT, "The recording %s could not be written on", w->path);
	err_hint(err, "it can be read up to there: jhot view %s",
		w->file.part ? w->file.part : w->path);
	return -1;
}

int recording_follow(struct recording_writer *w, struct err *err)
{
	uint32_t now = profile_info(w->profile).now;

	if (now <= LATE_S || now - LATE_S <= w->next)
		return failed(w, err);
	write_until(w, now - LATE_S - 1);
	pack(w, &w->chunk, ZIP_FLUSH);
	return failed(w, err);
}

int recording_finish(struct recording_writer *w, uint64_t duration_ns, struct err *err)
{
	uint32_t now = profile_info(w->profile).now;

	write_until(w, now);
	write_second(w, now, now); /* what has no samples, up to the end */
	for (int e = 0; e < PROFILE_EVENTS; e++)
		write_runs(w, e, UINT32_MAX);
	if (w->due_count)
		w->vitals = w->due[w->due_count - 1].v;
	put_vitals(w, CHUNK_STATE, &w->vitals);
	PUT(w, CHUNK_END, duration_ns);
	pack(w, &w->chunk, ZIP_LAST);
	if (w->follows)
		profile_hold_unwritten(w->profile, PROFILE_NONE);
	w->profile = NULL;
	return failed(w, err) ? -1 : file_commit(&w->file, err);
}

void recording_close(struct recording_writer *w)
{
	if (!w)
		return;
	if (w->profile && w->follows) {
		profile_hold_unwritten(w->profile, PROFILE_NONE);
		pack(w, &w->chunk, ZIP_FLUSH);
	}
	if (w->follows)
		file_leave(&w->file);
	else
		file_abandon(&w->file);
	told_done(&w->told);
	zip_out_free(w->zip);
	buf_done(&w->packed);
	buf_done(&w->chunk);
	buf_done(&w->framed);
	free(w->due);
	free(w->waits);
	free(w->parts);
	free(w->path);
	free(w);
}

int recording_save(const char *path, const struct profile *p, const struct recording_meta *meta,
	const struct vitals *v, uint64_t duration_ns, struct err *err)
{
	struct recording_writer *w = recording_create(path, err);
	int rc = -1;

	if (!w)
		return -1;
	begin(w, p, meta);
	w->vitals = *v; /* of earlier seconds only what the profile has kept is known */
	w->vitals.host = vitals_host_unknown;
	w->vitals.safepoint_count = w->vitals.safepoint_time_ms = w->vitals.safepoint_sync_ms = -1;
	w->vitals.classes_loaded = w->vitals.classes_unloaded = -1;
	put_vitals(w, CHUNK_STATE, &w->vitals);
	w->due = xgrow(w->due, w->due_count, &w->due_cap, sizeof(*w->due));
	w->due[w->due_count++] = (struct vitals_due){PROFILE_NONE, *v};
	rc = recording_finish(w, duration_ns, err);
	recording_close(w);
	return rc;
}
