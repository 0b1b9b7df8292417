/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a row with too few samples in the window is worth, by what it had since the session began.
 *
 * A window of an idle service has dozens of rows with one or two samples. Ranked by those they would
 * dance; not ranked at all, rows with none stay above rows with nine. So weak rows are ranked by their
 * share of the whole history, which moves slowly, as far as the window does not contradict it.
 * Owned by the methods view; what came since is added every 10 s, and never for a key, which is answered from what is
 * there.
 */
#ifndef JHOT_TUI_VIEW_PRIOR_H
#define JHOT_TUI_VIEW_PRIOR_H

#include "profile/table/flat.h"
#include "tui/screen/order.h"

struct prior {
	struct flat *all;
	struct profile_query asked;
	uint32_t version;     /* of its filter */
	struct flat *settled; /* all but the last seconds, in which samples may still come */
	uint32_t settled_to;
	uint32_t swept; /* as of struct profile_info */
};

void prior_done(struct prior *e);
/* q: of the window. since: the first second that counts. ask: there is time to. */
void prior_update(struct prior *e, const struct profile *p, const struct profile_query *q,
	uint32_t since, bool ask);
/* Fill count and key for ranking a row of the window's table, by its self or its total. */
void prior_rank(const struct prior *e, const struct flat *window, const struct flat_row *row,
	bool by_total, struct order_item *out);
/* A method's row in a table, which is in method order; NULL: none. */
const struct flat_row *prior_find(const struct flat *f, uint32_t method);

#endif
