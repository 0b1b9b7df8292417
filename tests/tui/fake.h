/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A mock session for the live view, without a JVM: the real model, fed by tests/profile/feed.h, and invented vitals.
 * Each drain is one second of the program. Independent of any clock; the same seed gives the same screens.
 */
#ifndef JHOT_TESTS_TUI_FAKE_H
#define JHOT_TESTS_TUI_FAKE_H

#include "tests/profile/feed.h"
#include "tests/profile/feed_calls.h"
#include "tui/config/config.h"
#include "tui/frame/app.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FAKE_THREADS 20

struct fake {
	struct profile *profile, *before; /* before: the previous session's, until fake_forget() */
	struct feed cpu, alloc;
	struct vitals vitals;
	struct app_thread threads[FAKE_THREADS];
	uint32_t second;  /* seconds passed so far */
	bool idle;        /* no samples arrive */
	bool collects;    /* the collector pauses the program for much of the time */
	bool broken;      /* some stacks could not be walked */
	uint32_t end;     /* the JVM exits at this second; 0: never */
	bool manual;      /* drain adds nothing: the test adds samples itself */
	bool lost;        /* the session ends, not the JVM */
	bool timed;       /* wall can be sampled, and calls be measured, */
	bool uncalled;    /* but there are none */
	bool wall;        /* wall is on */
	char method[200]; /* whose calls are measured; "": none */
	struct feed_calls calls;
	int parked;
	int tick_fd;            /* gets a byte per drain if not 0 */
	char exported[256];     /* the last path */
	char saved[256];        /* the last path of S */
	int existing_saves;     /* number of further paths of S that exist already */
	struct buf config;      /* the settings that W wrote */
	struct app_export wish; /* the last export that was requested */
};

static inline void fake_vitals(struct fake *f)
{
	struct vitals *v = &f->vitals;
	uint32_t s = f->second;

	*v = (struct vitals){.pid = 41234, .alive = true, .uptime_s = 273840 + s};
	strcpy(v->name, "shop-api.jar");
	strcpy(v->jdk, "21.0.4");
	strcpy(v->user, "web");
	strcpy(v->gc_name, "G1");
	strcpy(v->vm, "OpenJDK 64-Bit Server VM");
	strcpy(v->command,
		"/opt/shop/shop-api.jar --port 8080 --spring.profiles.active=production");
	strcpy(v->vm_args,
		"-Xms2g -Xmx4g -XX:+UseG1GC -XX:MaxGCPauseMillis=50 -Dfile.encoding=UTF-8 "
		"-XX:+HeapDumpOnOutOfMemoryError -XX:HeapDumpPath=/var/log/shop");
	strcpy(v->walker, "hotspot");
	v->cpu_pct = f->idle ? 0 : 180 + (int)(s * 37 % 90);
	v->cpu = (struct vitals_cpu){v->cpu_pct * 6 / 10, v->cpu_pct / 10, v->cpu_pct * 2 / 10, 0};
	v->cpu.kernel_pct = v->cpu_pct - v->cpu.java_pct - v->cpu.jit_pct - v->cpu.gc_pct;
	v->rss_bytes = 5476083302;
	v->heap_max = 4294967296;
	v->heap_used = 500000000 + (int64_t)(s % 9) * 210000000;
	v->gc_count = 1200 + s / 3;
	v->gc_time_ms = 16000 + s / 3 * 14;
	v->gc_time_ns = v->gc_time_ms * 1000000;
	v->gc_pct_x10 = f->idle ? 0 : 12 + (int)(s % 3);
	if (f->collects)
		v->gc_pct_x10 = 300 + (int)(s * 7 % 50);
	v->safepoint_pct_x10 = 15;
	v->safepoint_count = v->safepoint_time_ms = -1;
	v->threads_live = 142;
	v->threads_daemon = 120;
	v->threads_running = f->idle ? 0 : 7 + (int)(s % 4);
	v->classes_loaded = 18211;
	v->cost_pct_x10 = 3;
	for (int i = 0; i < EVENT_USER_FIRST; i++) {
		v->events[i].interval = (int64_t)profile_events[i].default_interval;
		v->events[i].state = i < 2 || (i == EVENT_WALL && f->wall);
	}
	strcpy(v->events[EVENT_CPU].engine, "ctimer");
	strcpy(v->events[EVENT_ALLOC].engine, "tlab");
	if (f->broken) {
		v->events[EVENT_CPU].samples = 10000 * s;
		v->counter_count = 3;
		strcpy(v->counters[0].name, "busy");
		v->counters[0].value = 7;
		strcpy(v->counters[1].name, "break_native");
		v->counters[1].value = 21 * s / 10; /* 0.02 % in any window of 10 s */
		strcpy(v->counters[2].name, "unknown");
		v->counters[2].value = 2;
	}
}

