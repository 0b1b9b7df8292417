/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The weight of a sampled allocation: its size over the probability that HotSpot sampled it, given what the thread has
 * allocated since its last sample.
 *
 * HotSpot (threadHeapSampler.cpp, memAllocator.cpp) draws the distance to the next point from an exponential
 * distribution and ends the thread's buffer there, so that the allocation takes the slow path. Before JDK 25 this has
 * three flaws:
 *
 *   - For an object outside the buffer, HotSpot ignores the bytes allocated in the current buffer when it checks whether
 *     the next point is reached. It counts these bytes later, when the buffer is replaced (JDK-8356372).
 *   - Unused space at a buffer's end counts as allocated, and is attributed to the first object in the next buffer.
 *   - JDK 11 subtracts the size of a sampled object from the next distance if the result is positive, and places no point
 *     in the rest of a buffer once an object outside it has passed the point.
 */
#include "sampler/engine/alloc/alloc.h"

/* Fields of a ThreadLocalAllocBuffer that HotSpot does not export, relative to those that it does. */
/* In between: bytes allocated before the last collection, bytes pending. */
#define LIMIT_TO_REFILLS 24
#define EPOCH_OFFSET     (-16)
#define PENDING_OFFSET   (-8)
/* HotSpot's defaults: initial limit of the space left over in a buffer, and what an object outside adds to it, in words. */
#define LIMIT_OF_BUFFER 64u
#define LIMIT_INCREMENT 4u
/* Upper bounds of the correction of a weight: JDK 11 for small objects, later JDKs for all. */
#define REST_MAX    32.0
#define REST_MAX_12 8.0
/* Strength of the prior for a weight that is not calibrated, in samples. */
#define PRIOR_COUNT 2.0
/* At this multiple of the prior the older half of the evidence is discarded. */
#define FORGET_COUNT 2048.

/* exp(-x) for x >= 0: halves x until the series is short, then squares the result back. */
__attribute__((noinline)) static double exp_minus(double x)
{
	double term = 1, sum = 1;
	int halvings = 0;

	if (x > 50)
		return 0;
	for (; x > 0.5; x /= 2)
		halvings++;
	for (int i = 1; i < 12; i++) {
		term *= -x / i;
		sum += term;
	}
	while (halvings-- > 0)
		sum *= sum;
	return sum;
}

/* The weight of an object of this size if points are one per `interval` and it was exposed to them for `bytes`. */
static double weight_of(uint64_t size, uint64_t bytes, uint64_t interval)
{
	double x = interval ? (double)bytes / (double)interval : 50;

	/* 1 - exp(-x) cancels for small x; there it is x - x^2/2 + x^3/6 */
	double sampled = x < 1e-4 ? x * (1 - x / 2) : 1 - exp_minus(x);

	return sampled > 0 ? (double)size / sampled : (double)size;
}

/* --- in the callback -------------------------------------------------------------------------- */

/*
 * True when the object is not in the used part of its thread's buffer. A thread without a buffer has not had one yet or
 * lost it to a collection; then an object counts as outside only if it is too large for a buffer.
 */
static bool alloc_outside(const struct alloc_object *o)
{
	if (o->start && o->top && o->at)
		return o->at < o->start || o->at >= o->top;
	return o->buffer_bytes && o->size > o->buffer_bytes;
}

/* True when the layout has the fields of HotSpot's accounting, including those that are found by their neighbors. */
static bool alloc_countable(const struct walk_layout *l)
{
	return l->thread_tlab.offset >= 0 && l->tlab_start.offset >= 0 && l->tlab_top.offset >= 0 &&
	       l->tlab_end.offset >= 0 && l->tlab_words.offset >= 0 && l->tlab_limit.offset >= 0 &&
	       l->tlab_refills.offset - l->tlab_limit.offset == LIMIT_TO_REFILLS &&
	       l->tlab_waste.offset >= 0 && l->tlab_slow.offset >= 0 &&
	       l->thread_allocated.offset >= 0;
}

