/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unwind rows of one ELF file: its call frame information, boiled down to what a stack walk needs.
 *
 * A row says how to find the caller's frame from its offset on, up to the next row: the frame address
 * (CFA) from sp or fp, where the caller's fp was saved, where the return address is. Read with elfutils'
 * libdw from .eh_frame, else .debug_frame; what neither sp nor fp can express is CFI_CFA_OTHER.
 * Offsets are offsets in the file, which is what the agent's module records speak of.
 *
 *   cfi_open -> cfi_compile ... until it says done -> cfi_rows -> cfi_close
 *
 * Compiling goes in slices of time, so that one thread can draw meanwhile. The file is not trusted: rows
 * come out sorted and disjoint whatever it says, and a file that costs too much is given up.
 */
#ifndef JHOT_SYMBOLS_CFI_H
#define JHOT_SYMBOLS_CFI_H

#include "base/err.h"
#include "base/maps.h"

#include <stddef.h>
#include <stdint.h>

enum cfi_cfa {
	CFI_CFA_NONE = 0,    /* no information from here on */
	CFI_CFA_ROOT = 1,    /* the outermost frame: it has no caller */
	CFI_CFA_SIGNAL = 2,  /* a signal trampoline: the interrupted registers lie at sp */
	CFI_CFA_SP = 3,      /* sp + cfa_offset */
	CFI_CFA_FP = 4,      /* fp + cfa_offset */
	CFI_CFA_FP_LOAD = 5, /* the word at fp + cfa_offset (realigned stacks) */
	CFI_CFA_PLT = 6,   /* sp + cfa_offset, 8 more once (pc & 15) >= fp_offset (x86 lazy PLT) */
	CFI_CFA_OTHER = 7, /* there is a rule, but not one of these */
};

enum cfi_saved {
	CFI_SAVED_NOT = 0,  /* still in its register: fp, or on aarch64 the return address in lr */
	CFI_SAVED_CFA = 1,  /* at CFA + offset */
	CFI_SAVED_FP = 2,   /* at fp + offset (fp as it is in this frame) */
	CFI_SAVED_LOST = 3, /* cannot be known: fp is then 0 in the caller */
};

struct cfi_rule {
	uint8_t cfa; /* enum cfi_cfa */
	uint8_t fp;  /* enum cfi_saved */
	uint8_t ra;  /* enum cfi_saved */
	uint8_t reserved;
	int32_t cfa_offset;
	int16_t fp_offset;
	int16_t ra_offset;
};

struct cfi_row {
	uint64_t offset; /* in the file; strictly ascending */
	struct cfi_rule rule;
};

struct cfi;

/*
 * cfi_open: start on a file that the caller keeps open until cfi_close, and then closes. debug_fd: its separate
 * debug file, which may have a .debug_frame, kept open as well; -1: none. NULL if there is no such
 * information. Read, not mapped: a file that shrinks meanwhile is an error, not a fault.
 */
struct cfi *cfi_open(int fd, int debug_fd, struct err *err);
/* The same for an image in memory (the vDSO), which must outlive the cfi. */
struct cfi *cfi_open_image(const void *image, size_t bytes, struct err *err);
/* The same for a mapping that has no file, the vDSO: read from the process's memory. pid 0: our own. */
struct cfi *cfi_open_memory(pid_t pid, const struct proc_map *map, struct err *err);
void cfi_close(struct cfi *c);

/* cfi_compile: work for about so long (CPU time). 1 = done, 0 = there is more, -1 = given up. */
int cfi_compile(struct cfi *c, uint64_t slice_ns, struct err *err);

/* The rows, when done; the cfi's own. A last CFI_CFA_NONE row ends what is known. */
const struct cfi_row *cfi_rows(const struct cfi *c, size_t *count);

#endif
