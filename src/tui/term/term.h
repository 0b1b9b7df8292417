/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The terminal: modes, keys, and a canvas brought onto it with as few bytes as possible.
 *
 * Output never blocks: a frame that the terminal does not take at once stays pending and no other is
 * begun (term_busy), so a slow link sees fewer frames, not old ones. term_close and term_suspend put
 * everything back as it was. One terminal per process; one thread.
 */
#ifndef JHOT_TUI_TERM_TERM_H
#define JHOT_TUI_TERM_TERM_H

#include "base/err.h"
#include "tui/frame/app.h"
#include "tui/screen/canvas.h"
#include "tui/term/key.h"

struct terminal;

struct terminal *term_open(const struct app_options *o, struct err *err);
/* The last frame is printed below the restored screen if last is given (--keep). */
void term_close(struct terminal *t, const struct canvas *last);
void term_suspend(struct terminal *t);
void term_resume(struct terminal *t);

bool term_ascii(const struct terminal *t);
void term_size(const struct terminal *t, int *rows, int *cols);
int term_in(const struct terminal *t); /* fds to poll */
int term_out(const struct terminal *t);
int term_key(struct terminal *t); /* TKEY_NONE: nothing typed, or half a sequence */

/* Whether buttons come as TKEY_MOUSE; while they do, the terminal's own selecting needs Shift. */
void term_set_mouse(struct terminal *t, bool on);
struct mouse_click term_mouse(const struct terminal *t); /* of the last TKEY_MOUSE */

/* term_draw: begin a frame; ignored while busy. whole: repaint all. */
void term_draw(struct terminal *t, const struct canvas *c, bool whole);
/* term_flush: go on writing. Returns 0, or -1 when the terminal is gone. */
int term_flush(struct terminal *t);
bool term_busy(const struct terminal *t);
uint64_t term_bytes(const struct terminal *t); /* written since term_open */
/* Ask the terminal to put text into the clipboard (OSC 52). */
void term_copy(struct terminal *t, const char *text);
void term_set_color(struct terminal *t, enum theme_depth depth); /* at most what the terminal can */
enum theme_depth term_color(const struct terminal *t);

#endif