static void alloc_count(struct alloc_object *o, const struct walk_layout *l,
	const struct walk_mem *mem, uint64_t java_thread, uint64_t tlab)
{
	uint64_t refills = tlab + (uint64_t)l->tlab_refills.offset, allocated, limit, initial;

	if (l->jdk >= ALLOC_EXACT || !alloc_countable(l) || !o->start)
		return;
	/* in words; the next 8-byte field */
	allocated = tlab + (((uint64_t)l->tlab_slow.offset + 4 + 7) & ~(uint64_t)7);
	o->counted = true;
	o->all = layout_load(&l->thread_allocated, mem, java_thread) + (o->top - o->start);
	o->next = mem_u64(mem, java_thread + (uint64_t)l->thread_allocated.offset + 8);
	o->epoch = mem_u64(mem, refills + (uint64_t)EPOCH_OFFSET);
	o->pending = mem_u64(mem, refills + (uint64_t)PENDING_OFFSET);
	o->refills = (uint32_t)layout_load(&l->tlab_refills, mem, tlab);
	o->slow = (uint32_t)layout_load(&l->tlab_slow, mem, tlab);
	limit = layout_load(&l->tlab_limit, mem, tlab);
	initial = o->buffer_bytes / sizeof(uint64_t) / LIMIT_OF_BUFFER;
	o->here = limit > initial ? (uint32_t)((limit - initial) / LIMIT_INCREMENT) : 0;
	o->here = o->here < o->slow ? o->here : o->slow;
	o->waste = layout_load(&l->tlab_waste, mem, tlab) * sizeof(uint64_t);
	o->inside = mem_u64(mem, allocated) * sizeof(uint64_t) - o->waste - (o->end - o->top);
}

struct alloc_object alloc_object(const struct walk_layout *l, const struct walk_mem *mem,
	uint64_t java_thread, uint64_t handle, uint64_t size)
{
	uint64_t tlab = java_thread + (uint64_t)l->thread_tlab.offset;
	struct alloc_object o = {.size = size};

	if (l->thread_tlab.offset < 0 || l->tlab_start.offset < 0 || l->tlab_top.offset < 0)
		return o;
	o.at = mem_u64(mem, handle);
	o.start = layout_load(&l->tlab_start, mem, tlab);
	o.top = layout_load(&l->tlab_top, mem, tlab);
	if (l->tlab_end.offset >= 0)
		o.end = layout_load(&l->tlab_end, mem, tlab);
	if (l->tlab_words.offset >= 0)
		o.buffer_bytes = layout_load(&l->tlab_words, mem, tlab) * sizeof(uint64_t);
	o.outside = alloc_outside(&o);
	alloc_count(&o, l, mem, java_thread, tlab);
	return o;
}

/* --- HotSpot's counts since the thread's last sampled object --------------------------------------- */

/*
 * True if no collection lies between this object and the thread's last sampled one, and HotSpot's counts are
 * consistent.
 */
static bool alloc_paired(const struct alloc_past *past, const struct alloc_object *o)
{
	return o->counted && past->all && o->epoch == past->epoch && o->inside >= past->inside &&
	       o->all - past->all >= o->inside - past->inside && o->all >= past->all &&
	       o->refills >= past->refills && o->slow >= past->slow && o->waste >= past->waste;
}

/* The bytes left over at the end of the previous buffer: the average of those since the last sampled object. */
static uint64_t alloc_left_over(const struct alloc_past *past, const struct alloc_object *o)
{
	uint32_t buffers = o->refills - past->refills;

	return buffers ? (o->waste - past->waste) / buffers : 0;
}

static double alloc_inside_since(const struct alloc_past *past, const struct alloc_object *o)
{
	return (double)(o->inside - past->inside);
}

static double alloc_outside_since(const struct alloc_past *past, const struct alloc_object *o)
{
	return (double)(o->all - past->all) - alloc_inside_since(past, o);
}

/* Adds the bytes allocated since the last sampled object, and the weight of this one to its sum. */
static void alloc_add(
	struct alloc_past *past, const struct alloc_object *o, double *sum, double weight)
{
	if (!alloc_paired(past, o))
		return;
	past->inside_bytes += alloc_inside_since(past, o);
	past->outside_bytes += alloc_outside_since(past, o);
	past->outside_count += o->slow - past->slow;
	*sum += weight;
}

