/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stacks look like in another form (filter.h: hidden frames, lines): a trie of their own, beside the sampled one.
 *
 * The profile keeps one form, the last that was asked for; another one takes its place, and its memory. A view is the
 * profile with the form's stacks and paths in place of the sampled ones, so that tables are derived from either alike.
 * Numbers of the form's stacks are marked before they leave this folder: what was given out by a form that is gone is
 * the empty stack, never another one.
 */
#ifndef JHOT_PROFILE_QUERY_FORM_H
#define JHOT_PROFILE_QUERY_FORM_H

#include "profile/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct form_choice {
	unsigned hide; /* enum filter_hide */
	bool lines;
	const char *frameworks; /* what classes of frameworks begin with, separated by blanks */
	uint64_t stamp;         /* of all of these */
};

struct form;
/* The form of this choice, made afresh if the last one was another. */
struct form *form_of(const struct profile *p, const struct form_choice *choice);
void form_free(struct form *f);
size_t form_bytes(const struct form *f); /* f may be NULL */

/* The number, in the view, of what is shown for a sampled stack; made if it is not there yet. */
uint32_t form_stack(struct form *f, uint32_t stack);
/* The profile in this form; valid until the form is. */
const struct profile *form_view(struct form *f);
/* Frames that were made since the form was: the work that went into it. */
uint64_t form_made(const struct form *f);
/* Another one after each change of form. */
uint32_t form_serial(const struct form *f);

/* A number of the view, marked as one; and back: false if it is none of this form. */
uint32_t form_mark(const struct form *f, uint32_t stack);
bool form_unmark(const struct form *f, uint32_t marked, uint32_t *stack); /* f may be NULL */
struct profile_stack form_get(const struct form *f, uint32_t stack);      /* of the view, marked */
/* How many frames the last one of a view's stack stands for; 0: it is one itself. */
uint32_t form_run(const struct form *f, uint32_t stack);

#endif
