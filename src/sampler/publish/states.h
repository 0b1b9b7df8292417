/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a thread is in futex(2), by the Java method that it is in: the ids of these are noted when they are
 * published, since a trace only has ids. Publisher only.
 */
#ifndef JHOT_SAMPLER_PUBLISH_STATES_H
#define JHOT_SAMPLER_PUBLISH_STATES_H

#include "walk/hotspot/names.h"
#include "walk/trace_table.h"
#include "wire/layout.h"

#define STATES_IDS 32u /* a method has a new id when its class was loaded again */

struct states {
	uint32_t used;
	struct {
		uint32_t method;
		enum wire_thread_state state;
	} ids[STATES_IDS];
};

void states_method(struct states *states, const struct names_entry *method);

/* The flags of a trace as the wire has them. */
uint16_t states_flags(const struct states *states, const struct trace_key *key);

#endif
