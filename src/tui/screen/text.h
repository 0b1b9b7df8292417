/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text as a terminal sees it: code points, their widths, and numbers in the few columns a list has.
 *
 * Names come from foreign processes: bytes that are not valid UTF-8 and characters that would move the cursor
 * become '?'. Widths are utf8proc's and the same in every locale. Text is cut only between grapheme clusters
 * (characters as the user sees them: a base and what combines with it). All formatters write a NUL-terminated
 * text into the caller's buffer and return it. Pure functions.
 */
#ifndef JHOT_TUI_SCREEN_TEXT_H
#define JHOT_TUI_SCREEN_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The code point at *s, which moves behind it; 0 at the end. */
uint32_t text_next(const char **s);
int text_char_width(uint32_t ch); /* 0, 1 or 2 columns */
/* True for characters without a width that are drawn on the one before: combining marks, Hangul vowels and finals. */
bool text_char_joins(uint32_t ch);
int text_width(const char *s);
/* The bytes of the grapheme cluster at s, and its columns; 0 at the end. */
size_t text_cluster(const char *s, int *width);
/* The bytes of the longest beginning of s that fits into these columns. */
size_t text_prefix(const char *s, int columns);
/* The longest end of s that fits into these columns. */
const char *text_suffix(const char *s, int columns);
/* The bytes for a line of so many columns, broken at a blank if there is one; *next: where the next line begins. */
size_t text_wrap(const char *s, int columns, const char **next);
/* First place of needle in s, as match_find has it; NULL if none. */
const char *text_find(const char *s, const char *needle);

#define TEXT_NUMBER 32 /* space that is enough for any of these */

char *text_count(char *out, int64_t v);                     /* "2 294", "-" below 0 */
char *text_counted(char *out, int64_t n, const char *noun); /* "2 294 samples", "1 sample" */
char *text_bytes(char *out, int64_t v);                     /* "1.2G" "640K" "0" */
char *text_bytes_of(char *out, int64_t used, int64_t max);  /* "1.2/4.0G" */
char *text_uptime(char *out, int64_t seconds);              /* "42s" "12m" "3h07m" "3d04h" "120d" */
char *text_percent(char *out, double v); /* "7.9", one decimal, " 100" never "100.0" wide */
char *text_interval(char *out, int64_t value, bool time); /* "10ms" "512K" */
char *text_clock(char *out, int64_t wall_ns);             /* "14:02:11", local time */

#endif
