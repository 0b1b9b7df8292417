/* SPDX-License-Identifier: Apache-2.0 */
/* Sets one byte of libjvm's data, which its compilers read when they begin to compile a method. */
#include "sampler/jvm/jvm.h"

static _Atomic uint8_t *flag_of(const struct sampler *s)
{
	return (_Atomic uint8_t *)(uintptr_t)s->layout_memory->debug_info_at;
}

void debug_info_begin(struct sampler *s)
{
	enum wire_debug_info is = WIRE_DEBUG_INFO_NONE;

	if (!s->layout) /* nothing about the flag is certain */
		is = WIRE_DEBUG_INFO_NONE;
	else if (s->layout->debug_info_on)
		is = WIRE_DEBUG_INFO_OWN;
	else if (s->layout->debug_info_at) {
		s->debug_info_set = !atomic_exchange(flag_of(s), 1);
		is = WIRE_DEBUG_INFO_SET;
	}
	atomic_store(&s->shared.status->debug_info, is);
}

void debug_info_end(struct sampler *s)
{
	if (s->debug_info_set)
		atomic_store(flag_of(s), 0);
	s->debug_info_set = false;
}
