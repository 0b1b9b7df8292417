/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text that another process wrote, made fit for screens and files: UTF-8 repaired, control characters and those
 * that turn the direction of writing replaced, Java's forms turned into what people write.
 *
 * Such text is cleaned where it comes in (attach, session) and errors once more where they are made, so that what
 * prints need not ask where a text is from.
 *
 * Plain functions over bytes that may hold anything. buf forms add to what is there.
 */
#ifndef JHOT_BASE_CLEAN_H
#define JHOT_BASE_CLEAN_H

#include "base/buf.h"

/* clean_text: into out[out_bytes], cut at a whole character. clean_add: the same, unbounded. */
void clean_text(char *out, size_t out_bytes, const char *text, size_t bytes);
void clean_add(struct buf *out, const char *text, size_t bytes);

/* clean_plain: how many bytes at the beginning are printable ASCII, which is clean as it is. */
size_t clean_plain(const char *s, size_t left);

/* clean_shared: of a text of up to so many bytes that another process may write meanwhile: it is copied, then looked at. */
void clean_shared(char *out, size_t out_bytes, const char *text, size_t bytes);

/* clean_own: the same in place, which never makes it longer. clean_lines: the same, its line ends kept. */
void clean_own(char *text);
void clean_lines(char *text);

/* clean_word: what no shell takes for more than a word; anything else is '_'. For lines that people copy. */
void clean_word(char *out, size_t out_bytes, const char *text);

/*
 * clean_add_class: "java/util/HashMap" -> "java.util.HashMap", "[[B" -> "byte[][]", "[Lfoo/Bar;" ->
 * "foo.Bar[]", hidden classes "foo/Bar$$Lambda+0x1f" -> "foo.Bar$$Lambda/0x1f".
 */
void clean_add_class(struct buf *out, const char *text, size_t bytes);
/* descriptor_primitive: the primitive type of a letter in type descriptors, 'I' is "int"; NULL: of none. */
const char *descriptor_primitive(char letter);

#endif
