/* SPDX-License-Identifier: Apache-2.0 */
/*
 * UTF-8: where a character ends and begins, its code point and back.
 *
 * Plain functions over bytes.
 */
#ifndef JHOT_BASE_UTF8_H
#define JHOT_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* utf8_sequence: how long the sequence at s[left] says it is, whatever it stands for; 0 if it is none or cut off. */
size_t utf8_sequence(const char *s, size_t left);
/* utf8_len: length of the valid sequence at s, 0 if it is not one (s is NUL-terminated). */
int utf8_len(const char *s);
/* utf8_value: the code point that a lead byte and its len - 1 continuations hold, valid or not. */
uint32_t utf8_value(const char *s, int len);
/* utf8_put: writes a code point and a NUL; returns the bytes before the NUL. */
size_t utf8_put(uint32_t c, char out[5]);
/* utf8_back: where the last character of text[len] begins. */
size_t utf8_back(const char *text, size_t len);

#endif
