/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The metadata: types and their fields, a tree of elements that refer to a list of strings.
 * Annotations and settings are skipped.
 */
#include "import/jfr/jfr.h"

#include <stdlib.h>
#include <string.h>

static const char *const slot_names[JFR_SLOTS] = {
	[SLOT_START] = "startTime",
	[SLOT_DURATION] = "duration",
	[SLOT_EVENT_THREAD] = "eventThread",
	[SLOT_SAMPLED_THREAD] = "sampledThread",
	[SLOT_STACK] = "stackTrace",
	[SLOT_STATE] = "state",
	[SLOT_SAMPLES] = "samples",
	[SLOT_WEIGHT] = "weight",
	[SLOT_OBJECT_CLASS] = "objectClass",
	[SLOT_MONITOR_CLASS] = "monitorClass",
	[SLOT_PARKED_CLASS] = "parkedClass",
	[SLOT_ALLOCATION_SIZE] = "allocationSize",
	[SLOT_TLAB_SIZE] = "tlabSize",
	[SLOT_SAMPLING_PERIOD] = "samplingPeriod",
	[SLOT_EVENT] = "event",
	[SLOT_VALUE] = "value",
	[SLOT_ID] = "id",
	[SLOT_NAME] = "name",
	[SLOT_OS_NAME] = "osName",
	[SLOT_OS_THREAD] = "osThreadId",
	[SLOT_JAVA_NAME] = "javaName",
	[SLOT_JAVA_THREAD] = "javaThreadId",
	[SLOT_VIRTUAL] = "virtual",
	[SLOT_FRAMES] = "frames",
	[SLOT_METHOD] = "method",
	[SLOT_LINE] = "lineNumber",
	[SLOT_BCI] = "bytecodeIndex",
	[SLOT_TYPE] = "type",
	[SLOT_DESCRIPTOR] = "descriptor",
	[SLOT_STRING] = "string",
	[SLOT_DESCRIPTION] = "description",
	[SLOT_JVM_NAME] = "jvmName",
	[SLOT_JVM_VERSION] = "jvmVersion",
	[SLOT_JVM_ARGUMENTS] = "jvmArguments",
	[SLOT_JAVA_ARGUMENTS] = "javaArguments",
	[SLOT_PID] = "pid",
	[SLOT_JVM_START] = "jvmStartTime",
	[SLOT_JVM_USER] = "jvmUser",
	[SLOT_JVM_SYSTEM] = "jvmSystem",
	[SLOT_MACHINE_TOTAL] = "machineTotal",
	[SLOT_HW_THREADS] = "hwThreads",
	[SLOT_GC_ID] = "gcId",
	[SLOT_SUM_OF_PAUSES] = "sumOfPauses",
	[SLOT_COLLECTIONS] = "collections",
	[SLOT_HEAP_USED] = "heapUsed",
	[SLOT_COMMITTED_SIZE] = "committedSize",
	[SLOT_RESERVED_SIZE] = "reservedSize",
	[SLOT_ACTIVE_COUNT] = "activeCount",
	[SLOT_DAEMON_COUNT] = "daemonCount",
	[SLOT_SIZE] = "size",
};

