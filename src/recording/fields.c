/* SPDX-License-Identifier: Apache-2.0 */
/* The table of fields; writing the values that have changed, and reading them. */
#include "recording/fields.h"

#include "base/clean.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNTER   "counter."
#define FIELD_MAX 4096 /* fields of a file */

struct field {
	const char *name;
	size_t at, bytes;
	enum field_kind kind;
};

#define BYTES(member) sizeof(((struct vitals *)NULL)->member)
#define NUMBER(member)                                                                \
	{                                                                             \
#member, offsetof(struct vitals, member), BYTES(member), FIELD_NUMBER \
	}
#define TEXT(member)                                                                \
	{                                                                           \
#member, offsetof(struct vitals, member), BYTES(member), FIELD_TEXT \
	}
#define EVENT(i)                                                                     \
	NUMBER(events[i].state), TEXT(events[i].engine), NUMBER(events[i].interval), \
		NUMBER(events[i].samples), NUMBER(events[i].lost), TEXT(events[i].note)

/* The names are part of the format. `alive` has no field: it is meaningless in a recording. */
static const struct field rows[] = {NUMBER(time_ns), NUMBER(pid), TEXT(name), TEXT(jdk), TEXT(vm),
	TEXT(user), NUMBER(uptime_s), NUMBER(cpu_pct), NUMBER(rss_bytes), NUMBER(heap_used),
	NUMBER(heap_max), TEXT(gc_name), NUMBER(gc_count), NUMBER(gc_time_ms),
	NUMBER(safepoint_count), NUMBER(safepoint_time_ms), NUMBER(gc_pct_x10),
	NUMBER(safepoint_pct_x10), NUMBER(threads_live), NUMBER(threads_daemon),
	NUMBER(classes_loaded), NUMBER(threads_running), TEXT(vitals_note), TEXT(walker),
	TEXT(walker_note), NUMBER(cost_ns), NUMBER(cost_pct_x10), NUMBER(agent_bytes),
	TEXT(command), TEXT(vm_args), TEXT(vm_flags), NUMBER(cpu.java_pct), NUMBER(cpu.jit_pct),
	NUMBER(cpu.gc_pct), NUMBER(cpu.kernel_pct), TEXT(agent_note), NUMBER(host.cpu_limit),
	NUMBER(host.cpu_period_us), NUMBER(host.cpu_periods), NUMBER(host.cpu_throttled),
	NUMBER(host.throttled_us), NUMBER(host.major_faults), NUMBER(host.swap_bytes),
	NUMBER(host.swapped_in), NUMBER(safepoint_sync_ms), NUMBER(classes_unloaded),
	NUMBER(gc_whole), NUMBER(gc_time_ns), NUMBER(heap_committed), NUMBER(cpu_user_ms),
	NUMBER(cpu_system_ms), NUMBER(machine_busy_ms), NUMBER(machine_cpus), NUMBER(code_used),
	NUMBER(code_max), NUMBER(compilations), NUMBER(heap_low), NUMBER(heap_looks),
	NUMBER(host.cpus_free_ms), EVENT(0), EVENT(1), EVENT(2), EVENT(3), EVENT(4), EVENT(5),
	EVENT(6), EVENT(7), NUMBER(host.queued_ms), NUMBER(host.fds), NUMBER(host.fds_limit),
	NUMBER(threads_started), NUMBER(gc_humongous), NUMBER(gc_explicit), NUMBER(gc_metadata),
	NUMBER(host.anon_bytes)};
#define ROWS (sizeof(rows) / sizeof(rows[0]))
_Static_assert(VITALS_EVENTS == 8, "a line of EVENT for each");

static int64_t field_number(const struct vitals *v, const struct field *f)
{
	const char *at = (const char *)v + f->at;
	int64_t wide;
	int narrow;

	memcpy(f->bytes == sizeof(narrow) ? (void *)&narrow : (void *)&wide, at, f->bytes);
	return f->bytes == sizeof(narrow) ? narrow : wide;
}

static const char *field_text(const struct vitals *v, const struct field *f)
{
	return (const char *)v + f->at;
}

/* --- writing ----------------------------------------------------------------------------------------- */

static void write_field(
	struct buf *fields, enum field_kind kind, const char *prefix, const char *name)
{
	format_add(fields, kind);
	format_add(fields, strlen(prefix) + strlen(name));
	buf_adds(fields, prefix);
	buf_adds(fields, name);
}

/* Ids of counters follow those of the rows, in order of appearance. */
static void write_counter(struct fields_written *t, const struct vitals *v, int from,
	struct buf *fields, struct buf *vitals)
{
	struct vitals *last = &t->last;
	int i = 0;

