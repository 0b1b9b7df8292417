/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fuzzing targets: each parser of untrusted bytes, as a function of such bytes.
 *
 * One table for both programs: libFuzzer's (fuzz_parsers.c) and the replay of the corpus (test_corpus.c). A target
 * must not crash or leak, and its CPU time must be proportional to its input (fuzz_run). Single-threaded.
 */
#ifndef JHOT_TESTS_FUZZ_TARGETS_H
#define JHOT_TESTS_FUZZ_TARGETS_H

#include <stddef.h>
#include <stdint.h>

struct fuzz_target {
	const char *name; /* also its folder in the corpus */
	/* Returns how many bytes that was, which may be more than it was given where these are compressed. */
	size_t (*run)(const uint8_t *data, size_t bytes);
};

extern const struct fuzz_target fuzz_targets[]; /* ends with a NULL name */

const struct fuzz_target *fuzz_target_find(const char *name); /* NULL: there is none */

/*
 * fuzz_run: runs a target, and aborts if it takes more CPU time than FUZZ_TIME_NS and FUZZ_BYTE_NS for each byte, three
 * times in a row. Sanitizers make it many times slower.
 */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FUZZ_SLOWER 25
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define FUZZ_SLOWER 25
#endif
#ifndef FUZZ_SLOWER
#define FUZZ_SLOWER 1
#endif
#define FUZZ_TIME_NS (100000000ull * FUZZ_SLOWER)
#define FUZZ_BYTE_NS (25000ull * FUZZ_SLOWER)
void fuzz_run(const struct fuzz_target *t, const uint8_t *data, size_t bytes);

/* fuzz_file: a file in memory with these bytes, its name in path; the caller closes it. */
int fuzz_file(const uint8_t *data, size_t bytes, char path[64]);

size_t fuzz_elf(const uint8_t *data, size_t bytes);
size_t fuzz_child(const uint8_t *data, size_t bytes);
size_t fuzz_cfi(const uint8_t *data, size_t bytes);
size_t fuzz_names(const uint8_t *data, size_t bytes);
size_t fuzz_proc(const uint8_t *data, size_t bytes);
size_t fuzz_hsperf(const uint8_t *data, size_t bytes);
size_t fuzz_reply(const uint8_t *data, size_t bytes);
size_t fuzz_lines(const uint8_t *data, size_t bytes);
size_t fuzz_ring(const uint8_t *data, size_t bytes);
size_t fuzz_context(const uint8_t *data, size_t bytes);
size_t fuzz_place(const uint8_t *data, size_t bytes);
size_t fuzz_recording(const uint8_t *data, size_t bytes);
size_t fuzz_config(const uint8_t *data, size_t bytes);
size_t fuzz_collapsed(const uint8_t *data, size_t bytes);
size_t fuzz_pprof(const uint8_t *data, size_t bytes);
size_t fuzz_jfr(const uint8_t *data, size_t bytes);
size_t fuzz_perf(const uint8_t *data, size_t bytes);
size_t fuzz_speedscope(const uint8_t *data, size_t bytes);
size_t fuzz_jhot(const uint8_t *data, size_t bytes);

#endif