static const char *const known_names[KNOWN_TYPES] = {
	[KNOWN_STRING] = "java.lang.String",
	[KNOWN_THREAD] = "java.lang.Thread",
	[KNOWN_CLASS] = "java.lang.Class",
	[KNOWN_METHOD] = "jdk.types.Method",
	[KNOWN_SYMBOL] = "jdk.types.Symbol",
	[KNOWN_TRACE] = "jdk.types.StackTrace",
	[KNOWN_FRAME] = "jdk.types.StackFrame",
	[KNOWN_FRAME_TYPE] = "jdk.types.FrameType",
	[KNOWN_THREAD_STATE] = "jdk.types.ThreadState",
	[KNOWN_GC_NAME] = "jdk.types.GCName",
	[KNOWN_EXECUTION] = "jdk.ExecutionSample",
	[KNOWN_CPU_TIME] = "jdk.CPUTimeSample",
	[KNOWN_NATIVE] = "jdk.NativeMethodSample",
	[KNOWN_WALL] = "profiler.WallClockSample",
	[KNOWN_PERF] = "jhot.PerfSample",
	[KNOWN_ALLOCATION] = "jdk.ObjectAllocationSample",
	[KNOWN_IN_TLAB] = "jdk.ObjectAllocationInNewTLAB",
	[KNOWN_OUTSIDE_TLAB] = "jdk.ObjectAllocationOutsideTLAB",
	[KNOWN_MONITOR_ENTER] = "jdk.JavaMonitorEnter",
	[KNOWN_PARK] = "jdk.ThreadPark",
	[KNOWN_SETTING] = "jdk.ActiveSetting",
	[KNOWN_JVM] = "jdk.JVMInformation",
	[KNOWN_CPU_LOAD] = "jdk.CPULoad",
	[KNOWN_COLLECTION] = "jdk.GarbageCollection",
	[KNOWN_HEAP] = "jdk.GCHeapSummary",
	[KNOWN_THREAD_COUNT] = "jdk.JavaThreadStatistics",
	[KNOWN_RESIDENT] = "jdk.ResidentSetSize",
	[KNOWN_CPUS] = "jdk.CPUInformation",
};

static const struct {
	const char *name;
	enum jfr_kind kind;
} primitives[] = {
	{"boolean", KIND_BYTE},
	{"byte", KIND_BYTE},
	{"char", KIND_NUMBER},
	{"short", KIND_NUMBER},
	{"int", KIND_NUMBER},
	{"long", KIND_NUMBER},
	{"float", KIND_FLOAT},
	{"double", KIND_DOUBLE},
	{"java.lang.String", KIND_STRING},
};

struct metadata {
	struct jfr *j;
	struct jfr_cursor c;
	size_t *words; /* positions of the strings */
	uint32_t word_count, words_cap;
	uint32_t type; /* the type being read; JFR_NONE: none */
};

/* The attributes of interest of an element. */
struct element {
	char name[32], attribute_name[192], super[64];
	uint64_t id, class_id;
	bool constant, array, has_id, has_class;
};

static void word_copy(struct metadata *m, uint64_t word, char *out, size_t bytes)
{
	buf_clear(&m->j->text);
	if (word < m->word_count)
		flight_read_string(m->j, m->words[word], bytes, &m->j->text);
	feed_copy(out, bytes, buf_str(&m->j->text), m->j->text.len);
}

static int word_find(const char *const *names, int first, int count, const char *name)
{
	for (int i = first; i < count; i++)
		if (names[i] && !strcmp(names[i], name))
			return i;
	return -1;
}

static bool read_type(struct metadata *m, const struct element *e)
{
	struct jfr *j = m->j;
	int known = word_find(known_names, 1, KNOWN_TYPES, e->attribute_name);

	if (j->type_count == JFR_TYPES || !e->has_id || flight_type_find(j, e->id) != JFR_NONE)
		return false;
	j->types = xgrow(j->types, j->type_count, &j->types_cap, sizeof(*j->types));
	struct jfr_type *t = &j->types[j->type_count];
	*t = (struct jfr_type){.id = e->id, .kind = KIND_STRUCT};
	for (size_t i = 0; i < sizeof(primitives) / sizeof(primitives[0]); i++)
		if (!strcmp(primitives[i].name, e->attribute_name))
			t->kind = primitives[i].kind;
	if (known > 0 && j->known[known] == JFR_NONE) {
		t->known = (enum jfr_known)known;
		j->known[known] = j->type_count;
	}
	j->profiler |= !strncmp(e->attribute_name, "profiler.", strlen("profiler.")) ||
		       !strncmp(e->attribute_name, "jhot.", strlen("jhot."));
	hash_index_add(&j->type_index, hash_u64(e->id), j->type_count);
	m->type = j->type_count++;
	return true;
}

static bool read_field(struct metadata *m, const struct element *e)
{
	struct jfr_type *t = &m->j->types[m->type];

	if (t->field_count == JFR_FIELDS || !e->has_class)
		return false;
	t->fields = xgrow(t->fields, t->field_count, &t->fields_cap, sizeof(*t->fields));
	t->fields[t->field_count++] = (struct jfr_field){.type = e->class_id,
		.slot = word_find(slot_names, 0, JFR_SLOTS, e->attribute_name),
		.constant = e->constant,
		.array = e->array};
	return true;
}