static inline void fake_threads(struct fake *f)
{
	for (uint32_t i = 0; i < FAKE_THREADS; i++)
		f->threads[i] = (struct app_thread){.thread = i,
			.state = i % 5 == 0 ? 'R' : 'S',
			.user_pct = (float)((i * 7 + f->second) % 40),
			.system_pct = (float)(i * 3 % 11)};
}

/* One second of the program passes. */
static inline void fake_second(struct fake *f)
{
	profile_advance(f->profile, f->second);
	if (!f->idle) {
		feed_second(&f->cpu, f->second);
		feed_second(&f->alloc, f->second);
	}
	if (*f->method && !f->uncalled)
		feed_calls_until(&f->calls, (f->second + 1ull) * NS_PER_S);
	f->second++;
	profile_advance(f->profile, f->second);
	fake_vitals(f);
	fake_threads(f);
}

/* Begins a session with a new, empty profile. */
static inline void fake_fresh(struct fake *f, uint32_t rate)
{
	profile_free(f->profile);
	feed_done(&f->cpu);
	feed_done(&f->alloc);
	f->second = 0;
	f->wall = false;
	f->method[0] = '\0';
	f->profile = profile_new();
	profile_set_start(f->profile, 1700000000000000000);
	feed_init(&f->cpu, f->profile, &(struct feed_options){.rate = rate});
	feed_init(&f->alloc, f->profile, &(struct feed_options){.event = EVENT_ALLOC, .seed = 7});
	fake_vitals(f);
	fake_threads(f);
}

static inline void fake_init(struct fake *f, uint32_t rate)
{
	memset(f, 0, sizeof(*f));
	fake_fresh(f, rate);
}

static inline void fake_done(struct fake *f)
{
	feed_done(&f->cpu);
	feed_done(&f->alloc);
	profile_free(f->profile);
	profile_free(f->before);
	buf_done(&f->config);
}

/* --- app_ops ----------------------------------------------------------------------------------------- */

static const struct app_jvm fake_jvms[] = {
	{.id = 41234,
		.pid = 41234,
		.user = "web",
		.jdk = "21.0.4",
		.name = "shop-api.jar",
		.attach = "ok",
		.cpu_pct = 231,
		.rss_bytes = 5476083302,
		.uptime_s = 273840,
		.threads = 142,
		.can_attach = true,
		.heap_used = 2254857830,
		.gc_pct_x10 = 38,
		.hot_pct = 31,
		.hot = "PriceEngine.computeAllDiscountsOfTheBasketAtOnce",
		.verdict = "ok"},
	{.id = 40877,
		.pid = 40877,
		.user = "web",
		.jdk = "17.0.9",
		.name = "kafka.Kafka",
		.attach = "ok",
		.cpu_pct = 12,
		.rss_bytes = 1503238553,
		.uptime_s = 273840,
		.threads = 61,
		.can_attach = true,
		.heap_used = -1,
		.gc_pct_x10 = -1,
		.hot_pct = -1,
		.verdict = "CODE CACHE"},
	{.id = 40120,
		.pid = 40120,
		.user = "batch",
		.jdk = "11.0.22",
		.name = "NightlyReport",
		.attach = "sudo",
		.why = "it runs as user batch; HotSpot lets only that user or root attach: "
		       "sudo jhot 40120",
		.cpu_pct = 3,
		.rss_bytes = 943718400,
		.uptime_s = 43200,
		.threads = 38,
		.can_attach = false,
		.heap_used = -1,
		.gc_pct_x10 = -1,
		.hot_pct = -1,
		.verdict = "refused"},
	{.id = 51777,
		.pid = 51777,
		.user = "1000",
		.jdk = "21.0.3",
		.name = "app.jar",
		.attach = "ok ns",
		.cpu_pct = 44,
		.rss_bytes = 2147483648,
		.uptime_s = 7200,
		.threads = 90,
		.can_attach = true},
	{.id = 52110,
		.pid = 52110,
		.user = "web",
		.jdk = "GraalNI",
		.name = "native-image",
		.attach = "no",
		.why = "it is not a HotSpot JVM",
		.cpu_pct = 1,
		.rss_bytes = 83886080,
		.uptime_s = 7200,
		.threads = 9,
		.can_attach = false},
	{.id = 52111,
		.pid = 52111,
		.user = "web",
		.jdk = "21.0.4",
		.name = "gone.jar",
		.attach = "ok",
		.cpu_pct = -1,
		.rss_bytes = -1,
		.uptime_s = -1,
		.threads = 9,
		.can_attach = true},
};

static inline int fake_list(void *ctx, const struct app_jvm **out, struct err *err)
{
	*out = fake_jvms;
	return sizeof(fake_jvms) / sizeof(fake_jvms[0]);
}

