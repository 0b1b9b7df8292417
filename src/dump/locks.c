/* SPDX-License-Identifier: Apache-2.0 */
/* Owners are told by JavaThread, by an address on the owner's stack, or by Thread.getId. */
#include "dump/locks.h"

#include "base/buf.h"
#include "base/clean.h"
#include "walk/walk.h"

#include <stdlib.h>
#include <string.h>

struct note {
	uint32_t thread; /* of the dump */
	uint64_t java_thread;
	struct java_facts facts;
};

struct locks {
	struct note *notes;
	size_t count;
};

struct locks *locks_new(void)
{
	return xcalloc(1, sizeof(struct locks));
}

void locks_free(struct locks *l)
{
	if (!l)
		return;
	free(l->notes);
	free(l);
}

void locks_note(
	struct locks *l, uint32_t index, uint64_t java_thread, const struct java_facts *facts)
{
	l->notes = xreallocarray(l->notes, l->count + 1, sizeof(*l->notes));
	l->notes[l->count++] = (struct note){index, java_thread, *facts};
}

static const struct note *locker_of(const struct locks *l, const struct walk_layout *layout,
	const struct walk_mem *mem, uint64_t object)
{
	for (size_t i = 0; i < l->count; i++)
		if (walk_thread_has_locked(layout, mem, l->notes[i].java_thread, object))
			return &l->notes[i];
	return NULL;
}

static const struct note *owner_of(const struct locks *l, const struct walk_layout *layout,
	const struct walk_mem *mem, const struct java_facts *f)
{
	for (size_t i = 0; i < l->count; i++) {
		const struct note *n = &l->notes[i];

		if ((f->owner_id && n->facts.id == f->owner_id) ||
			(f->owner &&
				(n->java_thread == f->owner || walk_thread_on_stack(layout, mem,
								       n->java_thread, f->owner))))
			return n;
	}
	return f->wait == JAVA_WAIT_ENTER ? locker_of(l, layout, mem, f->lock) : NULL;
}

static char *class_text(const char *name)
{
	struct buf text = {0};

	clean_add_class(&text, name, strlen(name));
	return buf_steal(&text);
}

void locks_resolve(struct locks *l, const struct walk_layout *layout, const struct walk_mem *mem,
	struct dump *d)
{
	static const char *const what[] = {[JAVA_WAIT_ENTER] = "waiting to lock",
		[JAVA_WAIT_NOTIFY] = "waiting on",
		[JAVA_WAIT_PARK] = "parked for"};

	for (size_t i = 0; i < l->count; i++) {
		const struct java_facts *f = &l->notes[i].facts;
		struct dump_lock *lock = &d->threads[l->notes[i].thread].lock;
		const struct note *owner = owner_of(l, layout, mem, f);

		if (f->wait == JAVA_WAIT_NONE || !f->lock_class[0])
			continue;
		*lock = (struct dump_lock){.what = what[f->wait],
			.class_name = class_text(f->lock_class),
			.address = f->lock};
		if (!owner)
			continue;
		lock->owner = d->threads[owner->thread].name;
		lock->owner_tid = d->threads[owner->thread].tid;
	}
}