	while (i < last->counter_count &&
		strcmp(last->counters[i].name, v->counters[from].name) != 0)
		i++;
	if (i == VITALS_COUNTERS)
		return;
	if (i == last->counter_count) {
		write_field(fields, FIELD_NUMBER, COUNTER, v->counters[from].name);
		last->counters[last->counter_count++] = v->counters[from];
	} else if (last->counters[i].value == v->counters[from].value) {
		return;
	}
	last->counters[i].value = v->counters[from].value;
	format_add(vitals, ROWS + (unsigned)i);
	format_add_signed(vitals, v->counters[from].value);
}

void fields_write(
	struct fields_written *t, const struct vitals *v, struct buf *fields, struct buf *vitals)
{
	for (size_t i = 0; i < ROWS; i++) {
		const struct field *f = &rows[i];
		bool text = f->kind == FIELD_TEXT;
		bool same = text ? !strcmp(field_text(&t->last, f), field_text(v, f))
				 : field_number(&t->last, f) == field_number(v, f);

		if (!t->begun)
			write_field(fields, f->kind, "", f->name);
		if (t->begun && same)
			continue;
		format_add(vitals, i);
		if (text)
			format_add_text(vitals, field_text(v, f));
		else
			format_add_signed(vitals, field_number(v, f));
		memcpy((char *)&t->last + f->at, (const char *)v + f->at, f->bytes);
	}
	t->begun = true;
	for (int i = 0; i < v->counter_count; i++)
		write_counter(t, v, i, fields, vitals);
}

/* --- reading ----------------------------------------------------------------------------------------- */

void fields_done(struct fields_known *k)
{
	free(k->list);
	*k = (struct fields_known){0};
}

static int row_of(const char *name, size_t bytes, enum field_kind kind)
{
	for (size_t i = 0; i < ROWS; i++)
		if (strlen(rows[i].name) == bytes && !memcmp(rows[i].name, name, bytes))
			return rows[i].kind == kind ? (int)i : -1;
	return -1;
}

void fields_define(struct fields_known *k, struct format_cursor *c)
{
	while (format_more(c)) {
		struct field_known f = {.kind = (enum field_kind)format_get_most(c, FIELD_TEXT)};
		size_t bytes, head = strlen(COUNTER);
		const char *name = format_get_text(c, &bytes);

		c->bad |= k->count == FIELD_MAX;
		if (c->bad)
			return;
		f.row = row_of(name, bytes, f.kind);
		if (bytes > head && !memcmp(name, COUNTER, head) && f.kind == FIELD_NUMBER)
			clean_text(f.counter, sizeof(f.counter), name + head, bytes - head);
		k->list = xgrow(k->list, k->count, &k->cap, sizeof(*k->list));
		k->list[k->count++] = f;
	}
}

static void set_counter(struct vitals *v, const char *name, int64_t value)
{
	int i = 0;

	while (i < v->counter_count && strcmp(v->counters[i].name, name) != 0)
		i++;
	if (i == VITALS_COUNTERS)
		return;
	if (i == v->counter_count)
		snprintf(v->counters[v->counter_count++].name, sizeof(v->counters[i].name), "%s",
			name);
	v->counters[i].value = value;
}

void fields_read(const struct fields_known *k, struct format_cursor *c, struct vitals *v)
{
	while (format_more(c)) {
		uint64_t id = format_get_most(c, k->count ? k->count - 1 : 0);
		const struct field_known *f = k->list ? &k->list[id] : NULL;
		const struct field *row = f && f->row >= 0 ? &rows[f->row] : NULL;
		char *to = row ? (char *)v + row->at : NULL;
		size_t bytes;

		c->bad |= !f;
		if (c->bad)
			break;
		if (f->kind == FIELD_TEXT) {
			const char *text = format_get_text(c, &bytes);
			if (row)
				clean_text(to, row->bytes, text, bytes);
			continue;
		}
		int64_t value = format_get_signed(c);
		int narrow = value < INT_MIN || value > INT_MAX ? -1 : (int)value;
		if (*f->counter)
			set_counter(v, f->counter, value);
		else if (row && row->bytes == sizeof(narrow))
			memcpy(to, &narrow, sizeof(narrow));
		else if (row)
			memcpy(to, &value, sizeof(value));
	}
	for (int i = 0; i < VITALS_EVENTS; i++)
		if (v->events[i].state < VITALS_OFF || v->events[i].state > VITALS_FAILED)
			v->events[i].state = VITALS_OFF;
	vitals_bound(v);
}
