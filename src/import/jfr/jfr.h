/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of a flight recording's reader: one chunk after the other, each in memory as a whole.
 *
 *   head | events, constants, metadata, in any order
 *
 * The metadata say of each type which fields it has, so what is not asked for is stepped over. Events name constants by
 * (type, key); a constant is found by where its bytes are and read when something asks for it. Nothing here believes a
 * number: what would lead out of the chunk, or too deep, ends in an error with the byte. One thread.
 */
#ifndef JHOT_IMPORT_JFR_JFR_H
#define JHOT_IMPORT_JFR_JFR_H

#include "base/buf.h"
#include "base/hash.h"
#include "import/feed.h"

#define JFR_HEAD   68
#define JFR_CHUNK  ((uint64_t)1 << 30) /* bytes of a chunk */
#define JFR_NEST   16                  /* types within types, and elements of the metadata */
#define JFR_TYPES  8192
#define JFR_WORDS  (1u << 20) /* of the metadata */
#define JFR_FIELDS 256
#define JFR_WORK \
	64 /* fields that are looked at for each byte of a chunk, at most; of small ones so many: */
#define JFR_WORK_LEAST 1000000
#define JFR_NONE       UINT32_MAX

/* Fields that are asked for, of whatever type. */
enum jfr_slot {
	SLOT_START,
	SLOT_DURATION,
	SLOT_EVENT_THREAD,
	SLOT_SAMPLED_THREAD,
	SLOT_STACK,
	SLOT_STATE,
	SLOT_SAMPLES,
	SLOT_WEIGHT,
	SLOT_OBJECT_CLASS,
	SLOT_MONITOR_CLASS,
	SLOT_PARKED_CLASS,
	SLOT_ALLOCATION_SIZE,
	SLOT_TLAB_SIZE,
	SLOT_SAMPLING_PERIOD,
	SLOT_EVENT,
	SLOT_VALUE,
	SLOT_ID,
	SLOT_NAME,
	SLOT_OS_NAME,
	SLOT_OS_THREAD,
	SLOT_JAVA_NAME,
	SLOT_JAVA_THREAD,
	SLOT_VIRTUAL,
	SLOT_FRAMES,
	SLOT_METHOD,
	SLOT_LINE,
	SLOT_BCI,
	SLOT_TYPE,
	SLOT_DESCRIPTOR,
	SLOT_STRING,
	SLOT_DESCRIPTION,
	SLOT_JVM_NAME,
	SLOT_JVM_VERSION,
	SLOT_JVM_ARGUMENTS,
	SLOT_JAVA_ARGUMENTS,
	SLOT_PID,
	SLOT_JVM_START,
	SLOT_JVM_USER,
	SLOT_JVM_SYSTEM,
	SLOT_MACHINE_TOTAL,
	SLOT_HW_THREADS,
	SLOT_GC_ID,
	SLOT_SUM_OF_PAUSES,
	SLOT_COLLECTIONS,
	SLOT_HEAP_USED,
	SLOT_COMMITTED_SIZE,
	SLOT_RESERVED_SIZE,
	SLOT_ACTIVE_COUNT,
	SLOT_DAEMON_COUNT,
	SLOT_SIZE,
	JFR_SLOTS
};

/* What a field holds. */
enum jfr_kind { KIND_NUMBER, KIND_BYTE, KIND_FLOAT, KIND_DOUBLE, KIND_STRING, KIND_STRUCT };

/* Types that something is done with. */
enum jfr_known {
	KNOWN_NONE,
	KNOWN_STRING,
	KNOWN_THREAD,
	KNOWN_CLASS,
	KNOWN_METHOD,
	KNOWN_SYMBOL,
	KNOWN_TRACE,
	KNOWN_FRAME,
	KNOWN_FRAME_TYPE,
	KNOWN_THREAD_STATE,
	KNOWN_GC_NAME,
	/* events: samples */
	KNOWN_EXECUTION,
	KNOWN_CPU_TIME,
	KNOWN_NATIVE,
	KNOWN_WALL,
	KNOWN_PERF,
	KNOWN_ALLOCATION,
	KNOWN_IN_TLAB,
	KNOWN_OUTSIDE_TLAB,
	KNOWN_MONITOR_ENTER,
	KNOWN_PARK,
	/* of the recording */
	KNOWN_SETTING,
	KNOWN_JVM,
	/* of how the JVM was */
	KNOWN_CPU_LOAD,
	KNOWN_COLLECTION,
	KNOWN_HEAP,
	KNOWN_THREAD_COUNT,
	KNOWN_RESIDENT,
	KNOWN_CPUS,
	KNOWN_TYPES
};

struct jfr_field {
	uint64_t type;  /* id */
	uint32_t index; /* of that type; JFR_NONE: it is not told */
	int slot;       /* -1: of no interest */
	bool constant, array;
};

struct jfr_type {
	uint64_t id;
	enum jfr_kind kind;
	enum jfr_known known;
	struct jfr_field *fields;
	uint32_t field_count, fields_cap;
	/* constants of it */
	struct hash_index index; /* by key */
	struct jfr_constant {
		uint64_t key;
		size_t at;
		uint32_t
			value; /* what it became: a stack, a frame's method...; JFR_NONE: not asked yet */
	} * constants;
	uint32_t constant_count, constants_cap;
};

/* The fields of interest of one record: numbers, or where a string or an array begins. */
struct jfr_record {
	uint64_t value[JFR_SLOTS];
	uint64_t has; /* a bit per slot */
	/* Whose value is where something begins, by the file's own types, which may be any. */
	uint64_t places;
};
_Static_assert(JFR_SLOTS <= 64, "a bit per slot");