static void alloc_forget(struct alloc_past *past)
{
	past->inside_bytes /= 2;
	past->outside_bytes /= 2;
	past->outside_count /= 2;
	past->small_weight /= 2;
	past->large_weight /= 2;
	past->outside_weight /= 2;
}

/* --- JDK 12 to 24 ------------------------------------------------------------------------------ */

/*
 * HotSpot places the next point relative to the buffer's top whenever an allocation has taken the slow path, and
 * subtracts the bytes in between only when the point or the next buffer is reached. At an object outside it subtracts
 * only that object's size, and then places the point relative to the new top. So bytes allocated in the buffer since the last
 * placement are ignored: until objects outside have made up for them, no object can be sampled. The pending bytes, which
 * grow at each placement, are subtracted at the next buffer instead, and sample its first object.
 *
 * The ignored bytes at the first object outside are at most those that the buffer then contained, and fewer if a sample
 * was taken in it. As samples are memoryless, they are min(bytes, X) with an exponential X.
 */
struct alloc_rest {
	double made_up; /* bytes of earlier objects outside since the buffer was acquired */
	double most;    /* upper bound of the bytes ignored at the first of them */
	double gap;     /* bytes allocated in the buffer between two of them, on average */
};

/* The size of the buffer's first object: HotSpot adds it to the target size, unless the buffer is the largest possible. */
static double alloc_first(const struct alloc_object *o, double mean)
{
	double used = (double)(o->top - o->start), first = mean < used / 2 ? mean : 0;
	uint64_t bytes = o->end - o->start;

	if (bytes > o->buffer_bytes)
		first = (double)(bytes - o->buffer_bytes);
	return first < used ? first : 0;
}

/* `size` is that of the objects that are allocated outside because the rest of the buffer is too small. */
static struct alloc_rest alloc_rest_of(
	const struct alloc_past *past, const struct alloc_object *o, uint32_t earlier, double size)
{
	double mean = past->outside_count > 0 ? past->outside_bytes / past->outside_count : size;
	double used = (double)(o->top - o->start), left = (double)(o->end - o->top), since;
	struct alloc_rest rest = {.made_up = earlier * mean};

	since = size > left ? size - left : 0;
	since = since < used ? since : used;
	rest.most = used - since / 2 - alloc_first(o, mean);
	rest.most = rest.most > 0 ? rest.most : 0;
	rest.gap = since / (o->here > 0 ? o->here : 1);
	return rest;
}

/* The probability that a point lies in this many bytes. */
__attribute__((noinline)) static double sampled(double bytes, double interval)
{
	return bytes > 0 ? 1 - exp_minus(bytes / interval) : 0;
}

/* The probability that an object outside is sampled, over the distribution of the bytes ignored at the first one. */
static double alloc_outside_chance(
	const struct alloc_past *past, const struct alloc_object *o, double interval)
{
	uint32_t earlier = o->here > 0 ? o->here - 1 : 0;
	double size = (double)o->size, chance;
	struct alloc_rest rest = alloc_rest_of(past, o, earlier, size);
	double gap = earlier == 0 ? 0 : rest.gap < size ? rest.gap : size;
	double low = rest.made_up + gap, high = rest.made_up + size;
	double upper = rest.most < high ? rest.most : high;

	/* up to `low` ignored bytes only the gap reduces the chance, from `high` on there is none */
	if (rest.most <= low)
		return sampled(size - gap, interval);
	chance = sampled(low, interval) * sampled(size - gap, interval) +
		 exp_minus(low / interval) - exp_minus(upper / interval) -
		 (upper - low) / interval * exp_minus(high / interval);
	return chance + exp_minus(upper / interval) * sampled(high - upper, interval);
}

