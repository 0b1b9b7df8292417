/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is fuzzed: each parser of bytes that others wrote, as a function of such bytes.
 *
 * One table for both mains: libFuzzer's (fuzz_parsers.c) and the replay of what was found (test_corpus.c). A target
 * must not crash, leak or take long, whatever it is given; it returns nothing. One thread.
 */
#ifndef JHOT_TESTS_FUZZ_TARGETS_H
#define JHOT_TESTS_FUZZ_TARGETS_H

#include <stddef.h>
#include <stdint.h>

struct fuzz_target {
	const char *name; /* also its folder in the corpus */
	void (*run)(const uint8_t *data, size_t bytes);
};

extern const struct fuzz_target fuzz_targets[]; /* ends with a NULL name */

const struct fuzz_target *fuzz_target_find(const char *name); /* NULL: there is none */

/* fuzz_file: a file in memory with these bytes, its name in path; the caller closes it. */
int fuzz_file(const uint8_t *data, size_t bytes, char path[64]);

void fuzz_elf(const uint8_t *data, size_t bytes);
void fuzz_child(const uint8_t *data, size_t bytes);
void fuzz_cfi(const uint8_t *data, size_t bytes);
void fuzz_names(const uint8_t *data, size_t bytes);
void fuzz_proc(const uint8_t *data, size_t bytes);
void fuzz_hsperf(const uint8_t *data, size_t bytes);
void fuzz_reply(const uint8_t *data, size_t bytes);
void fuzz_lines(const uint8_t *data, size_t bytes);
void fuzz_ring(const uint8_t *data, size_t bytes);
void fuzz_recording(const uint8_t *data, size_t bytes);
void fuzz_config(const uint8_t *data, size_t bytes);
void fuzz_collapsed(const uint8_t *data, size_t bytes);
void fuzz_pprof(const uint8_t *data, size_t bytes);
void fuzz_jfr(const uint8_t *data, size_t bytes);

#endif
