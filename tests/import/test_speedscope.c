/* SPDX-License-Identifier: Apache-2.0 */
/* speedscope files: jhot's own, sampled and evented ones by other tools, and invalid ones. */
#include "tests/import/read.h"
#include "tests/profile/feed.h"
#include "tests/tap.h"

#include "profile/history.h"

#include <stdlib.h>

#define SCHEMA "\"$schema\":\"https://www.speedscope.app/file-format-schema.json\""
#define FRAMES "\"shared\":{\"frames\":[{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"c\"}]}"

static int line_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* An event of it as collapsed stacks with threads, sorted, without the mark of the kernel's frames, which the file has not. */
static void stacks_of(struct buf *out, const struct imported *i, int event, bool by_weight)
{
	struct export_options o = {.query = profile_whole(event),
		.threads = profile_thread_count(i->profile) > 0,
		.dot = true,
		.each = 1};
	char **lines = NULL, *save = NULL;
	uint32_t count = 0, cap = 0;
	struct buf text = {0};

	o.query.by_weight = by_weight;
	export_collapsed(&text, i->profile, &o);
	buf_addc(&text, '\0');
	for (char *mark = text.len ? text.data : NULL; mark && (mark = strstr(mark, "_[k]"));)
		memmove(mark, mark + 4, strlen(mark + 4) + 1);
	for (char *at = text.len ? strtok_r(text.data, "\n", &save) : NULL; at;
		at = strtok_r(NULL, "\n", &save)) {
		lines = xgrow(lines, count, &cap, sizeof(*lines));
		lines[count++] = at;
	}
	if (count)
		qsort(lines, count, sizeof(*lines), line_compare);
	buf_clear(out);
	for (uint32_t k = 0; k < count; k++)
		buf_printf(out, "%s\n", lines[k]);
	free(lines);
	buf_done(&text);
}

/* What a file says of its first event that is not jhot's own. */
static void reads(const char *text, const char *want, const char *name)
{
	struct err err;
	struct imported *i = read_text(text, &err);
	struct buf got = {0};

	if (i)
		stacks_of(&got, i, EVENT_USER_FIRST, true);
	if (!is_str(i ? buf_str(&got) : err.what, want, name) && i)
		diag("%s", i->note);
	buf_done(&got);
	import_free(i);
}

static void refused(const char *text, const char *why)
{
	struct err err;
	struct imported *i = read_text(text, &err);

	ok(!i && err.kind == ERR_INPUT && strstr(err.what, why), "the file is refused: %s",
		i ? text : err.what);
	import_free(i);
}

/* --- jhot's own -------------------------------------------------------------------------------------- */

static struct profile *fed(void)
{
	struct profile *p = profile_new();
	struct feed f;

	for (int event = EVENT_CPU; event <= EVENT_ALLOC; event++) {
		feed_init(&f, p,
			&(struct feed_options){.seed = 7 + (uint64_t)event,
				.stacks = 300,
				.event = event,
				.interval = event == EVENT_CPU ? 0 : 524287});
		for (uint32_t s = 0; s < 20; s++)
			feed_second(&f, s);
		feed_done(&f);
	}
	return p;
}

static void test_own(void)
{
	struct imported before = {.profile = fed()}, *after;
	struct export_options o = {.query = profile_whole(EVENT_CPU),
		.threads = true,
		.meta = {.pid = 4711,
			.name = "shop",
			.host = "box",
			.jdk = "21",
			.duration_ns = 20000000000,
			.labels = (const char *const[]){"version=1.4"},
			.label_count = 1}};
	struct buf file = {0}, want = {0}, got = {0};
	struct err err;

	for (int e = 0; e < PROFILE_EVENTS; e++) {
		struct profile_query q = profile_whole(e);

		if (profile_sum(before.profile, &q).count)
			o.meta.events[o.meta.event_count++].event = e;
	}
	o.query.by_weight = true;
	ok(o.meta.event_count > 1, "jhot's own file has %d events", o.meta.event_count);
	export_speedscope(&file, before.profile, &o);
	after = read_bytes(file.data, file.len, &err);
	if (!ok(after, "jhot's own file is read%s%s", after ? "" : ": ", after ? "" : err.what))
		return;
	for (int k = 0; k < o.meta.event_count; k++) {
		int e = o.meta.events[k].event;
		struct profile_query q = profile_whole(e);
		const struct profile_event *event = profile_get_event(before.profile, e);

		stacks_of(&want, &before, e, true);
		stacks_of(&got, after, e, true);
		ok(want.len && !strcmp(buf_str(&got), buf_str(&want)),
			"%s: stacks, threads and weights are those exported", event->name);
		ok(profile_sum(after->profile, &q).count == profile_sum(before.profile, &q).count,
			"the number of samples is that exported");
	}
	is_str(after->vitals.name, "shop", "the program's name is read");
	is_int(after->vitals.pid, 4711, "the pid is read");
	is_str(after->vitals.jdk, "21", "the JDK is read");
	is_str(after->host, "box", "the host is read");
	is_int((int64_t)(after->duration_ns / 1000000000), 20, "the duration is read");
	ok(after->label_count == 1 && !strcmp(after->labels[0], "version=1.4"),
		"the label is read");
	import_free(after);
	profile_free(before.profile);
	buf_done(&file);
	buf_done(&want);
	buf_done(&got);
}

/* --- others' ----------------------------------------------------------------------------------------- */

