/* SPDX-License-Identifier: Apache-2.0 */
/* The verb table: one row per verb, in the order of the help text. */
#include "cli/line/verb.h"

#include <string.h>

extern const struct verb verb_top;
extern const struct verb verb_list;
extern const struct verb verb_why;
extern const struct verb verb_slow;
extern const struct verb verb_record;
extern const struct verb verb_view;
extern const struct verb verb_convert;
extern const struct verb verb_merge;
extern const struct verb verb_diff;
extern const struct verb verb_dump;
extern const struct verb verb_push;
extern const struct verb verb_events;
extern const struct verb verb_start;
extern const struct verb verb_save;
extern const struct verb verb_status;
extern const struct verb verb_stop;
extern const struct verb verb_relay;
extern const struct verb verb_agent;

const struct verb *const verbs[] = {
	&verb_top,
	&verb_list,
	&verb_why,
	&verb_slow,
	&verb_record,
	&verb_view,
	&verb_convert,
	&verb_merge,
	&verb_diff,
	&verb_push,
	&verb_dump,
	&verb_events,
	&verb_start,
	&verb_status,
	&verb_save,
	&verb_stop,
	&verb_agent,
	&verb_relay,
	NULL,
};

const struct verb *verb_find(const char *name)
{
	for (const struct verb *const *v = verbs; *v; v++)
		if (!strcmp((*v)->name, name))
			return *v;
	return NULL;
}
