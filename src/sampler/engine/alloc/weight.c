/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The weight of a sampled allocation: its size over the probability that HotSpot sampled it, given what the thread has
 * allocated since the last one.
 *
 * HotSpot (threadHeapSampler.cpp, memAllocator.cpp) draws the distance to the next point from an exponential distribution
 * and ends the thread's buffer there, so that the allocation takes the slow path. Before JDK 25 three things go wrong:
 *
 *   - An object outside of the buffer is compared with the distance without the bytes that the buffer has got meanwhile,
 *     and these are counted again when the next buffer is taken (JDK-8356372).
 *   - What is left over at a buffer's end counts as allocated, for what comes first in the next one.
 *   - JDK 11 subtracts the size of a sampled object from the next distance where that leaves something, and lays no point in
 *     the rest of a buffer once an object outside has passed it by.
 */
#include "sampler/engine/alloc/alloc.h"

/* Smaller than this part of its buffer: an error of 2 % at most if it counts too low where it comes first. */
#define SMALL_IN_BUFFER 50u
/* The fields of a ThreadLocalAllocBuffer that HotSpot does not export lie beside those that it does. */
#define LIMIT_TO_REFILLS 24 /* between: bytes allocated before the last collection, bytes pending */
#define EPOCH_OFFSET     (-16)
#define PENDING_OFFSET   (-8)
#define REST_MAX         32.0 /* what a small object may stand for at most, as a multiple */
#define PRIOR_COUNT      2.0  /* samples' worth of trust in a weight that is not calibrated */
#define FORGET_COUNT     2048. /* multiple of that: then the older half of what is known is forgotten */

/* exp(-x) for x >= 0: halved until the series is short, then squared back. */
static double exp_minus(double x)
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

/* The bytes that an object of this size stands for if a point in so many bytes had it sampled. */
static double weight_of(uint64_t size, uint64_t bytes, uint64_t interval)
{
	double x = interval ? (double)bytes / (double)interval : 50;

	/* 1 - exp(-x) loses its digits where x is small; there it is x - x^2/2 + x^3/6 */
	double sampled = x < 1e-4 ? x * (1 - x / 2) : 1 - exp_minus(x);

	return sampled > 0 ? (double)size / sampled : (double)size;
}

/* --- what is known in the callback ------------------------------------------------------------ */

/*
 * alloc_outside: is the object not in what its thread has filled of its buffer? A thread without a buffer has had none
 * yet, or a collection took it since: all that is known then is that a large object would not have had space.
 */
static bool alloc_outside(const struct alloc_object *o)
{
	if (o->start && o->top && o->at)
		return o->at < o->start || o->at >= o->top;
	return o->buffer_bytes && o->size > o->buffer_bytes;
}

