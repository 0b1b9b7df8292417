/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings, metadata of the JVM, and samples, one table row per type.
 *
 * Samples of jhot and async-profiler are cpu, alloc, lock and wall. Of JDK files, ExecutionSample
 * is cpu, or "execution" if there is the better CPUTimeSample; NativeMethodSample is "native",
 * since such threads may be waiting; ThreadPark is "park", since idle threads park, too. TLAB
 * events are alloc unless there are ObjectAllocationSamples.
 */
#include "import/jfr/jfr.h"

#include "base/clock.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLES_MAX ((size_t)1 << 26) /* per chunk */

/* Stops at a NUL, after which some JDKs write uninitialized memory. */
static void fact_copy(char *to, size_t bytes, const char *text)
{
	feed_copy(to, bytes, text, strlen(text));
}

/* --- settings ---------------------------------------------------------------------------------------- */

/* Parses a sampling interval: "20 ms", "10000000", "100/s". Returns ns, 0 if invalid. */
static uint64_t setting_interval(const char *text)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = {{"", 1}, {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}};
	char *unit;
	double number = strtod(text, &unit);

	while (*unit == ' ')
		unit++;
	if (!(number > 0) || number > 1e18)
		return 0;
	if (!strcmp(unit, "/s"))
		return (uint64_t)(1e9 / number);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(units[i].unit, unit))
			return number * units[i].ns < 1e18 ? (uint64_t)(number * units[i].ns) : 0;
	return 0;
}

static void setting_apply(struct jfr *j, enum jfr_known of, const char *name, const char *value)
{
	struct jfr_setting *s = &j->settings[of];
	uint64_t interval = setting_interval(value);

	if (!strcmp(name, "enabled"))
		s->enabled |= !strcmp(value, "true"); /* it may be switched on later */
	else if (!strcmp(name, "event"))
		feed_copy(s->event, sizeof(s->event), value, strlen(value));
	else if (!strcmp(name, "unit"))
		feed_copy(s->unit, sizeof(s->unit), value, strlen(value));
	else if ((!strcmp(name, "period") || !strcmp(name, "interval")) && interval)
		s->interval = interval;
	else if (!strcmp(name, "wall") &&
		 interval) /* async-profiler writes it among those of cpu */
		j->settings[KNOWN_WALL].interval = interval;
	/* jhot: events of perf, one after the other */
	if (of == KNOWN_PERF && *s->event && *s->unit && !strcmp(name, "interval"))
		feed_event(j->im, s->event, s->unit, interval, NULL);
}

static int setting_event(struct jfr *j, struct jfr_cursor *c)
{
	enum jfr_known of = KNOWN_NONE;
	struct jfr_record r;
	char name[128];

	if (flight_read_record(j, j->known[KNOWN_SETTING], c, &r))
		return -1;
	uint32_t type = flight_type_find(j, flight_value(&r, SLOT_ID));
	if (type != JFR_NONE)
		of = j->types[type].known;
	fact_copy(name, sizeof(name), flight_string(j, &r, SLOT_NAME));
	flight_string(j, &r, SLOT_VALUE);
	if (of >= KNOWN_EXECUTION && of != KNOWN_SETTING && of != KNOWN_JVM)
		setting_apply(j, of, name, buf_str(&j->text));
	else {
		/* Settings without a type are metadata of jhot, or settings of async-profiler. */
		const char *value = buf_str(&j->text);
		struct imported *out = j->im->out;

		if (!strcmp(name, "interval"))
			j->own_interval = setting_interval(value);
		else if (!strcmp(name, "event"))
			j->own_wall = !strcmp(value, "wall");
		else if (!strcmp(name, "host"))
			feed_copy(out->host, sizeof(out->host), value, strlen(value));
		else if (!strcmp(name, "name"))
			feed_copy(out->vitals.name, sizeof(out->vitals.name), value, strlen(value));
		else if (!strncmp(name, "label.", strlen("label.")))
			feed_label(j->im, name + strlen("label."), value);
	}
	return 0;
}

static int jvm_event(struct jfr *j, struct jfr_cursor *c)
{
	struct vitals *v = &j->im->out->vitals;
	const char *end;
	struct jfr_record r;

	if (flight_read_record(j, j->known[KNOWN_JVM], c, &r))
		return -1;
	/*
	 * "OpenJDK 64-Bit Server VM (25.504-b08) for linux-amd64 JRE (1.8.0_504-b08), ...": of the
	 * JRE, up to the build
	 */
	const char *text = flight_string(j, &r, SLOT_JVM_VERSION);
	const char *jre = strstr(text, "JRE (");
	const char *begin = strchr(jre ? jre : text, '(');
	begin = begin ? begin + 1 : text;
	for (end = begin; isalnum((unsigned char)*end) || *end == '.' || *end == '_';)
		end++;
	feed_copy(v->jdk, sizeof(v->jdk), begin, (size_t)(end - begin));
	fact_copy(v->vm, sizeof(v->vm), flight_string(j, &r, SLOT_JVM_NAME));
	fact_copy(v->vm_args, sizeof(v->vm_args), flight_string(j, &r, SLOT_JVM_ARGUMENTS));
	fact_copy(v->command, sizeof(v->command), flight_string(j, &r, SLOT_JAVA_ARGUMENTS));
	if (!v->name[0])
		feed_copy(v->name, sizeof(v->name), v->command, strcspn(v->command, " "));
	uint64_t pid = flight_value(&r, SLOT_PID);
	v->pid = pid < INT32_MAX ? (int)pid : 0;
	j->jvm_start_s = flight_value(&r, SLOT_JVM_START) / 1000;
	return 0;
}

