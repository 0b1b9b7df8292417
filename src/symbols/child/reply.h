/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of the child's replies, for child.c and the fuzzers. A compromised child can only supply wrong names and rows. */
#ifndef JHOT_SYMBOLS_CHILD_REPLY_H
#define JHOT_SYMBOLS_CHILD_REPLY_H

#include "base/buf.h"
#include "symbols/child/protocol.h"
#include "symbols/facts.h"

#include <stdbool.h>

/* reply_fits: does this head answer the request, and is the size of its data within the limits of its kind? */
bool reply_fits(const struct child_reply *head, uint32_t op);

/* reply_is_*: are these data of a reply consistent in themselves? */
bool reply_is_facts(const struct buf *facts);
/* Entries ascend by address; names are terminated and of limited length. */
bool reply_is_names(const struct buf *entries, const struct buf *texts);
/* Only the size: those who use the rows check them (unwind_rows_check), the agent and `jhot dump`. */
bool reply_is_unwind(const struct buf *block);
bool reply_is_exports(const struct buf *exports, const struct buf *texts);

#endif
