/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading JFR files, chunk by chunk; each chunk is in memory as a whole.
 *
 *   header | events, constants, metadata, in any order
 *
 *   chunk.c      header; three passes over the chunk: constants, settings, samples and vitals
 *   metadata.c   types and their fields          record.c   decoding values and records
 *   constants.c  threads, methods, stacks        events.c   settings and samples       vitals.c   readings of the JVM
 *
 * The metadata declare the fields of each type, so fields that are not needed can be skipped.
 * Events refer to constants by (type, key); a constant is indexed by its position and decoded on
 * first use. Nothing is trusted: positions outside of the chunk, deep nesting and excessive work
 * end in an error that names the byte. Functions return 0, or -1 with j->err set. Private to this
 * folder. One thread.
 */
#ifndef JHOT_IMPORT_JFR_JFR_H
#define JHOT_IMPORT_JFR_JFR_H

#include "base/buf.h"
#include "base/hash.h"
#include "import/feed.h"

#define JFR_HEAD       68
#define JFR_CHUNK      ((uint64_t)1 << 30) /* the largest chunk, bytes */
#define JFR_NEST       16                  /* nesting of types, and of elements of the metadata */
#define JFR_TYPES      8192
#define JFR_WORDS      (1u << 20) /* strings of the metadata */
#define JFR_FIELDS     256
#define JFR_WORK       64 /* limit of decoded fields per byte of a chunk, plus JFR_WORK_LEAST */
#define JFR_WORK_LEAST 1000000
#define JFR_NONE       UINT32_MAX

/* Fields of interest, of any type. */
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

/* Encodings of a field. */
enum jfr_kind { KIND_NUMBER, KIND_BYTE, KIND_FLOAT, KIND_DOUBLE, KIND_STRING, KIND_STRUCT };

/* Types of interest. */
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
	/* about the recording */
	KNOWN_SETTING,
	KNOWN_JVM,
	/* vitals */
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
	uint32_t index; /* of that type; JFR_NONE: undeclared */
	int slot;       /* -1: skipped */
	bool constant, array;
};

struct jfr_type {
	uint64_t id;
	enum jfr_kind kind;
	enum jfr_known known;
	struct jfr_field *fields;
	uint32_t field_count, fields_cap;
	/* its constants */
	struct hash_index index; /* by key */
	struct jfr_constant {
		uint64_t key;
		size_t at;
		uint32_t value; /* its id in the profile; JFR_NONE: not resolved yet */
	} * constants;
	uint32_t constant_count, constants_cap;
};

/* The fields of interest of a record: values, or positions of strings and arrays. */
struct jfr_record {
	uint64_t value[JFR_SLOTS];
	uint64_t has; /* a bit per slot */
	/* Bit per slot: the value is a position. Depends on the types that the file declares. */
	uint64_t positions;
};
_Static_assert(JFR_SLOTS <= 64, "a bit per slot");

/* The settings of an event; 0, false: unknown. */
struct jfr_setting {
	uint64_t interval;
	bool enabled;
	char event[64], unit[16]; /* jhot: of the samples that follow */
};

/* CPU loads, shares of all CPUs of the machine. */
struct jfr_load {
	double user, system, machine;
};

/* Vitals from one event; -1: unknown. */
struct jfr_reading {
	uint64_t ns; /* since the recording's begin */
	enum jfr_known known;
	struct jfr_load load; /* until then, from the next jdk.CPULoad; -1: unknown */
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
	/* the current chunk */
	unsigned char *bytes;
	size_t size, capacity;
	uint64_t work;   /* fields decoded; limited by JFR_WORK */
	uint64_t offset; /* of the chunk in the file */
	uint64_t constants_at, metadata_at, start_ns, duration_ns, start_ticks, ticks_per_s;
	struct jfr_type *types;
	uint32_t type_count, types_cap;
	struct hash_index type_index;
	uint32_t known[KNOWN_TYPES]; /* indices of types; JFR_NONE: undeclared */
	bool profiler;               /* written by jhot or async-profiler */
	/* the file */
	uint64_t first_ns; /* start of the recording */
	uint64_t chunks;   /* read so far */
	bool damaged;      /* the error is a fault of the file */
	struct jfr_setting settings[KNOWN_TYPES];
	uint64_t own_interval; /* from async-profiler's settings, which belong to no type */
	bool own_wall;         /* its ExecutionSamples are wall-clock samples */
	/* samples of the chunk, to be sorted by time */
	struct feed_sample *samples;
	size_t sample_count, samples_cap;
	/* vitals of the chunk */
	struct jfr_reading *readings;
	uint32_t reading_count, readings_cap;
	bool vitals_seen;      /* in any chunk */
	uint64_t load_ns;      /* until when spent is accumulated */
	struct jfr_load spent; /* CPU time, ms */
	uint64_t jvm_start_s;  /* since 1970; 0: unknown */
	struct buf text, more;
};

