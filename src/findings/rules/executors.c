/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about executors whose threads are never idle, so that tasks are queued. */
#include "findings/places.h"
#include "findings/rules.h"
#include "findings/scene.h"

#include "base/buf.h"
#include "base/clock.h"

#include <stdlib.h>

/* --- starved: all threads of an executor are blocked or busy in tasks ------------------------------------- */

/*
 * A stack does not show which executor will run the task that a thread waits for. The rule
 * therefore needs this evidence: tasks of that kind (FutureTask, CompletableFuture, ForkJoinTask)
 * run in one executor only; its threads are never idle and mostly wait; and more threads wait for
 * tasks than the executor has threads, so some tasks are queued. An executor whose tasks compute is
 * reported only if CPUs are idle or it has far fewer threads than CPUs, and if tasks would be
 * queued, too, if its threads did not wait for cores. Otherwise it lacks cores, not threads.
 *
 * Second case: all threads of an executor wait for tasks of that same executor. Evidence: no thread
 * runs such a task, and every other executor has an idle thread.
 */
#define STARVED_IDLE    0.05 /* largest share of the executor's time without a task */
#define STARVED_WAITS   0.75 /* smallest share in which its tasks wait */
#define STARVED_THREADS 0.9  /* fewest threads on average: they do not come and go */
#define STARVED_RUNS    0.1  /* smallest share in which an executor that computes has a core */
#define STARVED_FREE    0.25 /* fewest idle CPUs on average for such an executor, ... */
#define STARVED_FEW     0.5  /* ... unless it has at most this many threads per CPU */
#define STARVED_LEAST   2.0  /* threads that wait for tasks, on average */
#define STARVED_QUEUED  0.5  /* waiting threads beyond the executor's number, on average */
#define STARVED_OTHERS  0.1  /* largest share of blocked tasks' time in other executors */
#define STARVED_UNRUN   0.05 /* most threads in such tasks for "no thread runs them" */
#define TASK_KINDS      3

/* The longest time of one thread in one stack. ns 0: none. */
struct longest {
	uint64_t ns;
	uint32_t stack, thread;
};

struct executor {
	uint64_t all, idle, waits, queued; /* ns; queued: for a core */
	uint64_t awaits[TASK_KINDS];       /* of waits: for other tasks */
	uint64_t runs[TASK_KINDS];         /* in tasks that do not wait for others */
	uint64_t workers;                  /* below ForkJoinWorkerThread.run */
	uint64_t scheduled;                /* in scheduled tasks; of a Timer: also between them */
	struct longest wait, run;          /* in a task */
};

struct starving {
	const struct scene *scene;
	struct executor *pools; /* by pool id; all threads, also those that are no executor's */
	uint32_t count;
	double seconds;
	uint64_t kind; /* METHOD_AWAITS_... */
	int at;        /* its index in awaits and runs */
};

static const uint64_t task_kinds[TASK_KINDS] = {
	METHOD_AWAITS_TASK, METHOD_AWAITS_STAGE, METHOD_AWAITS_FORK};

/* The kind of task (METHOD_AWAITS_...) that the thread waits for. 0: none. */
static uint64_t awaited(const struct scene *scene, const struct profile_part *part)
{
	if ((part->state != THREAD_PARKED && part->state != THREAD_WAITING) ||
		!(places_of(scene->places, part->stack).waits & PLACE_EVENT))
		return 0;
	return places_kinds(scene->places, part->stack, METHOD_AWAITS);
}

static unsigned awaits_kind(
	const struct scene *scene, const struct profile_part *part, uint64_t kind)
{
	return (awaited(scene, part) & kind) != 0;
}

static void longest_add(struct longest *l, const struct profile_part *part)
{
	if (part->weight > l->ns)
		*l = (struct longest){part->weight, part->stack, part->thread};
}

