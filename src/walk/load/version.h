/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sequence locks for rows that any thread may read and write without waiting. The version is odd while the row is being
 * written. A writer that finds it odd, and a reader that sees it change, treat the row as absent; a row whose writer never
 * finishes is lost for good. Signal-safe.
 */
#ifndef JHOT_WALK_LOAD_VERSION_H
#define JHOT_WALK_LOAD_VERSION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Begins a write. Returns false if another writer is active; else *before is for version_written. */
static inline bool version_write(_Atomic uint32_t *version, uint32_t *before)
{
	*before = atomic_load_explicit(version, memory_order_relaxed);
	if (*before & 1 || !atomic_compare_exchange_strong_explicit(version, before, *before + 1,
				   memory_order_acquire, memory_order_relaxed))
		return false;
	atomic_thread_fence(memory_order_release);
	return true;
}

static inline void version_written(_Atomic uint32_t *version, uint32_t before)
{
	atomic_store_explicit(version, before + 2, memory_order_release);
}

static inline uint32_t version_read(const _Atomic uint32_t *version)
{
	return atomic_load_explicit(version, memory_order_acquire);
}

/* True when the row was stable while it was read: no writer since version_read returned `before`. */
static inline bool version_unchanged(const _Atomic uint32_t *version, uint32_t before)
{
	atomic_thread_fence(memory_order_acquire);
	return !(before & 1) && atomic_load_explicit(version, memory_order_relaxed) == before;
}

#endif