int flight_event_facts(struct jfr *j, enum jfr_known known, struct jfr_cursor *c)
{
	/* some JDKs have no setting for these */
	if (known == KNOWN_CPU_TIME || known == KNOWN_ALLOCATION)
		j->settings[known].enabled = true;
	return known == KNOWN_SETTING ? setting_event(j, c)
	       : known == KNOWN_JVM   ? jvm_event(j, c)
				      : 0;
}

/* --- samples ----------------------------------------------------------------------------------------- */

struct sample {
	const struct jfr_record *r;
	enum jfr_known known;
	struct feed_sample out;
	const char *event, *unit;
	uint64_t interval;
	uint64_t class_key; /* of the class at the end of its stack; 0: none */
	enum frame_type class_type;
};

/* Weighs a sample by the sampling interval. */
static void sample_each(struct jfr *j, struct sample *s, const char *event, uint64_t otherwise)
{
	/* async-profiler in wall mode uses the interval of cpu */
	bool alone = s->known == KNOWN_WALL && j->own_wall;
	uint64_t interval = j->settings[alone ? KNOWN_EXECUTION : s->known].interval;

	interval = interval ? interval : j->own_interval ? j->own_interval : otherwise;
	s->event = event;
	s->unit = "ns";
	s->interval = interval;
	s->out.weight = s->out.count < UINT64_MAX / interval ? s->out.count * interval : 0;
}

static void sample_execution(struct jfr *j, struct sample *s)
{
	s->out.count = 1;
	sample_each(j, s,
		j->own_wall && j->profiler                            ? "wall"
		: j->settings[KNOWN_CPU_TIME].enabled && !j->profiler ? "execution"
								      : "cpu",
		20 * NS_PER_MS);
}

static void sample_cpu_time(struct jfr *j, struct sample *s)
{
	s->out.count = 1;
	s->event = "cpu";
	s->unit = "ns";
	s->interval = flight_ns(j, flight_value(s->r, SLOT_SAMPLING_PERIOD));
	s->out.weight = s->interval;
}

/* jhot writes these in addition to a wall-clock sample. */
static void sample_native(struct jfr *j, struct sample *s)
{
	s->out.count = !j->profiler;
	sample_each(j, s, "native", 20 * NS_PER_MS);
}

static void sample_wall(struct jfr *j, struct sample *s)
{
	s->out.count = s->r->has >> SLOT_SAMPLES & 1 ? flight_value(s->r, SLOT_SAMPLES) : 1;
	sample_each(j, s, "wall", 50 * NS_PER_MS);
}

static void sample_perf(struct jfr *j, struct sample *s)
{
	s->event = flight_string(j, s->r, SLOT_EVENT);
	s->unit = "events";
	s->out.count = flight_value(s->r, SLOT_SAMPLES);
	s->out.weight = flight_value(s->r, SLOT_VALUE);
}

static void sample_allocation(struct jfr *j, struct sample *s)
{
	s->event = "alloc";
	s->unit = "bytes";
	s->interval = j->settings[s->known].interval;
	s->out.count = 1;
	s->class_key = flight_value(s->r, SLOT_OBJECT_CLASS);
	s->class_type = FRAME_CLASS;
	s->out.weight = flight_value(s->r, SLOT_WEIGHT);
}

static void sample_tlab(struct jfr *j, struct sample *s)
{
	sample_allocation(j, s);
	if (s->known == KNOWN_OUTSIDE_TLAB)
		s->class_type = FRAME_CLASS_OUTSIDE;
	s->out.weight = s->r->has >> SLOT_TLAB_SIZE & 1 ? flight_value(s->r, SLOT_TLAB_SIZE)
							: flight_value(s->r, SLOT_ALLOCATION_SIZE);
	if (j->settings[KNOWN_ALLOCATION].enabled)
		s->out.count = s->out.weight = 0; /* the samples already account for this memory */
}

static void sample_wait(struct jfr *j, struct sample *s)
{
	bool park = s->known == KNOWN_PARK;

	s->event = park && !j->profiler ? "park" : "lock";
	s->unit = "ns";
	s->out.count = 1;
	s->out.weight = flight_ns(j, flight_value(s->r, SLOT_DURATION));
	s->class_key = flight_value(s->r, park ? SLOT_PARKED_CLASS : SLOT_MONITOR_CLASS);
	s->class_type = FRAME_CLASS;
}

