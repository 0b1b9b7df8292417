/* SPDX-License-Identifier: Apache-2.0 */
/*
 * UTF-8: boundaries of characters, decoding, encoding (RFC 3629).
 *
 * Pure functions over arbitrary bytes.
 */
#ifndef JHOT_BASE_UTF8_H
#define JHOT_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Length of the sequence at s[left] according to its lead byte, not validated; 0 if it is malformed or truncated. */
size_t utf8_sequence(const char *s, size_t left);
/* Length of the valid sequence at the NUL-terminated s; 0: invalid. */
int utf8_len(const char *s);
/* The code point of a lead byte and its len - 1 continuation bytes, not validated. */
uint32_t utf8_value(const char *s, int len);
/* Writes a code point and a NUL; returns the number of bytes before the NUL. */
size_t utf8_put(uint32_t c, char out[5]);
/* Offset of the last character of text[len]. */
size_t utf8_back(const char *text, size_t len);

#endif
