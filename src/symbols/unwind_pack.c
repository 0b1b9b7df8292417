/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packs rows into pages of 64 kB of code with a dictionary of rules: 4 bytes per row instead of 24. wire/unwind.h describes the
 * result.
 */
#include "symbols/cfi.h"

#include "base/hash.h"

#include <string.h>

#define PAGE_BITS 16
#define RULES_MAX 65536u

struct pack {
	struct hash_index index; /* of rules */
	struct buf rules, rows, pages;
};

struct rule_key {
	const struct pack *pack;
	const struct wire_unwind_rule *rule;
};

static bool rule_same(const void *ctx, uint32_t id)
{
	const struct rule_key *key = ctx;

	return !memcmp(
		key->pack->rules.data + id * sizeof *key->rule, key->rule, sizeof *key->rule);
}

/* The id of a rule in the dictionary, to which it is added if it is new. */
static uint32_t rule_id(struct pack *p, const struct wire_unwind_rule *rule)
{
	struct rule_key key = {p, rule};
	uint64_t hash = hash_bytes(rule, sizeof *rule, 0);
	uint32_t id = hash_index_find(&p->index, hash, rule_same, &key);

	if (id == HASH_NONE) {
		id = (uint32_t)(p->rules.len / sizeof *rule);
		buf_add(&p->rules, rule, sizeof *rule);
		hash_index_add(&p->index, hash, id);
	}
	return id;
}

static uint32_t row_count(const struct pack *p)
{
	return (uint32_t)(p->rows.len / sizeof(uint32_t));
}

static void add_u32(struct buf *b, uint32_t v)
{
	buf_add(b, &v, sizeof v);
}

/* A lookup stays within one page, so each page begins with the rule in force at its start. */
static void page_begin(
	struct pack *p, uint64_t page, const struct cfi_row *before, const struct cfi_row *first)
{
	add_u32(&p->pages, row_count(p));
	if (before && before->rule.cfa != CFI_CFA_NONE &&
		(!first || first->offset != page << PAGE_BITS))
		add_u32(&p->rows, WIRE_UNWIND_ROW(0, rule_id(p, &before->rule)));
}

int unwind_pack(const struct cfi_row *rows, size_t count, struct buf *out, struct err *err)
{
	struct pack p = {0};
	struct wire_unwind_rows head = {0};
	int r = 0;

	if (!count)
		return err_set(err, ERR_INPUT, "This file has no unwind rows.");
	if (rows[count - 1].offset >> 32)
		return err_set(err, ERR_INPUT, "This file is too large for unwind rows.");
	uint64_t page = rows[0].offset >> PAGE_BITS;
	page_begin(&p, page, NULL, &rows[0]);
	for (size_t i = 0; i < count; i++) {
		while (rows[i].offset >> PAGE_BITS > page)
			page_begin(&p, ++page, &rows[i - 1], &rows[i]);
		add_u32(&p.rows, WIRE_UNWIND_ROW(rows[i].offset, rule_id(&p, &rows[i].rule)));
	}
	head.page_first = (uint32_t)(rows[0].offset >> PAGE_BITS);
	head.page_count = (uint32_t)(p.pages.len / sizeof(uint32_t));
	head.row_count = row_count(&p);
	head.rule_count = (uint32_t)(p.rules.len / sizeof(struct wire_unwind_rule));
	add_u32(&p.pages, head.row_count);
	head.bytes = (uint32_t)(sizeof head + p.pages.len + p.rows.len + p.rules.len);
	if (head.rule_count > RULES_MAX) {
		r = err_set(err, ERR_INPUT, "This file has too many different unwind rules.");
	} else {
		buf_add(out, &head, sizeof head);
		buf_add(out, p.pages.data, p.pages.len);
		buf_add(out, p.rows.data, p.rows.len);
		buf_add(out, p.rules.data, p.rules.len);
	}
	hash_index_done(&p.index);
	buf_done(&p.rules);
	buf_done(&p.rows);
	buf_done(&p.pages);
	return r;
}
