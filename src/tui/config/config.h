/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The settings file: parsed strictly, and written back with what it said otherwise left alone.
 *
 *   # a comment                       keys {                    colors {
 *   window = 30s                          freeze = z space          cursor = black on cyan bold
 *   framework = org.springframework. io.  window = ( )          }
 *   framework = io.netty.             }
 *
 * Names of keys are those of the command table, names of colours those of the styles. An unknown name, a bad
 * value, a name given twice, or a key that would mean two things in one view is an error with its line. Reading
 * and writing the file is the caller's. Heap; one thread.
 */
#ifndef JHOT_TUI_CONFIG_CONFIG_H
#define JHOT_TUI_CONFIG_CONFIG_H

#include "base/buf.h"
#include "base/err.h"
#include "tui/frame/config.h"

/* text NULL: nothing is set. path is for messages. Never returns NULL unless err is filled. */
struct config *config_parse(const char *text, const char *path, struct err *err);
void config_free(struct config *c);

/*
 * config_write: the old text (NULL: there was no file) with these values in it. Comments, order, sections and
 * settings that are not among the values stay as they are.
 */
void config_write(const char *old, const struct config_values *values, struct buf *out);

#endif
