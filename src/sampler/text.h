/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds sentences without stdio: appends to a buffer, truncates at its end, always NUL-terminates. Any thread.
 *
 *   struct text t = text_into(note, sizeof(note));
 *   text_add(&t, "perf_events: "); text_add_number(&t, -error);
 */
#ifndef JHOT_SAMPLER_TEXT_H
#define JHOT_SAMPLER_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
	char *at, *end; /* end: the last byte, reserved for NUL */
};

static inline struct text text_into(char *buffer, size_t bytes)
{
	buffer[0] = '\0';
	return (struct text){buffer, buffer + bytes - 1};
}

static inline void text_add_bytes(struct text *t, const char *bytes, size_t count)
{
	for (size_t i = 0; i < count && t->at < t->end; i++)
		*t->at++ = bytes[i];
	*t->at = '\0';
}

static inline void text_add(struct text *t, const char *s)
{
	while (*s && t->at < t->end)
		*t->at++ = *s++;
	*t->at = '\0';
}

static inline void text_add_number(struct text *t, uint64_t n)
{
	char digits[20];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	text_add_bytes(t, digits + at, sizeof(digits) - at);
}

/* Replaces the whole text. */
static inline void text_set(char *buffer, size_t bytes, const char *s)
{
	struct text t = text_into(buffer, bytes);

	text_add(&t, s);
}

/* "10 ms", "512 kB"; a bare number for TEXT_COUNT. */
enum text_unit { TEXT_COUNT, TEXT_TIME, TEXT_BYTES };
void text_add_interval(struct text *t, uint64_t interval, enum text_unit unit);

/* "EACCES" for 13; "error N" for errors without a name in the table. */
void text_add_errno(struct text *t, int error);

#endif