static void executor_add(
	const struct scene *scene, struct executor *e, const struct profile_part *part)
{
	struct place at = places_of(scene->places, part->stack);
	uint64_t awaits = awaited(scene, part);
	/* Carriers run virtual threads as ForkJoinTasks, for which no thread waits. */
	bool mounted = at.seen & METHOD_MOUNTS;

	e->all += part->weight;
	e->queued += part->state == THREAD_RUNNABLE ? part->weight : 0;
	e->workers += at.seen & METHOD_WORKER ? part->weight : 0;
	e->scheduled += at.seen & METHOD_SCHEDULED ? part->weight : 0;
	for (int i = 0; i < TASK_KINDS; i++) {
		if (awaits & task_kinds[i])
			e->awaits[i] += part->weight;
		else if (!awaits && !mounted && at.seen & METHOD_RUNNING(task_kinds[i]))
			e->runs[i] += part->weight;
	}
	if (part->state <= THREAD_RUNNABLE || part->state == THREAD_CARRIER) {
		/* Also between tasks, where it waits for a core to go on. */
		if (!at.idle && at.executor && part->state == THREAD_ON_CPU)
			longest_add(&e->run, part);
	} else if (at.idle || !at.executor) {
		e->idle += part->weight;
	} else {
		e->waits += part->weight;
		longest_add(&e->wait, part);
	}
}

/* Threads on average. */
static double starving_mean(const struct starving *s, uint64_t ns)
{
	return (double)ns / NS_PER_S / s->seconds;
}

static double starving_sum(const struct starving *s, bool runs)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < s->count; i++)
		sum += runs ? s->pools[i].runs[s->at] : s->pools[i].awaits[s->at];
	return starving_mean(s, sum);
}

/*
 * True when no thread of the executor is ever idle. in: its wait or run. False for virtual threads:
 * no pool of theirs can be full.
 */
static bool executor_full(
	const struct scene *scene, const struct executor *e, const struct longest *in)
{
	return in->ns && profile_get_thread(scene->profile, in->thread)->kind == THREAD_JAVA &&
	       (double)e->idle <= STARVED_IDLE * (double)e->all;
}

/* True when its threads are never idle and its tasks mostly wait. */
static bool executor_blocked(const struct scene *scene, const struct executor *e)
{
	return executor_full(scene, e, &e->wait) &&
	       (double)e->waits >= STARVED_WAITS * (double)e->all;
}

/* CPUs idle on average that the JVM may use. -1: not known. */
static double idle_cpus(const struct scene *scene)
{
	return scene->then ? SCENE_RATE(scene->then, scene->last, host.cpus_free_ms) / 1000 : -1;
}

/* CPUs that the JVM may use. 0: not known. */
static double usable_cpus(const struct scene *scene)
{
	double cpus = (double)scene->now->machine_cpus;
	double limit = (double)scene->now->host.cpu_limit / 1000;

	if (cpus <= 0)
		return 0;
	return limit > 0 && limit < cpus ? limit : cpus;
}

/*
 * Threads that would wait for tasks of an executor that computes if its threads never waited for a
 * core. With a share q of these waits, tasks would be done 1 / (1 - q) times as fast, so as many
 * more of the threads that now wait would do something else.
 */
static double waiters_without_queue(
	const struct starving *s, const struct executor *e, double waiters)
{
	double runs = 1 - (double)e->queued / (double)e->all, all = 0;

	for (uint32_t i = 0; i < s->count; i++)
		if (&s->pools[i] != e && s->pools[i].awaits[s->at])
			all += starving_mean(s, s->pools[i].all);
	return runs >= STARVED_RUNS ? all - (all - waiters) / runs : 0;
}

/* True when its threads are never idle and mostly compute, and there may be CPUs for more of them. */
static bool executor_busy(const struct starving *s, const struct executor *e)
{
	const struct scene *scene = s->scene;

	return executor_full(scene, e, &e->run) && !executor_blocked(scene, e) &&
	       (idle_cpus(scene) >= STARVED_FREE ||
		       starving_mean(s, e->all) <= STARVED_FEW * usable_cpus(scene));
}

