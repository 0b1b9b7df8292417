/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text as a terminal displays it: code points, widths, and compact number formats.
 *
 * Names come from other processes: invalid UTF-8 and control characters become '?'. Widths are utf8proc's and the same
 * in every locale. Text is truncated only between grapheme clusters (a base character and its combining ones). All
 * formatters write NUL-terminated text into the caller's buffer and return it. Pure functions.
 */
#ifndef JHOT_TUI_SCREEN_TEXT_H
#define JHOT_TUI_SCREEN_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the code point at *s and advances *s; 0 at the end. */
uint32_t text_next(const char **s);
int text_char_width(uint32_t ch); /* 0, 1 or 2 columns */
/* True for zero-width characters drawn over the previous one: combining marks, Hangul vowels and finals. */
bool text_char_joins(uint32_t ch);
int text_width(const char *s);
/* Bytes of the grapheme cluster at s, with its width in columns; 0 at the end. */
size_t text_cluster(const char *s, int *width);
/* Bytes of the longest prefix of s that fits into these columns. */
size_t text_prefix(const char *s, int columns);
/* The longest suffix of s that fits into these columns. */
const char *text_suffix(const char *s, int columns);
/* Bytes of the next line when s is wrapped, at a blank if possible; *next is the start of the line after it. */
size_t text_wrap(const char *s, int columns, const char **next);
/* The number of lines of s when wrapped. */
int text_rows(const char *s, int columns);
/* First match of needle in s, with the rules of match_find; NULL if none. */
const char *text_find(const char *s, const char *needle);

#define TEXT_NUMBER 32 /* bytes that suffice for any of these */

char *text_count(char *out, int64_t v);                     /* "2 294", "-" below 0 */
char *text_counted(char *out, int64_t n, const char *noun); /* "2 294 samples", "1 sample" */
/* With at most three digits: "1.2k" for 1234, base 1000 and the units "", "k", ...; the unit changes at 999.5. */
char *text_scaled(char *out, double v, double base, const char *const units[], int count);
char *text_bytes(char *out, int64_t v);                    /* "1.2G" "640K" "0B" */
char *text_bytes_of(char *out, int64_t used, int64_t max); /* "1.2/4.0G" */
char *text_uptime(char *out, int64_t seconds);             /* "42s" "12m" "3h07m" "3d04h" "120d" */
char *text_percent(char *out, double v);                   /* "7.9", one decimal; "100" */
char *text_interval(char *out, int64_t value, bool time);  /* "10ms" "512K" */
char *text_clock(char *out, int64_t wall_ns);              /* "14:02:11", local time */

#endif
