/* SPDX-License-Identifier: Apache-2.0 */
/* Ids of events, engines and event states. They are part of the wire format: values never change. */
#ifndef JHOT_WIRE_EVENT_H
#define JHOT_WIRE_EVENT_H

#include <stdint.h>

/* Events. Unit of a sample's weight: ns for cpu, wall and lock, bytes for alloc, counts for perf events. */
enum wire_event {
	WIRE_CPU = 0,
	WIRE_ALLOC = 1,
	WIRE_LOCK = 2,
	WIRE_WALL = 3,
	WIRE_USER_FIRST = 4, /* 4..7: perf events by name */
	WIRE_EVENTS = 8,
};

enum wire_engine {
	WIRE_ENGINE_NONE = 0,
	WIRE_ENGINE_PERF = 1,   /* perf_events, one fd per thread; kernel stacks where allowed */
	WIRE_ENGINE_CTIMER = 2, /* per-thread CPU timers */
	WIRE_ENGINE_WALL = 3,
	WIRE_ENGINE_ALLOC = 4,
	WIRE_ENGINE_LOCK = 5,
	WIRE_ENGINE_TRAP = 6, /* breakpoints on the allocation reports of JDK 8 */
};

enum wire_event_state {
	WIRE_EVENT_OFF = 0,
	WIRE_EVENT_ON = 1,
	WIRE_EVENT_FAILED = 2, /* note says why */
};

#endif