/* How events are sampled, as the recording's settings tell; 0, false: they do not. */
struct jfr_setting {
	uint64_t interval;
	bool enabled;
	char event[64], unit[16]; /* of jhot's: of those that follow */
};

/* Shares of all the machine's CPUs. */
struct jfr_load {
	double user, system, machine;
};

/* What one event says of how the JVM was; of amounts -1: not known. */
struct jfr_reading {
	uint64_t ns; /* since the recording's begin */
	enum jfr_known known;
	struct jfr_load load; /* up to then, as jdk.CPULoad told next; -1: not known */
	union {
		struct {
			int64_t number, count, pause_ns;
		};
		struct {
			int64_t used, committed, reserved;
		};
		struct {
			int64_t live, daemon;
		};
		int64_t resident;
	};
};

struct jfr {
	struct import *im;
	struct err *err;
	/* the chunk */
	unsigned char *bytes;
	size_t size, capacity;
	uint64_t work;
	uint64_t offset; /* of the chunk in the file */
	uint64_t constants_at, metadata_at, start_ns, duration_ns, start_ticks, ticks_per_s;
	struct jfr_type *types;
	uint32_t type_count, types_cap;
	struct hash_index type_index;
	uint32_t known[KNOWN_TYPES]; /* types; JFR_NONE: there is none */
	bool profiler;               /* jhot or async-profiler has written it */
	/* the file */
	uint64_t first_ns; /* when it begins */
	uint64_t chunks;   /* that were read */
	bool damaged;      /* the error is about the file's bytes */
	struct jfr_setting settings[KNOWN_TYPES];
	uint64_t own_interval; /* of async-profiler's settings, which are of no type */
	bool own_wall;         /* it says that its ExecutionSamples are of the wall clock */
	/* samples of the chunk, to be put into their order */
	struct feed_sample *samples;
	size_t sample_count, samples_cap;
	/* and how the JVM was meanwhile */
	struct jfr_reading *readings;
	uint32_t reading_count, readings_cap;
	bool vitals_told;      /* any of them, of any chunk */
	uint64_t load_ns;      /* up to when this is added up: */
	struct jfr_load spent; /* ms of CPU time */
	uint64_t jvm_start_s;  /* since 1970; 0: not known */
	struct buf text, more;
};

/* A place in the chunk. */
struct jfr_at {
	size_t at, end;
};

/* The file is damaged: always -1, with its byte. */
int flight_bad(struct jfr *j, size_t at, const char *what);

/* --- record.c: values ------------------------------------------------------------------------------------ */

bool flight_take_number(const struct jfr *j, struct jfr_at *c, uint64_t *value);
bool flight_take_bytes(struct jfr_at *c, size_t bytes, size_t *at);
/* A string in the stream is stepped over. false: it is damaged. */
bool flight_skip_string(const struct jfr *j, struct jfr_at *c);
/* The string at a place, as far as about `most` bytes: the time does not depend on how long it is. */
void flight_read_string(struct jfr *j, size_t at, size_t most, struct buf *out);
/* All fields of a type; out: NULL: they are only stepped over. 0, or -1 with an error. */
int flight_take_record(struct jfr *j, uint32_t type, struct jfr_at *c, struct jfr_record *out);
/* A string that a record has. */
const char *flight_string(struct jfr *j, const struct jfr_record *r, enum jfr_slot slot);

/* --- metadata.c ------------------------------------------------------------------------------------------ */

int flight_metadata(struct jfr *j);
uint32_t flight_type_find(const struct jfr *j, uint64_t id);
void flight_types_done(struct jfr *j);

/* --- constants.c ----------------------------------------------------------------------------------------- */

/* One event of constants, behind its size and type. */
int flight_constants(struct jfr *j, struct jfr_at *c);
/* NULL: there is no such constant. */
struct jfr_constant *flight_constant(struct jfr *j, enum jfr_known known, uint64_t key);
/* What constants are in the profile. 0 or -1; what is not there is an empty stack, PROFILE_NONE, "". */
int flight_stack(struct jfr *j, uint64_t key, uint32_t *stack);
int flight_thread(struct jfr *j, uint64_t key, uint32_t *thread);
/* Both in j->text. */
int flight_class_name(struct jfr *j, uint64_t key);
int flight_word(struct jfr *j, enum jfr_known known, enum jfr_slot slot, uint64_t key);

/* --- events.c -------------------------------------------------------------------------------------------- */

/* Settings, and what is told of the JVM. */
int flight_event_facts(struct jfr *j, enum jfr_known known, struct jfr_at *c);
/* A sample, if it is one. */
int flight_event_sample(struct jfr *j, enum jfr_known known, struct jfr_at *c);
/* Samples and readings of the chunk into the profile. */
int flight_events_feed(struct jfr *j);
uint64_t flight_ns(const struct jfr *j, uint64_t ticks);
/* Since the recording's begin; a time outside of the chunk is at its nearer end. */
uint64_t flight_time(const struct jfr *j, const struct jfr_record *r);

/* --- vitals.c -------------------------------------------------------------------------------------------- */

/* How the JVM was, if the event tells of it. */
int flight_reading(struct jfr *j, enum jfr_known known, struct jfr_at *c);
/* In the order of time; of which second number `at` is (UINT32_MAX: there is none); all of that second, returns the next. */
void flight_vitals_sort(struct jfr *j);
uint32_t flight_vitals_second(const struct jfr *j, uint32_t at);
uint32_t flight_vitals_feed(struct jfr *j, uint32_t at);

#endif
