/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost of files crafted to be expensive: reading them and writing each format takes time and memory proportional
 * to their decompressed size. Each case runs in a child process, whose CPU time and memory the kernel reports.
 */
#include "profile/query/filter.h"
#include "tests/import/costly.h"
#include "tests/import/read.h"
#include "tests/tap.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* Bounds: so much for any file, and for each byte of it. A sanitizer takes many times as much. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_UNDEFINED__)
#define SLOWER 20
#define LARGER 20
#else
#define SLOWER 1
#define LARGER 1
#endif
#define TIME_MS       (250.0 * SLOWER)
#define TIME_BYTE_US  (25.0 * SLOWER)
#define MEMORY_MB     (64.0 * LARGER)
#define MEMORY_BYTE_B (40000.0 * LARGER)

/* --- what they cost ---------------------------------------------------------------------------------- */

/* 0: done; 1: it was refused; 2: what would be written is too large. */
static int read_and_write(const struct buf *file, const struct export_format *format)
{
	struct export_options o = {.query = profile_whole(EVENT_CPU)};
	struct imported *i;
	struct buf out = {0};
	struct err err;
	int rc;

	i = read_bytes(file->data, file->len, &err);
	if (!i) {
		fprintf(stderr, "# %s\n", err.what);
		return 1;
	}
	o.meta.labels = (const char *const *)i->labels;
	o.meta.label_count = i->label_count;
	o.meta.vitals = &i->vitals;
	o.meta.duration_ns = i->duration_ns;
	o.query.filter = filter_new();
	filter_set_io(o.query.filter, true);
	for (int e = 0; e < PROFILE_EVENTS; e++) {
		struct profile_query q = profile_whole(e);

		if (profile_sum(i->profile, &q).count)
			o.query.event = e;
	}
	o.query.by_weight = true;
	rc = export_make(&out, format, i->profile, &o, &err) ? 2 : 0;
	buf_done(&out);
	filter_free(o.query.filter);
	import_free(i);
	return rc;
}

static const struct {
	const char *name;
	void (*make)(struct buf *out);
	int result;
} cases[] = {
	{"a label without a value", make_label, 0},
	{"one sample that counts 2^36", make_count_one, 0},
	{"one sample that counts 2^48", make_count_refused, 1},
	{"many that count 2^36", make_count_many, 0},
	{"second 2,000,000,000", make_late, 0},
	{"seconds with long gaps", make_seconds, 0},
	{"a chain of stacks", make_chain, 0},
	{"deep and wide stacks", make_wide, 0},
	{"two chains in turn", make_turns, 0},
	{"long names on a chain", make_names, 0},
	{"runs and gaps", make_runs, 0},
	{"a leaf that waits for more than its name says", make_waits, 0},
	{"JFR: one long LATIN1 string", make_latin1, 0},
	{"JFR: one long string of characters", make_chars, 0},
	{"JFR: empty words", make_empty_words, 0},
	{"pprof: long names a line", make_lines, 0},
	{"pprof: long names of threads", make_thread_names, 0},
	{"speedscope: frames that open", make_opens, 0},
	{"speedscope: many profiles of one event", make_profiles, 0},
	{"speedscope: nested arrays", make_nested, 0},
	{"collapsed: 65,535 frames", make_deep, 0},
	{"collapsed: one line that counts 9e18", make_counted, 0},
};

/* What a child has cost and returned; -1: a signal has ended it. */
static int cost_of(
	const struct buf *file, const struct export_format *format, double *ms, double *mb)
{
	struct rusage ru;
	int status;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child) {
		rlim_t most = (rlim_t)(2 + 2 * (TIME_MS + TIME_BYTE_US * (double)file->len / 1000) /
						   1000);

		setrlimit(RLIMIT_CPU, &(struct rlimit){most, most});
		_exit(read_and_write(file, format));
	}
	if (wait4(child, &status, 0, &ru) != child)
		return -1;
	*ms = (double)(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) * 1e3 +
	      (double)(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) / 1e3;
	*mb = (double)ru.ru_maxrss / 1024;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *slowest = "", *largest = "", *wrong = NULL;
		double most_ms = 0, most_mb = 0, ms = 0, mb = 0;
		struct buf file = {0};

		cases[i].make(&file);
		for (const struct export_format *f = export_formats; f->name && !wrong; f++) {
			if (cost_of(&file, f, &ms, &mb) != cases[i].result)
				wrong = f->name;
			slowest = ms > most_ms ? f->name : slowest;
			largest = mb > most_mb ? f->name : largest;
			most_ms = ms > most_ms ? ms : most_ms;
			most_mb = mb > most_mb ? mb : most_mb;
		}
		ok(!wrong && most_ms <= TIME_MS + TIME_BYTE_US * (double)file.len / 1000 &&
				most_mb <= MEMORY_MB + MEMORY_BYTE_B * (double)file.len / 1e6,
			"%s (%zu bytes): %.0f ms (%s), %.0f MB (%s)%s%s", cases[i].name, file.len,
			most_ms, slowest, most_mb, largest, wrong ? ", ended otherwise: " : "",
			wrong ? wrong : "");
		buf_done(&file);
	}
	return tap_done();
}
