/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The settings file: a strict parser, and a writer that changes values and preserves everything else.
 *
 *   # a comment                       keys {                    colors {
 *   window = 30s                          freeze = z space          cursor = black on cyan bold
 *   framework = org.springframework. io.  window = ( )          }
 *   framework = io.netty.             }
 *
 * Commands are named as in the command table, colors as in theme.h. An unknown name, an invalid value, a name
 * set twice, or a key bound to two commands of one view is an error that names the line. The caller reads and
 * writes the file itself: these functions see only its text. Not thread-safe.
 */
#ifndef JHOT_TUI_CONFIG_CONFIG_H
#define JHOT_TUI_CONFIG_CONFIG_H

#include "base/buf.h"
#include "base/err.h"
#include "tui/frame/config.h"

/*
 * Parses the text of a settings file; NULL or "" sets nothing. path appears in error messages only and must outlive
 * the call. Returns NULL with err filled on the first error. The caller frees the result.
 */
struct config *config_parse(const char *text, const char *path, struct err *err);
void config_free(struct config *c);

/*
 * Appends the old text (NULL or "": a new file) with these values set to out. Comments, order, sections and all
 * other settings are preserved.
 */
void config_write(const char *old, const struct config_values *values, struct buf *out);

#endif