static struct finding *report_starved(const struct starving *s, const struct executor *e,
	const struct longest *in, double waiters)
{
	const struct scene *scene = s->scene;
	struct profile_part waiter =
		scene_most(scene, EVENT_WALL, PROFILE_ANY_THREAD, awaits_kind, s->kind).part;
	double threads = starving_mean(s, e->all);
	struct finding *f = scene_found(scene, FINDING_COSTS, waiters / (waiters + threads),
		profile_get_thread(scene->profile, in->thread)->pool);

	f->event = EVENT_WALL;
	f->thread = in->thread;
	finding_prove(f, "%s is %s in a task here:", scene_thread(scene, in->thread),
		in == &e->wait ? "blocked" : "busy");
	scene_prove_stack(scene, f, in->stack, 3);
	if (waiter.stack == PROFILE_NONE)
		return f;
	finding_prove(f, "%s waits for a task here:", scene_thread(scene, waiter.thread));
	scene_prove_stack(scene, f, waiter.stack, 3);
	return f;
}

/* The executor that runs nearly all tasks of this kind. NULL: none. */
static const struct executor *only_executor(const struct starving *s)
{
	double all = starving_sum(s, true);

	for (uint32_t i = 0; i < s->count && all > 0; i++)
		if (starving_mean(s, s->pools[i].runs[s->at]) >= (1 - STARVED_OTHERS) * all)
			return &s->pools[i];
	return NULL;
}

/* "all 3 threads db-exec-*", "the only thread report-*". Returns out. */
#define EXECUTOR_NAME 120
static const char *executor_name(
	const struct scene *scene, uint32_t thread, double threads, char out[EXECUTOR_NAME])
{
	const char *pool =
		profile_pool_name(scene->profile, profile_get_thread(scene->profile, thread)->pool);

	if (threads < 1.5)
		snprintf(out, EXECUTOR_NAME, "the only thread %s", pool);
	else
		snprintf(out, EXECUTOR_NAME, "all %.0f threads %s", threads, pool);
	return out;
}

/* Threads wait for tasks of an executor whose threads are all blocked or busy. */
static void judge_full(const struct starving *s)
{
	const struct scene *scene = s->scene;
	const struct executor *e = only_executor(s);
	bool blocked = e && executor_blocked(scene, e);
	double threads = e ? starving_mean(s, e->all) : 0;

	if (threads < STARVED_THREADS || (!blocked && !executor_busy(s, e)))
		return;
	double waiters = starving_sum(s, false) - starving_mean(s, e->awaits[s->at]);
	double queued = blocked ? waiters : waiters_without_queue(s, e, waiters);
	if (queued < STARVED_LEAST || queued < threads + STARVED_QUEUED)
		return;
	const struct longest *in = blocked ? &e->wait : &e->run;
	struct finding *f = report_starved(s, e, in, waiters);
	uint32_t own = places_of(scene->places, in->stack).own;
	f->method = own == PROFILE_NONE ? PROFILE_NONE : scene_frame(scene, own)->method;
	finding_set_text(f, "%.1f threads wait for tasks, while %s %s %s tasks, mostly in %s",
		waiters, executor_name(scene, f->thread, threads, (char[EXECUTOR_NAME]){0}),
		threads < 1.5 ? "is" : "are", blocked ? "blocked in" : "busy with",
		scene_method(scene, f->method));
	finding_advise(f, "%s",
		blocked ? "run blocking tasks in an executor of their own, or add threads (common "
			  "pool: -Djava.util.concurrent.ForkJoinPool.common.parallelism)"
			: "make these tasks cheaper, or add threads if CPUs are idle");
}

/* For FutureTasks only: a thread must run them, while any code may complete a CompletableFuture. */
static void judge_waits_for_itself(const struct starving *s)
{
	const struct scene *scene = s->scene;
	const struct executor *e = NULL;

	for (uint32_t i = 0; i < s->count; i++) {
		if (!executor_blocked(scene, &s->pools[i]))
			continue;
		if (e)
			return;
		e = &s->pools[i];
	}
	if (!e || s->kind != METHOD_AWAITS_TASK || starving_sum(s, true) > STARVED_UNRUN)
		return;
	double threads = starving_mean(s, e->awaits[s->at]);
	if (threads < STARVED_LEAST || threads < (1 - STARVED_IDLE) * starving_mean(s, e->all))
		return;
	struct finding *f = report_starved(s, e, &e->wait, threads);
	f->grade = FINDING_BLOCKED;
	finding_set_text(f, "all %.0f threads %s wait for other tasks, and no thread runs these",
		threads,
		profile_pool_name(
			scene->profile, profile_get_thread(scene->profile, f->thread)->pool));
	finding_advise(f,
		"a task must not wait for a task of its own executor: use another executor for "
		"subtasks");
}