/* A range of the chunk being decoded. */
struct jfr_cursor {
	size_t at, end;
};

/* Reports a damaged file, naming the byte. Returns -1. */
int flight_bad(struct jfr *j, size_t at, const char *what);

/* --- record.c: values, lookups; used by all ------------------------------------------------------------------------------------ */

bool flight_read_varint(const struct jfr *j, struct jfr_cursor *c, uint64_t *value);
bool flight_skip(struct jfr_cursor *c, size_t bytes, size_t *at);
/* Skips a string. Returns false if it is malformed. */
bool flight_skip_string(const struct jfr *j, struct jfr_cursor *c);
/* Decodes the string at a position, at most about `most` bytes. O(most). */
void flight_read_string(struct jfr *j, size_t at, size_t most, struct buf *out);
/* Decodes all fields of a type, or skips them if out is NULL. */
int flight_read_record(struct jfr *j, uint32_t type, struct jfr_cursor *c, struct jfr_record *out);
/* A number of a record, 0 if missing. */
static inline uint64_t flight_value(const struct jfr_record *r, enum jfr_slot slot)
{
	return r->has >> slot & 1 ? r->value[slot] : 0;
}
/* A string of a record, "" if missing. Valid until the next call. */
const char *flight_string(struct jfr *j, const struct jfr_record *r, enum jfr_slot slot);
uint64_t flight_ns(const struct jfr *j, uint64_t ticks);
/* The start of an event since the start of the recording, clamped to the chunk. */
uint64_t flight_time(const struct jfr *j, const struct jfr_record *r);
/* The index of a type by its id, or JFR_NONE; a constant by its key, or NULL. */
uint32_t flight_type_find(const struct jfr *j, uint64_t id);
struct jfr_constant *flight_constant(struct jfr *j, enum jfr_known known, uint64_t key);

/* --- metadata.c ------------------------------------------------------------------------------------------ */

/* Reads the types of the chunk. */
int flight_metadata(struct jfr *j);
void flight_types_done(struct jfr *j);

/* --- constants.c ----------------------------------------------------------------------------------------- */

/* Indexes the constants of an event, whose size and type have been read. */
int flight_constants(struct jfr *j, struct jfr_cursor *c);
/* Resolve constants to ids of the profile. Missing ones are the empty stack, PROFILE_NONE, "". */
int flight_stack(struct jfr *j, uint64_t key, uint32_t *stack);
int flight_thread(struct jfr *j, uint64_t key, uint32_t *thread);
/* Results are in j->text. */
int flight_class_name(struct jfr *j, uint64_t key);
int flight_word(struct jfr *j, enum jfr_known known, enum jfr_slot slot, uint64_t key);

/* --- events.c -------------------------------------------------------------------------------------------- */

/* Reads settings and metadata of the JVM. */
int flight_event_facts(struct jfr *j, enum jfr_known known, struct jfr_cursor *c);
/* Reads a sample; other events are ignored. */
int flight_event_sample(struct jfr *j, enum jfr_known known, struct jfr_cursor *c);
/* Adds the samples and vitals of the chunk to the profile. */
int flight_events_feed(struct jfr *j);

/* --- vitals.c -------------------------------------------------------------------------------------------- */

/* Reads vitals; other events are ignored. */
int flight_reading(struct jfr *j, enum jfr_known known, struct jfr_cursor *c);
/*
 * Sort readings by time; the second of reading `at` (UINT32_MAX: no more); add all of its second,
 * returning the next.
 */
void flight_vitals_sort(struct jfr *j);
uint32_t flight_vitals_second(const struct jfr *j, uint32_t at);
uint32_t flight_vitals_feed(struct jfr *j, uint32_t at);

#endif