/* An element and its children. Types are at the third level, fields at the fourth. */
static bool read_element(struct metadata *m, int level)
{
	uint64_t word, count, key, value;
	struct element e = {.id = 0};
	char text[192], name[32];

	if (level > JFR_NEST || !flight_read_varint(m->j, &m->c, &word) ||
		!flight_read_varint(m->j, &m->c, &count))
		return false;
	word_copy(m, word, e.name, sizeof(e.name));
	while (count--) {
		if (!flight_read_varint(m->j, &m->c, &key) ||
			!flight_read_varint(m->j, &m->c, &value))
			return false;
		word_copy(m, key, name, sizeof(name));
		word_copy(m, value, text, sizeof(text));
		if (!strcmp(name, "name")) {
			feed_copy(e.attribute_name, sizeof(e.attribute_name), text, strlen(text));
		} else if (!strcmp(name, "id")) {
			e.id = strtoull(text, NULL, 10);
			e.has_id = true;
		} else if (!strcmp(name, "class")) {
			e.class_id = strtoull(text, NULL, 10);
			e.has_class = true;
		} else if (!strcmp(name, "constantPool")) {
			e.constant = !strcmp(text, "true");
		} else if (!strcmp(name, "dimension")) {
			e.array = strcmp(text, "0") != 0;
		}
	}
	if (!strcmp(e.name, "class") && !read_type(m, &e))
		return false;
	if (!strcmp(e.name, "field") && m->type != JFR_NONE && !read_field(m, &e))
		return false;
	if (!flight_read_varint(m->j, &m->c, &count))
		return false;
	while (count--)
		if (!read_element(m, level + 1))
			return false;
	return true;
}

static bool read_words(struct metadata *m)
{
	uint64_t count;

	if (!flight_read_varint(m->j, &m->c, &count) || count > JFR_WORDS)
		return false;
	while (count--) {
		m->words = xgrow(m->words, m->word_count, &m->words_cap, sizeof(*m->words));
		m->words[m->word_count++] = m->c.at;
		if (!flight_skip_string(m->j, &m->c))
			return false;
	}
	return true;
}

/* Reads the event's header: size, type, start, duration, id. */
static bool read_head(struct metadata *m)
{
	uint64_t size, type, other;
	size_t begin = m->c.at;

	if (!flight_read_varint(m->j, &m->c, &size) || size > m->j->size - begin)
		return false;
	m->c.end = begin + size;
	return flight_read_varint(m->j, &m->c, &type) && type == 0 &&
	       flight_read_varint(m->j, &m->c, &other) && flight_read_varint(m->j, &m->c, &other) &&
	       flight_read_varint(m->j, &m->c, &other);
}

void flight_types_done(struct jfr *j)
{
	for (uint32_t i = 0; i < j->type_count; i++) {
		free(j->types[i].fields);
		free(j->types[i].constants);
		hash_index_done(&j->types[i].index);
	}
	free(j->types);
	j->types = NULL;
	j->type_count = j->types_cap = 0;
	hash_index_done(&j->type_index);
	j->type_index = (struct hash_index){0};
	for (int i = 0; i < KNOWN_TYPES; i++)
		j->known[i] = JFR_NONE;
}

int flight_metadata(struct jfr *j)
{
	struct metadata m = {.j = j, .c = {j->metadata_at, j->size}, .type = JFR_NONE};

	flight_types_done(j);
	if (m.c.at < JFR_HEAD || m.c.at >= m.c.end)
		return flight_bad(j, 24, "the chunk has no metadata");
	bool good = read_head(&m) && read_words(&m) && read_element(&m, 0);
	free(m.words);
	if (!good)
		return flight_bad(j, m.c.at, "damaged metadata");
	for (uint32_t i = 0; i < j->type_count; i++)
		for (uint32_t k = 0; k < j->types[i].field_count; k++)
			j->types[i].fields[k].index =
				flight_type_find(j, j->types[i].fields[k].type);
	return 0;
}
