/* SPDX-License-Identifier: Apache-2.0 */
/* Translates a recording's stacks to names that are stable between builds, and sums it up per method. */
#include "profile/diff/inside.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/java_name.h"
#include "profile/query/error.h"

#include <stdlib.h>
#include <string.h>

struct merge {
	struct profile *both;
	const struct diff_run *run;
	struct diff_merged *out;
	struct hash_index stacks, methods; /* ids of the recording to those of `both` */
	uint32_t *path;                    /* scratch: stacks on the way to a known one */
	uint32_t path_cap;
	uint32_t *seen; /* per method: the last part that has it */
};

/* --- names ------------------------------------------------------------------------------------------- */

static uint32_t merge_method(struct merge *m, uint32_t method)
{
	struct buf class_name = {0}, name = {0};
	uint32_t to = hash_index_find(&m->methods, hash_u64(method), NULL, NULL);

	if (to != HASH_NONE)
		return to;
	const struct profile_method *of = profile_get_method(m->run->profile, method);
	java_name_fold(&class_name, of->class_name);
	if (*of->class_name)
		java_name_fold(&name, of->name);
	else
		native_name_fold(&name, of->name);
	to = profile_method(m->both, buf_str(&class_name), buf_str(&name), "",
		m->run->bare && *of->name ? "" : of->module);
	buf_done(&class_name);
	buf_done(&name);
	hash_index_add(&m->methods, hash_u64(method), to);
	return to;
}

static uint32_t merge_stack(struct merge *m, uint32_t stack)
{
	const struct profile *from = m->run->profile;
	uint32_t depth = 0, to = PROFILE_ROOT_STACK;

	for (; stack != PROFILE_ROOT_STACK; stack = profile_get_stack(from, stack).parent) {
		to = hash_index_find(&m->stacks, hash_u64(stack), NULL, NULL);
		if (to != HASH_NONE)
			break;
		m->path = xgrow(m->path, depth, &m->path_cap, sizeof(*m->path));
		m->path[depth++] = stack;
	}
	if (stack == PROFILE_ROOT_STACK)
		to = PROFILE_ROOT_STACK;
	while (depth--) {
		struct profile_frame f =
			*profile_get_frame(from, profile_get_stack(from, m->path[depth]).frame);

		/* without lines, which differ between builds */
		to = profile_stack_child(m->both, to,
			profile_frame(m->both, merge_method(m, f.method), (enum frame_type)f.type,
				0xffff, 0));
		hash_index_add(&m->stacks, hash_u64(m->path[depth]), to);
	}
	return to;
}

/* --- sums -------------------------------------------------------------------------------------------- */

static void diff_sum_add(struct diff_sum *to, const struct diff_sum *part)
{
	to->value += part->value;
	to->squares += part->squares;
	to->samples += part->samples;
}

static void merge_part(void *ctx, const struct profile_part *part)
{
	struct merge *m = ctx;
	struct diff_merged *out = m->out;
	bool by_weight = m->run->query.by_weight;
	uint32_t stack = merge_stack(m, part->stack);
	struct diff_sum sum = {(double)(by_weight ? part->weight : part->count),
		error_squares(m->run->query.event, by_weight, part), part->count};

	uint32_t count = profile_method_count(m->both), capacity = out->methods;
	if (count > capacity) {
		capacity = count + count / 2 + 64;
		out->self = xreallocarray(out->self, capacity, sizeof(*out->self));
		out->total = xreallocarray(out->total, capacity, sizeof(*out->total));
		m->seen = xreallocarray(m->seen, capacity, sizeof(*m->seen));
		for (uint32_t i = out->methods; i < capacity; i++) {
			out->self[i] = out->total[i] = (struct diff_sum){0};
			m->seen[i] = 0;
		}
		out->methods = capacity;
	}
	out->parts = xgrow(out->parts, out->part_count, &out->part_cap, sizeof(*out->parts));
	out->parts[out->part_count++] = (struct diff_part){stack, part->count, sum.value};
	diff_sum_add(&out->all, &sum);
	for (uint32_t at = stack; at != PROFILE_ROOT_STACK;) {
		struct profile_stack s = profile_get_stack(m->both, at);
		uint32_t method = profile_get_frame(m->both, s.frame)->method;

		if (at == stack)
			diff_sum_add(&out->self[method], &sum);
		if (m->seen[method] != out->part_count) /* recursion counts once */
			diff_sum_add(&out->total[method], &sum);
		m->seen[method] = out->part_count;
		at = s.parent;
	}
}

void diff_merge(struct profile *both, const struct diff_run *run, struct diff_merged *out)
{
	struct merge m = {.both = both, .run = run, .out = out};

	profile_each(run->profile, &run->query, merge_part, &m);
	hash_index_done(&m.stacks);
	hash_index_done(&m.methods);
	free(m.path);
	free(m.seen);
}

void diff_merged_done(struct diff_merged *m)
{
	free(m->self);
	free(m->total);
	free(m->parts);
}
