/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collapsed stacks: "frame;frame;leaf COUNT" per line; the count follows the last space.
 *
 * A first frame "[name tid=N]" is a thread. Lines with two counts (differential flame graphs) are
 * two events, "before" and "samples". Empty lines and comments (#) are ignored. The format has no
 * weights, so samples are counted. Counts may have decimals.
 */
#include "import/feed.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCALE 1000 /* parts of a sample; further decimals are truncated */
#define BOM   "\xef\xbb\xbf"

struct number {
	uint64_t whole;
	unsigned parts; /* of SCALE */
};

struct collapsed {
	struct import *im;
	bool decimals;     /* the first lines have decimals: weights are in parts of a sample */
	unsigned rest[2];  /* parts carried to the next line, of either count */
	uint64_t rounded;  /* lines with decimals although the first lines had none */
	int event, before; /* before: -1: lines have one count */
	bool begun;        /* a line was read */
	/* The stack of the previous line: most lines share its first frames. */
	struct buf last;
	struct collapsed_step {
		size_t end; /* offset in last of the end of the frame */
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

/* Removes a number and the preceding spaces from the end. Returns false if there is none. */
static bool collapsed_number(const char *line, size_t *len, struct number *n)
{
	size_t end = *len, at, dot = SIZE_MAX, digits = 0;

	while (end && (line[end - 1] == ' ' || line[end - 1] == '\t'))
		end--;
	for (at = end; at && (isdigit((unsigned char)line[at - 1]) || line[at - 1] == '.'); at--) {
		if (line[at - 1] != '.')
			digits++;
		else if (dot == SIZE_MAX)
			dot = at - 1;
		else
			return false;
	}
	if (!digits || !at || (line[at - 1] != ' ' && line[at - 1] != '\t'))
		return false;
	*n = (struct number){0};
	for (size_t i = at; i < end && i != dot; i++)
		n->whole = n->whole > (uint64_t)INT64_MAX / 10 - 1
				   ? (uint64_t)INT64_MAX
				   : n->whole * 10 + (uint64_t)(line[i] - '0');
	for (unsigned unit = SCALE / 10; dot != SIZE_MAX && unit && ++dot < end; unit /= 10)
		n->parts += (unsigned)(line[dot] - '0') * unit;
	while (at && (line[at - 1] == ' ' || line[at - 1] == '\t'))
		at--;
	*len = at;
	return true;
}

/* The number of frames that this line shares with the previous one. */
static uint32_t collapsed_shared(const struct collapsed *c, const char *line, size_t len)
{
	size_t most = len < c->last.len ? len : c->last.len, same = 0;
	uint32_t n = 0;

	while (same < most && line[same] == c->last.data[same])
		same++;
	/* a leaf may be a class, so a frame is shared only if another one follows */
	while (n < c->step_count && c->steps[n].end < same && c->steps[n].end < len &&
		line[c->steps[n].end] == ';')
		n++;
	return n;
}

static int collapsed_stack(
	struct collapsed *c, const char *line, size_t len, uint32_t *stack, struct err *err)
{
	uint32_t n = collapsed_shared(c, line, len);
	size_t at = n ? c->steps[n - 1].end + 1 : 0, end;
	uint32_t at_stack = n ? c->steps[n - 1].stack : PROFILE_ROOT_STACK;

	if (!n)
		c->thread = PROFILE_NONE;
	for (; at < len || (at == len && !n); at = end + 1) {
		const char *semicolon = at < len ? memchr(line + at, ';', len - at) : NULL;
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

/*
 * Fractions of a sample carry over to the next line, so that the total is right. If the first lines
 * have decimals, each sample also has its exact weight, in parts of a sample.
 */
static int collapsed_sample(struct collapsed *c, int event, uint32_t stack, const struct number *n,
	unsigned *rest, struct err *err)
{
	struct feed_sample s = {.event = event, .stack = stack, .thread = c->thread};

	*rest += n->parts;
	s.count = n->whole + *rest / SCALE;
	*rest %= SCALE;
	s.weight = s.count;
	if (c->decimals)
		s.weight = n->whole < INT64_MAX / SCALE ? n->whole * SCALE + n->parts
							: (uint64_t)INT64_MAX;
	else
		c->rounded += n->parts != 0;
	return s.count || s.weight ? feed_sample(c->im, &s, err) : 0;
}

/* True if one of the first lines has decimals. */
static bool collapsed_decimals(struct import *im)
{
	const unsigned char *head;
	int bytes = input_peek(im->in, &head, NULL);
	const char *line = (const char *)head, *end = line + (bytes > 0 ? bytes : 0), *next;
	struct number n = {0};

	for (; !n.parts && line < end && (next = memchr(line, '\n', (size_t)(end - line)));
		line = next + 1) {
		size_t len = (size_t)(next - line);

		len -= len && line[len - 1] == '\r';
		if (len && *line != '#')
			collapsed_number(line, &len, &n);
	}
	return n.parts;
}

/* The first line determines the number of counts. */
static int collapsed_begin(struct collapsed *c, const char *line, size_t len, struct err *err)
{
	const char *unit = c->decimals ? "samples/1000" : "samples";
	uint64_t each = c->decimals ? SCALE : 1;
	struct number number;

	c->begun = true;
	c->event = feed_event(c->im, "samples", unit, each, err);
	if (c->event >= 0 && collapsed_number(line, &len, &number))
		c->before = feed_event(c->im, "before", unit, each, err);
	return c->event < 0 ? -1 : 0;
}

static int collapsed_line(struct collapsed *c, const char *line, size_t len, struct err *err)
{
	struct number count, before = {0};
	uint32_t stack = PROFILE_ROOT_STACK;

	if (!len || *line == '#')
		return 0;
	if (!collapsed_number(line, &len, &count))
		return collapsed_bad(c, "does not end with a space and a number", err);
	if (!c->begun && collapsed_begin(c, line, len, err))
		return -1;
	if (c->before >= 0 && !collapsed_number(line, &len, &before))
		return collapsed_bad(c, "has one count, previous lines have two", err);
	if (collapsed_stack(c, line, len, &stack, err) ||
		collapsed_sample(c, c->event, stack, &count, &c->rest[0], err))
		return -1;
	return c->before >= 0 ? collapsed_sample(c, c->before, stack, &before, &c->rest[1], err)
			      : 0;
}

int import_collapsed(struct import *im, struct err *err)
{
	struct collapsed c = {.im = im, .before = -1, .thread = PROFILE_NONE};
	bool first = true;
	const char *line;
	size_t len;
	int rc;

	c.decimals = collapsed_decimals(im);
	for (; (rc = input_line(im->in, &line, &len, err)) > 0; first = false) {
		if (first && len >= strlen(BOM) && !memcmp(line, BOM, strlen(BOM))) {
			line += strlen(BOM);
			len -= strlen(BOM);
		}
		if ((rc = collapsed_line(&c, line, len, err)) < 0)
			break;
	}
	if (c.rounded)
		snprintf(im->out->note, sizeof(im->out->note),
			"%llu line%s after the first have decimals, which are included in the "
			"total but not in each stack.",
			(unsigned long long)c.rounded, plural(c.rounded));
	if (!rc && !c.begun)
		rc = err_set(err, ERR_INPUT, "%s contains no stacks.", input_name(im->in));
	if (!rc)
		rc = feed_check(im, err);
	buf_done(&c.last);
	free(c.steps);
	return rc;
}

/* True if the first line ends with a number and all bytes are text. */
bool import_is_collapsed(const unsigned char *head, size_t bytes)
{
	const char *line = (const char *)head, *end = line + bytes, *next;
	struct number number;
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
