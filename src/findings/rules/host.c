/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about resources of the host: CPU limits, cores, memory, threads, file descriptors. */
#include "findings/places.h"
#include "findings/rules.h"
#include "findings/scene.h"

#include "base/buf.h"
#include "base/clock.h"

#include <stdlib.h>

/* --- throttled: the cgroup's CPU limit ------------------------------------------------------------------ */

/*
 * A share of all periods, idle ones included: a program that is throttled in short bursts now and
 * then is no finding.
 */
#define THROTTLED_SHARE 0.05
#define THROTTLED_S     4 /* shortest window: sampling a throttled program begins late */

/* The start of the window in which throttling is judged. NULL: none. */
static const struct scene_point *throttled_since(const struct scene *scene)
{
	if (!scene->last)
		return NULL;
	return scene->then ? scene->then : scene_before(scene, THROTTLED_S, SCENE_MOST_S);
}

static double throttled_share(const struct scene_point *then, const struct scene_point *now)
{
	const struct vitals_host *a = &then->host, *b = &now->host;

	if (a->cpu_limit <= 0 || b->cpu_limit != a->cpu_limit || b->cpu_period_us <= 0 ||
		b->cpu_period_us != a->cpu_period_us || a->cpu_throttled < 0 ||
		b->cpu_throttled < a->cpu_throttled)
		return 0;
	double periods = scene_elapsed_s(then, now) * 1e6 / (double)b->cpu_period_us;
	double counted = (double)(b->cpu_periods - a->cpu_periods);
	periods = counted > periods ? counted : periods;
	return (double)(b->cpu_throttled - a->cpu_throttled) / periods;
}

static void judge_throttled(const struct scene *scene)
{
	const struct scene_point *then = throttled_since(scene), *now = scene->last;
	double share = then ? throttled_share(then, now) : 0;

	if (share < THROTTLED_SHARE)
		return;
	struct finding *f = scene_found(scene, FINDING_COSTS, share, 0);
	finding_set_text(f,
		"the cgroup's limit of %.4g cores throttles the program in %.0f %% of its periods "
		"of %.0f ms",
		(double)now->host.cpu_limit / 1000, 100 * share,
		(double)now->host.cpu_period_us / 1000);
	finding_prove(f, "throttled %lld times in the last %.0f s, for %.1f s summed over the CPUs",
		(long long)(now->host.cpu_throttled - then->host.cpu_throttled),
		scene_elapsed_s(then, now),
		(double)(now->host.throttled_us - then->host.throttled_us) / 1e6);
	finding_advise(f,
		"raise the limit (cpu.max; cgroup v1: cpu.cfs_quota_us), or find what uses the "
		"CPU: key 1, or jhot record -d 10 %d",
		scene->now->pid);
	f->event = EVENT_CPU;
}

const struct finding_rule rule_throttled = {
	.name = "throttled",
	.title = "THROTTLED",
	.what = "a cgroup CPU limit that throttles the program in 5 % of its periods",
	.judge = judge_throttled,
};

/* --- swap: memory that is read back ---------------------------------------------------------------------- */

/*
 * A major fault may also be a page of a file, and memory that was swapped out long ago may never be
 * needed. So the host must have read back as many pages from swap at the same time, in both halves
 * of 10 s.
 */
#define SWAP_FAULTS 50 /* per second */
#define SWAP_BYTES  ((int64_t)50 << 20)

/* Pages per second: the lower of the JVM's major faults and the host's reads from swap. */
static double swapped_in(const struct scene_point *then, const struct scene_point *now)
{
	double faults = SCENE_RATE(then, now, host.major_faults);
	double pages = SCENE_RATE(then, now, host.swapped_in);

	return faults < pages ? faults : pages;
}

static void judge_swap(const struct scene *scene)
{
	const struct scene_point *then = scene->then;
	const struct scene_point *half = scene_before(scene, SCENE_LEAST_S / 2, SCENE_MOST_S / 2);
	const struct vitals_host *host = &scene->now->host;

	if (!then || !half || host->swap_bytes <= SWAP_BYTES ||
		swapped_in(then, half) < SWAP_FAULTS || swapped_in(half, scene->last) < SWAP_FAULTS)
		return;
	struct finding *f = scene_found(scene, FINDING_COSTS, -1, 0);
	finding_set_text(f,
		"%lld MB of the program are swapped out, and it waits for %.0f pages per second to "
		"be read back",
		(long long)(host->swap_bytes >> 20), swapped_in(then, scene->last));
	finding_prove(f, "resident %lld MB, swapped out %lld MB, %lld major faults since its start",
		(long long)(scene->now->rss_bytes >> 20), (long long)(host->swap_bytes >> 20),
		(long long)host->major_faults);
	finding_advise(f, "add memory or shrink the heap: every collection reads all of it back");
}

const struct finding_rule rule_swap = {
	.name = "swap",
	.title = "SWAP",
	.what = "memory that is read back from swap, 50 pages a second or more",
	.judge = judge_swap,
};

