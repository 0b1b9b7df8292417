/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sessions of other agents in this process: of another version, or on musl a second mapping of the same one. Each
 * shares memory with its front end from before it installs a handler until after its end, and all versions recognise
 * that memory by its name.
 */
#include "sampler/maps.h"
#include "sampler/session/publisher.h"

#include <string.h>

#define OTHERS_NAME   "/memfd:" WIRE_MEMFD_PREFIX
#define OTHERS_BUFFER 8192

struct others {
	const char *own; /* token of this agent's session */
	bool live;
};

static void others_line(void *ctx, const char *line, size_t bytes)
{
	const char *slash = memchr(line, '/', bytes);
	struct others *others = ctx;
	size_t left = slash ? (size_t)(line + bytes - slash) : 0;
	size_t prefix = strlen(OTHERS_NAME), token;

	if (left < prefix || memcmp(slash, OTHERS_NAME, prefix) != 0)
		return;
	for (token = 0; token < left - prefix && slash[prefix + token] != ' ';)
		token++;
	if (token != strlen(others->own) || memcmp(slash + prefix, others->own, token) != 0)
		others->live = true;
}

bool others_live(const struct sampler *s)
{
	struct others others = {s->open.token, false};
	char buffer[OTHERS_BUFFER];

	maps_each(buffer, sizeof(buffer), others_line, &others);
	return others.live;
}
