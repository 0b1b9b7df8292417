/* SPDX-License-Identifier: Apache-2.0 */
/* import: jhot recordings: intact, truncated and corrupt. */
#include "profile/history.h"
#include "recording/recording.h"
#include "tests/import/read.h"
#include "tests/profile/feed.h"
#include "tests/tap.h"

#define SECONDS 30

static struct buf bytes;

static void make(struct profile *p)
{
	const struct recording_meta meta = {
		.host = "box", .labels = (const char *const[]){"version=1.4"}, .label_count = 1};
	struct vitals v = {.pid = 4711, .name = "Cart"};
	struct err err = {0};
	struct feed f;
	char path[64];
	int fd = memfd_create("recording", MFD_CLOEXEC);

	feed_init(&f, p, &(struct feed_options){.seed = 7});
	for (uint32_t s = 0; s < SECONDS; s++)
		feed_second(&f, s);
	feed_done(&f);
	vitals_unknown(&v);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ok(!recording_save(path, p, &meta, &v, 30000000000ull, &err), "the recording is saved %s",
		err.what);
	lseek(fd, 0, SEEK_SET);
	buf_read_all(&bytes, fd, 1 << 24);
	close(fd);
}

static int line_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Its lines in order, which is what they are written into again. */
static const char *sorted(struct buf *text)
{
	char **lines = NULL, *save = NULL;
	struct buf out = {0};
	uint32_t count = 0, cap = 0;

	for (char *at = strtok_r(text->data, "\n", &save); at; at = strtok_r(NULL, "\n", &save)) {
		lines = xgrow(lines, count, &cap, sizeof(*lines));
		lines[count++] = at;
	}
	qsort(lines, count, sizeof(*lines), line_compare);
	for (uint32_t i = 0; i < count; i++)
		buf_printf(&out, "%s\n", lines[i]);
	free(lines);
	buf_done(text);
	*text = out;
	return buf_str(text);
}

int main(void)
{
	struct profile *p = profile_new();
	struct profile_query all = profile_whole(EVENT_CPU);
	struct imported from = {.profile = p};
	struct buf want = {0}, got = {0};
	struct imported *i;
	struct err err;

	make(p);
	read_collapsed(&want, &from, EVENT_CPU);
	i = read_bytes(bytes.data, bytes.len, &err);
	if (!ok(i != NULL, "the recording is read: %s", err.what))
		return tap_done();
	read_collapsed(&got, i, EVENT_CPU);
	ok(want.len > 10000 && want.len == got.len && !strcmp(sorted(&want), sorted(&got)),
		"the stacks are those that were saved");
	is_str(i->format->name, "jhot", "the format is jhot");
	is_str(i->vitals.name, "Cart", "the name of the program is read");
	is_str(i->host, "box", "the host is read");
	ok(i->label_count == 1 && !strcmp(i->labels[0], "version=1.4"), "the label is read");
	ok(i->timed && i->duration_ns == 30000000000ull && !*i->note,
		"times and duration are read, and there is no note");
	import_free(i);
	i = read_bytes(bytes.data, bytes.len / 2, &err);
	ok(i && strstr(i->note, "is incomplete") && profile_sum(i->profile, &all).count > 100,
		"half of the file is read as incomplete: %s", i ? i->note : err.what);
	import_free(i);
	i = read_bytes(bytes.data, 150, &err);
	ok(i && strstr(i->note, "is incomplete"), "the first few bytes are read as incomplete: %s",
		i ? i->note : err.what);
	import_free(i);
	for (size_t at = bytes.len / 2; at < bytes.len * 3 / 4; at++)
		bytes.data[at] = (char)~bytes.data[at];
	i = read_bytes(bytes.data, bytes.len, &err);
	ok(!i && err.kind == ERR_INPUT, "a damaged file is refused: %s", err.what);
	buf_done(&bytes);
	buf_done(&want);
	buf_done(&got);
	profile_free(p);
	return tap_done();
}