static double alloc_first_chance(
	const struct alloc_past *past, const struct alloc_object *o, double interval)
{
	double size = (double)o->size, pending = (double)o->pending, before, clean, dirty,
	       share = 1;
	uint32_t slow = o->slow - past->slow, refills = o->refills - past->refills;

	if (!alloc_paired(past, o))
		return sampled(size + pending, interval);
	before = alloc_inside_since(past, o) - size;
	if (slow == 0 && refills == 1)
		return sampled(size + pending - before, interval);
	clean = sampled(size + (double)alloc_left_over(past, o), interval);
	if (slow == 0)
		return clean;
	/* were there objects outside since the previous buffer was acquired? */
	if (slow < refills)
		share = (double)slow / refills;
	before = refills == 1 ? before / (slow + 1) : 0;
	dirty = sampled(size + (pending > before ? pending - before : 0), interval);
	return share * dirty + (1 - share) * clean;
}

static double alloc_inside_chance(
	const struct alloc_past *past, const struct alloc_object *o, double interval)
{
	double chance = sampled((double)o->size, interval), mean, late;

	if (o->here == 0 || past->outside_count <= 0)
		return chance;
	mean = past->outside_bytes / past->outside_count;
	struct alloc_rest rest = alloc_rest_of(past, o, o->here, mean);
	if (rest.most <= rest.made_up)
		return chance;
	late = rest.gap > rest.most - rest.made_up ? (rest.most - rest.made_up) / rest.gap : 1;
	return chance * (1 - late + late * sampled(rest.made_up, interval));
}

static double alloc_of_12(struct alloc_past *past, const struct alloc_object *o, uint64_t interval)
{
	double chance, least = sampled((double)o->size, (double)interval), weight, prior;
	double *sum = o->outside ? &past->outside_weight : &past->small_weight;

	if (!o->counted || !interval)
		return weight_of(o->size, o->size, interval);
	if (o->outside)
		chance = alloc_outside_chance(past, o, (double)interval);
	else if (o->at == o->start)
		chance = alloc_first_chance(past, o, (double)interval);
	else
		chance = alloc_inside_chance(past, o, (double)interval);
	least /= REST_MAX_12;
	weight = (double)o->size / (chance > least ? chance : least);
	alloc_add(past, o, sum, weight);
	prior = (double)interval * PRIOR_COUNT;
	if (past->small_weight + past->outside_weight > FORGET_COUNT * prior)
		alloc_forget(past);
	if (past->outside_count < 1)
		return weight;
	return weight * ((o->outside ? past->outside_bytes : past->inside_bytes) + prior) /
	       (*sum + prior);
}

/* --- JDK 11 ----------------------------------------------------------------------------------- */

/*
 * The probability that no point lies in the next `bytes` after a sampled object. HotSpot draws a new distance and
 * subtracts the overflow, the bytes by which the object exceeded its point, unless nothing would remain. Points are
 * therefore about twice as dense within the overflow.
 */
static double unsampled(uint64_t bytes, uint64_t overflow, uint64_t interval)
{
	double passed = exp_minus((double)overflow / (double)interval);

	if (bytes >= overflow)
		return passed * exp_minus((double)bytes / (double)interval);
	return 1 - (1 + passed) * (1 - exp_minus((double)bytes / (double)interval));
}

/*
 * The weight of one byte of small objects in a buffer. Once an object has gone outside, the rest of the buffer has no
 * points, and all objects too large for that rest go outside as well. So the unsampled fraction of the small objects
 * equals the fraction of the large ones that are outside.
 */
static double alloc_rest(const struct alloc_past *past, double prior)
{
	double rest = 1 + past->outside_bytes / (past->large_weight + prior);

	/* where small objects dominate buffers, they account for the bytes missing there */
	if (past->large_weight * 2 < past->inside_bytes)
		rest = (past->inside_bytes - past->large_weight + prior) /
		       (past->small_weight + prior);
	return rest < REST_MAX ? rest : REST_MAX;
}

/* The weight, calibrated to the bytes that HotSpot counts in buffers and outside them. */
static double alloc_calibrated(
	struct alloc_past *past, const struct alloc_object *o, double weight, double prior)
{
	double *sum = &past->small_weight, rest, large;