static void (*const sample_rows[KNOWN_TYPES])(struct jfr *j, struct sample *s) = {
	[KNOWN_EXECUTION] = sample_execution,
	[KNOWN_CPU_TIME] = sample_cpu_time,
	[KNOWN_NATIVE] = sample_native,
	[KNOWN_WALL] = sample_wall,
	[KNOWN_PERF] = sample_perf,
	[KNOWN_ALLOCATION] = sample_allocation,
	[KNOWN_IN_TLAB] = sample_tlab,
	[KNOWN_OUTSIDE_TLAB] = sample_tlab,
	[KNOWN_MONITOR_ENTER] = sample_wait,
	[KNOWN_PARK] = sample_wait,
};

/* Thread states in wall-clock samples of async-profiler and jhot. The JDK samples running threads only. */
static enum thread_state sample_state(struct jfr *j, const struct sample *s, const char *word)
{
	static const struct {
		const char *word;
		enum thread_state state;
	} words[] = {
		{"STATE_RUNNABLE", THREAD_ON_CPU},
		{"STATE_SLEEPING", THREAD_SLEEPING},
		{"STATE_BLOCKED_ON_MONITOR_ENTER", THREAD_MONITOR},
		{"STATE_IN_OBJECT_WAIT", THREAD_WAITING},
		{"STATE_PARKED", THREAD_PARKED},
		{"STATE_IN_IO", THREAD_IO},
	};

	if (strcmp(s->event, "wall") != 0)
		return THREAD_STATE_NONE;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(words[i].word, word))
			return words[i].state;
	return THREAD_STATE_NONE;
}

static int sample_stack(struct jfr *j, struct sample *s)
{
	uint32_t stack;

	if (flight_stack(j, flight_value(s->r, SLOT_STACK), &stack))
		return -1;
	if (s->class_key) {
		if (flight_class_name(j, s->class_key))
			return -1;
		if (j->text.len)
			stack = profile_stack_child(j->im->p, stack,
				profile_frame(j->im->p,
					feed_method(j->im, buf_str(&j->text), "", "", ""),
					s->class_type, 0xffff, 0));
	}
	s->out.stack = stack;
	return 0;
}

int flight_event_sample(struct jfr *j, enum jfr_known known, struct jfr_cursor *c)
{
	struct jfr_record r;
	struct sample s = {.r = &r, .known = known};

	if (known >= KNOWN_TYPES || !sample_rows[known])
		return 0;
	if (flight_read_record(j, j->known[known], c, &r))
		return -1;
	sample_rows[known](j, &s);
	if (!s.out.count && !s.out.weight)
		return 0;
	s.out.event = feed_event(j->im, *s.event ? s.event : "samples", s.unit, s.interval, j->err);
	if (s.out.event < 0 ||
		flight_word(j, KNOWN_THREAD_STATE, SLOT_NAME, flight_value(&r, SLOT_STATE)))
		return -1;
	s.event = profile_get_event(j->im->p, s.out.event)->name;
	s.out.state = sample_state(j, &s, buf_str(&j->text));
	uint64_t thread = r.has >> SLOT_SAMPLED_THREAD & 1 ? r.value[SLOT_SAMPLED_THREAD]
							   : flight_value(&r, SLOT_EVENT_THREAD);
	if (flight_thread(j, thread, &s.out.thread) || sample_stack(j, &s))
		return -1;
	uint64_t ns = flight_time(j, &r);
	s.out.second = (uint32_t)(ns / NS_PER_S);
	s.out.part = (uint8_t)(1 + ns % NS_PER_S / (NS_PER_S / PROFILE_PULSE));
	if (j->sample_count == j->samples_cap) {
		if (j->samples_cap >= SAMPLES_MAX)
			return flight_bad(j, 8, "the chunk has more than 67 million samples");
		j->samples_cap = j->samples_cap ? 2 * j->samples_cap : 1024;
		j->samples = xreallocarray(j->samples, j->samples_cap, sizeof(*j->samples));
	}
	j->samples[j->sample_count++] = s.out;
	return 0;
}

static int sample_compare(const void *a, const void *b)
{
	const struct feed_sample *x = a, *y = b;

	return x->second < y->second ? -1 : x->second > y->second;
}

/* Samples precede the readings of their second, which were made at its end. */
int flight_events_feed(struct jfr *j)
{
	uint32_t reading = 0;
	size_t i = 0;

	if (j->sample_count)
		qsort(j->samples, j->sample_count, sizeof(*j->samples), sample_compare);
	flight_vitals_sort(j);
	while (i < j->sample_count || reading < j->reading_count) {
		uint32_t until = flight_vitals_second(j, reading);
		for (; i < j->sample_count && j->samples[i].second <= until; i++)
			if (feed_sample(j->im, &j->samples[i], j->err))
				return -1;
		if (reading < j->reading_count)
			reading = flight_vitals_feed(j, reading);
	}
	j->sample_count = 0;
	j->reading_count = 0;
	return 0;
}
