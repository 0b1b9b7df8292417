/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names from a target made fit for screens and files: UTF-8 repaired, control characters replaced, Java's
 * forms turned into what people write.
 *
 * Plain functions over bytes that may hold anything. buf forms add to what is there.
 */
#ifndef JHOT_SESSION_CLEAN_H
#define JHOT_SESSION_CLEAN_H

#include "base/buf.h"

/* clean_text: into out[out_bytes], cut at a whole character. clean_add: the same, unbounded. */
void clean_text(char *out, size_t out_bytes, const char *text, size_t bytes);
void clean_add(struct buf *out, const char *text, size_t bytes);

/*
 * clean_add_class: "java/util/HashMap" -> "java.util.HashMap", "[[B" -> "byte[][]", "[Lfoo/Bar;" ->
 * "foo.Bar[]", hidden classes "foo/Bar$$Lambda+0x1f" -> "foo.Bar$$Lambda/0x1f".
 */
void clean_add_class(struct buf *out, const char *text, size_t bytes);

#endif