static void alloc_count(struct alloc_object *o, const struct walk_layout *l,
	const struct walk_mem *mem, uint64_t java_thread, uint64_t tlab)
{
	uint64_t refills = tlab + (uint64_t)l->tlab_refills.offset, allocated;

	if (l->jdk != 11 || l->thread_allocated.offset < 0 || l->tlab_limit.offset < 0 ||
		l->tlab_waste.offset < 0 || l->tlab_slow.offset < 0 || l->tlab_end.offset < 0 ||
		l->tlab_refills.offset - l->tlab_limit.offset != LIMIT_TO_REFILLS || !o->start)
		return;
	/* in words, the next field of eight bytes */
	allocated = tlab + (((uint64_t)l->tlab_slow.offset + 4 + 7) & ~(uint64_t)7);
	o->counted = true;
	o->all = layout_load(&l->thread_allocated, mem, java_thread) + (o->top - o->start);
	o->next = mem_u64(mem, java_thread + (uint64_t)l->thread_allocated.offset + 8);
	o->epoch = mem_u64(mem, refills + (uint64_t)EPOCH_OFFSET);
	o->pending = mem_u64(mem, refills + (uint64_t)PENDING_OFFSET);
	o->refills = (uint32_t)layout_load(&l->tlab_refills, mem, tlab);
	o->slow = (uint32_t)layout_load(&l->tlab_slow, mem, tlab);
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

/* --- JDK 12 to 24 ------------------------------------------------------------------------------ */

/*
 * alloc_apart: what an object stands for where one outside of the buffer brings apart what HotSpot knows of the next point
 * in two places.
 *
 * Such an object is held against the point without what has been allocated in the buffer since that was laid: so it has
 * that much less to be told of by. Then the bytes up to the point are counted anew, and taken for allocated when the thread
 * gets its next buffer: what comes first in that is told of though no point fell into it, and stands for itself alone.
 * Those outside that are smaller than half the interval mostly go by untold. So what was allocated since is not known
 * there, and what comes first stands for them, too: but not where it is so small that it is hardly ever one of their kind.
 */
static double alloc_apart(
	const struct alloc_past *past, const struct alloc_object *o, uint64_t interval)
{
	uint64_t since = past->top, before, left;

	if (o->at && o->at == o->start &&
		(past->large || o->size * SMALL_IN_BUFFER < o->end - o->start))
		return (double)o->size;
	if (!o->outside || o->size < interval / 2)
		return weight_of(o->size, o->size, interval);
	if (since < o->start || since > o->top)
		since = o->start;
	before = o->top - since; /* or less, where an object outside went by untold */
	left = o->size - (before < o->size / 2 ? before : o->size / 2);
	return weight_of(o->size, left, interval);
}

/* --- JDK 11 ----------------------------------------------------------------------------------- */

/* True if no collection lies between this object and the thread's last sampled one, and HotSpot's counts are consistent. */
static bool alloc_paired(const struct alloc_past *past, const struct alloc_object *o)
{
	return o->counted && past->all && o->epoch == past->epoch && o->inside >= past->inside &&
	       o->all - past->all >= o->inside - past->inside && o->all >= past->all &&
	       o->refills >= past->refills && o->slow >= past->slow && o->waste >= past->waste;
}

/* What was left over at the end of the buffer before, on average of those since the last sampled object. */
static uint64_t alloc_left_over(const struct alloc_past *past, const struct alloc_object *o)
{
	uint32_t buffers = o->refills - past->refills;

	return buffers ? (o->waste - past->waste) / buffers : 0;
}

/*
 * unsampled: the probability that no point lies in the next `bytes` after a sampled object. HotSpot draws a new distance and
 * subtracts the overflow, the bytes by which the object went beyond its point, unless nothing would be left. So points are
 * about twice as dense within the overflow.
 */
static double unsampled(uint64_t bytes, uint64_t overflow, uint64_t interval)
{
	double passed = exp_minus((double)overflow / (double)interval);

	if (bytes >= overflow)
		return passed * exp_minus((double)bytes / (double)interval);
	return 1 - (1 + passed) * (1 - exp_minus((double)bytes / (double)interval));
}

/*
 * alloc_rest: what one byte of small objects in a buffer stands for. Once an object has gone outside there are no points in
 * the rest of the buffer, and all objects too large for that rest go outside as well. So the part of the small objects that
 * cannot be sampled is the part of the large ones that are outside.
 */
static double alloc_rest(const struct alloc_past *past, double prior)
{
	double rest = 1 + past->outside_bytes / (past->large_weight + prior);

	/* where buffers are mostly filled by small objects, these are what is missing of the bytes there */
	if (past->large_weight * 2 < past->inside_bytes)
		rest = (past->inside_bytes - past->large_weight + prior) /
		       (past->small_weight + prior);
	return rest < REST_MAX ? rest : REST_MAX;
}

/* alloc_calibrated: the weight, calibrated to the bytes that HotSpot counts outside of buffers and in them. */
static double alloc_calibrated(
	struct alloc_past *past, const struct alloc_object *o, double weight, double prior)
{
	bool paired = alloc_paired(past, o);
	double *sum = &past->small_weight, rest, large;

	if (paired) {
		past->inside_bytes += (double)(o->inside - past->inside);
		past->outside_bytes += (double)(o->all - past->all - (o->inside - past->inside));
		past->outside_count += o->slow - past->slow;
	}
	if (o->outside)
		sum = &past->outside_weight;
	else if ((double)o->size * past->outside_count * 2 >= past->outside_bytes)
		sum = &past->large_weight;
	if (paired)
		*sum += weight;
	if (past->large_weight + past->outside_weight > FORGET_COUNT * prior) {
		past->inside_bytes /= 2;
		past->outside_bytes /= 2;
		past->outside_count /= 2;
		past->small_weight /= 2;
		past->large_weight /= 2;
		past->outside_weight /= 2;
	}
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
		/* sampled by the bytes pending, too; what was left up to the point has been lowered by what went outside */
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
		if (reached > 0) /* else the interval has become much shorter */
			weight = (double)o->size /
				 (1 - unsampled(before + o->size, overflow, interval) / reached);
	}
	return alloc_calibrated(past, o, weight, (double)interval * PRIOR_COUNT);
}

/* --- all -------------------------------------------------------------------------------------- */

uint64_t alloc_drawn(const struct alloc_past *past, uint64_t told)
{
	return past->interval ? past->interval : told;
}

uint64_t alloc_weight(const struct walk_layout *l, struct alloc_past *past,
	const struct alloc_object *o, uint64_t told)
{
	uint64_t interval = alloc_drawn(past, told);
	double weight;

	if (l->jdk >= ALLOC_EXACT || !alloc_weighable(l))
		weight = weight_of(o->size, o->size, interval);
	else if (l->jdk == 11)
		weight = alloc_of_11(past, o, interval);
	else
		weight = alloc_apart(past, o, interval);
	past->interval = told;
	past->start = o->start;
	past->top = o->top;
	past->outside = o->outside;
	past->large = o->outside && o->size >= interval / 2;
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
	return l->jdk >= ALLOC_EXACT || (l->thread_tlab.offset >= 0 && l->tlab_start.offset >= 0 &&
						l->tlab_top.offset >= 0 && l->tlab_end.offset >= 0);
}
