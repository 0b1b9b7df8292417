/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A flame graph as compact text, about seven bytes per node.
 *
 *   jhot-flame 1
 *   KEY VALUE            any number of lines; "fact KEY=VALUE" is one of facts.h. Ended by:
 *   names N              N lines "SHARED REST": a name is SHARED characters of the previous name, and REST
 *   nodes M              one line of M nodes in pre-order, numbers in base 36:
 *
 *   node  = move type name [ "." total ] [ ":" other ]
 *   move  = ""  child of the previous node  |  "/"  its sibling  |  "^" N  sibling of its Nth parent
 *   type  = a capital letter (flame_types)
 *   total = the width; omitted if equal to that of the previous node
 *   other = samples or weight, whichever total is not; only where "each" (weight per sample) is 0; omitted likewise
 */
#include "base/buf.h"
#include "export/facts.h"
#include "export/text.h"
#include "export/web/svg.h"

#include <inttypes.h>

static void data_number(struct buf *out, uint64_t n)
{
	char digits[16];
	size_t at = sizeof(digits);

	do {
		digits[--at] = "0123456789abcdefghijklmnopqrstuvwxyz"[n % 36];
		n /= 36;
	} while (n);
	buf_add(out, digits + at, sizeof(digits) - at);
}

static void data_nodes(struct buf *out, const struct flame *f, bool by_weight, uint64_t each)
{
	struct flame_node before = {.level = 0, .total = UINT64_MAX};
	uint64_t other_before = UINT64_MAX;

	buf_printf(out, "nodes %u\n", f->count);
	for (uint32_t i = 0; i < f->count; i++) {
		const struct flame_node *n = &f->nodes[i];

		if (i && n->level == before.level) {
			buf_addc(out, '/');
		} else if (i && n->level < before.level) {
			buf_addc(out, '^');
			data_number(out, (uint64_t)(before.level - n->level));
		}
		buf_addc(out, flame_types[n->type].letter);
		data_number(out, n->name);
		if (n->total != before.total) {
			buf_addc(out, '.');
			data_number(out, n->total);
		}
		uint64_t other = by_weight ? n->count : n->weight;
		if (!each && other != other_before) {
			buf_addc(out, ':');
			data_number(out, other);
			other_before = other;
		}
		before = *n;
	}
	buf_addc(out, '\n');
}

static void data_fact(struct buf *out, const char *key, const char *value)
{
	buf_printf(out, "%s ", key);
	export_xml(out, value);
	buf_addc(out, '\n');
}

static void data_detail(void *ctx, const char *key, const char *value)
{
	struct buf *out = ctx;

	buf_adds(out, "fact ");
	export_xml(out, key);
	buf_addc(out, '=');
	export_xml(out, value);
	buf_addc(out, '\n');
}

/*
 * The parameters of diff_band(), which web/diff.js evaluates, too: units of the nodes' numbers per
 * weight; seconds that rates refer to (0: no rates); limit; weight of a sample, and squared noise,
 * of each side; the total of a side where shares are compared.
 */
static void data_diff(struct buf *out, const struct diff *d)
{
	double noise = d->noise * d->noise;

	buf_printf(out, "colors diff\ndiff %.9g %.9g %.6g %.9g %.9g %.6g %.6g %.9g\n",
		d->graph_scale, d->mode == DIFF_RATE ? d->scale : 0, d->limit, d->each[DIFF_A],
		d->each[DIFF_B], noise / d->runs[DIFF_A], noise / d->runs[DIFF_B], d->whole);
}

void svg_data(struct buf *out, const struct profile *p, const struct flame *f,
	const struct export_options *o, const struct svg_head *head)
{
	const struct profile_event *event = head->event;
	uint64_t each = flame_each(f);

	buf_adds(out, "jhot-flame 1\n");
	data_fact(out, "title", buf_str(&head->title));
	data_fact(out, "facts", buf_str(&head->facts));
	data_fact(out, "event", event->name);
	data_fact(out, "unit", event->unit);
	if (!o->diff) {
		export_facts(o, data_detail, out);
		export_event_facts(p, o, o->query.event, data_detail, out);
	}
	buf_printf(out, "width %s\n", o->query.by_weight ? "value" : "samples");
	buf_printf(out, "each %" PRIu64 "\n", each);
	if (o->width)
		buf_printf(out, "px %u\n", o->width);
	if (o->reverse)
		buf_adds(out, "reversed 1\n");
	if (o->inverted)
		buf_adds(out, "inverted 1\n");
	if (o->diff)
		data_diff(out, o->diff);
	else if (o->colors)
		data_fact(out, "colors", o->colors);
	for (int i = 0; i < FLAME_TYPES; i++) {
		const struct flame_type *t = &flame_types[i];

		buf_printf(out, "type %c %d %d %d %s\nsafe %c %d %d %d\n", t->letter, t->type.hue,
			t->type.saturation, t->type.lightness, t->name, t->letter, t->safe.hue,
			t->safe.saturation, t->safe.lightness);
	}
	const char *before = "";
	buf_printf(out, "names %u\n", f->name_count);
	for (uint32_t i = 0; i < f->name_count; i++) {
		/* the common prefix, within ASCII, where bytes and UTF-16 units are the same */
		size_t shared = 0;
		while (f->names[i][shared] && f->names[i][shared] == before[shared] &&
			(unsigned char)before[shared] < 0x80)
			shared++;
		data_number(out, shared);
		buf_addc(out, ' ');
		export_xml(out, f->names[i] + shared);
		buf_addc(out, '\n');
		before = f->names[i];
	}
	data_nodes(out, f, o->query.by_weight, each);
}