/* --- cores: runnable threads wait ------------------------------------------------------------------------ */

/*
 * The number of waiting threads comes from the kernel's count (schedstat) where that is known; wall
 * samples identify the threads. Not reported where another cause is known: a cgroup limit, pinned
 * carriers, or CPUs that are idle at the same time, as with threads that hand work to each other.
 *
 * The kernel's count does not include virtual threads without a carrier. If no CPU is idle and
 * their carriers run, they lack cores as well; the sentence counts them separately.
 */
#define CORES_SHARE   0.25 /* of the time in which threads are runnable, ... */
#define CORES_LEAST   1.0  /* ... and this many threads on average */
#define CORES_IDLE    0.5  /* idle CPUs per waiting thread: then cores are not what is missing */
#define CARRIER_IDLE  0.25 /* idle CPUs: with more, virtual threads lack carriers, not cores */
#define CARRIER_PINS  0.25 /* pinned share of the carriers' time: with more, likewise */
#define CARRIER_S     4    /* seconds of samples that are needed to count them */
#define CORES_SHOWN   4
#define CORES_SAMPLES 50

struct runnable {
	uint32_t thread;
	uint64_t ran, waited; /* ns */
};

struct load {
	double ran, waited; /* threads on average */
	double carrier;     /* virtual threads that wait for a carrier, where carriers lack cores */
	bool counted;       /* by the kernel, not by samples */
	uint64_t samples;
};

