/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the walker reports about a JVM with an unexpected layout: selftest [-x NAME] [-m MEMBER] PID.
 * -x hides the JVM's export of that name; -m shifts that member of the layout by a word. Prints one line: the
 * message, or "good".
 */
#include "target.h"

#include "walk/hotspot/layout.h"
#include "walk/walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MEMBER(m)                                   \
	{                                           \
#m, offsetof(struct walk_layout, m) \
	}
static const struct {
	const char *name;
	size_t offset;
} members[] = {MEMBER(interp_method), MEMBER(const_constants), MEMBER(pool_holder),
	MEMBER(nmethod_method), MEMBER(mutable_data)};

/* Names are read by aligned words: in the hidden name the first word with more than one of its letters is altered. */
struct hiding {
	const struct walk_mem *below;
	const char *name;
};

static bool hiding_load(const struct walk_mem *mem, uint64_t addr, void *out, size_t bytes)
{
	const struct hiding *h = mem->ctx;
	char text[64] = "";
	size_t length = h->name ? strlen(h->name) + 1 : 0;

	if (!h->below->load(h->below, addr, out, bytes))
		return false;
	if (!length || length > sizeof(text) || bytes != 8)
		return true;
	for (int64_t from = -7; from < 8; from++)
		if (h->below->load(h->below, addr + (uint64_t)from, text, length) &&
			!memcmp(text, h->name, length))
			((char *)out)[from < 0 ? 0 : from] ^= 1;
	return true;
}

int main(int argc, char **argv)
{
	struct hiding hiding = {.name = NULL};
	const struct walk_mem mem = {.load = hiding_load, .ctx = &hiding};
	struct walk_layout layout;
	const char *member = NULL, *message;
	struct target *target;
	char note[256];
	int opt, rc;

	while ((opt = getopt(argc, argv, "x:m:")) != -1) {
		if (opt == 'x')
			hiding.name = optarg;
		else if (opt == 'm')
			member = optarg;
		else
			return 2;
	}
	target = optind < argc ? target_open(atoi(argv[optind])) : NULL;
	if (!target)
		return 2;
	hiding.below = target_mem(target);
	rc = target_layout_by(target, &mem, &layout, note, sizeof(note));
	for (size_t i = 0; member && i < sizeof(members) / sizeof(members[0]); i++)
		if (!strcmp(members[i].name, member))
			*(int32_t *)(void *)((char *)&layout + members[i].offset) +=
				strcmp(member, "interp_method") ? 8 : 1;
	message = rc ? NULL : walk_layout_test(&layout, target_mem(target));
	printf("%s\n", note[0] ? note : message ? message : "good");
	target_close(target);
	return 0;
}
