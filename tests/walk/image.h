/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory images: the memory read by single walks of a live JVM, so that they can be repeated without a JVM.
 *
 * A file contains the layout of one JVM and any number of stacks of it, as text that may be compressed by gzip. The frames of
 * NAME.image.gz are in NAME.frames, which begins the stacks with the same lines in the same order.
 *
 *   layout NAME VALUE...                  the values of struct walk_layout
 *   stack NAME                            begins a stack; the lines up to the next one belong to it
 *   regs PC SP FP METHOD SENDER LINK      hexadecimal, as all below
 *   thread JAVA LO HI
 *   rule PC CFA FP RA CFA_OFFSET FP_OFFSET RA_OFFSET
 *                                         the unwind rule that applied at a native pc
 *   mem ADDRESS WORD...                   words read; "-" for an unreadable one; lines before the
 *                                         first stack apply to all stacks without their own word
 *   frame TYPE BCI NAME                   the expected frame, leaf first
 *   # ...                                 a comment: the location of a native frame
 *
 * The recorder is placed between a walk and its memory. Errors end the program with a sentence.
 */
#ifndef JHOT_TESTS_WALK_IMAGE_H
#define JHOT_TESTS_WALK_IMAGE_H

#include <stdio.h>

#include "walk/frames/unwind.h"
#include "walk/walk.h"

#define IMAGE_DEPTH 2048

/* --- recording --------------------------------------------------------------------------------------- */

struct recorder;

struct recorder *recorder_new(void);
/* A walk_mem that reads through `through` and records each word; begin discards the words recorded before. */
const struct walk_mem *recorder_begin(struct recorder *r, const struct walk_mem *through);
const struct walk_mem *recorder_mem(struct recorder *r);
/* Also records [addr, addr + bytes), as far as readable: for a walk that is to be repaired later. */
void recorder_note(struct recorder *r, uint64_t addr, size_t bytes);

void image_layout_write(FILE *out, const struct walk_layout *layout);
void image_stack_write(FILE *out, const struct recorder *r, const char *name,
	const struct walk_regs *regs, const struct walk_thread *thread,
	const struct walk_frame *frames, uint32_t count);
void image_frame_write(FILE *out, unsigned type, uint16_t bci, const char *name);

/* --- replaying --------------------------------------------------------------------------------------- */

struct image_stack {
	char name[128];
	struct walk_regs regs;
	struct walk_thread thread;
	struct walk_mem mem;
	uint64_t missed; /* words requested that are not in the image; the address of the last */
	uint64_t missed_at;
	char *want; /* the frame lines, as in the file */
	struct image_words *words;
	const struct image_words *shared;
	struct unwind_table *table;
};

struct image {
	struct walk_layout *layout;
	struct image_stack *stacks;
	int count;
	struct image_words *shared;
};

struct image *image_open(const char *path);
void image_close(struct image *image);

#endif