static void test_sampled(void)
{
	reads("{" SCHEMA "," FRAMES ",\"profiles\":[{\"type\":\"sampled\",\"name\":\"x\",\"unit\":"
	      "\"none\",\"startValue\":0,\"endValue\":4,\"samples\":[[0,1],[0,2],[0,1]],"
	      "\"weights\":[1,2,1]}]}",
		"a;b 2\na;c 2\n", "values without a unit are sample counts");
	reads("{" SCHEMA ",\"profiles\":[{\"weights\":[1.5,0.25],\"samples\":[[0],[0,1]],\"unit\":"
	      "\"milliseconds\",\"name\":\"x\",\"type\":\"sampled\",\"endValue\":4,\"startValue\":0"
	      "}]," FRAMES "}",
		"a 1500000\na;b 250000\n", "milliseconds and another order of keys are read");
	reads("{" SCHEMA "," FRAMES
	      ",\"profiles\":[{\"type\":\"sampled\",\"name\":\"worker 1\",\"unit\":\"bytes\","
	      "\"samples\":[[0,1]],\"weights\":[1e3]},{\"type\":\"sampled\",\"name\":\"worker "
	      "2\",\"unit\":\"bytes\",\"samples\":[[2]],\"weights\":[24]}]}",
		"[worker 1 tid=0];a;b 1000\n[worker 2 tid=0];c 24\n",
		"several profiles become threads");
	reads("\n {" SCHEMA
	      ",\"shared\":{\"frames\":[{\"name\":\"\\u00fcb\\\"er\\ud83d\\ude00\",\"file\":null},"
	      "{\"name\":\"a.B.c\",\"file\":\"B.java\",\"line\":7,\"col\":1},{\"name\":\"a.b\","
	      "\"file\":\"x.py\",\"line\":null}]},\"profiles\":[{\"type\":\"sampled\",\"name\":"
	      "\"x\""
	      ",\"unit\":\"none\",\"samples\":[[2,1,0]],\"weights\":[1]}],\"unknown\":[{\"}\":\"]"
	      "\"}"
	      ",1,true,null]} \n",
		"a.b;a.B.c;üb\"er😀 1\n", "escapes, files, null and unknown keys are read");
}

static void test_evented(void)
{
	reads("{" SCHEMA "," FRAMES
	      ",\"profiles\":[{\"type\":\"evented\",\"name\":\"x\",\"unit\":\"microseconds\","
	      "\"startValue\":10,\"endValue\":40,\"events\":[{\"type\":\"O\",\"frame\":0,\"at\":10}"
	      ","
	      "{\"type\":\"O\",\"frame\":1,\"at\":15},{\"type\":\"C\",\"frame\":1,\"at\":17},"
	      "{\"type\":\"O\",\"frame\":1,\"at\":17},{\"at\":18,\"frame\":1,\"type\":\"C\"},"
	      "{\"type\":\"C\",\"frame\":0,\"at\":20},{\"type\":\"O\",\"frame\":2,\"at\":30}]}]}",
		"a 7000\na;b 3000\nc 10000\n",
		"evented: time is between events, and open frames last until the end");
}

static void test_refused(void)
{
#define SAMPLED(samples, weights)                                                \
	"{" SCHEMA "," FRAMES                                                    \
	",\"profiles\":[{\"type\":\"sampled\",\"name\":\"x\",\"unit\":\"none\"," \
	"\"samples\":" samples ",\"weights\":" weights "}]}"
#define EVENTED(events)                                                          \
	"{" SCHEMA "," FRAMES                                                    \
	",\"profiles\":[{\"type\":\"evented\",\"name\":\"x\",\"unit\":\"none\"," \
	"\"startValue\":0,\"endValue\":9,\"events\":[" events "]}]}"
	refused(SAMPLED("[[0],[1]]", "[1]"), "fewer weights than samples");
	refused(SAMPLED("[[0]]", "[1,2]"), "more weights than samples");
	refused(SAMPLED("[[3]]", "[1]"), "no frame with this index");
	refused(SAMPLED("[[-1]]", "[1]"), "no frame with this index");
	refused(SAMPLED("[[0.5]]", "[1]"), "no frame with this index");
	refused(SAMPLED("[[\"a\"]]", "[1]"), "unexpected value");
	refused(SAMPLED("[[0]]", "[0x10]"), "unexpected value");
	refused(EVENTED("{\"type\":\"C\",\"frame\":0,\"at\":1}"), "not the innermost open one");
	refused(EVENTED("{\"type\":\"O\",\"frame\":0,\"at\":5},{\"type\":\"C\",\"frame\":0,\"at\":"
			"4}"),
		"earlier than the previous one");
	refused(EVENTED("{\"type\":\"X\",\"frame\":0,\"at\":5}"), "must open or close");
	refused("{" SCHEMA "," FRAMES ",\"profiles\":[]}", "no profiles");
	refused("{" SCHEMA ",\"profiles\":[]}", "no shared frames");
	refused("{" SCHEMA "," FRAMES ",\"profiles\":[{\"type\":\"sampled\"}]}",
		"neither samples and weights nor events");
	refused("{" SCHEMA "," FRAMES ",\"profiles\":[{\"type\":", "truncated");
}

int main(void)
{
	struct err err;
	struct imported *i;

	test_own();
	test_sampled();
	test_evented();
	test_refused();
	i = read_text(SAMPLED("[[0],[0],[1]]", "[1,-2,0.5]"), &err);
	ok(i && strstr(i->note, "1 sample was left out"), "negative weights are reported: %s",
		i ? i->note : err.what);
	import_free(i);
	return tap_done();
}
