/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sanitizes text of other processes for screens and files: repairs UTF-8, replaces control characters and those that change the
 * writing direction, converts the JVM's internal names to those of Java source code.
 *
 * Text is cleaned where it enters jhot (attach, session), and again where an error quotes it, so code that prints need not know
 * the origin of a text.
 *
 * Pure functions over arbitrary bytes; linear. Functions with a buf append to it.
 */
#ifndef JHOT_BASE_CLEAN_H
#define JHOT_BASE_CLEAN_H

#include "base/buf.h"

/* clean_text: into out[out_bytes], truncated at a whole character. clean_add: the same, unbounded. text may equal out. */
void clean_text(char *out, size_t out_bytes, const char *text, size_t bytes);
void clean_add(struct buf *out, const char *text, size_t bytes);

/* Length of the prefix that is printable ASCII, which needs no cleaning. */
size_t clean_plain(const char *s, size_t left);

/* Like clean_text, for a text of up to `bytes` bytes that another process may modify: copies it before it reads it. */
void clean_shared(char *out, size_t out_bytes, const char *text, size_t bytes);

/* Cleans in place; the text never gets longer. clean_lines keeps line ends. */
void clean_own(char *text);
void clean_lines(char *text);

/* Replaces everything that is special to a shell by '_'. For command lines that people copy. */
void clean_word(char *out, size_t out_bytes, const char *text);

/*
 * clean_add_class: "java/util/HashMap" -> "java.util.HashMap", "[[B" -> "byte[][]", "[Lfoo/Bar;" ->
 * "foo.Bar[]", hidden classes "foo/Bar$$Lambda+0x1f" -> "foo.Bar$$Lambda/0x1f".
 */
void clean_add_class(struct buf *out, const char *text, size_t bytes);
/* The primitive type of a letter in type descriptors: 'I' is "int"; NULL: none. */
const char *descriptor_primitive(char letter);

#endif
