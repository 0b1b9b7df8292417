/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Validation of replies. A compromised child can at most supply wrong names and rows. Pure functions, O(size of the data).
 */
#ifndef JHOT_SYMBOLS_CHILD_REPLY_H
#define JHOT_SYMBOLS_CHILD_REPLY_H

#include "base/buf.h"
#include "symbols/child/protocol.h"
#include "symbols/facts.h"

#include <stdbool.h>

/* True if this is a reply to the request, and its sizes are within the limits of its kind. */
bool reply_fits(const struct child_reply *head, uint32_t op);

/* True if the data of a reply are consistent. */
bool reply_is_facts(const struct buf *facts);
/* Entries ascend by address; names are terminated and of limited length. */
bool reply_is_names(const struct buf *entries, const struct buf *texts);
/* Checks the size only; the users of the rows, the agent and jhot dump, validate them (unwind_rows_check). */
bool reply_is_unwind(const struct buf *block);
bool reply_is_exports(const struct buf *exports, const struct buf *texts);

#endif
