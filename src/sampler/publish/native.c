/* SPDX-License-Identifier: Apache-2.0 */
/* Native frames: converts a pc to a module and an offset in its file, and modules to records. */
#include "sampler/publish/state.h"

#include "base/clock.h"
#include "sampler/session/unwind_recv.h"

#include <string.h>

#define MODULES_REFRESH_NS 2000000000ull /* period of the regular refresh */
#define MODULES_UNKNOWN_NS 200000000ull  /* minimum time between refreshes for unknown pcs */
#define MODULES_COST_SHARE 200ull        /* reading the maps takes at most 1/200 of the time */

_Static_assert((int)WALK_INTERPRETED == WIRE_FRAME_INTERPRETED && (int)WALK_C1 == WIRE_FRAME_C1 &&
		       (int)WALK_C2 == WIRE_FRAME_C2 && (int)WALK_INLINED == WIRE_FRAME_INLINED &&
		       (int)WALK_JAVA == WIRE_FRAME_JAVA && (int)WALK_NATIVE == WIRE_FRAME_NATIVE &&
		       (int)WALK_KERNEL == WIRE_FRAME_KERNEL && (int)WALK_STUB == WIRE_FRAME_STUB &&
		       (int)WALK_CLASS == WIRE_FRAME_CLASS && (int)WALK_BREAK == WIRE_FRAME_BREAK &&
		       (int)WALK_CUT == WIRE_FRAME_CUT &&
		       (int)WALK_CLASS_OUTSIDE == WIRE_FRAME_CLASS_OUTSIDE &&
		       (int)WALK_NO_INLINING == WIRE_FRAME_NO_INLINING &&
		       (int)WALK_IO == WIRE_FRAME_IO && (int)WALK_COMPILES == WIRE_FRAME_COMPILES &&
		       (int)WALK_C1_NO_INLINING == WIRE_FRAME_C1_NO_INLINING &&
		       (int)WALK_CONTEXT == WIRE_FRAME_CONTEXT,
	"a packed frame is a wire frame, but for native pcs");

static void modules_again(struct publish *p, uint64_t now)
{
	bool full = false;

	if (modules_refresh(p->s->modules, &full)) {
		/* Each trace is published again with its next sample. */
		known_forget(&p->known);
		counters_add(&p->s->counters, COUNTER_TRACES_FORGOTTEN, 1);
	}
	unwind_recv_prune(p->s->unwind_recv);
	if (full)
		counters_add(&p->s->counters, COUNTER_MODULES_FULL, 1);
	p->modules_read_ns = now;
	p->modules_cost_ns = clock_mono_ns() - now;
}

void publish_modules_refresh(struct publish *p, uint64_t now_ns)
{
	if (now_ns - p->modules_read_ns >
		MODULES_REFRESH_NS + MODULES_COST_SHARE * p->modules_cost_ns)
		modules_again(p, now_ns);
}

/* The module of a pc. Re-reads the maps for a pc in no module, at a limited rate. */
static struct module *module_of(struct publish *p, uint64_t pc)
{
	struct module *module = modules_find(p->s->modules, pc);

	if (module)
		return module;
	uint64_t now = clock_mono_ns();
	if (now - p->modules_read_ns < MODULES_UNKNOWN_NS + MODULES_COST_SHARE * p->modules_cost_ns)
		return NULL;
	modules_again(p, now);
	return modules_find(p->s->modules, pc);
}

static bool publish_module(struct publish *p, struct module *module)
{
	struct wire_module *rec;

	if (module->published)
		return true;
	rec = ring_reserve(
		&p->s->ring, WIRE_REC_MODULE, (uint32_t)sizeof(*rec) + module->path_bytes);
	if (!rec)
		return false;
	rec->id = module->id;
	rec->path_bytes = module->path_bytes;
	rec->start = module->start;
	rec->end = module->end;
	rec->file_offset = module->file_offset;
	rec->inode = module->inode;
	rec->dev_major = module->dev_major;
	rec->dev_minor = module->dev_minor;
	memcpy(rec->path, module->path, module->path_bytes);
	module->published = true;
	return true;
}

void publish_all_modules(struct publish *p)
{
	struct module *module;
	uint32_t cursor = 0;

	while ((module = modules_next(p->s->modules, &cursor)) && publish_module(p, module))
		;
	ring_commit(&p->s->ring);
}

bool publish_modules(struct publish *p, const struct trace_key *key)
{
	for (uint32_t i = 0; i < key->count; i++) {
		if (WIRE_FRAME_KIND(key->frames[i]) != WALK_NATIVE)
			continue;
		struct module *module = module_of(p, WIRE_FRAME_PAYLOAD(key->frames[i]));
		if (module && !publish_module(p, module))
			return false;
	}
	return true;
}

uint64_t publish_frame(struct publish *p, uint64_t frame)
{
	uint64_t pc = WIRE_FRAME_PAYLOAD(frame);

	if (WIRE_FRAME_KIND(frame) != WALK_NATIVE)
		return frame;
	const struct module *module = modules_find(p->s->modules, pc);
	if (!module || !module->published)
		return WIRE_FRAME(WIRE_FRAME_RAW, pc);
	return WIRE_NATIVE_FRAME(module->id, pc - module->start + module->file_offset);
}
