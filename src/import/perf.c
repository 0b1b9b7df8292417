/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output of perf script: a line per sample, then a line per frame, leaf first, then an empty
 * line.
 *
 *   java  1234/1240 [001] 12345.678901:     250000 cycles:u:
 *   	    7f0011223344 Lcom/foo/Bar;::baz+0x20 (/tmp/perf-1234.map)
 *   	ffffffff81000000 do_syscall_64+0x5b ([kernel.kallsyms])
 *
 * Events keep their names; clocks are EVENT_CPU. The weight of a sample is its period. Lines
 * beginning with # are ignored.
 */
#include "import/feed.h"

#include "base/clock.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL_FIRST 0xffff800000000000ull /* the lowest kernel address */
#define WORD_MOST    64

struct perf {
	struct import *im;
	struct feed_sample sample; /* the current one; valid if any */
	bool any, begun;
	uint64_t first_ns;
	uint32_t *frames, frame_count, frames_cap; /* leaf first */
};

struct perf_head {
	size_t comm_len;
	int tid;
	uint64_t ns, period;
	char event[WORD_MOST];
};

/* Skips blanks. Returns the length of the next word, 0 at the end. */
static size_t word_next(const char **at, const char *end)
{
	size_t len = 0;

	while (*at < end && isspace((unsigned char)**at))
		++*at;
	while (*at + len < end && !isspace((unsigned char)(*at)[len]))
		len++;
	return len;
}

/* "1234" or "1234/1240": the thread. */
static bool word_is_tid(const char *word, size_t len, int *tid)
{
	uint64_t value = 0;
	size_t digits = 0;

	for (size_t i = 0; i < len; i++) {
		if (word[i] == '/' && digits) {
			value = digits = 0;
		} else if (isdigit((unsigned char)word[i])) {
			value = value < INT32_MAX ? value * 10 + (uint64_t)(word[i] - '0') : value;
			digits++;
		} else {
			return false;
		}
	}
	*tid = value <= INT32_MAX ? (int)value : 0;
	return digits > 0;
}

/* "12345.678901:" */
static bool word_is_time(const char *word, size_t len, uint64_t *ns)
{
	uint64_t seconds = 0, part = 0, unit = NS_PER_S;
	bool point = false;

	if (len < 3 || word[len - 1] != ':' || !isdigit((unsigned char)*word))
		return false;
	for (size_t i = 0; i < len - 1; i++) {
		if (word[i] == '.' && !point) {
			point = true;
		} else if (!isdigit((unsigned char)word[i])) {
			return false;
		} else if (point) {
			unit /= 10;
			part += (uint64_t)(word[i] - '0') * unit;
		} else {
			seconds = seconds < UINT32_MAX ? seconds * 10 + (uint64_t)(word[i] - '0')
						       : seconds;
		}
	}
	*ns = seconds * NS_PER_S + part;
	return point;
}

static bool head_read(const char *line, size_t len, struct perf_head *h)
{
	const char *at = line, *end = line + len;
	size_t n;

	*h = (struct perf_head){.period = 1};
	if (!len || isspace((unsigned char)*line))
		return false;
	/* The command may contain blanks; it is followed by the thread, maybe a CPU, and the time. */
	for (n = word_next(&at, end), at += n; (n = word_next(&at, end)); at += n) {
		const char *behind = at + n;

		h->comm_len = (size_t)(at - line);
		if (!word_is_tid(at, n, &h->tid))
			continue;
		n = word_next(&behind, end);
		if (n && *behind == '[') {
			behind += n;
			n = word_next(&behind, end);
		}
		if (word_is_time(behind, n, &h->ns)) {
			at = behind + n;
			break;
		}
		n = word_next(&at, end);
	}
	n = word_next(&at, end);
	if (!n)
		return false;
	const char *word = at;
	if (strspn(word, "0123456789") >= n) {
		h->period = strtoull(word, NULL, 10);
		at += n;
		n = word_next(&at, end);
		word = at;
	}
	while (n && word[n - 1] == ':')
		n--;
	snprintf(
		h->event, sizeof(h->event), "%.*s", (int)(n < WORD_MOST ? n : WORD_MOST - 1), word);
	while (h->comm_len && isspace((unsigned char)line[h->comm_len - 1]))
		h->comm_len--;
	return n > 0 && at + n < end + 1 && end > word + n;
}

/* --- frames ------------------------------------------------------------------------------------------ */

/* Names of JITs: "Lcom/foo/Bar;::baz", "com.foo.Bar::baz", "void com.foo.Bar.baz(int)": com.foo.Bar.baz. */
static void java_name(struct buf *out, const char *name)
{
	size_t len = strcspn(name, "("), from = 0;

	for (size_t i = 0; i < len; i++)
		if (name[i] == ' ')
			from = i + 1;
	const char *class_end = strstr(name, ";::");
	if (*name == 'L' && class_end && class_end < name + len) {
		buf_add(out, name + 1, (size_t)(class_end - name) - 1);
		buf_addc(out, '.');
		buf_add(out, class_end + 3, len - (size_t)(class_end + 3 - name));
		return;
	}
	for (size_t i = from; i < len; i++) {
		bool colons = name[i] == ':' && name[i + 1] == ':';

		buf_addc(out, colons ? '.' : name[i]);
		i += colons;
	}
}