/*
 * For ForkJoinTasks only, such as those of parallel streams: callers run tasks as well, so few of
 * them wait. Evidence: a pool's threads are all blocked in such tasks, while several other threads
 * run or await them.
 */
static void judge_helped(const struct starving *s)
{
	const struct scene *scene = s->scene;

	for (uint32_t i = 0; i < s->count && s->kind == METHOD_AWAITS_FORK; i++) {
		const struct executor *e = &s->pools[i];
		double threads = starving_mean(s, e->all);
		char name[EXECUTOR_NAME];

		if (threads < STARVED_THREADS || !executor_blocked(scene, e) ||
			(double)e->workers < (1 - STARVED_IDLE) * (double)e->all ||
			(double)e->runs[s->at] < STARVED_WAITS * (double)e->all)
			continue;
		double others = starving_sum(s, true) + starving_sum(s, false) -
				starving_mean(s, e->runs[s->at] + e->awaits[s->at]);
		if (others < STARVED_LEAST)
			continue;
		struct finding *f = report_starved(s, e, &e->wait, others);
		uint32_t own = places_of(scene->places, e->wait.stack).own;
		f->method = own == PROFILE_NONE ? PROFILE_NONE : scene_frame(scene, own)->method;
		executor_name(scene, e->wait.thread, threads, name);
		finding_set_text(f,
			"%s %s blocked in tasks, mostly in %s, and %.1f other threads run or await "
			"such tasks",
			name, threads < 1.5 ? "is" : "are", scene_method(scene, f->method), others);
		finding_advise(f,
			"parallel streams are meant for computations: run blocking calls in "
			"an executor of their own");
	}
}

/* The caller frees s.pools. seconds 0: nothing was sampled. */
static struct starving starving_count(const struct scene *scene)
{
	struct starving s = {.scene = scene,
		.count = scene_pools(scene),
		.seconds = scene_seconds(scene, EVENT_WALL)};

	s.pools = xcalloc(s.count + 1, sizeof(*s.pools));
	for (uint32_t i = 0; i < scene->wall_count && s.seconds > 0; i++)
		if (scene_is_java(scene, scene->wall[i].thread))
			executor_add(scene,
				&s.pools[profile_get_thread(scene->profile, scene->wall[i].thread)
						 ->pool],
				&scene->wall[i]);
	return s;
}

static void judge_starved(const struct scene *scene)
{
	struct starving s = starving_count(scene);

	for (s.at = 0; s.at < TASK_KINDS && s.seconds > 0; s.at++) {
		s.kind = task_kinds[s.at];
		judge_full(&s);
		judge_waits_for_itself(&s);
		if (!scene_has(scene, &rule_starved))
			judge_helped(&s);
	}
	free(s.pools);
}

const struct finding_rule rule_starved = {
	.name = "starved",
	.title = "STARVED",
	.what = "starved executors: threads wait for tasks while all threads of the executor are "
		"blocked or busy in tasks",
	.events = 1u << EVENT_WALL,
	.judge = judge_starved,
};

/* --- timer: scheduled tasks delay each other ----------------------------------------------------------------- */

/*
 * Tasks that are due wait in the executor's queue, which no stack shows. Evidence: its threads are
 * never idle, and they run more than one task, which is recognized by its outermost own method. A
 * single task that never pauses delays no other.
 */
#define TIMER_SHARE   0.9  /* smallest share of the executor's time in scheduled tasks */
#define TIMER_QUEUED  0.25 /* largest share in which its threads wait for a core */
#define TIMER_SAMPLES 3    /* of another task, in wall and cpu */
#define TIMER_TASKS   32   /* different ones; more are ignored */

struct timer_task {
	uint32_t method;
	uint64_t count, weight; /* weight: of wall samples */
};