static int compare_waited(const void *a, const void *b)
{
	const struct runnable *x = a, *y = b;

	if (x->waited != y->waited)
		return x->waited > y->waited ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

/* threads: space for scene->threads. */
static struct load load_of(const struct scene *scene, double seconds, struct runnable *threads)
{
	const struct scene_point *then = scene->then, *now = scene->last;
	uint64_t ran_ns = 0, waited_ns = 0;
	struct load l = {0};

	for (uint32_t i = 0; i < scene->wall_count; i++) {
		const struct profile_part *part = &scene->wall[i];
		bool waits = part->state == THREAD_RUNNABLE;

		if ((!waits && part->state != THREAD_ON_CPU) ||
			profile_get_thread(scene->profile, part->thread)->kind == THREAD_AGENT)
			continue;
		threads[part->thread].thread = part->thread;
		*(waits ? &threads[part->thread].waited : &threads[part->thread].ran) +=
			part->weight;
		*(waits ? &waited_ns : &ran_ns) += part->weight;
		l.samples += part->count;
	}
	l.ran = (double)ran_ns / NS_PER_S / seconds;
	l.waited = (double)waited_ns / NS_PER_S / seconds;
	double ran = then ? SCENE_RATE(then, now, cpu_ms) / 1000 : -1;
	double queued = then ? SCENE_RATE(then, now, host.queued_ms) / 1000 : -1;
	if (ran < 0 || queued < 0)
		return l;
	l.ran = ran;
	l.waited = queued;
	l.counted = true;
	return l;
}

/* Virtual threads that would run if there were more cores. idle: idle CPUs on average; < 0: not known. */
static double lack_carriers(const struct scene *scene, double seconds, double idle)
{
	struct scene_carriers c = scene_carriers(scene);

	if (idle < 0 || idle >= CARRIER_IDLE || seconds < CARRIER_S ||
		c.pinned > CARRIER_PINS * (c.pinned + c.runs))
		return 0;
	return c.ready;
}

static void report_cores(const struct scene *scene, const struct load *l, double seconds,
	const struct runnable *threads)
{
	double waited = l->waited + l->carrier, share = waited / (l->ran + waited);
	struct finding *f = scene_found(scene, FINDING_COSTS, share, 0);
	char carrier[60] = "";

	if (!l->counted)
		f->error = scene_error(l->samples, share);
	if (l->carrier >= 0.1)
		snprintf(carrier, sizeof(carrier), ", %.1f virtual threads for a carrier",
			l->carrier);
	finding_set_text(f,
		"CPU saturated: %.1f threads running, %.1f waiting for a core%s (runnable threads "
		"wait %.0f %% of the time)",
		l->ran, l->waited, carrier, 100 * share);
	if (l->counted)
		finding_prove(f, "counted by the kernel for all threads, over the last 10 s");
	for (uint32_t i = 0; i < CORES_SHOWN && i < scene->threads && threads[i].waited; i++)
		finding_prove(f, "%s: runs %.0f %% of the time, waits for a core %.0f %%",
			scene_thread(scene, threads[i].thread),
			100.0 * (double)threads[i].ran / NS_PER_S / seconds,
			100.0 * (double)threads[i].waited / NS_PER_S / seconds);
	finding_advise(f,
		"add cores, or reduce threads or work; key 1 shows what uses the CPU; check what "
		"else runs on this machine");
	f->event = EVENT_WALL;
	f->thread = threads[0].thread;
}

static void judge_cores(const struct scene *scene)
{
	double seconds = scene_seconds(scene, EVENT_WALL);
	struct runnable *threads;

	if (scene_has(scene, &rule_throttled) || scene_has(scene, &rule_pinned) || seconds <= 0)
		return;
	/* There is a CPU limit, and it is not known yet whether it throttles: it may be the cause. */
	if (!throttled_since(scene) && scene->last && scene->last->host.cpu_limit > 0)
		return;
	threads = xcalloc(scene->threads + 1, sizeof(*threads));
	double idle =
		scene->then ? SCENE_RATE(scene->then, scene->last, host.cpus_free_ms) / 1000 : -1;
	struct load l = load_of(scene, seconds, threads);
	l.carrier = l.counted ? lack_carriers(scene, seconds, idle) : 0;
	double waited = l.waited + l.carrier;
	if ((l.counted || l.samples >= CORES_SAMPLES) && waited >= CORES_LEAST &&
		waited >= CORES_SHARE * (l.ran + waited) &&
		(!scene->then || idle < CORES_IDLE * waited)) {
		qsort(threads, scene->threads, sizeof(*threads), compare_waited);
		report_cores(scene, &l, seconds, threads);
	}
	free(threads);
}

const struct finding_rule rule_cores = {
	.name = "cores",
	.title = "CORES",
	.what = "CPU saturation: runnable threads that wait for a core 25 % of the time",
	.events = 1u << EVENT_WALL,
	.judge = judge_cores,
};

/* --- threads: started continuously ------------------------------------------------------------------------ */

#define THREADS_RATE 100 /* per second */

static void judge_threads(const struct scene *scene)
{
	const struct scene_point *then = scene->then, *now = scene->last;
	double rate = then ? SCENE_RATE(then, now, started) : 0;

	if (rate < THREADS_RATE)
		return;
	struct scene_cost cost = scene_cost_of(scene, METHOD_STARTS);
	struct finding *f = scene_found(scene, FINDING_WORTH_KNOWING, cost.share, 0);
	finding_set_text(f, "%.0f threads per second are started%s%s; %lld live", rate,
		cost.method == PROFILE_NONE ? "" : ", mostly by ",
		cost.method == PROFILE_NONE ? "" : scene_method(scene, cost.method),
		(long long)scene->now->threads_live);
	finding_prove(f, "%lld were started in the last %.0f s",
		(long long)(now->started - then->started), scene_elapsed_s(then, now));
	scene_prove_cost(scene, f, &cost, "started here, for example:", EVENT_CPU);
	finding_advise(f, "reuse a thread pool, or use virtual threads (JDK 21 or later)");
}

const struct finding_rule rule_threads = {
	.name = "threads",
	.title = "THREADS",
	.what = "threads that are started continuously, 100 a second or more",
	.events = 1u << EVENT_CPU,
	.judge = judge_threads,
};

/* --- descriptors: near their limit ------------------------------------------------------------------------ */

#define DESCRIPTORS_NEAR  0.9 /* of the limit */
#define DESCRIPTORS_S     600 /* until the limit is reached at the current rate */
#define DESCRIPTORS_PARTS 4   /* parts of the time, in each of which the number must have risen */

static void judge_descriptors(const struct scene *scene)
{
	const struct scene_point *then = scene->then, *now = scene->last, *from = then, *to;
	int64_t open = then ? now->host.fds : -1, limit = then ? now->host.fds_limit : -1;

	if (open < 0 || limit <= 0)
		return;
	double rate = SCENE_RATE(then, now, host.fds);
	for (int part = 1; part <= DESCRIPTORS_PARTS; part++, from = to) {
		to = scene_part(scene, then, part, DESCRIPTORS_PARTS);
		if (from->host.fds < 0 || to->host.fds <= from->host.fds)
			rate = -1; /* not a steady rise */
	}
	if ((double)open < DESCRIPTORS_NEAR * (double)limit &&
		rate * DESCRIPTORS_S < (double)(limit - open))
		return;
	struct finding *f =
		scene_found(scene, FINDING_WORTH_KNOWING, (double)open / (double)limit, 0);
	if (rate > 0)
		finding_set_text(f,
			"%lld of %lld file descriptors are open, %.1f more each second: none will "
			"be left in %.0f s",
			(long long)open, (long long)limit, rate, (double)(limit - open) / rate);
	else
		finding_set_text(f, "%lld of %lld file descriptors are open", (long long)open,
			(long long)limit);
	finding_prove(f, "%.0f s ago %lld were open", scene_elapsed_s(then, now),
		(long long)then->host.fds);
	finding_advise(f,
		"list them with ls -l /proc/%d/fd; look for a file, socket or stream that is never "
		"closed",
		scene->now->pid);
}

const struct finding_rule rule_descriptors = {
	.name = "descriptors",
	.title = "DESCRIPTORS",
	.what = "open file descriptors near their limit, or reaching it within ten minutes",
	.judge = judge_descriptors,
};