static uint32_t frame_of(struct perf *p, uint64_t address, char *name, char *file)
{
	char *base = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
	bool jit = !strncmp(base, "perf-", 5) && strstr(base, ".map");
	bool kernel = address >= KERNEL_FIRST || !strncmp(base, "[kernel", 7);
	struct feed_name n = {.text = name, .signature = "", .module = base, .native = !jit};
	struct buf text = {0};
	char *offset = strrchr(name, '+');

	if (offset && !strncmp(offset, "+0x", 3))
		*offset = '\0';
	n.inlined = !strcmp(base, "inlined");
	if (n.inlined || jit || !strcmp(base, "[unknown]"))
		n.module = "";
	if (kernel)
		n.module = "[kernel]";
	if (!strcmp(name, "[unknown]") && *n.module)
		buf_printf(&text, "0x%" PRIx64, address);
	else if (jit)
		java_name(&text, name);
	if (text.len)
		n.text = buf_str(&text);
	uint32_t frame = feed_frame_name(p->im, &n);
	buf_done(&text);
	return frame;
}

/* "    7f00112233 name+0x1 (file)" */
static void frame_line(struct perf *p, const char *line, size_t len)
{
	char *copy = xstrndup(line, len < 2 * FEED_TEXT_MAX ? len : 2 * FEED_TEXT_MAX), *at = copy,
	     *file;
	uint64_t address = strtoull(copy, &at, 16);
	size_t end;

	at += strspn(at, " \t");
	for (end = strlen(at); end && isspace((unsigned char)at[end - 1]);)
		at[--end] = '\0';
	file = strrchr(at, '(');
	if (end && at[end - 1] == ')' && file && file > at && file[-1] == ' ') {
		at[end - 1] = '\0';
		file[-1] = '\0';
		file++;
	} else {
		file = at + end;
	}
	p->frames = xgrow(p->frames, p->frame_count, &p->frames_cap, sizeof(*p->frames));
	p->frames[p->frame_count++] = frame_of(p, address, *at ? at : (char[]){"[unknown]"}, file);
	free(copy);
}

/* --- samples ----------------------------------------------------------------------------------------- */

static int sample_end(struct perf *p, struct err *err)
{
	uint32_t stack = PROFILE_ROOT_STACK;

	if (!p->any)
		return 0;
	while (p->frame_count)
		stack = profile_stack_child(p->im->p, stack, p->frames[--p->frame_count]);
	p->sample.stack = stack;
	p->any = false;
	return feed_sample(p->im, &p->sample, err);
}

static int perf_line(struct perf *p, const char *line, size_t len, struct err *err)
{
	struct perf_head h;

	if (len && *line == '#')
		return 0;
	if (len && isspace((unsigned char)*line) && p->any) {
		frame_line(p, line, len);
		return 0;
	}
	if (sample_end(p, err))
		return -1;
	if (!len || isspace((unsigned char)*line))
		return 0;
	if (!head_read(line, len, &h))
		return err_set(err, ERR_INPUT,
			"%s: line %llu is not a sample of perf script (command, thread, time, "
			"event).",
			input_name(p->im->in), (unsigned long long)input_lines(p->im->in));
	bool clock = !strncmp(h.event, "cpu-clock", 9) || !strncmp(h.event, "task-clock", 10);
	char *comm = xstrndup(line, h.comm_len < FEED_TEXT_MAX ? h.comm_len : FEED_TEXT_MAX);
	if (!p->begun)
		p->first_ns = h.ns;
	p->begun = true;
	uint64_t ns = h.ns > p->first_ns ? h.ns - p->first_ns : 0;
	if (ns / NS_PER_S > FEED_SECONDS)
		ns = FEED_SECONDS * NS_PER_S;
	if (ns > p->im->out->duration_ns)
		p->im->out->duration_ns = ns;
	p->sample = (struct feed_sample){
		.event = feed_event(p->im, clock ? "cpu" : h.event, clock ? "ns" : "events",
			h.period > 1 ? h.period : 0, err),
		.second = (uint32_t)(ns / NS_PER_S),
		.count = 1,
		.weight = h.period};
	p->sample.thread = feed_thread(
		p->im, &(struct profile_thread){
			       .tid = h.tid, .java_tid = -1, .kind = THREAD_NATIVE, .name = comm});
	p->any = true;
	free(comm);
	return p->sample.event < 0 ? -1 : 0;
}

int import_perf(struct import *im, struct err *err)
{
	struct perf p = {.im = im};
	const char *line;
	size_t len;
	int rc;

	im->out->timed = true;
	while ((rc = input_line(im->in, &line, &len, err)) > 0)
		if ((rc = perf_line(&p, line, len, err)) < 0)
			break;
	if (!rc)
		rc = sample_end(&p, err);
	if (!rc)
		rc = feed_check(im, err);
	free(p.frames);
	return rc;
}

/* True if the first line is the header of a sample. */
bool import_is_perf(const unsigned char *head, size_t bytes)
{
	const char *line = (const char *)head, *end = line + bytes, *next;
	struct perf_head h;

	for (; line < end; line = next + 1) {
		next = memchr(line, '\n', (size_t)(end - line));
		next = next ? next : end;
		if (next > line && *line != '#')
			return head_read(line, (size_t)(next - line), &h);
	}
	return false;
}