struct timer {
	const struct scene *scene;
	uint32_t pool;
	struct timer_task tasks[TIMER_TASKS];
	unsigned count;
	bool cpu; /* parts that are added are of cpu */
};

static void timer_add(void *ctx, const struct profile_part *part)
{
	struct timer *t = ctx;
	struct place at = places_of(t->scene->places, part->stack);
	unsigned i = 0;

	if (profile_get_thread(t->scene->profile, part->thread)->pool != t->pool ||
		at.outer == PROFILE_NONE || !(at.seen & METHOD_SCHEDULED))
		return;
	uint32_t method = scene_frame(t->scene, at.outer)->method;
	while (i < t->count && t->tasks[i].method != method)
		i++;
	if (i == TIMER_TASKS)
		return;
	if (i == t->count)
		t->tasks[t->count++] = (struct timer_task){.method = method};
	t->tasks[i].count += part->count;
	t->tasks[i].weight += t->cpu ? 0 : part->weight;
}

static void timer_count(struct timer *t)
{
	struct profile_query q = scene_query(t->scene, EVENT_CPU);

	for (uint32_t i = 0; i < t->scene->wall_count; i++)
		timer_add(t, &t->scene->wall[i]);
	t->cpu = true;
	profile_each(t->scene->profile, &q, timer_add, t);
}

/* The task with most wall time and, of the others, the one with most samples. False: there are no two tasks. */
static bool timer_tasks(const struct timer *t, struct timer_task *most, struct timer_task *late)
{
	*most = *late = (struct timer_task){.method = PROFILE_NONE};
	for (unsigned i = 0; i < t->count; i++)
		if (t->tasks[i].weight > most->weight)
			*most = t->tasks[i];
	for (unsigned i = 0; i < t->count; i++)
		if (t->tasks[i].method != most->method && t->tasks[i].count > late->count)
			*late = t->tasks[i];
	return most->weight && late->count >= TIMER_SAMPLES;
}

static void report_timer(const struct starving *s, const struct executor *e,
	const struct timer_task *most, const struct timer_task *late)
{
	const struct scene *scene = s->scene;
	const struct longest *in = e->wait.ns > e->run.ns ? &e->wait : &e->run;
	double threads = starving_mean(s, e->all);
	uint32_t pool = profile_get_thread(scene->profile, in->thread)->pool;
	struct finding *f =
		scene_found(scene, FINDING_COSTS, (double)most->weight / (double)e->all, pool);
	char name[EXECUTOR_NAME];

	f->event = EVENT_WALL;
	f->thread = in->thread;
	f->method = most->method;
	executor_name(scene, in->thread, threads, name);
	finding_set_text(f,
		"%s %s never idle, %.0f %% of the time in the scheduled task %s: others, such as "
		"%s, start late",
		name, threads < 1.5 ? "is" : "are", 100 * f->share,
		scene_method(scene, most->method), scene_method(scene, late->method));
	finding_prove(f, "%s is here for longest:", scene_thread(scene, in->thread));
	scene_prove_stack(scene, f, in->stack, 3);
	finding_advise(
		f, "move the slow task to an executor of its own, or use one with more threads");
}

static void judge_timer(const struct scene *scene)
{
	struct starving s = starving_count(scene);

	for (uint32_t i = 0; i < s.count && s.seconds > 0; i++) {
		const struct executor *e = &s.pools[i];
		struct timer t = {.scene = scene, .pool = i};
		struct timer_task most, late;

		if (starving_mean(&s, e->all) < STARVED_THREADS ||
			(double)e->scheduled < TIMER_SHARE * (double)e->all ||
			(double)e->queued > TIMER_QUEUED * (double)e->all ||
			(!executor_full(scene, e, &e->wait) && !executor_full(scene, e, &e->run)))
			continue;
		timer_count(&t);
		if (timer_tasks(&t, &most, &late))
			report_timer(&s, e, &most, &late);
	}
	free(s.pools);
}

const struct finding_rule rule_timer = {
	.name = "timer",
	.title = "TIMER",
	.what = "scheduled tasks that start late: the threads of their executor are never idle",
	.events = 1u << EVENT_WALL,
	.judge = judge_timer,
};
