/* SPDX-License-Identifier: Apache-2.0 */
/* HotSpot's coding of small numbers in scopes and field lists (compressedStream.hpp, unsigned5.hpp). */
#ifndef JHOT_WALK_HOTSPOT_UNSIGNED5_H
#define JHOT_WALK_HOTSPOT_UNSIGNED5_H

#include <stdbool.h>
#include <stdint.h>

/*
 * unsigned5_read: one number of 1 to 5 bytes at *at. A byte below 192 ends it; later bytes count 64 times
 * more each. excluded: since JDK 20 the byte 0 is not used and every byte is one higher. false: no number.
 */
static inline bool unsigned5_read(
	const uint8_t *bytes, uint32_t *at, uint32_t excluded, uint32_t *out)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < 5; i++) {
		uint32_t b = bytes[(*at)++];

		if (b < excluded)
			return false;
		sum += (b - excluded) << (6 * i);
		if (b < 192 || i == 4)
			break;
	}
	*out = sum;
	return true;
}

#endif
