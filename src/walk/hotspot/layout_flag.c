/* SPDX-License-Identifier: Apache-2.0 */
/* One of the JVM's options, by its name among all of them. */
#include "walk/hotspot/layout_read.h"
#include "walk/load/mem.h"

#define FLAGS_MAX 5000

/* The low bits of its flags say who set it; 0: nobody, it is as the JVM is built. */
#define ORIGIN_MASK 15u

struct layout_flag layout_flag_read(const struct layout_read *r, const char *name)
{
	uint64_t flag = r->flags ? mem_u64(r->mem, r->flags) : 0;
	uint32_t count = flag && r->flag_count ? mem_u32(r->mem, r->flag_count) : 0;
	size_t length = __builtin_strlen(name);
	char here[EXPORTED_NAME];

	if (count > FLAGS_MAX || !r->flag_bytes)
		return (struct layout_flag){0};
	for (; count; count--, flag += r->flag_bytes) {
		int bytes = mem_string(
			r->mem, layout_load(&r->flag_name, r->mem, flag), here, sizeof(here));

		if (bytes > 0 && (size_t)bytes == length && !__builtin_memcmp(here, name, length)) {
			uint64_t at = layout_load(&r->flag_at, r->mem, flag);

			return (struct layout_flag){.at = at,
				.on = mem_u8(r->mem, at) == 1,
				.as_built = r->flag_origin.offset >= 0 &&
					    !(layout_load(&r->flag_origin, r->mem, flag) &
						    ORIGIN_MASK)};
		}
	}
	return (struct layout_flag){0};
}