	if (o->outside)
		sum = &past->outside_weight;
	else if ((double)o->size * past->outside_count * 2 >= past->outside_bytes)
		sum = &past->large_weight;
	alloc_add(past, o, sum, weight);
	if (past->large_weight + past->outside_weight > FORGET_COUNT * prior)
		alloc_forget(past);
	if (past->outside_count < 1)
		return weight;
	if (sum == &past->outside_weight)
		return weight * (past->outside_bytes + prior) / (past->outside_weight + prior);
	rest = alloc_rest(past, prior);
	if (sum == &past->small_weight)
		return weight * rest;
	large = past->inside_bytes - past->small_weight * rest;
	if (large < past->inside_bytes / 4)
		return weight;
	return weight * (large + prior) / (past->large_weight + prior);
}

static double alloc_of_11(struct alloc_past *past, const struct alloc_object *o, uint64_t interval)
{
	bool paired = alloc_paired(past, o);
	uint64_t outside = o->all - past->all - (o->inside - past->inside);
	uint64_t before = past->next > o->size ? past->next - o->size / 2 : 0;
	uint64_t overflow = past->overflow, counted;
	double weight, reached;

	if (!o->counted || !interval)
		return weight_of(o->size, o->size, interval);
	past->overflow = o->size;
	if (o->at == o->start && paired && o->slow == past->slow && !past->outside) {
		weight = weight_of(o->size, o->size + alloc_left_over(past, o), interval);
	} else if (o->at == o->start) {
		/* pending bytes sampled it, too; the distance to the point was reduced by what went outside */
		counted = o->size + o->pending;
		weight = weight_of(o->size, counted, interval);
		past->overflow = counted / 2;
		if (paired && o->refills - past->refills == 1 && past->next < outside + counted)
			past->overflow =
				past->next > outside ? outside + counted - past->next : counted;
	} else if (o->outside) {
		weight = weight_of(o->size, o->size, interval);
		past->overflow = o->size / 2;
		if (paired && o->slow - past->slow == 1 && past->next < o->size)
			past->overflow = o->size - past->next;
	} else {
		if (o->start == past->start && o->at >= past->top &&
			o->at - past->top <= past->next)
			before = o->at - past->top;
		reached = unsampled(before, overflow, interval);
		weight = weight_of(o->size, o->size, interval);
		if (reached > 0) /* otherwise the interval has become much shorter */
			weight = (double)o->size /
				 (1 - unsampled(before + o->size, overflow, interval) / reached);
	}
	return alloc_calibrated(past, o, weight, (double)interval * PRIOR_COUNT);
}

/* --- all -------------------------------------------------------------------------------------- */

/*
 * The interval in bytes from which HotSpot drew the thread's next point: the one in force at its last sample, even if
 * the JVM has been given another since. Before the first sample that is unknown, and the result is `jvm_interval`, the
 * interval that was last set in the JVM.
 */
static uint64_t alloc_drawn(const struct alloc_past *past, uint64_t jvm_interval)
{
	return past->interval ? past->interval : jvm_interval;
}

uint64_t alloc_weight(const struct walk_layout *l, struct alloc_past *past,
	const struct alloc_object *o, uint64_t jvm_interval)
{
	uint64_t interval = alloc_drawn(past, jvm_interval);
	double weight;

	if (l->jdk >= ALLOC_EXACT || !alloc_weighable(l))
		weight = weight_of(o->size, o->size, interval);
	else if (l->jdk == 11)
		weight = alloc_of_11(past, o, interval);
	else
		weight = alloc_of_12(past, o, interval);
	past->interval = jvm_interval;
	past->start = o->start;
	past->top = o->top;
	past->outside = o->outside;
	past->epoch = o->epoch;
	past->all = o->all;
	past->inside = o->inside;
	past->waste = o->waste;
	past->next = o->next;
	past->refills = o->refills;
	past->slow = o->slow;
	return (uint64_t)(weight + 0.5);
}

bool alloc_weighable(const struct walk_layout *l)
{
	return l->jdk >= ALLOC_EXACT || alloc_countable(l);
}
