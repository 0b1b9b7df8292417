/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collapsed stacks: "frame;frame;leaf COUNT" a line, the count behind the last space.
 *
 * A first frame "[name tid=N]" is a thread. Lines with two counts, as a differential flame graph is made from, are two
 * events: "before" and "samples". Empty lines and those that begin with # say nothing. How long a sample stands for is not
 * told, so they are counted.
 */
#include "import/feed.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct collapsed {
	struct import *im;
	int event, before; /* before: -1: lines have one count */
	bool begun;        /* a line was seen */
	/* The stack of the line before, frame by frame: most lines share its beginning. */
	struct buf last;
	struct collapsed_step {
		size_t end; /* in last, behind the frame */
		uint32_t stack;
	} * steps;
	uint32_t step_count, steps_cap;
	uint32_t thread;
};

static int collapsed_bad(const struct collapsed *c, const char *what, struct err *err)
{
	return err_set(err, ERR_INPUT, "%s: line %llu %s.", input_name(c->im->in),
		(unsigned long long)input_lines(c->im->in), what);
}

/* Takes a number off the end, and the spaces before it. false: there is none. Fractions are rounded. */
static bool collapsed_number(const char *line, size_t *len, uint64_t *value)
{
	size_t end = *len, at, dot = SIZE_MAX;

	while (end && (line[end - 1] == ' ' || line[end - 1] == '\t'))
		end--;
	for (at = end; at && (isdigit((unsigned char)line[at - 1]) || line[at - 1] == '.'); at--)
		if (line[at - 1] == '.')
			dot = at - 1;
	if (at == end || dot == at || !at || (line[at - 1] != ' ' && line[at - 1] != '\t'))
		return false;
	*value = 0;
	for (size_t i = at; i < end && i != dot; i++)
		*value = *value > (uint64_t)INT64_MAX / 10 - 1
				 ? (uint64_t)INT64_MAX
				 : *value * 10 + (uint64_t)(line[i] - '0');
	if (dot < end && dot + 1 < end && line[dot + 1] >= '5')
		++*value;
	while (at && (line[at - 1] == ' ' || line[at - 1] == '\t'))
		at--;
	*len = at;
	return true;
}

/* How many of the last line's steps this one has, too. */
static uint32_t collapsed_shared(const struct collapsed *c, const char *line, size_t len)
{
	size_t most = len < c->last.len ? len : c->last.len, same = 0;
	uint32_t n = 0;

	while (same < most && line[same] == c->last.data[same])
		same++;
	/* A frame is shared if its end is, and another follows: a leaf may be a class. */
	while (n < c->step_count && c->steps[n].end < same && c->steps[n].end < len &&
		line[c->steps[n].end] == ';')
		n++;
	return n;
}

static int collapsed_stack(
	struct collapsed *c, const char *line, size_t len, uint32_t *stack, struct err *err)
{
	uint32_t n = collapsed_shared(c, line, len), at_stack;
	size_t at = n ? c->steps[n - 1].end + 1 : 0, end;
	const char *semicolon;

	at_stack = n ? c->steps[n - 1].stack : PROFILE_ROOT_STACK;
	if (!n)
		c->thread = PROFILE_NONE;
	for (; at < len || (at == len && !n); at = end + 1) {
		semicolon = at < len ? memchr(line + at, ';', len - at) : NULL;
		end = semicolon ? (size_t)(semicolon - line) : len;
		if (!n && semicolon && end > at)
			c->thread = feed_thread_text(c->im, line, end);
		if ((n || c->thread == PROFILE_NONE) && end > at)
			at_stack = profile_stack_child(c->im->p, at_stack,
				feed_frame_text(c->im, line + at, end - at, !semicolon));
		if (n >= c->steps_cap)
			c->steps = xgrow(c->steps, n, &c->steps_cap, sizeof(*c->steps));
		c->steps[n++] = (struct collapsed_step){end, at_stack};
		if (!semicolon)
			break;
	}
	buf_clear(&c->last);
	buf_add(&c->last, line, len);
	c->step_count = n;
	*stack = at_stack;
	return 0;
}

static int collapsed_sample(
	struct collapsed *c, int event, uint32_t stack, uint64_t count, struct err *err)
{
	struct feed_sample s = {.event = event,
		.stack = stack,
		.thread = c->thread,
		.count = count,
		.weight = count};

	return count ? feed_sample(c->im, &s, err) : 0;
}

/* The first line tells how many counts all have. */
static int collapsed_begin(struct collapsed *c, const char *line, size_t len, struct err *err)
{
	uint64_t number;

	c->begun = true;
	c->event = feed_event(c->im, "samples", "samples", 1, err);
	if (c->event >= 0 && collapsed_number(line, &len, &number))
		c->before = feed_event(c->im, "before", "samples", 1, err);
	return c->event < 0 ? -1 : 0;
}

static int collapsed_line(struct collapsed *c, const char *line, size_t len, struct err *err)
{
	uint64_t count, before = 0;
	uint32_t stack = PROFILE_ROOT_STACK;

	if (!len || *line == '#')
		return 0;
	if (!collapsed_number(line, &len, &count))
		return collapsed_bad(c, "does not end with a space and a number", err);
	if (!c->begun && collapsed_begin(c, line, len, err))
		return -1;
	if (c->before >= 0 && !collapsed_number(line, &len, &before))
		return collapsed_bad(c, "has one count, those before it have two", err);
	if (collapsed_stack(c, line, len, &stack, err) ||
		collapsed_sample(c, c->event, stack, count, err))
		return -1;
	return c->before >= 0 ? collapsed_sample(c, c->before, stack, before, err) : 0;
}

int import_collapsed(struct import *im, struct err *err)
{
	struct collapsed c = {.im = im, .before = -1, .thread = PROFILE_NONE};
	const char *line;
	size_t len;
	int rc;

	while ((rc = input_line(im->in, &line, &len, err)) > 0)
		if ((rc = collapsed_line(&c, line, len, err)) < 0)
			break;
	if (!rc && !c.begun)
		rc = err_set(err, ERR_INPUT, "%s has no stacks in it.", input_name(im->in));
	if (!rc)
		rc = feed_check(im, err);
	buf_done(&c.last);
	free(c.steps);
	return rc;
}

/* Its first line that says something ends with a number, and all of them are text. */
bool import_is_collapsed(const unsigned char *head, size_t bytes)
{
	const char *line = (const char *)head, *end = line + bytes, *next;
	uint64_t number;
	size_t len;

	for (size_t i = 0; i < bytes; i++)
		if (head[i] < 0x20 && !isspace(head[i]))
			return false;
	for (; line < end; line = next + 1) {
		next = memchr(line, '\n', (size_t)(end - line));
		next = next ? next : end;
		len = (size_t)(next - line);
		while (len && isspace((unsigned char)line[len - 1]))
			len--;
		if (len && *line != '#')
			return next == end || collapsed_number(line, &len, &number);
	}
	return false;
}