static inline int fake_attach(void *ctx, int pid, int event, struct err *err)
{
	struct fake *f = ctx;

	if (pid != 52111) {
		profile_free(f->before);
		f->before = f->profile;
		f->profile = NULL;
		fake_fresh(f, f->cpu.o.rate);
		return 0;
	}
	err_set(err, ERR_ATTACH,
		"The JVM runs as user \"batch\" (uid 1004); you are \"web\" (uid 1001). HotSpot "
		"only accepts "
		"attach from the same uid or from root.");
	err_hint(err, "sudo -u batch jhot 40120");
	err_hint(err, "sudo jhot 40120");
	err_hint(err, "jhot view saved.jfr          (look at an existing recording)");
	err_detail(err, "socket /tmp/.java_pid40120  EACCES   agent not loaded   JVM untouched");
	return -1;
}

static inline void fake_forget(void *ctx)
{
	struct fake *f = ctx;

	profile_free(f->before);
	f->before = NULL;
}

static inline const struct profile *fake_profile(void *ctx)
{
	return ((struct fake *)ctx)->profile;
}

static inline const struct vitals *fake_get_vitals(void *ctx)
{
	struct fake *f = ctx;

	profile_vitals_set(f->profile, &f->vitals);
	return &f->vitals;
}

static inline int fake_drain(void *ctx, struct err *err)
{
	struct fake *f = ctx;

	if (f->tick_fd && write(f->tick_fd, ".", 1) < 0)
		f->tick_fd = 0;
	if (f->lost)
		return err_set(err, ERR_FAILED, "Session with JVM 41234 ended: jhot stop.");
	if (f->end && f->second >= f->end)
		return err_set(err, ERR_GONE, "The JVM 41234 has exited; what was sampled stays.");
	if (!f->manual)
		fake_second(f);
	return (int)f->cpu.o.rate;
}

static inline int fake_get_threads(void *ctx, const struct app_thread **out)
{
	*out = ((struct fake *)ctx)->threads;
	return FAKE_THREADS;
}

static inline int fake_event_set(void *ctx, int event, bool on, uint64_t interval, struct err *err)
{
	struct fake *f = ctx;

	if (event < EVENT_LOCK)
		return 0;
	if (event == EVENT_WALL && f->timed) {
		f->wall = on;
		f->vitals.events[EVENT_WALL].state = on;
		return 0;
	}
	return err_set(err, ERR_FAILED, "The event %s cannot be sampled here.",
		profile_events[event].name);
}

static inline int fake_latency(void *ctx, const char *method, uint64_t *begin_ns, struct err *err)
{
	struct fake *f = ctx;

	if (!f->wall)
		return err_set(err, ERR_FAILED, "The event wall is off.");
	*begin_ns = (uint64_t)f->second * NS_PER_S;
	snprintf(f->method, sizeof(f->method), "%s", method);
	calls_begin(f->profile, *method ? method : NULL, 5 * NS_PER_MS);
	if (*method)
		feed_calls_init(&f->calls, f->profile, method, *begin_ns);
	return 0;
}

static inline const struct app_format *fake_formats(void *ctx)
{
	static const struct app_format formats[] = {{".svg", "flame graph"},
		{".collapsed", "one line per stack"}, {".json", "for speedscope"}, {0}};

	return formats;
}

static inline int fake_save(void *ctx, const char *path, char *done, size_t bytes, struct err *err)
{
	struct fake *f = ctx;

	snprintf(f->saved, sizeof(f->saved), "%s", path);
	if (f->existing_saves > 0 && f->existing_saves--)
		return APP_EXISTS;
	snprintf(done, bytes, "saved %s", path);
	return 0;
}

static inline int fake_export(
	void *ctx, const struct app_export *what, char *done, size_t bytes, struct err *err)
{
	struct fake *f = ctx;

	if (strstr(what->path, "full"))
		return err_set(
			err, ERR_OUTPUT, "The disk is full: %s was not written.", what->path);
	if (!what->overwrite && !strcmp(what->path, f->exported))
		return APP_EXISTS;
	snprintf(f->exported, sizeof(f->exported), "%s", what->path);
	f->wish = *what;
	snprintf(done, bytes, "wrote %s: %llu samples", what->path,
		(unsigned long long)profile_sum(f->profile, &what->query).count);
	return 0;
}

static inline int fake_config_write(
	void *ctx, const struct config_values *values, char *done, size_t bytes, struct err *err)
{
	struct fake *f = ctx;

	buf_clear(&f->config);
	config_write(NULL, values, &f->config);
	snprintf(done, bytes, "wrote the settings");
	return 0;
}

static inline void fake_park(void *ctx, bool parked)
{
	((struct fake *)ctx)->parked += parked ? 1 : -1;
}

static inline bool fake_step(void *ctx)
{
	return true; /* fake_drain() passes the seconds */
}

static const struct app_ops fake_ops = {
	.list = fake_list,
	.attach = fake_attach,
	.forget = fake_forget,
	.profile = fake_profile,
	.vitals = fake_get_vitals,
	.drain = fake_drain,
	.threads = fake_get_threads,
	.event_set = fake_event_set,
	.latency = fake_latency,
	.formats = fake_formats,
	.export = fake_export,
	.save = fake_save,
	.config_write = fake_config_write,
	.park = fake_park,
	.step = fake_step,
};

#endif
